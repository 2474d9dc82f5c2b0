/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees compared with the right ones: heads, the relations of arcs, and arcs over others. */
#include "task/predicting.h"

#include "metrics/nonprojective.h"

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

static medley_status compare_nonprojective(medley_evaluation *evaluation,
                                           const medley_dataset *dataset,
                                           const medley_prediction *prediction, medley_error *error)
{
    const size_t longest = md_dataset_longest(dataset);
    md_nonprojective_counts counts = {0};
    MD_OWNED(free) bool *marked = NULL;
    MD_OWNED(free) uint32_t *room = NULL;
    MEDLEY_TRY(md_new(&marked, longest, sizeof *marked, error));
    MEDLEY_TRY(md_new(&room, md_nonprojective_room(longest), sizeof *room, error));
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t first = dataset->sequence_start[s];
        md_nonprojective_count(&counts, dataset->head + first, prediction->head + first,
                               dataset->sequence_start[s + 1] - first, marked, room);
    }
    evaluation->nonprojective_gold = counts.gold;
    evaluation->nonprojective_predicted = counts.predicted;
    evaluation->nonprojective_precision = md_nonprojective_precision(counts);
    evaluation->nonprojective_recall = md_nonprojective_recall(counts);
    return MEDLEY_OK;
}

/* Of heads; those of the data need not be possible. */
static void compare_probabilities(medley_evaluation *evaluation, const medley_dataset *dataset,
                                  const medley_prediction *prediction)
{
    md_reliability reliability = {.rows = (double)dataset->rows};
    const float *p = prediction->arc_probability;
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t end = dataset->sequence_start[s + 1];
        const size_t width = end - dataset->sequence_start[s] + 1;
        for (size_t r = dataset->sequence_start[s]; r < end; r++, p += width) {
            const bool possible = dataset->head[r] >= 0 && (size_t)dataset->head[r] < width;
            md_reliability_add(&reliability, p, width, possible ? dataset->head[r] : -1,
                               (size_t)prediction->head[r]);
        }
    }
    md_tell_reliability(evaluation, &reliability);
}

medley_status md_tree_compare(medley_evaluation *evaluation, const md_request *request,
                              const medley_prediction *prediction, medley_error *error)
{
    const medley_dataset *dataset = request->dataset;
    MD_OWNED(free) int32_t *relation = map_relations(dataset, request->model);
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
    md_compare_sequences(evaluation, dataset, dataset->head, prediction->head);
    if (request->options.probabilities)
        compare_probabilities(evaluation, dataset, prediction);
    return compare_nonprojective(evaluation, dataset, prediction, error);
}

/* Heads that are given are enough: they need not make trees. */
medley_status md_tree_check_truth(const medley_dataset *dataset, medley_error *error)
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
