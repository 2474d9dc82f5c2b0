/* SPDX-License-Identifier: BSD-3-Clause */
/* LP-beta (Gehler and Nowozin 2009), which learns in two layers. First every kernel alone has its
 * support vector machines, one-vs-rest, and cross-validation gives the scores of all
 * rows by machines that have not seen them. Then a linear program finds weights of kernels that
 * separate each row's label from the others in the weighted scores (lp_beta.h). The model is the
 * weighted sum of machines that have learnt from all rows.
 *
 * Folds keep the shares of labels. A row whose label no other row has is not looked at by the
 * second layer: held out, it is of a label that nobody has seen. nu is that of the best accuracy of
 * the second layer when one fold after the other is held out from it, with the same scores. */
#include "baseline/lp_beta.h"
#include "baseline/machines.h"

#include "base/parallel.h"
#include "base/random.h"
#include "optim/linear_program.h"

enum { FOLDS = 5, NUS = 5 };
static const double nus[NUS] = {0.05, 0.1, 0.2, 0.5, 0.8};
static const size_t MIDDLE_NU = 2; /* where there is no time to choose */

struct run {
    md_machines machines; /* of one kernel: a set of all rows, then one without each fold */
    size_t n, kernels, outputs, folds;
    size_t *fold;        /* [n] */
    size_t *seen[FOLDS]; /* rows outside of a fold, increasing */
    size_t *held[FOLDS]; /* rows inside */
    size_t held_count[FOLDS];
    size_t *learnt; /* rows that the second layer learns from, increasing */
    size_t learnt_count;

    size_t finished; /* the first kernels, which have machines and scores */
    double **body;   /* [kernels] each [n][outputs], of all rows */
    double **apart;  /* [kernels] each [n][outputs], scores by machines that have not seen a row */
    double *offset;  /* [kernels][outputs] bias */
    md_machine_sums *sums; /* [kernels] over the machines of all rows */

    double *beta; /* [kernels] the norms of the machines */
    medley_epoch epochs[NUS];
    size_t epoch_count;
};

static void clear_run(struct run *run)
{
    md_machines_clear(&run->machines);
}

static bool watch_machines(void *context, size_t done)
{
    const struct run *run = context;
    const size_t each = run->machines.set.count;
    return md_problem_report(run->machines.problem,
                             (medley_progress){.stage = "first layer",
                                               .done = run->finished * each + done,
                                               .total = run->kernels * each,
                                               .objective = NAN,
                                               .dev_accuracy = NAN});
}

static medley_status init_run(struct run *run, md_problem *problem, medley_error *error)
{
    const size_t n = problem->train->rows;
    const size_t kernels = problem->bank.count;
    md_pool *pool = &run->machines.pool;
    run->n = n;
    run->kernels = kernels;
    run->folds = n < FOLDS ? n : FOLDS;
    MEDLEY_TRY(md_machines_init(&run->machines, problem, "group-lasso", 1 + run->folds, error));
    run->machines.set.watch = watch_machines;
    run->machines.set.context = run;
    run->outputs = run->machines.outputs;
    run->beta = run->machines.norm;
    MEDLEY_TRY(md_pool_new(pool, &run->fold, n, sizeof *run->fold, error));
    MEDLEY_TRY(md_pool_new(pool, &run->learnt, n, sizeof *run->learnt, error));
    MEDLEY_TRY(md_pool_new(pool, &run->body, kernels, sizeof *run->body, error));
    MEDLEY_TRY(md_pool_new(pool, &run->apart, kernels, sizeof *run->apart, error));
    MEDLEY_TRY(md_pool_new(pool, &run->offset, kernels * run->outputs, sizeof *run->offset, error));
    return md_pool_new(pool, &run->sums, kernels, sizeof *run->sums, error);
}

/* ---- folds ---- */

/* The rows of a label, in random order, are dealt out to the folds in turn; the next label goes on
 * where the last one has ended. */
static medley_status deal_folds(struct run *run, size_t *rows_of_label, medley_error *error)
{
    const md_problem *problem = run->machines.problem;
    const int32_t *label = problem->train->label;
    MD_OWNED(free) size_t *order = NULL;
    md_random random;
    size_t turn = 0;
    MEDLEY_TRY(md_new(&order, run->n, sizeof *order, error));
    md_random_seed(&random, (uint64_t)problem->options->seed);
    for (size_t l = 0; l < problem->train->label_names.count; l++) {
        size_t count = 0;
        for (size_t r = 0; r < run->n; r++)
            if (label[r] == (int32_t)l)
                order[count++] = r;
        md_random_shuffle(&random, order, count);
        for (size_t i = 0; i < count; i++)
            run->fold[order[i]] = turn++ % run->folds;
        rows_of_label[l] = count;
    }
    return MEDLEY_OK;
}

