/* SPDX-License-Identifier: BSD-3-Clause */
/* medley_tune: from choices to a table of trials. */
#include "select/ranking.h"
#include "select/tuner.h"

#include "base/parallel.h"
#include "base/struct_size.h"

MD_OWNER(medley_tuning_free, medley_tuning)

/* What the public struct points into. */
struct owner {
    medley_tuning tuning; /* first: callers free the whole by it */
    md_grid grid;
    medley_trial *trials;
    const char **values; /* [trials][options] */
    double *scores;      /* [trials][folds] */
    char **failures;     /* [trials] */
};

void medley_tuning_free(medley_tuning *tuning)
{
    struct owner *owner = (struct owner *)(void *)tuning;
    if (owner == NULL)
        return;
    for (size_t t = 0; owner->failures != NULL && t < owner->grid.trial_count; t++)
        free(owner->failures[t]);
    free(owner->failures);
    free(owner->scores);
    free(owner->values);
    free(owner->trials);
    md_grid_clear(&owner->grid);
    free(owner);
}

/* ---- setting up ---- */

static void clear_tuner(md_tuner *tuner)
{
    const size_t trials = tuner->grid->trial_count;
    for (size_t t = 0; tuner->attempts != NULL && t < trials; t++) {
        medley_options_free(tuner->attempts[t].options);
        free(tuner->attempts[t].kernels);
    }
    for (size_t c = 0; tuner->cells != NULL && c < trials * tuner->folds; c++)
        free(tuner->cells[c].failure);
    free(tuner->attempts);
    free(tuner->cells);
    free(tuner->counts);
    pthread_mutex_destroy(&tuner->lock);
}

static medley_status prepare(md_tuner *tuner, const struct owner *owner,
                             const medley_options *options, const medley_tune_options *how,
                             medley_error *error)
{
    const size_t trials = owner->grid.trial_count;
    MEDLEY_TRY(md_new(&tuner->attempts, trials, sizeof *tuner->attempts, error));
    MEDLEY_TRY(md_new(&tuner->cells, trials * tuner->folds, sizeof *tuner->cells, error));
    MEDLEY_TRY(md_new(&tuner->counts, tuner->folds, sizeof *tuner->counts, error));
    for (size_t t = 0; t < trials; t++)
        MEDLEY_TRY(
            medley_tuning_options(&tuner->attempts[t].options, &owner->tuning, t, options, error));
    MEDLEY_TRY(md_measure_find(&tuner->measure, how->measure, tuner->dataset,
                               tuner->attempts[0].options, error));
    tuner->comm = options->comm;
    tuner->threads =
        options->threads > 0 ? (size_t)options->threads : md_comm_processors(options->comm);
    tuner->memory = options->memory > 0
                        ? options->memory
                        : md_memory_available() / 2 / md_comm_local_size(options->comm);
    return MEDLEY_OK;
}

static medley_status make_owner(struct owner *owner, const medley_choice *choices, size_t count,
                                size_t folds, medley_error *error)
{
    MEDLEY_TRY(md_grid_make(&owner->grid, choices, count, error));
    const size_t trials = owner->grid.trial_count;
    const size_t options = owner->grid.option_count;
    MEDLEY_TRY(md_new(&owner->trials, trials, sizeof *owner->trials, error));
    MEDLEY_TRY(md_new(&owner->values, trials * options, sizeof(char *), error));
    MEDLEY_TRY(md_new(&owner->scores, trials * folds, sizeof *owner->scores, error));
    MEDLEY_TRY(md_new(&owner->failures, trials, sizeof(char *), error));
    for (size_t t = 0; t < trials; t++) {
        const char **values = owner->values + t * options;
        for (size_t o = 0; o < options; o++)
            values[o] = md_grid_value(&owner->grid, t, o);
        owner->trials[t].values = values;
        owner->trials[t].fold = owner->scores + t * folds;
    }
    owner->tuning = (medley_tuning){.options = owner->grid.options,
                                    .option_count = options,
                                    .trials = owner->trials,
                                    .trial_count = trials,
                                    .fold_count = folds};
    return MEDLEY_OK;
}

