/* SPDX-License-Identifier: BSD-3-Clause */
/* The front door of evaluation: the model's task compares what is predicted with what is known. */
#include "fit/fit.h"
#include "task/task.h"

#include "base/struct_size.h"

void medley_evaluation_clear(medley_evaluation *evaluation)
{
    static const medley_evaluation empty = MEDLEY_EVALUATION_INIT;
    if (MD_STRUCT_HAS(evaluation, confusion))
        free(evaluation->confusion);
    md_fill_struct(evaluation, &empty, sizeof empty);
}

/* A file that is known by the names of its columns should have the one of the labels. */
static medley_status check_label_column(const medley_model *model, const medley_dataset *dataset,
                                        medley_error *error)
{
    const md_table *table = dataset->table_count > 0 ? &dataset->tables[0] : NULL;
    if (dataset->label != NULL || dataset->target != NULL || table == NULL ||
        table->column_names.count == 0)
        return MEDLEY_OK;
    const md_known_table *known = md_known_tables_find(&model->bank.tables, table->name);
    if (known == NULL || known->label_name == NULL)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_USAGE, dataset->source, 0,
                      "there are no labels to compare with: in training the column '%.60s' held "
                      "them; say with `label` which one does here, or give `labels`",
                      known->label_name);
}

medley_status md_evaluate(medley_evaluation *evaluation, medley_prediction **kept,
                          const medley_model *model, const medley_dataset *dataset,
                          const medley_evaluate_options *given, medley_error *error)
{
    medley_evaluate_options options = MEDLEY_EVALUATE_OPTIONS_INIT;
    MEDLEY_TRY(md_check_struct(evaluation, "MEDLEY_EVALUATION_INIT", error));
    MEDLEY_TRY(MD_TAKE_STRUCT(&options, given, MEDLEY_EVALUATE_OPTIONS_INIT, error));
    md_request request = {model, dataset, MEDLEY_PREDICT_OPTIONS_INIT};
    request.options.threads = options.threads;
    request.options.probabilities = options.probabilities;
    request.options.tags = options.tags;
    request.options.comm = options.comm;
    request.options.device = options.device;
    const double start = md_clock_seconds();
    MD_OWNED(medley_prediction_free) medley_prediction *prediction = NULL;
    MD_CLEARED(medley_evaluation_clear)
    medley_evaluation made = {.struct_size = sizeof made,
                              .labels = model->labels.count,
                              .parts = dataset->rows,
                              .rmse = NAN,
                              .r2 = NAN,
                              .log_loss = NAN,
                              .brier = NAN,
                              .calibration_error = NAN,
                              .uas = NAN,
                              .las = NAN,
                              .uas_no_punct = NAN,
                              .las_no_punct = NAN,
                              .nonprojective_precision = NAN,
                              .nonprojective_recall = NAN,
                              .chunk_f1 = NAN};
    MEDLEY_TRY(check_label_column(model, dataset, error));
    MEDLEY_TRY(model->task->check_truth(dataset, error));
    MEDLEY_TRY(medley_predict_with(&prediction, model, dataset, &request.options, error));
    MEDLEY_TRY(model->task->compare(&made, &request, prediction, error));
    memcpy(made.device, prediction->device, sizeof made.device);
    made.seconds_score = prediction->seconds_score;
    made.seconds_decode = prediction->seconds_decode;
    made.seconds_total = md_clock_seconds() - start;
    md_fill_struct(evaluation, &made, sizeof made);
    if (MD_STRUCT_HAS(evaluation, confusion))
        made.confusion = NULL; /* it is the caller's now */
    if (kept != NULL) {
        *kept = md_take(&prediction);
    }
    return MEDLEY_OK;
}

medley_status medley_evaluate_with(medley_evaluation *evaluation, const medley_model *model,
                                   const medley_dataset *dataset,
                                   const medley_evaluate_options *given, medley_error *error)
{
    md_begin(error);
    return md_evaluate(evaluation, NULL, model, dataset, given, error);
}

medley_status medley_evaluate(medley_evaluation *evaluation, const medley_model *model,
                              const medley_dataset *dataset, size_t threads, medley_error *error)
{
    md_begin(error);
    medley_evaluate_options options = MEDLEY_EVALUATE_OPTIONS_INIT;
    options.threads = threads;
    return medley_evaluate_with(evaluation, model, dataset, &options, error);
}
