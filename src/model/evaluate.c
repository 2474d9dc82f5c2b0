/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions compared with known labels. */
#include "model/model.h"

#include "base/clock.h"
#include "base/memory.h"
#include "metrics/chunk.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Labels of the data, which the model need not know, and those of the model in one numbering. */
static medley_status join_labels(md_strings *names, int32_t *of_data, const medley_model *model,
                                 const medley_dataset *dataset, medley_error *error)
{
    const md_strings *const sources[] = {&model->labels, &dataset->label_names};
    for (size_t s = 0; s < 2; s++)
        for (size_t l = 0; l < sources[s]->count; l++) {
            const char *text = sources[s]->items[l];
            const int32_t id = md_strings_add(names, text, strlen(text));
            if (id < 0)
                return md_fail_memory(error, strlen(text));
            if (s == 1)
                of_data[l] = id;
        }
    return MEDLEY_OK;
}

static medley_status count_chunks(medley_evaluation *evaluation, const medley_model *model,
                                  const medley_dataset *dataset, const int32_t *predicted,
                                  medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_strings names = {0};
    md_chunk_scheme scheme = {0};
    md_chunk_counts *counts = NULL;
    int32_t *of_data = md_calloc(dataset->label_names.count, sizeof *of_data);
    int32_t *given = md_calloc(dataset->rows, sizeof *given);
    if (of_data == NULL || given == NULL) {
        status = md_fail_memory(error, dataset->rows * sizeof *given);
        goto done;
    }
    MEDLEY_TRY(join_labels(&names, of_data, model, dataset, error));
    if (!md_chunk_labels(&names))
        goto done;
    MEDLEY_TRY(md_chunk_scheme_init(&scheme, &names, error));
    counts = md_calloc(scheme.types.count, sizeof *counts);
    if (counts == NULL) {
        status = md_fail_memory(error, scheme.types.count * sizeof *counts);
        goto done;
    }
    for (size_t r = 0; r < dataset->rows; r++)
        given[r] = dataset->label[r] < 0 ? -1 : of_data[dataset->label[r]];
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t first = dataset->sequence_start[s];
        md_chunk_count(&scheme, given + first, predicted + first,
                       dataset->sequence_start[s + 1] - first, counts);
    }
    const md_chunk_counts total = md_chunk_total(counts, scheme.types.count);
    evaluation->has_chunks = true;
    evaluation->chunk_precision = md_chunk_precision(total);
    evaluation->chunk_recall = md_chunk_recall(total);
    evaluation->chunk_f1 = md_chunk_f1(total);
done:
    md_strings_clear(&names);
    md_chunk_scheme_clear(&scheme);
    free(counts);
    free(of_data);
    free(given);
    return status;
}

/* ---- probabilities ---- */

enum { BINS = 15 };
static const double LEAST_PROBABILITY = 1e-15;

struct bin {
    double confidence; /* sum of the highest probabilities */
    double right;      /* how many of them were of the right label */
};

/* Squared distance of a row's probabilities to the right answer; the most probable label. */
static double row_distance(const float *p, size_t labels, int32_t right, size_t *top)
{
    double sum = right < 0 ? 1 : 0;
    *top = 0;
    for (size_t l = 0; l < labels; l++) {
        const double distance = (double)p[l] - ((int32_t)l == right ? 1 : 0);
        sum += distance * distance;
        *top = p[l] > p[*top] ? l : *top;
    }
    return sum;
}

static void measure_probabilities(medley_evaluation *evaluation, const int32_t *gold,
                                  const medley_prediction *prediction)
{
    const size_t labels = prediction->labels;
    const double n = (double)prediction->rows;
    struct bin bins[BINS] = {{0}};
    evaluation->log_loss = evaluation->brier = evaluation->calibration_error = 0;
    for (size_t r = 0; r < prediction->rows; r++) {
        const float *p = prediction->score + r * labels;
        const double right = gold[r] < 0 ? 0 : (double)p[gold[r]];
        size_t top;
        evaluation->brier += row_distance(p, labels, gold[r], &top) / n;
        evaluation->log_loss -= log(fmax(right, LEAST_PROBABILITY)) / n;
        const double most = (double)p[top];
        const size_t bin = most < 1 ? (size_t)(most * BINS) : BINS - 1;
        bins[bin].confidence += most;
        bins[bin].right += (int32_t)top == gold[r];
    }
    for (size_t b = 0; b < BINS; b++)
        evaluation->calibration_error += fabs(bins[b].confidence - bins[b].right) / n;
}