/* ---- the result ---- */

static size_t count_tried(const md_tuner *tuner, size_t fold)
{
    size_t tried = 0;
    for (size_t t = 0; t < tuner->grid->trial_count; t++)
        tried += md_tuner_cell(tuner, t, fold)->noted;
    return tried;
}

/* Folds count in which all trials were tried, so that all are judged by the same rows; if the
 * tuning was interrupted before there was one, the fold that got farthest. */
static size_t choose_folds(md_tuner *tuner)
{
    size_t whole = 0;
    size_t most = 0;
    size_t farthest = 0;
    for (size_t f = 0; f < tuner->folds; f++) {
        const size_t tried = count_tried(tuner, f);
        tuner->counts[f] = tried == tuner->grid->trial_count;
        whole += tuner->counts[f];
        farthest = tried > most ? f : farthest;
        most = tried > most ? tried : most;
    }
    if (whole > 0 || most == 0)
        return whole;
    tuner->counts[farthest] = true;
    return 1;
}

static void summarise(struct owner *owner, const md_tuner *tuner, size_t t)
{
    medley_trial *trial = &owner->trials[t];
    double *scores = owner->scores + t * tuner->folds;
    double active = 0;
    double seconds = 0;
    size_t learnt = 0;
    for (size_t f = 0; f < tuner->folds; f++) {
        md_cell *cell = md_tuner_cell(tuner, t, f);
        if (!tuner->counts[f])
            continue;
        *scores++ = cell->noted && cell->code >= 0 ? cell->score : NAN;
        if (!cell->noted) {
            trial->problem = "the tuning was interrupted before it was tried";
            continue;
        }
        if (cell->code >= 0) {
            active += cell->active;
            seconds += cell->seconds;
            learnt++;
        }
        if (cell->code < 0 && owner->failures[t] == NULL) {
            owner->failures[t] = cell->failure;
            cell->failure = NULL;
        }
        if (cell->code < 0 && trial->problem == NULL)
            trial->problem = owner->failures[t] ? owner->failures[t] : "out of memory";
    }
    trial->active = learnt > 0 ? active / (double)learnt : (double)NAN;
    trial->seconds = learnt > 0 ? seconds / (double)learnt : (double)NAN;
    md_trial_summarise(trial, owner->tuning.fold_count);
}

/* What the first trial has to say stands for all of them. */
static medley_status fail_all(const struct owner *owner, const md_tuner *tuner, medley_error *error)
{
    medley_status code = MEDLEY_OK;
    for (size_t f = 0; f < tuner->folds && code == MEDLEY_OK; f++)
        code = md_tuner_cell(tuner, 0, f)->code;
    return md_fail(error, code, "no combination can be learnt from all but one fold: %s",
                   owner->trials[0].problem);
}

static medley_status finish(struct owner *owner, const md_tuner *tuner, medley_error *error)
{
    medley_tuning *tuning = &owner->tuning;
    MD_OWNED(free) double *strength = NULL;
    MEDLEY_TRY(md_new(&strength, tuning->trial_count, sizeof *strength, error));
    for (size_t t = 0; t < tuning->trial_count; t++) {
        summarise(owner, tuner, t);
        strength[t] = md_options_strength(tuner->attempts[t].options);
    }
    const md_ranking ranking = {.trials = owner->trials,
                                .strength = strength,
                                .count = tuning->trial_count,
                                .higher_is_better = tuner->measure->higher_is_better};
    tuning->best = md_ranking_best(&ranking);
    if (tuning->best == tuning->trial_count && tuner->stopped) {
        tuning->fold_count = 0; /* no result: folds that were not tried might have had one */
        return MEDLEY_OK;
    }
    if (tuning->best == tuning->trial_count)
        return fail_all(owner, tuner, error);
    tuning->one_error = md_ranking_one_error(&ranking, tuning->best);
    tuning->measure = tuner->measure->name;
    tuning->higher_is_better = tuner->measure->higher_is_better;
    tuning->kernels_shared = tuner->dataset->gram_count > 0;
    tuning->seconds_total = md_clock_seconds() - tuner->began;
    tuning->threads = tuner->threads;
    tuning->folds_asked = tuner->folds;
    return MEDLEY_OK;
}

