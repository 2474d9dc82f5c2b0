/* SPDX-License-Identifier: BSD-3-Clause */
/* The front door of prediction: what is asked for is checked, the model's task does the rest. Then
 * predictions can be written in the format of the data. */
#include "fit/fit.h"

#include "base/struct_size.h"
#include "io/io.h"

void medley_prediction_free(medley_prediction *prediction)
{
    if (prediction == NULL)
        return;
    free(prediction->value);
    free(prediction->label);
    free(prediction->score);
    free(prediction->best_label);
    free(prediction->best_score);
    free(prediction->head);
    free(prediction->head_probability);
    free(prediction->arc_probability);
    free(prediction->best_head);
    free(prediction->best_probability);
    free(prediction->best_label_probability);
    free(prediction);
}

/* ---- as strings, in the format of the data ---- */

enum { NUMBER_BYTES = 32 };

/* A row each: what is predicted for it, in memory of `numbers` or of the model. */
static medley_status list_texts(const char ***texts, char (**numbers)[NUMBER_BYTES],
                                const medley_prediction *prediction, const medley_model *model,
                                medley_error *error)
{
    const size_t rows = prediction->rows;
    MEDLEY_TRY(md_new(texts, rows, sizeof **texts, error));
    MEDLEY_TRY(md_new(numbers, prediction->value ? rows : 0, sizeof **numbers, error));
    for (size_t r = 0; r < rows; r++)
        (*texts)[r] = prediction->label == NULL && prediction->value == NULL ? NULL
                      : prediction->value != NULL
                          ? md_format_double((*numbers)[r], prediction->value[r])
                          : medley_model_label_name(model, (size_t)prediction->label[r]);
    return MEDLEY_OK;
}

medley_status medley_prediction_write(const medley_prediction *prediction,
                                      const medley_model *model, const medley_dataset *dataset,
                                      const char *path, medley_error *error)
{
    md_begin(error);
    MD_OWNED(free) const char **texts = NULL;
    MD_OWNED(free) char(*numbers)[NUMBER_BYTES] = NULL;
    MEDLEY_TRY(list_texts(&texts, &numbers, prediction, model, error));
    return prediction->head != NULL
               ? medley_dataset_write_trees(dataset, prediction->head, texts, path, error)
               : medley_dataset_write_labels(dataset, texts, path, error);
}

/* Probabilities of the relations that are predicted, a row each; NULL: there are none. */
static medley_status list_shares(float **shares, const medley_prediction *prediction,
                                 medley_error *error)
{
    if (prediction->label == NULL || prediction->score == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(shares, prediction->rows, sizeof **shares, error));
    for (size_t r = 0; r < prediction->rows; r++)
        (*shares)[r] = prediction->score[r * prediction->labels + (size_t)prediction->label[r]];
    return MEDLEY_OK;
}

medley_status medley_prediction_write_scores(const medley_prediction *prediction,
                                             const medley_model *model,
                                             const medley_dataset *dataset, const char *path,
                                             medley_error *error)
{
    md_begin(error);
    MD_OWNED(free) const char **texts = NULL;
    MD_OWNED(free) char(*numbers)[NUMBER_BYTES] = NULL;
    MD_OWNED(free) float *shares = NULL;
    const bool parsed = prediction->head != NULL && prediction->head_probability != NULL;
    if (!parsed && (prediction->score == NULL || prediction->label == NULL))
        return md_fail(error, MEDLEY_USAGE,
                       "the prediction has no scores of labels; use medley_prediction_write");
    MEDLEY_TRY(list_texts(&texts, &numbers, prediction, model, error));
    md_predicted predicted = {.labels = texts,
                              .score = prediction->score,
                              .names = &model->labels,
                              .probabilities = prediction->probabilities};
    if (!parsed)
        return md_write_predicted(dataset, &predicted, path, error);
    MEDLEY_TRY(list_shares(&shares, prediction, error));
    predicted = (md_predicted){.labels = texts,
                               .head = prediction->head,
                               .head_probability = prediction->head_probability,
                               .label_probability = shares};
    return md_write_trees(dataset, &predicted, path, error);
}

/* ---- prediction ---- */

/* What the model knows of a table; the caller's own knowledge goes first. */
static void know_table(medley_read_options *options, const medley_model *model, const char *name)
{
    const md_known_table *table = md_known_tables_find(&model->bank.tables, name);
    if (options->feature_count == 0)
        options->feature_count = medley_model_columns(model, name);
    if (table != NULL && table->first != MD_NO_INDICES && options->first_index < 0)
        options->first_index = table->first == MD_FROM_ONE;
    if (table != NULL && table->names.count == options->feature_count &&
        options->feature_names == NULL) {
        options->feature_names = (const char *const *)table->names.items;
        options->label_name = table->label_name;
    }
}

