/* SPDX-License-Identifier: BSD-3-Clause */
/* Calibrating a model of a method on whole matrices: a second run of medley_fit on four fifths of
 * the rows. */
#include "fit/fit.h"
#include "online/calibrate.h"

#include "base/clock.h"
#include "base/memory.h"

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
    medley_status status = MEDLEY_OK;
    medley_model *model = NULL;
    MEDLEY_TRY_DONE(medley_fit(&model, others, NULL, options, observer, error));
    if (status == MEDLEY_STOPPED)
        goto done;
    MEDLEY_TRY_DONE(medley_predict(prediction, model, held, (size_t)options->threads, error));
    if (model->link == MD_LINK_LOGISTIC)
        md_log_logistic((*prediction)->score, (*prediction)->rows * (*prediction)->labels);
done:
    medley_model_free(model);
    return status;
}

/* The same settings with the lambda that was used, whatever chose it. */
static medley_status same_options(medley_options **same, const medley_options *options,
                                  double lambda, medley_error *error)
{
    MEDLEY_TRY(md_options_copy(same, options, error));
    MEDLEY_TRY(md_options_reset(*same, MD_TAKES_STRENGTH | MD_TAKES_PROBABILITIES, error));
    (*same)->lambda = lambda;
    return MEDLEY_OK;
}

medley_status md_calibrate_batch(medley_model **model, const medley_dataset *train,
                                 const medley_options *options, const medley_observer *observer,
                                 medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const double start = md_clock_seconds();
    const md_division_rule rule = md_calibrate_rule(false);
    md_renaming renaming = {.observer = observer, .from = "training", .to = "calibration"};
    const medley_observer renamed = {sizeof renamed, .progress = md_rename_stage,
                                     .context = &renaming};
    md_division division = {0};
    medley_options *same = NULL;
    medley_dataset *others = NULL;
    medley_dataset *held = NULL;
    medley_prediction *prediction = NULL;
    if (!options->calibrate)
        return MEDLEY_OK;
    MEDLEY_TRY_DONE(md_division_make(&division, train, &rule, error));
    const md_columns columns = {.rows = division.visit, .count = division.visit_count};
    MEDLEY_TRY_DONE(
        md_dataset_select(&others, train, division.visit, division.visit_count, &columns, error));
    MEDLEY_TRY_DONE(
        md_dataset_select(&held, train, division.held, division.held_count, &columns, error));
    MEDLEY_TRY_DONE(keep_diagonals(held, train, &division, error));
    MEDLEY_TRY_DONE(same_options(&same, options, (*model)->summary.lambda, error));
    MEDLEY_TRY_DONE(score_by_others(&prediction, held, others, same, &renamed, error));
    if (status == MEDLEY_STOPPED)
        goto done;
    const md_held_rows rows = {.score = prediction->score,
                               .label = held->label,
                               .rows = prediction->rows,
                               .labels = prediction->labels};
    MEDLEY_TRY_DONE(md_calibration_fit(&(*model)->calibration, &rows, error));
done:
    md_calibrate_finish(model, start, status);
    medley_prediction_free(prediction);
    medley_options_free(same);
    medley_dataset_free(others);
    medley_dataset_free(held);
    md_division_clear(&division);
    return status;
}