static medley_status tune(struct owner *owner, const medley_dataset *dataset, const int32_t *part,
                          const medley_options *options, const medley_tune_options *how,
                          const medley_observer *observer, medley_error *error)
{
    MD_CLEARED(clear_tuner)
    md_tuner tuner = {.dataset = dataset,
                      .part = part,
                      .grid = &owner->grid,
                      .folds = how->folds,
                      .observer = observer,
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .began = md_clock_seconds()};
    MEDLEY_TRY(prepare(&tuner, owner, options, how, error));
    const medley_status status = md_tuner_run(&tuner, error);
    const bool all_known = status == MEDLEY_OK || medley_comm_size(tuner.comm) == 1;
    owner->tuning.fold_count = all_known ? choose_folds(&tuner) : 0;
    if (status < 0 || owner->tuning.fold_count == 0)
        return status;
    MEDLEY_TRY(finish(owner, &tuner, error));
    return status;
}

medley_status medley_tune(medley_tuning **tuning, const medley_dataset *dataset,
                          const medley_options *options, const medley_choice *choices, size_t count,
                          const medley_tune_options *given, const medley_observer *observer,
                          medley_error *error)
{
    md_begin(error);
    medley_status status = MEDLEY_OK;
    medley_tune_options how = MEDLEY_TUNE_OPTIONS_INIT;
    medley_observer watch = MEDLEY_OBSERVER_INIT;
    MD_OWNED(medley_options_free) medley_options *plain = NULL;
    MD_OWNED(medley_tuning_free) medley_tuning *made = NULL;
    MD_OWNED(free) int32_t *part = NULL;
    struct owner *owner;
    medley_choice strength;
    char text[MD_CHOICE_TEXT];
    MEDLEY_TRY(MD_TAKE_STRUCT(&how, given, MEDLEY_TUNE_OPTIONS_INIT, error));
    MEDLEY_TRY(MD_TAKE_STRUCT(&watch, observer, MEDLEY_OBSERVER_INIT, error));
    if (count > 0 && choices == NULL)
        return md_fail(error, MEDLEY_USAGE, "%zu choices were given, but the pointer is NULL",
                       count);
    MEDLEY_TRY(md_new(&owner, 1, sizeof *owner, error));
    made = &owner->tuning;
    MEDLEY_TRY(md_options_with(&plain, options, NULL, NULL, 0, error));
    MEDLEY_TRY(md_folds_make(&part, dataset, how.folds, (uint64_t)plain->seed, error));
    if (count == 0) {
        const md_measure *measure; /* a wrong one is told before anything is learnt */
        MEDLEY_TRY(md_measure_find(&measure, how.measure, dataset, plain, error));
        MEDLEY_TRY(status = md_choice_of_strength(&strength, text, dataset, plain, &watch, error));
        choices = &strength;
        count = 1;
    }
    if (status == MEDLEY_STOPPED)
        return status;
    MEDLEY_TRY(make_owner(owner, choices, count, how.folds, error));
    MEDLEY_TRY(status = tune(owner, dataset, part, plain, &how, &watch, error));
    if (owner->tuning.fold_count > 0)
        *tuning = md_take(&made);
    return status;
}

medley_status medley_tuning_options(medley_options **chosen, const medley_tuning *tuning,
                                    size_t trial, const medley_options *options,
                                    medley_error *error)
{
    md_begin(error);
    if (trial >= tuning->trial_count)
        return md_fail(error, MEDLEY_USAGE, "there is no trial %zu; there are %zu", trial,
                       tuning->trial_count);
    return md_options_with(chosen, options, tuning->options, tuning->trials[trial].values,
                           tuning->option_count, error);
}
