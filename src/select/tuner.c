/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials with the same kernels make a group, which says how many folds fit the memory at a time;
 * groups come one after the other. Within a group the folds of all runs are worked off side by
 * side. */
#include "select/tuner.h"

#include "base/parallel.h"
#include "linalg/blas.h"

void md_tuner_note(md_tuner *tuner, size_t trial, size_t fold, const medley_error *failure)
{
    md_cell *cell = md_tuner_cell(tuner, trial, fold);
    if (failure != NULL) {
        char text[1024];
        medley_error_format(text, sizeof text, failure);
        cell->score = NAN;
        cell->code = failure->code;
        free(cell->failure);
        cell->failure = md_copy_text(text, strlen(text));
    }
    cell->noted = true;
    pthread_mutex_lock(&tuner->lock);
    tuner->done++;
    pthread_mutex_unlock(&tuner->lock);
    tuner->watch.progress(tuner, NULL);
}

/* ---- progress ---- */

/* The observer sees one piece of work, whatever the folds are doing, from one thread at a time; a
 * wish to stop is for all of them. */
static bool watch_folds(void *context, const medley_progress *progress)
{
    (void)progress;
    md_tuner *tuner = context;
    const size_t total = tuner->grid->trial_count * tuner->folds;
    pthread_mutex_lock(&tuner->lock);
    const medley_progress whole = {.stage = "tuning",
                                   .done = md_min(tuner->done * medley_comm_size(tuner->comm),
                                                  total), /* others are about as far */
                                   .total = total,
                                   .objective = NAN,
                                   .dev_accuracy = NAN,
                                   .seconds = md_clock_seconds() - tuner->began};
    if (!tuner->stopped && tuner->observer != NULL && tuner->observer->progress != NULL &&
        !tuner->observer->progress(tuner->observer->context, &whole))
        tuner->stopped = true;
    const bool goes_on = !tuner->stopped;
    pthread_mutex_unlock(&tuner->lock);
    return goes_on;
}

/* ---- groups ---- */

static medley_status make_runs(md_group *group, size_t first, medley_error *error)
{
    md_tuner *tuner = group->tuner;
    const size_t count = tuner->grid->trial_count;
    MEDLEY_TRY(md_new(&group->trials, count, sizeof *group->trials, error));
    MEDLEY_TRY(md_new(&group->run_start, count + 1, sizeof *group->run_start, error));
    for (size_t t = first; t < count; t++) {
        md_attempt *attempt = &tuner->attempts[t];
        if (attempt->grouped || strcmp(attempt->kernels, tuner->attempts[first].kernels) != 0)
            continue;
        const medley_options *options = attempt->options;
        const bool walks = attempt->method->kind->batch && attempt->method->fit_path != NULL &&
                           !options->calibrate && md_options_has_strength(options);
        const size_t start = group->trial_count;
        group->run_start[group->run_count++] = start;
        for (size_t u = t; u < (walks ? count : t + 1); u++) {
            md_attempt *other = &tuner->attempts[u];
            if (other->grouped || !md_grid_same_but_strength(tuner->grid, t, u) ||
                other->method != attempt->method || strcmp(other->kernels, attempt->kernels) != 0)
                continue;
            size_t place = group->trial_count++; /* from strong to weak */
            for (; place > start &&
                   md_options_strength(tuner->attempts[group->trials[place - 1]].options) <
                       md_options_strength(other->options);
                 place--)
                group->trials[place] = group->trials[place - 1];
            group->trials[place] = u;
            other->grouped = true;
        }
    }
    group->run_start[group->run_count] = group->trial_count;
    return MEDLEY_OK;
}

/* Kernels that cannot be made cannot be made in a fold either. */
static void fail_group(const md_group *group, const medley_error *failure)
{
    for (size_t i = 0; i < group->trial_count; i++)
        for (size_t f = 0; f < group->tuner->folds; f++)
            md_tuner_note(group->tuner, group->trials[i], f, failure);
}

static void run_group(md_group *group)
{
    md_tuner *tuner = group->tuner;
    medley_error failure = {0};
    const md_attempt *first = &tuner->attempts[group->trials[0]];
    const md_fold_limits limits = {.memory = tuner->memory,
                                   .threads = tuner->threads,
                                   .folds = tuner->folds,
                                   .ranks = medley_comm_size(tuner->comm)};
    if (md_fold_source_make(&group->source, tuner->dataset, first->options, first->method, &limits,
                            &failure) != MEDLEY_OK) {
        fail_group(group, &failure);
        return;
    }
    /* In a fold kernels are computed once for a share of the runs: for all of them, unless threads
     * would have nothing to do. */
    const size_t ranks = limits.ranks;
    const size_t wanted = md_pieces(tuner->threads * ranks, tuner->folds);
    group->shares = wanted < group->run_count ? wanted : group->run_count;
    const size_t all = group->shares * tuner->folds;
    const size_t rank = medley_comm_rank(tuner->comm);
    const size_t items = rank < all ? md_pieces(all - rank, ranks) : 0;
    const bool side_by_side = group->source.workers > 1 && 2 * items > tuner->threads;
    const size_t workers = side_by_side ? group->source.workers : 1;
    group->threads = side_by_side ? 1 : tuner->threads;
    md_parallel_for(workers, items, md_group_item, group);
}

static void clear_group(md_group *group)
{
    md_fold_source_clear(&group->source);
    free(group->trials);
    free(group->run_start);
}

/* ---- all of them ---- */

static medley_status describe_kernels(md_attempt *attempt, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    md_text_addf(&text, "%d%d\n", attempt->method->needs_kernels, attempt->method->kind->batch);
    md_params_describe(md_option_table, attempt->options, MD_ROLE_KERNELS, MD_ROLE_KERNELS, &text);
    if (text.failed)
        return md_fail_memory(error, 256);
    attempt->kernels = text.data;
    text = (md_text){0};
    return MEDLEY_OK;
}

static medley_status choose_method(md_tuner *tuner, size_t trial, medley_error *error)
{
    md_attempt *attempt = &tuner->attempts[trial];
    medley_error failure = {0};
    if (md_method_choose(&attempt->method, attempt->options, tuner->dataset, NULL, &failure) ==
        MEDLEY_OK)
        return describe_kernels(attempt, error);
    attempt->grouped = true; /* never run */
    for (size_t f = 0; f < tuner->folds; f++)
        md_tuner_note(tuner, trial, f, &failure);
    return MEDLEY_OK;
}

medley_status md_tuner_run(md_tuner *tuner, medley_error *error)
{
    md_blas_single_thread(); /* once, before folds that run side by side ask for it */
    tuner->watch =
        (medley_observer){sizeof(medley_observer), .context = tuner, .progress = watch_folds};
    for (size_t t = 0; t < tuner->grid->trial_count; t++)
        MEDLEY_TRY(choose_method(tuner, t, error));
    for (size_t t = 0; t < tuner->grid->trial_count; t++) {
        if (tuner->attempts[t].grouped || tuner->stopped)
            continue;
        MD_CLEARED(clear_group) md_group group = {.tuner = tuner};
        MEDLEY_TRY(make_runs(&group, t, error));
        run_group(&group);
    }
    MEDLEY_TRY(md_comm_any(tuner->comm, &tuner->stopped, error));
    return tuner->stopped ? MEDLEY_STOPPED : md_tuner_join(tuner, error);
}