static medley_status make_folds(struct run *run, medley_error *error)
{
    const medley_dataset *train = run->machines.problem->train;
    const size_t labels = train->label_names.count;
    MD_OWNED(free) size_t *rows_of_label = NULL;
    MEDLEY_TRY(md_new(&rows_of_label, labels, sizeof *rows_of_label, error));
    MEDLEY_TRY(deal_folds(run, rows_of_label, error));
    for (size_t f = 0; f < run->folds; f++) {
        size_t seen = 0;
        MEDLEY_TRY(
            md_pool_new(&run->machines.pool, &run->seen[f], run->n, sizeof *run->seen[f], error));
        MEDLEY_TRY(
            md_pool_new(&run->machines.pool, &run->held[f], run->n, sizeof *run->held[f], error));
        for (size_t r = 0; r < run->n; r++) {
            if (run->fold[r] == f)
                run->held[f][run->held_count[f]++] = r;
            else
                run->seen[f][seen++] = r;
        }
    }
    for (size_t r = 0; r < run->n; r++)
        if (rows_of_label[train->label[r]] > 1)
            run->learnt[run->learnt_count++] = r;
    if (run->learnt_count == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "every label has a single row; `method=lp-beta` holds rows out and "
                          "needs labels with two rows or more");
    return MEDLEY_OK;
}

/* ---- the first layer ---- */

static void list_machines(struct run *run)
{
    md_machines_list(&run->machines, 0, NULL, run->n);
    for (size_t f = 0; f < run->folds; f++) {
        md_svm *list =
            md_machines_list(&run->machines, 1 + f, run->seen[f], run->n - run->held_count[f]);
        for (size_t o = 0; o < run->outputs; o++)
            list[o].rough = true; /* these are asked for scores only, and their gap is not told */
    }
}

static medley_status take_machines(struct run *run, size_t m, medley_error *error)
{
    const md_svm_set *set = &run->machines.set;
    const size_t outputs = run->outputs;
    MEDLEY_TRY(
        md_pool_new(&run->machines.pool, &run->body[m], run->n * outputs, sizeof(double), error));
    MEDLEY_TRY(
        md_pool_new(&run->machines.pool, &run->apart[m], run->n * outputs, sizeof(double), error));
    for (size_t r = 0; r < run->n; r++)
        for (size_t o = 0; o < outputs; o++) {
            run->body[m][r * outputs + o] = set->coefficient[r * set->count + o];
            run->apart[m][r * outputs + o] =
                set->score[r * set->count + (1 + run->fold[r]) * outputs + o];
        }
    for (size_t o = 0; o < outputs; o++)
        run->offset[m * outputs + o] = set->machines[o].bias;
    run->sums[m] = md_machines_sum(&run->machines);
    run->finished++;
    return MEDLEY_OK;
}

/* All machines of kernel after kernel, so that each matrix is needed once. */
static medley_status first_layer(struct run *run, medley_error *error)
{
    static const double one = 1;
    for (size_t m = 0; m < run->kernels && !run->machines.problem->progress.stopped; m++) {
        const md_chosen chosen = {.kernels = &m, .count = 1};
        list_machines(run);
        MEDLEY_TRY(md_machines_solve(&run->machines, chosen, &one, error));
        if (!run->machines.set.stopped)
            MEDLEY_TRY(take_machines(run, m, error));
    }
    return MEDLEY_OK;
}

/* ---- the second layer ---- */

/* nu with one fold after the other held out. */
struct trial {
    const struct run *run;
    md_lp_beta scores;
    double nu;
    double right[FOLDS]; /* rows */
    medley_status status[FOLDS];
    medley_error error[FOLDS];
};

static medley_status hold_out(struct trial *trial, size_t f, medley_error *error)
{
    const struct run *run = trial->run;
    MD_OWNED(free) double *beta = NULL;
    MD_OWNED(free) size_t *rows = NULL;
    size_t count = 0;
    MEDLEY_TRY(md_new(&beta, run->kernels, sizeof *beta, error));
    MEDLEY_TRY(md_new(&rows, run->learnt_count, sizeof *rows, error));
    for (size_t i = 0; i < run->learnt_count; i++)
        if (run->fold[run->learnt[i]] != f)
            rows[count++] = run->learnt[i];
    md_lp_weights weights = {.beta = beta};
    if (count > 0)
        MEDLEY_TRY(md_lp_beta_solve(&weights, &trial->scores, rows, count, trial->nu, error));
    double accuracy = 0;
    MEDLEY_TRY(md_lp_beta_accuracy(&accuracy, &trial->scores, beta, run->held[f],
                                   run->held_count[f], error));
    trial->right[f] = (double)run->held_count[f] * accuracy;
    return MEDLEY_OK;
}

static void try_fold(void *context, size_t f, size_t worker)
{
    struct trial *trial = context;
    (void)worker;
    trial->status[f] = hold_out(trial, f, &trial->error[f]);
}

static md_lp_beta scores_of(const struct run *run)
{
    return (md_lp_beta){.kernels = run->finished,
                        .outputs = run->outputs,
                        .score = (const double *const *)run->apart,
                        .label = run->machines.problem->train->label};
}