medley_status medley_dataset_add_table_for(medley_dataset *dataset, const medley_model *model,
                                           const char *name, const char *path,
                                           const medley_read_options *given, medley_error *error)
{
    md_begin(error);
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    MEDLEY_TRY(MD_TAKE_STRUCT(&options, given, MEDLEY_READ_OPTIONS_INIT, error));
    know_table(&options, model, name);
    return medley_dataset_add_table(dataset, name, path, &options, error);
}

medley_status medley_dataset_read_for(medley_dataset **dataset, const medley_model *model,
                                      const char *path, const medley_read_options *given,
                                      medley_error *error)
{
    md_begin(error);
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    char column[32]; /* of tagged words: where the label was in training */
    MEDLEY_TRY(MD_TAKE_STRUCT(&options, given, MEDLEY_READ_OPTIONS_INIT, error));
    know_table(&options, model, "");
    if (options.label == NULL && medley_model_label_column(model) > 0) {
        snprintf(column, sizeof column, "%zu", medley_model_label_column(model));
        options.label = column;
    }
    options.text_columns = options.text_columns || medley_model_reads_words(model);
    return medley_dataset_read(dataset, path, &options, error);
}

static medley_status check_request(const md_request *request, medley_error *error)
{
    enum { MOST_BEST = 20 };
    if (request->options.best > MOST_BEST)
        return md_fail(error, MEDLEY_USAGE, "at most the %d best outputs can be asked for",
                       MOST_BEST);
    return request->model->task->check_request(&request->options, error);
}

/* Huge values in data or in a model overflow on the way; nobody can use what comes out then. */
static medley_status check_numbers(const medley_prediction *p, const medley_dataset *dataset,
                                   medley_error *error)
{
    for (size_t i = 0; p->value != NULL && i < p->rows; i++)
        if (!isfinite(p->value[i]))
            return md_fail_overflow(i, error);
    for (size_t i = 0; p->score != NULL && i < p->rows * p->labels; i++)
        if (!isfinite(p->score[i]))
            return md_fail_overflow(i / p->labels, error);
    for (size_t i = 0; p->head_probability != NULL && i < p->rows; i++)
        if (!isfinite(p->head_probability[i]))
            return md_fail_overflow(i, error);
    const int32_t *best = p->best_head != NULL ? p->best_head : p->best_label;
    for (size_t i = 0; p->best_score != NULL && i < p->sequences * p->best; i++) {
        const size_t row = md_dataset_unit_start(dataset, i / p->best);
        const bool is_there = best[i % p->best * p->rows + row] >= 0;
        if (is_there && !isfinite(p->best_score[i]))
            return md_fail_overflow(row, error);
    }
    return MEDLEY_OK;
}

/* A card that was asked for has to be there, even if the model has nothing for it. */
static medley_status check_device(const medley_prediction *prediction, const char *device,
                                  medley_error *error)
{
    char reason[MD_DEVICE_MESSAGE];
    MD_OWNED(md_device_close) md_device *card = NULL;
    if (prediction->device[0] != '\0' || md_device_is_auto(device))
        return MEDLEY_OK;
    return md_device_open(&card, device, reason, error);
}

medley_status medley_predict_with(medley_prediction **result, const medley_model *model,
                                  const medley_dataset *dataset,
                                  const medley_predict_options *given, medley_error *error)
{
    md_begin(error);
    md_request request = {model, dataset, MEDLEY_PREDICT_OPTIONS_INIT};
    medley_predict_options *options = &request.options;
    const double start = md_clock_seconds();
    MEDLEY_TRY(MD_TAKE_STRUCT(options, given, MEDLEY_PREDICT_OPTIONS_INIT, error));
    options->threads = options->threads ? options->threads : md_comm_processors(options->comm);
    options->device = options->device != NULL ? options->device : "auto";
    MEDLEY_TRY(md_device_check(options->device, error));
    if (medley_comm_size(options->comm) > 1)
        return md_predict_together(result, &request, error);
    MD_OWNED(medley_prediction_free) medley_prediction *prediction = NULL;
    MEDLEY_TRY(check_request(&request, error));
    MEDLEY_TRY(
        md_check_words(&(md_word_layout){model->format, model->token_columns, model->label_column},
                       dataset, error));
    MEDLEY_TRY(md_new(&prediction, 1, sizeof *prediction, error));
    prediction->rows = dataset->rows;
    prediction->labels = model->labels.count;
    prediction->sequences = dataset->sequence_count ? dataset->sequence_count : dataset->rows;
    prediction->best = options->best;
    prediction->probabilities = options->probabilities;
    MEDLEY_TRY(model->task->predict(prediction, &request, error));
    MEDLEY_TRY(check_device(prediction, options->device, error));
    MEDLEY_TRY(check_numbers(prediction, dataset, error));
    prediction->seconds_decode = md_clock_seconds() - start - prediction->seconds_score;
    *result = md_take(&prediction);
    return MEDLEY_OK;
}

medley_status medley_predict(medley_prediction **result, const medley_model *model,
                             const medley_dataset *dataset, size_t threads, medley_error *error)
{
    md_begin(error);
    medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
    options.threads = threads;
    return medley_predict_with(result, model, dataset, &options, error);
}
