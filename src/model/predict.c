/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores of new data, decoding, and comparison with known labels. */
#include "model/model.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "structure/structure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- scores ---- */

static void add_explicit(const md_matrix *features, const md_body *body, double factor,
                         size_t labels, float *scores)
{
    for (size_t r = 0; r < features->rows; r++) {
        const bool sparse = md_matrix_is_sparse(features);
        const size_t first = sparse ? features->start[r] : r * features->columns;
        const size_t last = sparse ? features->start[r + 1] : first + features->columns;
        float *out = scores + r * labels;
        for (size_t e = first; e < last; e++) {
            const size_t column = sparse ? (size_t)features->index[e] : e - first;
            if (column >= body->rows)
                continue; /* a feature never seen in training */
            const float value = (float)factor * (sparse ? features->value[e] : features->dense[e]);
            for (size_t l = 0; l < labels; l++)
                out[l] += value * body->values[column * labels + l];
        }
    }
}

/* One expansion per kernel term; a body that several kernels share is scaled for each. */
static medley_status make_expansions(const medley_model *model, md_expansion **expansions,
                                     float **scaled, size_t *count, medley_error *error)
{
    const size_t size = model->support_count * model->labels.count;
    size_t copied = 0;
    for (size_t t = 0; t < model->term_count; t++)
        copied += model->terms[t].factor != 1;
    md_expansion *list = md_calloc(model->term_count, sizeof *list);
    float *copies = md_calloc(copied * size, sizeof *copies);
    if (list == NULL || copies == NULL) {
        free(list);
        free(copies);
        return md_fail_memory(error, copied * size * sizeof *copies);
    }
    size_t used = 0;
    float *copy = copies;
    for (size_t t = 0; t < model->term_count; t++) {
        const md_term *term = &model->terms[t];
        const float *values = model->bodies[term->body].values;
        if (model->bank.kernels[term->kernel].explicit_weights)
            continue;
        if (term->factor != 1) {
            for (size_t i = 0; i < size; i++)
                copy[i] = (float)term->factor * values[i];
            values = copy;
            copy += size;
        }
        list[used++] = (md_expansion){.kernel = term->kernel, .coefficient = values};
    }
    *expansions = list;
    *scaled = copies;
    *count = used;
    return MEDLEY_OK;
}

medley_status md_model_scores(const medley_model *model, const medley_dataset *dataset,
                              size_t threads, float *scores, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t labels = model->labels.count;
    md_points left = {0};
    md_expansion *expansions = NULL;
    float *scaled = NULL;
    size_t count = 0;
    md_bank bank = model->bank; /* borrows all of it: making points of new rows only reads */
    memset(scores, 0, dataset->rows * labels * sizeof *scores);
    if (model->term_count == 0)
        return MEDLEY_OK; /* the empty model scores nothing */
    MEDLEY_TRY(md_points_make(&left, &bank, dataset, false, error));
    MEDLEY_TRY(make_expansions(model, &expansions, &scaled, &count, error));
    const md_cross cross = {.bank = &bank,
                            .left = &left,
                            .right = &model->points,
                            .training_row = model->support_row,
                            .threads = threads ? threads : md_processor_count()};
    if (count > 0)
        MEDLEY_TRY(md_cross_scores(&cross, expansions, count, labels, scores, error));
    for (size_t t = 0; t < model->term_count; t++) {
        const md_term *term = &model->terms[t];
        const md_kernel *kernel = &model->bank.kernels[term->kernel];
        if (kernel->explicit_weights)
            add_explicit(&left.views[kernel->view], &model->bodies[term->body], term->factor,
                         labels, scores);
    }
done:
    md_points_clear(&left);
    free(expansions);
    free(scaled);
    return status;
}

/* ---- prediction ---- */

void medley_prediction_free(medley_prediction *prediction)
{
    if (prediction == NULL)
        return;
    free(prediction->label);
    free(prediction->score);
    free(prediction);
}

static size_t longest_sequence(const medley_dataset *dataset)
{
    size_t longest = 1;
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t length = dataset->sequence_start[s + 1] - dataset->sequence_start[s];
        longest = length > longest ? length : longest;
    }
    return longest;
}

static medley_status decode_all(medley_prediction *prediction, const medley_model *model,
                                const medley_dataset *dataset, medley_error *error)
{
    const md_structure *structure = md_structure_find(model->structure);
    const md_shape shape = {.labels = prediction->labels};
    md_workspace workspace = {0};
    if (md_workspace_reserve(&workspace,
                             structure->workspace_size(shape, longest_sequence(dataset))) != 0)
        return md_fail_memory(error, prediction->rows * sizeof(float));
    const bool rows_alone = dataset->sequence_count == 0;
    const size_t count = rows_alone ? prediction->rows : dataset->sequence_count;
    for (size_t s = 0; s < count; s++) {
        const size_t first = rows_alone ? s : dataset->sequence_start[s];
        const size_t length = rows_alone ? 1 : dataset->sequence_start[s + 1] - first;
        structure->decode(shape, length, prediction->score + first * prediction->labels,
                          prediction->label + first, &workspace);
    }
    md_workspace_clear(&workspace);
    return MEDLEY_OK;
}

