/* SPDX-License-Identifier: BSD-3-Clause */
/* The baseline of papers on many classes: support vector machines on the plain mean of all kernels,
 * one label against the rest. Every machine minimises
 *
 *     mean_i max(0, 1 - y_i f_i) + lambda/2 ||w||^2,
 *
 * which is that of libsvm for its C = 1/(lambda N), the C of the options. */
#include "learner/machines.h"

#include "base/clock.h"
#include "base/memory.h"
#include "linalg/blas.h"
#include <math.h>
#include <stdlib.h>

struct run {
    md_machines machines;
    md_svm *list;        /* [outputs] */
    double *coefficient; /* [rows][outputs] */
    double *score;       /* [rows][outputs] */
    double *norm;        /* [kernels] */
    double *bias;        /* [outputs] */
    const double **body; /* [kernels] all the same */
    medley_epoch *epochs;
};

static bool watch(void *context, size_t done)
{
    const struct run *run = context;
    return md_problem_report(run->machines.problem, "training", done, run->machines.outputs, NAN,
                             NAN);
}

static medley_status init_run(struct run *run, md_problem *problem, medley_error *error)
{
    const size_t n = problem->train->rows;
    const medley_status status = md_machines_init(&run->machines, problem, "l2", error);
    if (status < 0)
        return status;
    const size_t outputs = run->machines.outputs;
    run->list = md_calloc(outputs, sizeof *run->list);
    run->coefficient = md_calloc(n * outputs, sizeof *run->coefficient);
    run->score = md_calloc(n * outputs, sizeof *run->score);
    run->norm = md_calloc(problem->bank.count, sizeof *run->norm);
    run->bias = md_calloc(outputs, sizeof *run->bias);
    run->body = md_calloc(problem->bank.count, sizeof *run->body);
    run->epochs = md_calloc(outputs, sizeof *run->epochs);
    return run->list && run->coefficient && run->score && run->norm && run->bias && run->body &&
                   run->epochs
               ? MEDLEY_OK
               : md_fail_memory(error, n * outputs * sizeof *run->score);
}

static void clear_run(struct run *run)
{
    md_machines_clear(&run->machines);
    free(run->list);
    free(run->coefficient);
    free(run->score);
    free(run->norm);
    free(run->bias);
    free(run->body);
    free(run->epochs);
}

static medley_status mean_kernel(struct run *run, medley_error *error)
{
    md_store *store = run->machines.problem->batch->store;
    const size_t kernels = md_store_count(store);
    double *weight = md_calloc(kernels, sizeof *weight);
    if (weight == NULL)
        return md_fail_memory(error, kernels * sizeof *weight);
    for (size_t m = 0; m < kernels; m++)
        weight[m] = 1 / (double)kernels;
    const medley_status status =
        md_store_sum(store, (md_chosen){.count = kernels}, weight, run->machines.kernel, error);
    free(weight);
    return status;
}

/* Every kernel has its share of the coefficients. The norms of all outputs are found in one look at
 * a kernel. */
static medley_status share_coefficients(struct run *run, medley_error *error)
{
    static const double one = 1;
    const md_problem *problem = run->machines.problem;
    const size_t n = problem->train->rows;
    const size_t outputs = run->machines.outputs;
    const size_t kernels = problem->bank.count;
    double *a = md_calloc(2 * n, sizeof *a);
    if (a == NULL)
        return md_fail_memory(error, 2 * n * sizeof *a);
    medley_status status = MEDLEY_OK;
    for (size_t i = 0; i < n * outputs; i++)
        run->coefficient[i] /= (double)kernels;
    for (size_t m = 0; m < kernels && status == MEDLEY_OK; m++) {
        double norm2 = 0;
        status = md_store_sum(problem->batch->store, (md_chosen){.kernels = &m, .count = 1}, &one,
                              run->machines.kernel, error);
        for (size_t o = 0; o < outputs && status == MEDLEY_OK; o++) {
            double sum = 0;
            for (size_t r = 0; r < n; r++)
                a[r] = run->coefficient[r * outputs + o];
            md_dsymv(n, run->machines.kernel, n, a, a + n);
            for (size_t r = 0; r < n; r++)
                sum += a[r] * a[n + r];
            norm2 += fmax(0, sum);
        }
        run->norm[m] = sqrt(norm2);
        run->body[m] = run->coefficient;
    }
    free(a);
    return status;
}

static medley_status build(medley_model **model, struct run *run, medley_error *error)
{
    md_problem *problem = run->machines.problem;
    const double n = (double)problem->example_count;
    const size_t outputs = run->machines.outputs;
    md_machine_sums sums = {.solved = true};
    md_machines_add(&sums, run->list, outputs);
    for (size_t o = 0; o < outputs; o++) {
        const md_svm *machine = &run->list[o];
        run->bias[o] = machine->bias;
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
    const md_coefficients plain = {.outputs = outputs,
                                   .body = run->body,
                                   .norm = run->norm,
                                   .bias = run->bias,
                                   .dual = sums.dual / n,
                                   .gap = sums.primal > 0 ? sums.difference / sums.primal : 0};
    const md_trained trained = {.plain = &plain,
                                .eta0 = NAN,
                                .radius = NAN,
                                .bound = NAN,
                                .objective = sums.primal / n,
                                .epochs = run->epochs,
                                .epoch_count = outputs,
                                .iterations = outputs,
                                .converged = sums.solved};
    const medley_status status = md_model_build(model, problem, &trained, error);
    return status == MEDLEY_OK && problem->progress.stopped ? MEDLEY_STOPPED : status;
}

static medley_status fit_svm(medley_model **model, md_problem *problem, medley_error *error)
{
    struct run run = {0};
    medley_status status = MEDLEY_OK;
    MEDLEY_TRY(init_run(&run, problem, error));
    MEDLEY_TRY(mean_kernel(&run, error));
    md_machines_list(&run.machines, NULL, problem->train->rows, run.list);
    md_svm_set set = {.kernel = run.machines.kernel,
                      .n = problem->train->rows,
                      .strength = problem->lambda * (double)problem->example_count,
                      .gap = problem->options->gap,
                      .threads = problem->threads,
                      .machines = run.list,
                      .count = run.machines.outputs,
                      .coefficient = run.coefficient,
                      .score = run.score,
                      .watch = watch,
                      .context = &run};
    MEDLEY_TRY(md_svm_solve(&set, error));
    MEDLEY_TRY(share_coefficients(&run, error));
    status = build(model, &run, error);
done:
    clear_run(&run);
    return status;
}

extern const md_method md_method_svm;
const md_method md_method_svm = {
    .about = &(const md_about){.name = "svm",
                               .summary = "baseline: an SVM for each label on the mean of all "
                                          "kernels (--C is LIBSVM's, default 10)",
                               .takes = MD_BATCH_TAKES},
    .penalty = "l2",
    .needs_kernels = true,
    .kind = &md_batch_kind,
    .labels_only = true,
    .fit = fit_svm,
};
