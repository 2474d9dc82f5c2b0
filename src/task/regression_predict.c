/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers: the output of a row is what is predicted for it; and how far off that is. */
#include "task/predicting.h"

#include "model/model.h"

medley_status md_regression_check_request(const medley_predict_options *options,
                                          medley_error *error)
{
    MEDLEY_TRY(md_refuse_tags(options, error));
    if (options->probabilities)
        return md_fail(error, MEDLEY_USAGE,
                       "the model is a regression: it predicts numbers, which have no "
                       "probabilities; leave out `proba`");
    if (options->best > 0 || options->keep_labels)
        return md_fail(error, MEDLEY_USAGE,
                       "the model is a regression: it predicts numbers, not labels; leave out `%s`",
                       options->best > 0 ? "best" : "constrain");
    return MEDLEY_OK;
}

medley_status md_regression_predict(medley_prediction *prediction, const md_request *request,
                                    medley_error *error)
{
    const double start = md_clock_seconds();
    const medley_model *model = request->model;
    const size_t rows = prediction->rows;
    MEDLEY_TRY(md_new(&prediction->value, rows, sizeof *prediction->value, error));
    const md_machine machine = md_machine_of(&request->options, prediction);
    MEDLEY_TRY(md_model_score_exactly(model, request->dataset, &machine, prediction->value, error));
    for (size_t r = 0; r < rows; r++)
        prediction->value[r] += model->bias ? model->bias[0] : 0;
    prediction->seconds_score = md_clock_seconds() - start;
    return MEDLEY_OK;
}

/* ---- comparison ---- */

medley_status md_read_targets(double **targets, const medley_dataset *dataset, medley_error *error)
{
    MEDLEY_TRY(md_new(targets, dataset->rows, sizeof **targets, error));
    double *target = *targets;
    if (dataset->label == NULL) { /* numbers from memory: all are given, and finite */
        memcpy(target, dataset->target, dataset->rows * sizeof *target);
        return MEDLEY_OK;
    }
    for (size_t r = 0; r < dataset->rows; r++) {
        const int32_t label = dataset->label[r];
        const char *text = label >= 0 ? dataset->label_names.items[label] : NULL;
        if (text == NULL)
            return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0,
                              "row %zu has no label to compare with; give one to every row", r + 1);
        if (!md_parse_double(text, &target[r]) || !isfinite(target[r]))
            return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0,
                              "row %zu has the label '%.100s', which is no number, and the model "
                              "predicts numbers; check `label`",
                              r + 1, text);
    }
    return MEDLEY_OK;
}

medley_status md_regression_check_truth(const medley_dataset *dataset, medley_error *error)
{
    double *target = NULL;
    const medley_status status = dataset->label == NULL && dataset->target == NULL
                                     ? md_fail_no_labels(dataset, error)
                                     : md_read_targets(&target, dataset, error);
    free(target);
    return status;
}

static void compare_values(medley_evaluation *evaluation, const double *target,
                           const medley_prediction *prediction)
{
    const double n = (double)prediction->rows;
    double mean = 0;
    double error = 0;
    double spread = 0;
    bool vary = false;
    for (size_t r = 0; r < prediction->rows; r++) {
        mean += target[r] / n;
        vary = vary || target[r] != target[0];
    }
    for (size_t r = 0; r < prediction->rows; r++) {
        const double difference = target[r] - prediction->value[r];
        error += difference * difference;
        spread += (target[r] - mean) * (target[r] - mean);
    }
    evaluation->examples = prediction->rows;
    evaluation->accuracy = evaluation->exact_match = NAN;
    evaluation->rmse = sqrt(error / n);
    evaluation->r2 = vary ? 1 - error / spread : NAN;
}

medley_status md_regression_compare(medley_evaluation *evaluation, const md_request *request,
                                    const medley_prediction *prediction, medley_error *error)
{
    MD_OWNED(free) double *target = NULL;
    MEDLEY_TRY(md_read_targets(&target, request->dataset, error));
    compare_values(evaluation, target, prediction);
    return MEDLEY_OK;
}
