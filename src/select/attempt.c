/* SPDX-License-Identifier: BSD-3-Clause */
/* One fold of some runs: its rows are cut out of all rows, learnt from, and the others predicted;
 * kernels are computed once.
 * Strengths of a batch method, whose optimum is certified wherever it starts, are walked along as a
 * path; an online method starts each of them anew, as the final model will. */
#include "select/tuner.h"

#include "fit/fit.h"

struct work {
    const md_group *group;
    md_tuner *tuner;
    const size_t *trials; /* [count] of the present run */
    size_t count, next;
    size_t fold;
    medley_dataset *train, *held;
    md_problem problem; /* keeps the kernels from one fit to the next */
    double kernels;     /* seconds for them */
    double began;       /* learning the present one */
};

static void clear_work(struct work *work)
{
    md_problem_clear(&work->problem);
    medley_dataset_free(work->train);
    medley_dataset_free(work->held);
}

static bool is_stopped(md_tuner *tuner)
{
    pthread_mutex_lock(&tuner->lock);
    const bool stopped = tuner->stopped;
    pthread_mutex_unlock(&tuner->lock);
    return stopped;
}

static void judge(struct work *work, const medley_model *model)
{
    md_tuner *tuner = work->tuner;
    const size_t trial = work->trials[work->next++];
    md_cell *cell = md_tuner_cell(tuner, trial, work->fold);
    medley_error failure = {0};
    const medley_summary *summary = medley_model_summary(model);
    work->kernels = fmax(work->kernels, summary->seconds_kernels); /* as if each computed them */
    cell->seconds = md_clock_seconds() - work->began + work->kernels - summary->seconds_kernels;
    cell->active = (double)summary->active_blocks;
    const medley_status status = md_measure_model(&cell->score, tuner->measure, model, work->held,
                                                  work->group->threads, &failure);
    md_tuner_note(tuner, trial, work->fold, status < 0 ? &failure : NULL);
}

static void fail_rest(struct work *work, const medley_error *failure)
{
    while (work->next < work->count)
        md_tuner_note(work->tuner, work->trials[work->next++], work->fold, failure);
}

static bool take(void *context, medley_model *model)
{
    struct work *work = context;
    if (!is_stopped(work->tuner)) /* else the model may be half done, and counts for nothing */
        judge(work, model);
    medley_model_free(model);
    work->began = md_clock_seconds();
    return work->next < work->count && !is_stopped(work->tuner);
}

static medley_status adapt(medley_options **options, const struct work *work, size_t trial,
                           medley_error *error)
{
    const md_attempt *attempt = &work->tuner->attempts[trial];
    MEDLEY_TRY(md_options_with(options, attempt->options, NULL, NULL, 0, error));
    return md_fold_adapt(&work->group->source, *options, attempt->method, work->group->threads,
                         error);
}

static medley_status walk_path(struct work *work, medley_error *error)
{
    MD_OWNED(medley_options_free) medley_options *options = NULL;
    medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
    MD_OWNED(free) double *lambda = NULL;
    MEDLEY_TRY(md_new(&lambda, work->count, sizeof *lambda, error));
    for (size_t i = 0; i < work->count; i++) /* batch methods: every row is an example */
        MEDLEY_TRY(md_options_lambda(&lambda[i], work->tuner->attempts[work->trials[i]].options, 1,
                                     work->train->rows, error));
    MEDLEY_TRY(adapt(&options, work, work->trials[0], error));
    path.count = work->count;
    path.lambda = lambda;
    work->began = md_clock_seconds();
    return md_fit_path_again(&work->problem, work->train, options, &path, take, work,
                             &work->tuner->watch, error);
}

static medley_status fit_next(struct work *work, medley_error *error)
{
    MD_OWNED(medley_model_free) medley_model *model = NULL;
    MD_OWNED(medley_options_free) medley_options *options = NULL;
    MEDLEY_TRY(adapt(&options, work, work->trials[work->next], error));
    work->began = md_clock_seconds();
    const medley_status status =
        md_fit_again(&model, &work->problem, work->train, options, &work->tuner->watch, error);
    if (status == MEDLEY_OK)
        judge(work, model);
    return status;
}

static medley_status do_run(struct work *work, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    if (work->train == NULL)
        status = md_fold_cut(&work->train, &work->held, &work->group->source.data,
                             work->tuner->part, (int32_t)work->fold, error);
    if (status == MEDLEY_OK && work->count > 1)
        status = walk_path(work, error);
    while (status == MEDLEY_OK && work->next < work->count && !is_stopped(work->tuner))
        status = fit_next(work, error);
    return status;
}

void md_group_item(void *context, size_t item, size_t worker)
{
    (void)worker;
    const md_group *group = context;
    md_tuner *tuner = group->tuner;
    const size_t whole = medley_comm_rank(tuner->comm) + item * medley_comm_size(tuner->comm);
    const size_t share = whole / tuner->folds;
    const size_t end = group->run_count * (share + 1) / group->shares;
    MD_CLEARED(clear_work)
    struct work work = {.group = group, .tuner = tuner, .fold = whole % tuner->folds};
    for (size_t run = group->run_count * share / group->shares; run < end; run++) {
        medley_error failure = {0};
        work.trials = group->trials + group->run_start[run];
        work.count = group->run_start[run + 1] - group->run_start[run];
        work.next = 0;
        if (is_stopped(tuner))
            return;
        if (do_run(&work, &failure) < 0 && !is_stopped(tuner))
            fail_rest(&work, &failure);
    }
}
