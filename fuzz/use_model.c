/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be done with any model, and what must then hold: predictions are numbers. */
#include "fuzz.h"

#include "model/model.h"

static void check_prediction(const medley_prediction *prediction)
{
    const size_t rows = prediction->rows;
    for (size_t i = 0; prediction->value != NULL && i < rows; i++)
        FUZZ_REQUIRE(isfinite(prediction->value[i]));
    for (size_t i = 0; prediction->label != NULL && i < rows; i++)
        FUZZ_REQUIRE(prediction->label[i] >= 0 &&
                     (size_t)prediction->label[i] < prediction->labels);
    for (size_t i = 0; prediction->score != NULL && i < rows * prediction->labels; i++) {
        FUZZ_REQUIRE(isfinite(prediction->score[i]));
        FUZZ_REQUIRE(!prediction->probabilities ||
                     (prediction->score[i] >= 0 && prediction->score[i] <= 1.0001F));
    }
    for (size_t i = 0; prediction->head != NULL && i < rows; i++)
        FUZZ_REQUIRE(prediction->head[i] >= 0 && (size_t)prediction->head[i] <= rows);
    for (size_t i = 0; prediction->best_label != NULL && i < prediction->best * rows; i++)
        FUZZ_REQUIRE(prediction->best_label[i] >= -1 &&
                     prediction->best_label[i] < (int32_t)prediction->labels);
    for (size_t i = 0;
         prediction->best_score != NULL && i < prediction->best * prediction->sequences; i++)
        FUZZ_REQUIRE(!isinf(prediction->best_score[i]));
}

void fuzz_predict(const medley_model *model, const medley_dataset *dataset)
{
    for (int way = 0; way < 3; way++) {
        medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
        medley_prediction *prediction = NULL;
        medley_error error;
        options.threads = 1;
        options.probabilities = way == 1;
        options.keep_labels = way == 2;
        options.best = way == 2 ? 3 : 0;
        if (fuzz_worked(medley_predict_with(&prediction, model, dataset, &options, &error), &error))
            check_prediction(prediction);
        else if (way == 0)
            return; /* it is not for these data */
        medley_prediction_free(prediction);
    }
    medley_evaluate_options options = MEDLEY_EVALUATE_OPTIONS_INIT;
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_error error;
    options.threads = 1;
    if (fuzz_worked(medley_evaluate_with(&evaluation, model, dataset, &options, &error), &error))
        FUZZ_REQUIRE(evaluation.correct <= evaluation.parts);
    medley_evaluation_clear(&evaluation);
}

static void look_at_blocks(const medley_model *model)
{
    enum { MOST_BLOCKS = 8, MOST_FEATURES = 3 };
    const medley_summary *summary = medley_model_summary(model);
    for (size_t b = 0; b < summary->block_count; b++)
        FUZZ_REQUIRE(summary->blocks[b].name != NULL);
    for (size_t b = 0; b < summary->block_count && b < MOST_BLOCKS; b++) {
        medley_feature *features = NULL;
        size_t count = 0;
        medley_error error;
        if (fuzz_worked(medley_model_features(&features, &count, model, b, MOST_FEATURES, &error),
                        &error))
            FUZZ_REQUIRE(count <= MOST_FEATURES);
        medley_features_free(features, count);
    }
    for (size_t l = 0; l < medley_model_label_count(model); l++)
        FUZZ_REQUIRE(medley_model_label_name(model, l) != NULL);
}

/* What was written can be read, and is written the same again. */
static void write_and_read(const medley_model *model)
{
    void *bytes = NULL;
    void *others = NULL;
    size_t size = 0;
    size_t other_size = 0;
    medley_model *again = NULL;
    medley_error error;
    if (fuzz_must(medley_model_write(&bytes, &size, model, &error), &error) &&
        fuzz_must(medley_model_read(&again, bytes, size, "again", &error), &error) &&
        fuzz_must(medley_model_write(&others, &other_size, again, &error), &error))
        FUZZ_REQUIRE(size == other_size && memcmp(bytes, others, size) == 0);
    medley_model_free(again);
    medley_bytes_free(bytes);
    medley_bytes_free(others);
}

void fuzz_use_model(const medley_model *model)
{
    look_at_blocks(model);
    for (fuzz_kind kind = 0; kind < FUZZ_KINDS; kind++)
        fuzz_predict(model, fuzz_data(kind));
    write_and_read(model);
}
