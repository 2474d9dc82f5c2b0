/* SPDX-License-Identifier: BSD-3-Clause */
/* The baseline of papers on many classes: support vector machines on the plain mean of all kernels,
 * one-vs-rest. Every machine minimises
 *
 *     mean_i max(0, 1 - y_i f_i) + lambda/2 ||w||^2,
 *
 * which is that of libsvm for its C = 1/(lambda N), the C of the options. */
#include "baseline/machines.h"

#include "linalg/blas.h"

struct run {
    md_machines machines;
    const double **body; /* [kernels] all the same */
    medley_epoch *epochs;
};

static void clear_run(struct run *run)
{
    md_machines_clear(&run->machines);
}

static bool watch(void *context, size_t done)
{
    const struct run *run = context;
    return md_problem_report(run->machines.problem,
                             (medley_progress){.stage = "training",
                                               .done = done,
                                               .total = run->machines.outputs,
                                               .objective = NAN,
                                               .dev_accuracy = NAN});
}

/* ||w_m||^2 of all outputs, which are found in one look at a kernel of the solver. */
static medley_status find_norm2(double *norm2, const md_machines *machines, size_t m,
                                medley_error *error)
{
    static const double one = 1;
    const size_t n = machines->set.n;
    const size_t outputs = machines->outputs;
    const md_chosen chosen = {.kernels = &m, .count = 1};
    MD_OWNED(free) double *a = NULL;
    MEDLEY_TRY(md_new(&a, 2 * n, sizeof *a, error));
    MEDLEY_TRY(
        md_packed_sum(machines->problem->batch->packed, chosen, &one, machines->set.kernel, error));
    *norm2 = 0;
    for (size_t o = 0; o < outputs; o++) {
        double sum = 0;
        for (size_t r = 0; r < n; r++)
            a[r] = machines->set.coefficient[r * outputs + o];
        md_dsymv(n, machines->set.kernel, n, a, a + n);
        for (size_t r = 0; r < n; r++)
            sum += a[r] * a[n + r];
        *norm2 += fmax(0, sum);
    }
    return MEDLEY_OK;
}

/* Every kernel has its share of the coefficients. */
static medley_status share_coefficients(struct run *run, medley_error *error)
{
    const md_machines *machines = &run->machines;
    const size_t kernels = machines->problem->bank.count;
    for (size_t i = 0; i < machines->set.n * machines->outputs; i++)
        machines->set.coefficient[i] /= (double)kernels;
    for (size_t m = 0; m < kernels; m++) {
        double norm2 = machines->norm2[m];
        if (!machines->proven)
            MEDLEY_TRY(find_norm2(&norm2, machines, m, error));
        machines->norm[m] = sqrt(fmax(0, norm2));
        run->body[m] = machines->set.coefficient;
    }
    return MEDLEY_OK;
}

static medley_status build(medley_model **model, struct run *run, medley_error *error)
{
    const md_problem *problem = run->machines.problem;
    const double n = (double)problem->example_count;
    const size_t outputs = run->machines.outputs;
    const md_machine_sums sums = md_machines_sum(&run->machines);
    for (size_t o = 0; o < outputs; o++) {
        const md_svm *machine = &run->machines.set.machines[o];
        run->machines.bias[o] = machine->bias;
        run->epochs[o] =
            (medley_epoch){.objective = machine->primal / n,
                           .loss = machine->loss / n,
                           .dual = machine->dual / n,
                           .gap = machine->primal > 0 ? 1 - machine->dual / machine->primal : 0,
                           .active = problem->bank.count,
                           .dev_accuracy = NAN,
                           .seconds = md_clock_seconds() - problem->progress.began -
                                      problem->progress.seconds_kernels};
    }
    return md_machines_build(model, &run->machines, &sums, run->body, run->epochs, outputs, error);
}

static medley_status fit_svm(medley_model **model, md_problem *problem, medley_error *error)
{
    MD_CLEARED(clear_run) struct run run = {0};
    const md_chosen all = {.count = problem->bank.count};
    MD_OWNED(free) double *weight = NULL;
    MEDLEY_TRY(md_machines_init(&run.machines, problem, "l2", 1, error));
    MEDLEY_TRY(
        md_pool_new(&run.machines.pool, &run.body, problem->bank.count, sizeof *run.body, error));
    MEDLEY_TRY(md_pool_new(&run.machines.pool, &run.epochs, run.machines.outputs,
                           sizeof *run.epochs, error));
    MEDLEY_TRY(md_mean_weights(&weight, problem->bank.count, error));
    md_machines_list(&run.machines, 0, NULL, problem->train->rows);
    run.machines.set.watch = watch;
    run.machines.set.context = &run;
    MEDLEY_TRY(md_machines_solve(&run.machines, all, weight, error));
    MEDLEY_TRY(share_coefficients(&run, error));
    return build(model, &run, error);
}

extern const md_method md_method_svm;
const md_method md_method_svm = {
    .about = &(const md_about){.name = "svm",
                               .summary = "baseline: an SVM for each label on the mean of all "
                                          "kernels (C is LIBSVM's, default 10)",
                               .takes = MD_BATCH_TAKES},
    .penalty = "l2",
    .needs_kernels = true,
    .kind = &md_batch_kind,
    .labels_only = true,
    .fit = fit_svm,
};