/* ---- labels ---- */

static medley_status compare_labels(medley_evaluation *evaluation, const medley_model *model,
                                    const medley_dataset *dataset,
                                    const medley_prediction *prediction, bool probabilities,
                                    medley_error *error)
{
    const size_t labels = model->labels.count;
    int32_t *gold = md_dataset_map_labels(dataset, &model->labels);
    evaluation->confusion = md_calloc(labels * labels, sizeof *evaluation->confusion);
    if (gold == NULL || evaluation->confusion == NULL) {
        free(gold);
        return md_fail_memory(error, dataset->rows * sizeof *gold);
    }
    for (size_t r = 0; r < dataset->rows; r++) {
        evaluation->correct += gold[r] == prediction->label[r];
        evaluation->unknown_labels += gold[r] < 0;
        if (gold[r] >= 0)
            evaluation->confusion[(size_t)gold[r] * labels + (size_t)prediction->label[r]]++;
    }
    evaluation->accuracy = dataset->rows ? (double)evaluation->correct / (double)dataset->rows : 0;
    count_sequences(evaluation, dataset, gold, prediction->label);
    if (probabilities)
        measure_probabilities(evaluation, gold, prediction);
    free(gold);
    if (dataset->sequence_count == 0)
        return MEDLEY_OK;
    return count_chunks(evaluation, model, dataset, prediction->label, error);
}

/* ---- trees ---- */

enum { UPOS = 3, DEPREL = 7 }; /* columns of CoNLL-U */

/* Relations of the data in the model's numbering, -1 for those that it does not know. */
static int32_t *map_relations(const medley_dataset *dataset, const medley_model *model)
{
    const md_strings *texts = &dataset->token_values[DEPREL];
    int32_t *map = md_calloc(texts->count, sizeof *map);
    for (size_t i = 0; map != NULL && i < texts->count; i++)
        map[i] = md_strings_find(&model->labels, texts->items[i], strlen(texts->items[i]));
    return map;
}

static medley_status compare_trees(medley_evaluation *evaluation, const medley_model *model,
                                   const medley_dataset *dataset,
                                   const medley_prediction *prediction, medley_error *error)
{
    int32_t *relation = map_relations(dataset, model);
    if (relation == NULL)
        return md_fail_memory(error, dataset->token_values[DEPREL].count * sizeof *relation);
    const md_strings *tags = &dataset->token_values[UPOS];
    const int32_t punctuation = md_strings_find(tags, "PUNCT", 5);
    const int32_t none = md_strings_find(&dataset->token_values[DEPREL], "_", 1);
    bool given = false;
    double heads = 0;
    double arcs = 0;
    double words = 0;
    double word_heads = 0;
    double word_arcs = 0;
    for (size_t r = 0; r < dataset->rows; r++) {
        const int32_t *token = dataset->token + r * dataset->token_columns;
        const bool head = prediction->head[r] == dataset->head[r];
        const bool known = prediction->label != NULL && relation[token[DEPREL]] >= 0;
        const bool arc = head && known && prediction->label[r] == relation[token[DEPREL]];
        const bool word = token[UPOS] != punctuation;
        evaluation->unknown_labels += prediction->label != NULL && !known;
        given = given || token[DEPREL] != none;
        heads += head;
        arcs += arc;
        words += word;
        word_heads += head && word;
        word_arcs += arc && word;
    }
    const double rows = (double)dataset->rows;
    evaluation->correct = (size_t)heads;
    evaluation->accuracy = evaluation->uas = heads / rows;
    evaluation->uas_no_punct = words > 0 ? word_heads / words : 0;
    if (prediction->label != NULL && given) { /* else there are no relations to compare with */
        evaluation->las = arcs / rows;
        evaluation->las_no_punct = words > 0 ? word_arcs / words : 0;
    }
    count_sequences(evaluation, dataset, dataset->head, prediction->head);
    free(relation);
    return MEDLEY_OK;
}