medley_status medley_predict(medley_prediction **result, const medley_model *model,
                             const medley_dataset *dataset, size_t threads, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t labels = model->labels.count;
    medley_prediction *prediction = md_calloc(1, sizeof *prediction);
    if (prediction == NULL)
        return md_fail_memory(error, sizeof *prediction);
    prediction->rows = dataset->rows;
    prediction->labels = labels;
    prediction->label = md_calloc(dataset->rows, sizeof *prediction->label);
    prediction->score = md_calloc(dataset->rows * labels, sizeof *prediction->score);
    if (prediction->label == NULL || prediction->score == NULL) {
        status = md_fail_memory(error, dataset->rows * labels * sizeof(float));
        goto done;
    }
    const double start = md_clock_seconds();
    MEDLEY_TRY(md_model_scores(model, dataset, threads, prediction->score, error));
    const double scored = md_clock_seconds();
    MEDLEY_TRY(decode_all(prediction, model, dataset, error));
    prediction->seconds_score = scored - start;
    prediction->seconds_decode = md_clock_seconds() - scored;
    *result = prediction;
    prediction = NULL;
done:
    medley_prediction_free(prediction);
    return status;
}

void medley_prediction_probabilities(medley_prediction *prediction)
{
    for (size_t r = 0; r < prediction->rows; r++) {
        float *row = prediction->score + r * prediction->labels;
        float most = row[0];
        for (size_t l = 1; l < prediction->labels; l++)
            most = row[l] > most ? row[l] : most;
        double sum = 0;
        for (size_t l = 0; l < prediction->labels; l++)
            sum += exp((double)(row[l] - most));
        for (size_t l = 0; l < prediction->labels; l++)
            row[l] = (float)(exp((double)(row[l] - most)) / sum);
    }
}

/* ---- evaluation ---- */

void medley_evaluation_clear(medley_evaluation *evaluation)
{
    free(evaluation->confusion);
    *evaluation = (medley_evaluation){0};
}

static void count_sequences(medley_evaluation *evaluation, const medley_dataset *dataset,
                            const int32_t *gold, const int32_t *predicted)
{
    size_t exact = 0;
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        bool right = true;
        for (size_t r = dataset->sequence_start[s]; r < dataset->sequence_start[s + 1]; r++)
            right = right && gold[r] == predicted[r];
        exact += right;
    }
    evaluation->examples = dataset->sequence_count ? dataset->sequence_count : dataset->rows;
    evaluation->exact_match =
        dataset->sequence_count ? (double)exact / (double)dataset->sequence_count : NAN;
}

medley_status medley_evaluate(medley_evaluation *evaluation, const medley_model *model,
                              const medley_dataset *dataset, size_t threads, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const double start = md_clock_seconds();
    const size_t labels = model->labels.count;
    medley_prediction *prediction = NULL;
    int32_t *gold = NULL;
    *evaluation = (medley_evaluation){.labels = labels, .parts = dataset->rows};
    if (dataset->label == NULL)
        return md_fail_at(error, MEDLEY_USAGE, dataset->source, 0,
                          "there are no labels to compare with; give labelled data or --labels "
                          "FILE, or use predict");
    evaluation->confusion = md_calloc(labels * labels, sizeof *evaluation->confusion);
    gold = md_dataset_map_labels(dataset, &model->labels);
    if (gold == NULL || evaluation->confusion == NULL) {
        status = md_fail_memory(error, dataset->rows * sizeof *gold);
        goto done;
    }
    MEDLEY_TRY(medley_predict(&prediction, model, dataset, threads, error));
    for (size_t r = 0; r < dataset->rows; r++) {
        evaluation->correct += gold[r] == prediction->label[r];
        evaluation->unknown_labels += gold[r] < 0;
        if (gold[r] >= 0)
            evaluation->confusion[(size_t)gold[r] * labels + (size_t)prediction->label[r]]++;
    }
    evaluation->accuracy = dataset->rows ? (double)evaluation->correct / (double)dataset->rows : 0;
    count_sequences(evaluation, dataset, gold, prediction->label);
    evaluation->seconds_score = prediction->seconds_score;
    evaluation->seconds_decode = prediction->seconds_decode;
    evaluation->seconds_total = md_clock_seconds() - start;
done:
    free(gold);
    medley_prediction_free(prediction);
    if (status < 0)
        medley_evaluation_clear(evaluation);
    return status;
}
