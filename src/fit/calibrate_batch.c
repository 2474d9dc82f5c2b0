/* SPDX-License-Identifier: BSD-3-Clause */
/* Calibrating a model of a method on whole matrices: a second run of medley_fit on four fifths of
 * the rows. */
#include "fit/fit.h"
#include "online/run.h"

/* Precomputed kernels with a unit diagonal need K(x,x) of the rows that are held out, which stands
 * in columns that they lose. */
static medley_status keep_diagonals(medley_dataset *held, const medley_dataset *train,
                                    const md_division *division, medley_error *error)
{
    for (size_t g = 0; g < train->gram_count; g++) {
        const md_matrix *values = &train->grams[g].values;
        double **diagonal = &held->grams[g].diagonal;
        if (*diagonal != NULL || values->columns != train->rows)
            continue;
        MEDLEY_TRY(md_new(diagonal, division->held_count, sizeof **diagonal, error));
        for (size_t h = 0; h < division->held_count; h++)
            (*diagonal)[h] =
                (double)values->dense[division->held[h] * values->columns + division->held[h]];
    }
    return MEDLEY_OK;
}

/* A model of the other rows scores the held-out ones. */
static medley_status score_by_others(medley_prediction **prediction, const medley_dataset *held,
                                     const medley_dataset *others, const medley_options *options,
                                     const medley_observer *observer, medley_error *error)
{
    MD_OWNED(medley_model_free) medley_model *model = NULL;
    medley_status stopped;
    MEDLEY_TRY(stopped = medley_fit(&model, others, NULL, options, observer, error));
    if (stopped != MEDLEY_OK)
        return stopped;
    medley_predict_options how = MEDLEY_PREDICT_OPTIONS_INIT;
    how.threads = (size_t)options->threads;
    how.device = options->device;
    MEDLEY_TRY(medley_predict_with(prediction, model, held, &how, error));
    if (model->link == MD_LINK_LOGISTIC)
        md_log_logistic((*prediction)->score, (*prediction)->rows * (*prediction)->labels);
    return MEDLEY_OK;
}

/* The settings are the same, with the lambda that was used, whatever chose it. */
static medley_status calibrate(medley_model *model, const medley_dataset *train,
                               const medley_options *options, const medley_observer *observer,
                               medley_error *error)
{
    const md_division_rule rule = md_calibrate_rule(false);
    md_renaming renaming = {.observer = observer, .from = "training", .to = "calibration"};
    const medley_observer renamed = {sizeof renamed, .progress = md_rename_stage,
                                     .context = &renaming};
    MD_CLEARED(md_division_clear) md_division division = {0};
    MD_OWNED(medley_options_free) medley_options *same = NULL;
    MD_OWNED(medley_dataset_free) medley_dataset *others = NULL;
    MD_OWNED(medley_dataset_free) medley_dataset *held = NULL;
    MD_OWNED(medley_prediction_free) medley_prediction *prediction = NULL;
    MEDLEY_TRY(md_division_make(&division, train, &rule, error));
    const md_columns columns = {.rows = division.visit, .count = division.visit_count};
    MEDLEY_TRY(
        md_dataset_select(&others, train, division.visit, division.visit_count, &columns, error));
    MEDLEY_TRY(
        md_dataset_select(&held, train, division.held, division.held_count, &columns, error));
    MEDLEY_TRY(keep_diagonals(held, train, &division, error));
    MEDLEY_TRY(md_options_copy(&same, options, error));
    MEDLEY_TRY(md_options_reset(same, MD_TAKES_STRENGTH | MD_TAKES_PROBABILITIES, error));
    same->lambda = model->summary.lambda;
    medley_status stopped;
    MEDLEY_TRY(stopped = score_by_others(&prediction, held, others, same, &renamed, error));
    if (stopped != MEDLEY_OK)
        return stopped;
    const md_held_rows rows = {.score = prediction->score,
                               .label = held->label,
                               .rows = prediction->rows,
                               .labels = prediction->labels};
    return md_calibration_fit(&model->calibration, &rows, error);
}

medley_status md_calibrate_batch(medley_model **model, const medley_dataset *train,
                                 const medley_options *options, const medley_observer *observer,
                                 medley_error *error)
{
    const double start = md_clock_seconds();
    if (!options->calibrate)
        return MEDLEY_OK;
    const medley_status status = calibrate(*model, train, options, observer, error);
    md_calibrate_finish(model, start, status);
    return status;
}