/* Heads that are given are enough: they need not make trees. */
static medley_status check_heads(const medley_dataset *dataset, medley_error *error)
{
    for (size_t r = 0; dataset->head != NULL && r < dataset->rows; r++)
        if (dataset->head[r] < 0)
            return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source,
                              dataset->line ? dataset->line[r] : 0,
                              "the HEAD is not given, so there is nothing to compare with; use "
                              "predict");
    if (dataset->head != NULL && dataset->rows > 0)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0,
                      "there are no trees to compare with; give CoNLL-U with heads");
}

/* The labels as numbers. A selection of rows may have no others although the file has. */
static medley_status read_targets(double **targets, const medley_dataset *dataset,
                                  medley_error *error)
{
    double *target = *targets = md_calloc(dataset->rows, sizeof *target);
    if (target == NULL)
        return md_fail_memory(error, dataset->rows * sizeof *target);
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
                              "predicts numbers; check --label",
                              r + 1, text);
    }
    return MEDLEY_OK;
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

medley_status medley_evaluate_with(medley_evaluation *evaluation, const medley_model *model,
                                   const medley_dataset *dataset,
                                   const medley_evaluate_options *given, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    medley_evaluate_options options = MEDLEY_EVALUATE_OPTIONS_INIT;
    if (given != NULL)
        memcpy(&options, given,
               given->struct_size < sizeof options ? given->struct_size : sizeof options);
    medley_predict_options wanted = MEDLEY_PREDICT_OPTIONS_INIT;
    wanted.threads = options.threads;
    wanted.probabilities = options.probabilities;
    wanted.tags = options.tags;
    const double start = md_clock_seconds();
    medley_prediction *prediction = NULL;
    double *targets = NULL;
    *evaluation = (medley_evaluation){.labels = model->labels.count,
                                      .parts = dataset->rows,
                                      .rmse = NAN,
                                      .r2 = NAN,
                                      .log_loss = NAN,
                                      .brier = NAN,
                                      .calibration_error = NAN,
                                      .uas = NAN,
                                      .las = NAN,
                                      .uas_no_punct = NAN,
                                      .las_no_punct = NAN};
    if (model->parser != NULL)
        MEDLEY_TRY(check_heads(dataset, error));
    else if (dataset->label == NULL &&
             !(medley_model_is_regression(model) && dataset->target != NULL))
        return md_fail_at(error, MEDLEY_USAGE, dataset->source, 0,
                          "there are no labels to compare with; give labelled data or --labels "
                          "FILE, or use predict");
    if (medley_model_is_regression(model))
        MEDLEY_TRY(read_targets(&targets, dataset, error));
    MEDLEY_TRY(medley_predict_with(&prediction, model, dataset, &wanted, error));
    if (model->parser != NULL)
        MEDLEY_TRY(compare_trees(evaluation, model, dataset, prediction, error));
    else if (targets != NULL)
        compare_values(evaluation, targets, prediction);
    else
        MEDLEY_TRY(
            compare_labels(evaluation, model, dataset, prediction, wanted.probabilities, error));
    evaluation->seconds_score = prediction->seconds_score;
    evaluation->seconds_decode = prediction->seconds_decode;
    evaluation->seconds_total = md_clock_seconds() - start;
done:
    free(targets);
    medley_prediction_free(prediction);
    if (status < 0)
        medley_evaluation_clear(evaluation);
    return status;
}

medley_status medley_evaluate(medley_evaluation *evaluation, const medley_model *model,
                              const medley_dataset *dataset, size_t threads, medley_error *error)
{
    medley_evaluate_options options = MEDLEY_EVALUATE_OPTIONS_INIT;
    options.threads = threads;
    return medley_evaluate_with(evaluation, model, dataset, &options, error);
}
