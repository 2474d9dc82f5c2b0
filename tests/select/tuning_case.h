/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of tuning: a run, and the same trial fold by fold through the front door. */
#ifndef TESTS_SELECT_TUNING_CASE_H
#define TESTS_SELECT_TUNING_CASE_H

#include "data/dataset.h"
#include "fit/fitting.h"

static inline medley_tuning *tune_with(const medley_dataset *data, const medley_options *options,
                                       const medley_choice *choices, size_t count, size_t folds,
                                       const char *measure)
{
    medley_tuning *tuning = NULL;
    medley_error error = {0};
    medley_tune_options how = MEDLEY_TUNE_OPTIONS_INIT;
    how.folds = folds;
    how.measure = measure;
    if (medley_tune(&tuning, data, options, choices, count, &how, NULL, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    assert_non_null(tuning);
    return tuning;
}

static inline medley_tuning *tune_text(const medley_dataset *data, const char *text,
                                       const medley_choice *choices, size_t count, size_t folds,
                                       const char *measure)
{
    medley_options *options = make_options(text);
    medley_tuning *tuning = tune_with(data, options, choices, count, folds, measure);
    medley_options_free(options);
    return tuning;
}

static inline double measured(const medley_evaluation *e, const char *measure)
{
    return strcmp(measure, "log-loss") == 0      ? e->log_loss
           : strcmp(measure, "rmse") == 0        ? e->rmse
           : strcmp(measure, "f1") == 0          ? e->chunk_f1
           : strcmp(measure, "exact-match") == 0 ? e->exact_match
           : strcmp(measure, "uas") == 0         ? e->uas
           : strcmp(measure, "las") == 0         ? e->las
                                                 : e->accuracy;
}

/* The rows of fold f of "LIST/K", or all others: what seed 1 means. */
static inline medley_dataset *part_of(const medley_dataset *data, size_t f, size_t folds,
                                      bool others)
{
    medley_dataset *part = NULL;
    medley_error error = {0};
    char list[128];
    int used = 0;
    for (size_t i = 0; i < folds; i++)
        if ((i == f) != others)
            used += snprintf(list + used, sizeof list - (size_t)used, "%s%zu", used ? "," : "", i);
    snprintf(list + used, sizeof list - (size_t)used, "/%zu", folds);
    if (medley_dataset_folds(&part, data, list, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return part;
}

/* What a model of all folds but f measures on fold f, and how many blocks are active. */
static inline double honest(const medley_dataset *data, const medley_options *options,
                            const medley_tuning *tuning, size_t trial, size_t f, size_t *active)
{
    medley_options *chosen = NULL;
    medley_model *model = NULL;
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_evaluate_options how = MEDLEY_EVALUATE_OPTIONS_INIT;
    medley_error error = {0};
    medley_dataset *train = part_of(data, f, tuning->fold_count, true);
    medley_dataset *held = part_of(data, f, tuning->fold_count, false);
    how.probabilities = strcmp(tuning->measure, "log-loss") == 0;
    if (medley_tuning_options(&chosen, tuning, trial, options, &error) != MEDLEY_OK ||
        medley_fit(&model, train, NULL, chosen, NULL, &error) != MEDLEY_OK ||
        medley_evaluate_with(&evaluation, model, held, &how, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    const double value = measured(&evaluation, tuning->measure);
    *active = medley_model_summary(model)->active_blocks;
    medley_evaluation_clear(&evaluation);
    medley_model_free(model);
    medley_options_free(chosen);
    medley_dataset_free(train);
    medley_dataset_free(held);
    return value;
}

/* Every cell of the table, up to so much; 0: to the bit. Blocks at the edge of being left out may
 * be on either side of it. */
static inline void assert_honest(const medley_dataset *data, const medley_options *options,
                                 const medley_tuning *tuning, double tolerance)
{
    for (size_t t = 0; t < tuning->trial_count; t++) {
        const medley_trial *trial = &tuning->trials[t];
        double mean_active = 0;
        if (trial->problem != NULL)
            fail_msg("%s", trial->problem);
        for (size_t f = 0; f < tuning->fold_count; f++) {
            size_t active;
            const double expected = honest(data, options, tuning, t, f, &active);
            mean_active += (double)active / (double)tuning->fold_count;
            if (!(fabs(trial->fold[f] - expected) <= tolerance * fmax(1, fabs(expected))))
                fail_msg("trial %zu, fold %zu: %.9g, expected %.9g", t, f, trial->fold[f],
                         expected);
        }
        if (fabs(trial->active - mean_active) > (tolerance > 0 ? 1 : 1e-9))
            fail_msg("trial %zu: %g blocks, expected %g", t, trial->active, mean_active);
    }
}

#endif
