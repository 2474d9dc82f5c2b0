/* SPDX-License-Identifier: BSD-3-Clause */
#include "baseline/machines.h"

#include "batch/certificate.h"

static medley_status refuse_others(const md_problem *problem, const char *penalty,
                                   medley_error *error)
{
    const char *method = problem->method->about->name;
    const char *asked = problem->options->penalty;
    if (!problem->batch->loss->svm)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "`method=%s` is made of support vector machines, whose loss is hinge; leave "
                       "out `loss=%s` or use `method=spicy`",
                       method, problem->batch->loss->name);
    if (strcmp(asked, "auto") != 0 && strcmp(asked, penalty) != 0)
        return md_fail(
            error, MEDLEY_NOT_SUPPORTED,
            "`method=%s` is made of support vector machines and has their penalty; leave "
            "out `penalty=%s` or use `method=spicy`",
            method, asked);
    return MEDLEY_OK;
}

medley_status md_machines_init(md_machines *machines, md_problem *problem, const char *penalty,
                               size_t sets, medley_error *error)
{
    const size_t n = problem->train->rows;
    const size_t outputs = md_batch_outputs(problem);
    md_svm_set *set = &machines->set;
    md_pool *pool = &machines->pool;
    *machines = (md_machines){.problem = problem,
                              .outputs = outputs,
                              .set = {.n = n,
                                      .count = sets * outputs,
                                      .gap = problem->options->gap,
                                      .threads = problem->threads}};
    MEDLEY_TRY(refuse_others(problem, penalty, error));
    MEDLEY_TRY(md_batch_check_kernels(problem, "; `ridge` adds to its diagonal", error));
    MEDLEY_TRY(md_pool_new(pool, &machines->target, outputs * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new_aligned(pool, &set->kernel, n * n, sizeof *set->kernel, error));
    MEDLEY_TRY(md_pool_new(pool, &set->machines, set->count, sizeof *set->machines, error));
    MEDLEY_TRY(md_pool_new(pool, &set->coefficient, n * set->count, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &set->score, n * set->count, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &machines->norm, problem->bank.count, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &machines->bias, outputs, sizeof(double), error));
    for (size_t o = 0; o < outputs; o++)
        md_batch_targets(machines->target + o * n, problem, o);
    return MEDLEY_OK;
}

void md_machines_clear(md_machines *machines)
{
    md_pool_clear(&machines->pool);
    *machines = (md_machines){0};
}

md_svm *md_machines_list(md_machines *machines, size_t set, const size_t *rows, size_t count)
{
    const size_t n = machines->problem->train->rows;
    md_svm *list = machines->set.machines + set * machines->outputs;
    for (size_t o = 0; o < machines->outputs; o++)
        list[o] = (md_svm){.y = machines->target + o * n, .rows = rows, .count = count};
    return list;
}

medley_status md_machines_solve(md_machines *machines, md_chosen chosen, const double *weight,
                                medley_error *error)
{
    const md_problem *problem = machines->problem;
    md_svm_set *set = &machines->set;
    set->strength = problem->lambda * (double)problem->example_count;
    set->stopped = false;
    MEDLEY_TRY(md_packed_sum(problem->batch->packed, chosen, weight, set->kernel, error));
    return md_svm_solve(set, error);
}

md_machine_sums md_machines_sum(const md_machines *machines)
{
    md_machine_sums sums = {.solved = true};
    for (size_t o = 0; o < machines->outputs; o++) {
        const md_svm *machine = &machines->set.machines[o];
        sums.primal += machine->primal;
        sums.dual += machine->dual;
        sums.difference += md_certified_gap(machine->primal, machine->dual) * machine->primal;
        sums.solved = sums.solved && machine->solved;
    }
    return sums;
}

medley_status md_machines_build(medley_model **model, const md_machines *machines,
                                const md_machine_sums *sums, const double *const *body,
                                medley_epoch *epochs, size_t epoch_count, medley_error *error)
{
    md_problem *problem = machines->problem;
    const double n = (double)problem->example_count;
    const md_coefficients plain = {.outputs = machines->outputs,
                                   .body = body,
                                   .norm = machines->norm,
                                   .bias = machines->bias,
                                   .dual = sums->dual / n,
                                   .gap = sums->primal > 0 ? sums->difference / sums->primal : 0};
    const md_run_result result = {.eta0 = NAN,
                                  .radius = NAN,
                                  .bound = NAN,
                                  .objective = sums->primal / n,
                                  .epochs = epochs,
                                  .epoch_count = epoch_count,
                                  .iterations = epoch_count,
                                  .converged = sums->solved};
    return md_model_of_coefficients(model, problem, &plain, &result, error);
}