static medley_status try_nu(struct run *run, double nu, double *accuracy, medley_error *error)
{
    struct trial trial = {.run = run, .scores = scores_of(run), .nu = nu};
    double right = 0;
    md_parallel_for(run->machines.problem->threads, run->folds, try_fold, &trial);
    for (size_t f = 0; f < run->folds; f++) {
        if (trial.status[f] < 0)
            return md_fail(error, trial.status[f], "%s", trial.error[f].message);
        right += trial.right[f];
    }
    *accuracy = right / (double)run->n;
    return MEDLEY_OK;
}

static medley_status weigh(struct run *run, double nu, md_lp_weights *weights, medley_error *error)
{
    const md_lp_beta scores = scores_of(run);
    *weights = (md_lp_weights){.beta = run->beta};
    return md_lp_beta_solve(weights, &scores, run->learnt, run->learnt_count, nu, error);
}

/* A line of the summary for a nu: its program on all rows, and how well it does on held-out ones.
 */
static void tell(struct run *run, const md_lp_weights *weights, double accuracy)
{
    const md_problem *problem = run->machines.problem;
    size_t active = 0;
    for (size_t m = 0; m < run->kernels; m++)
        active += run->beta[m] > 0;
    const double scale = fabs(weights->value) > 0 ? fabs(weights->value) : 1;
    run->epochs[run->epoch_count++] =
        (medley_epoch){.objective = -weights->value,
                       .loss = NAN,
                       .dual = -weights->bound,
                       .gap = fmax(0, (weights->bound - weights->value) / scale),
                       .active = active,
                       .dev_accuracy = accuracy,
                       .seconds = md_clock_seconds() - problem->progress.began -
                                  problem->progress.seconds_kernels};
}

/* Of equals the largest nu: a small one hears only the few rows that are furthest on the wrong
 * side, and there a kernel that says nothing is a comfort. */
static medley_status second_layer(struct run *run, medley_error *error)
{
    md_problem *problem = run->machines.problem;
    md_lp_weights weights = {0};
    size_t best = MIDDLE_NU;
    double most = -1;
    for (size_t k = 0; k < NUS && !problem->progress.stopped; k++) {
        double accuracy = 0;
        char stage[32];
        md_print(stage, sizeof stage, "nu %g", nus[k]);
        MEDLEY_TRY(try_nu(run, nus[k], &accuracy, error));
        MEDLEY_TRY(weigh(run, nus[k], &weights, error));
        tell(run, &weights, accuracy);
        if (accuracy >= most) {
            most = accuracy;
            best = k;
        }
        md_problem_report(problem, (medley_progress){.stage = stage,
                                                     .done = k + 1,
                                                     .total = NUS,
                                                     .objective = NAN,
                                                     .dev_accuracy = accuracy});
    }
    return weigh(run, nus[best], &weights, error);
}

/* ---- the model ---- */

/* Scores are weighted sums; a kernel without weight has no body. */
static md_machine_sums mix_machines(struct run *run)
{
    md_machine_sums sums = {.solved = true};
    for (size_t m = 0; m < run->kernels; m++) {
        const double beta = run->beta[m];
        if (!(beta > 0)) {
            run->body[m] = NULL;
            continue;
        }
        for (size_t i = 0; i < run->n * run->outputs; i++)
            run->body[m][i] *= beta;
        for (size_t o = 0; o < run->outputs; o++)
            run->machines.bias[o] += beta * run->offset[m * run->outputs + o];
        sums.primal += run->sums[m].primal;
        sums.dual += run->sums[m].dual;
        sums.difference += run->sums[m].difference;
        sums.solved = sums.solved && run->sums[m].solved;
    }
    sums.solved = sums.solved && !run->machines.problem->progress.stopped;
    return sums;
}

/* The certificate is that of the machines. As the norm of a block stands its weight: it is the
 * length of the block in the second layer, and with group-lasso as the name of the penalty the
 * weights that are told are these. */
static medley_status build(medley_model **model, struct run *run, medley_error *error)
{
    const md_machine_sums sums = mix_machines(run);
    return md_machines_build(model, &run->machines, &sums, (const double *const *)run->body,
                             run->epochs, run->epoch_count, error);
}

static medley_status fit_lp_beta(medley_model **model, md_problem *problem, medley_error *error)
{
    MD_CLEARED(clear_run) struct run run = {0};
    if (md_linear_program_missing() != NULL)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "`method=lp-beta` solves a linear program and this build has no library for "
                       "it; install %s and build Medley again, or use `method=spicy`",
                       md_linear_program_missing());
    MEDLEY_TRY(init_run(&run, problem, error));
    MEDLEY_TRY(make_folds(&run, error));
    MEDLEY_TRY(first_layer(&run, error));
    if (run.finished > 0)
        MEDLEY_TRY(second_layer(&run, error));
    return build(model, &run, error);
}

extern const md_method md_method_lp_beta;
const md_method md_method_lp_beta = {
    .about = &(const md_about){.name = "lp-beta",
                               .summary = "baseline: SVMs of each kernel alone, then kernel "
                                          "weights by a linear program (LP-beta)",
                               .takes = MD_BATCH_TAKES},
    .weights = ", that of its machine among those of all",
    .penalty = "group-lasso",
    .needs_kernels = true,
    .kind = &md_batch_kind,
    .labels_only = true,
    .fit = fit_lp_beta,
};
