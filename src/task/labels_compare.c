/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels compared with the right ones: rows, sequences, chunks and probabilities. */
#include "task/predicting.h"

void md_compare_sequences(medley_evaluation *evaluation, const medley_dataset *dataset,
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
            MEDLEY_TRY(
                md_strings_put(names, text, strlen(text), s == 1 ? &of_data[l] : NULL, error));
        }
    return MEDLEY_OK;
}

medley_status md_count_chunks(md_chunk_counts **counts, const medley_model *model,
                              const medley_dataset *dataset, const int32_t *predicted,
                              medley_error *error)
{
    MD_CLEARED(md_strings_clear) md_strings names = {0};
    MD_CLEARED(md_chunk_scheme_clear) md_chunk_scheme scheme = {0};
    MD_OWNED(free) md_chunk_counts *made = NULL;
    MD_OWNED(free) md_chunk_counts *by_type = NULL;
    MD_OWNED(free) int32_t *of_data = NULL;
    MD_OWNED(free) int32_t *given = NULL;
    *counts = NULL;
    MEDLEY_TRY(md_new(&of_data, dataset->label_names.count, sizeof *of_data, error));
    MEDLEY_TRY(md_new(&given, dataset->rows, sizeof *given, error));
    MEDLEY_TRY(join_labels(&names, of_data, model, dataset, error));
    if (!md_chunk_labels(&names))
        return MEDLEY_OK;
    MEDLEY_TRY(md_chunk_scheme_init(&scheme, &names, error));
    MEDLEY_TRY(md_new(&by_type, scheme.types.count, sizeof *by_type, error));
    MEDLEY_TRY(md_new(&made, dataset->sequence_count, sizeof *made, error));
    for (size_t r = 0; r < dataset->rows; r++)
        given[r] = dataset->label[r] < 0 ? -1 : of_data[dataset->label[r]];
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t first = dataset->sequence_start[s];
        memset(by_type, 0, scheme.types.count * sizeof *by_type);
        md_chunk_count(&scheme, given + first, predicted + first,
                       dataset->sequence_start[s + 1] - first, by_type);
        made[s] = md_chunk_total(by_type, scheme.types.count);
    }
    *counts = md_take(&made);
    return MEDLEY_OK;
}

static medley_status measure_chunks(medley_evaluation *evaluation, const medley_model *model,
                                    const medley_dataset *dataset, const int32_t *predicted,
                                    medley_error *error)
{
    MD_OWNED(free) md_chunk_counts *counts = NULL;
    MEDLEY_TRY(md_count_chunks(&counts, model, dataset, predicted, error));
    if (counts == NULL)
        return MEDLEY_OK;
    const md_chunk_counts total = md_chunk_total(counts, dataset->sequence_count);
    evaluation->has_chunks = true;
    evaluation->chunk_precision = md_chunk_precision(total);
    evaluation->chunk_recall = md_chunk_recall(total);
    evaluation->chunk_f1 = md_chunk_f1(total);
    return MEDLEY_OK;
}

/* ---- probabilities ---- */

static void measure_probabilities(medley_evaluation *evaluation, const int32_t *gold,
                                  const medley_prediction *prediction)
{
    const size_t labels = prediction->labels;
    md_reliability reliability = {.rows = (double)prediction->rows};
    for (size_t r = 0; r < prediction->rows; r++) {
        const float *p = prediction->score + r * labels;
        size_t top = 0;
        for (size_t l = 0; l < labels; l++)
            top = p[l] > p[top] ? l : top;
        md_reliability_add(&reliability, p, labels, gold[r], top);
    }
    md_tell_reliability(evaluation, &reliability);
}

void md_tell_reliability(medley_evaluation *evaluation, const md_reliability *reliability)
{
    evaluation->log_loss = reliability->log_loss;
    evaluation->brier = reliability->brier;
    evaluation->calibration_error = md_reliability_error(reliability);
}

/* ---- labels ---- */

medley_status md_labels_check_truth(const medley_dataset *dataset, medley_error *error)
{
    return dataset->label != NULL ? MEDLEY_OK : md_fail_no_labels(dataset, error);
}

medley_status md_labels_compare(medley_evaluation *evaluation, const md_request *request,
                                const medley_prediction *prediction, medley_error *error)
{
    const medley_model *model = request->model;
    const medley_dataset *dataset = request->dataset;
    const size_t labels = model->labels.count;
    MEDLEY_TRY(
        md_new(&evaluation->confusion, labels * labels, sizeof *evaluation->confusion, error));
    MD_OWNED(free) int32_t *gold = NULL;
    MEDLEY_TRY(md_dataset_map_labels(&gold, dataset, &model->labels, error));
    for (size_t r = 0; r < dataset->rows; r++) {
        evaluation->correct += gold[r] == prediction->label[r];
        evaluation->unknown_labels += gold[r] < 0;
        if (gold[r] >= 0)
            evaluation->confusion[(size_t)gold[r] * labels + (size_t)prediction->label[r]]++;
    }
    evaluation->accuracy = dataset->rows ? (double)evaluation->correct / (double)dataset->rows : 0;
    md_compare_sequences(evaluation, dataset, gold, prediction->label);
    if (request->options.probabilities)
        measure_probabilities(evaluation, gold, prediction);
    if (dataset->sequence_count == 0)
        return MEDLEY_OK;
    return measure_chunks(evaluation, model, dataset, prediction->label, error);
}
