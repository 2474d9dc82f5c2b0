/* SPDX-License-Identifier: BSD-3-Clause */
#include "baseline/machines.h"

#include "batch/certificate.h"
#include "gram/exact.h"
#include "model/model.h"

static const double SAME = 1e-7; /* relative difference of losses that does not matter */

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

static bool are_rounded(const md_machines *machines)
{
    const md_packed *packed = machines->problem->batch->packed;
    for (size_t m = 0; m < md_packed_count(packed); m++)
        if (!md_packed_is_exact(packed, m))
            return true;
    return false;
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
    if (!md_svm_has_libsvm(set) && are_rounded(machines))
        MEDLEY_TRY(md_batch_use_float64(problem, error)); /* dual values are not told anew */
    MEDLEY_TRY(md_batch_check_kernels(problem, "; `ridge` adds to its diagonal", error));
    MEDLEY_TRY(md_pool_new(pool, &machines->target, outputs * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new_aligned(pool, &set->kernel, n * n, sizeof *set->kernel, error));
    MEDLEY_TRY(md_pool_new(pool, &set->machines, set->count, sizeof *set->machines, error));
    MEDLEY_TRY(md_pool_new(pool, &set->coefficient, n * set->count, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &set->score, n * set->count, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &machines->norm2, problem->bank.count, sizeof(double), error));
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

/* ---- certificates that hold for the model ---- */

/* f[rows][outputs] of set 0, without bias, for kernel values in double precision, and the squared
 * norms of the kernels' shares. */
static medley_status true_scores(double *f, const md_machines *machines, md_chosen chosen,
                                 const double *weight, medley_error *error)
{
    md_problem *problem = machines->problem;
    const md_svm_set *set = &machines->set;
    const size_t outputs = machines->outputs;
    const md_between between = {.bank = &problem->bank,
                                .left = &problem->prepared,
                                .right = &problem->prepared,
                                .threads = problem->threads};
    const size_t size = set->n * outputs;
    MD_OWNED(free) double *a = NULL;
    MEDLEY_TRY(md_new(&a, 2 * size, sizeof *a, error));
    double *share = a + size;
    for (size_t k = 0; k < chosen.count; k++) {
        const size_t m = chosen.kernels != NULL ? chosen.kernels[k] : k;
        for (size_t r = 0; r < set->n; r++)
            for (size_t o = 0; o < outputs; o++)
                a[r * outputs + o] = weight[k] * set->coefficient[r * set->count + o];
        memset(share, 0, size * sizeof *share);
        MEDLEY_TRY(md_exact_scores(&between, m, a, outputs, share, error));
        machines->norm2[m] = 0;
        for (size_t i = 0; i < size; i++) {
            f[i] += share[i];
            machines->norm2[m] += a[i] * share[i];
        }
    }
    return MEDLEY_OK;
}

/* The certificates of set 0 once more. */
static medley_status prove(md_machines *machines, md_chosen chosen, const double *weight,
                           medley_error *error)
{
    const md_svm_set *set = &machines->set;
    const size_t n = set->n;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    double *scores = NULL;
    double *f = NULL;
    machines->proven = machines->problem->options->ridge == 0 && !set->stopped;
    if (!machines->proven)
        return MEDLEY_OK;
    MEDLEY_TRY(md_pool_new(&pool, &scores, n * machines->outputs, sizeof *scores, error));
    MEDLEY_TRY(md_pool_new(&pool, &f, 2 * n, sizeof *f, error));
    MEDLEY_TRY(true_scores(scores, machines, chosen, weight, error));
    for (size_t o = 0; o < machines->outputs; o++) {
        md_svm *machine = &set->machines[o];
        if (!(machine->primal > 0)) /* rows of one label only */
            continue;
        for (size_t r = 0; r < n; r++)
            f[r] = scores[r * machines->outputs + o];
        md_svm_certify(machine, set, set->coefficient + o, f,
                       md_svm_has_libsvm(set) ? (double)NAN : machine->dual, f + n);
        machine->solved = md_certified_gap(machine->primal, machine->dual) <= set->gap;
    }
    return MEDLEY_OK;
}

static bool all_are_solved(const md_machines *machines)
{
    for (size_t o = 0; o < machines->outputs; o++)
        if (!machines->set.machines[o].solved)
            return false;
    return true;
}

static medley_status solve_and_prove(md_machines *machines, md_chosen chosen, const double *weight,
                                     bool *spoilt, medley_error *error)
{
    md_svm_set *set = &machines->set;
    set->stopped = false;
    MEDLEY_TRY(md_packed_sum(machines->problem->batch->packed, chosen, weight, set->kernel, error));
    MEDLEY_TRY(md_svm_solve(set, error));
    const bool before = all_are_solved(machines);
    MEDLEY_TRY(prove(machines, chosen, weight, error));
    *spoilt = before && !all_are_solved(machines);
    return MEDLEY_OK;
}

medley_status md_machines_solve(md_machines *machines, md_chosen chosen, const double *weight,
                                medley_error *error)
{
    md_problem *problem = machines->problem;
    bool spoilt;
    machines->set.strength = problem->lambda * (double)problem->example_count;
    MEDLEY_TRY(solve_and_prove(machines, chosen, weight, &spoilt, error));
    if (!spoilt)
        return MEDLEY_OK;
    MEDLEY_TRY(md_batch_use_float64(problem, error));
    machines->set.precise = true;
    return solve_and_prove(machines, chosen, weight, &spoilt, error);
}

/* The hinge loss of all outputs by scores without bias. */
static double loss_of(const md_machines *machines, const double *scores)
{
    const size_t n = machines->set.n;
    double loss = 0;
    for (size_t o = 0; o < machines->outputs; o++)
        for (size_t r = 0; r < n; r++)
            loss += fmax(0, 1 - machines->target[o * n + r] *
                                    (scores[r * machines->outputs + o] + machines->bias[o]));
    return loss;
}

/* A model predicts in single precision if that makes no difference, else in double precision. */
static medley_status choose_precision(medley_model *model, const md_machines *machines,
                                      const md_coefficients *plain, medley_error *error)
{
    const md_problem *problem = machines->problem;
    MD_OWNED(free) double *scores = NULL;
    double loss[2];
    if (model->body_count == 0)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&scores, machines->set.n * machines->outputs, sizeof *scores, error));
    for (int exact = 0; exact < 2; exact++) {
        for (size_t b = 0; b < model->body_count; b++)
            model->bodies[b].exact = exact;
        MEDLEY_TRY(md_model_score_training(scores, model, problem, plain, error));
        loss[exact] = loss_of(machines, scores);
    }
    const double most =
        fmax(SAME, machines->set.gap / 100) * fmax(loss[1], model->summary.objective);
    for (size_t b = 0; b < model->body_count; b++)
        model->bodies[b].exact = !(fabs(loss[0] - loss[1]) <= most);
    return MEDLEY_OK;
}

/* ---- the model ---- */

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
    MD_OWNED(medley_model_free) medley_model *made = NULL;
    const medley_status status = md_model_of_coefficients(&made, problem, &plain, &result, error);
    MEDLEY_TRY(status);
    MEDLEY_TRY(choose_precision(made, machines, &plain, error));
    *model = md_take(&made);
    return status; /* which may be that the run was stopped */
}
