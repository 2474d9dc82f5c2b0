/* SPDX-License-Identifier: BSD-3-Clause */
/* The best trees of sentences, in the format of the data. */
#include "base/memory.h"
#include "data/dataset.h"
#include "io/io.h"
#include "model/model.h"

/* All ranks: texts of relations and probabilities, [best][rows]. */
struct lists {
    const char **texts;
    float *heads;
    md_predicted *outputs; /* [best] */
};

static void clear_lists(struct lists *lists)
{
    free(lists->texts);
    free(lists->heads);
    free(lists->outputs);
}

static void list_relations(const struct lists *lists, const medley_prediction *p,
                           const medley_model *model)
{
    for (size_t i = 0; p->best_label != NULL && i < p->best * p->rows; i++)
        if (p->best_label[i] >= 0)
            lists->texts[i] = medley_model_label_name(model, (size_t)p->best_label[i]);
}

static void list_probabilities(const struct lists *lists, const medley_prediction *p,
                               const medley_dataset *dataset)
{
    const float *arcs = p->arc_probability;
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t first = dataset->sequence_start[s];
        const size_t end = dataset->sequence_start[s + 1];
        for (size_t r = first; r < end; r++, arcs += end - first + 1)
            for (size_t k = 0; k < p->best; k++) {
                const int32_t head = p->best_head[k * p->rows + r];
                lists->heads[k * p->rows + r] = head >= 0 ? arcs[head] : NAN;
            }
    }
}

medley_status medley_prediction_write_best(const medley_prediction *prediction,
                                           const medley_model *model, const medley_dataset *dataset,
                                           const char *path, medley_error *error)
{
    md_begin(error);
    const medley_prediction *p = prediction;
    const size_t all = p->best * p->rows;
    const bool shares = p->arc_probability != NULL;
    MD_CLEARED(clear_lists) struct lists lists = {0};
    if (p->best_head == NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "the prediction has no best trees; ask a parser for them with `best`");
    MEDLEY_TRY(md_new(&lists.texts, all, sizeof *lists.texts, error));
    MEDLEY_TRY(md_new(&lists.heads, shares ? all : 0, sizeof *lists.heads, error));
    MEDLEY_TRY(md_new(&lists.outputs, p->best, sizeof *lists.outputs, error));
    list_relations(&lists, p, model);
    if (shares)
        list_probabilities(&lists, p, dataset);
    for (size_t k = 0; k < p->best; k++)
        lists.outputs[k] = (md_predicted){
            .labels = lists.texts + k * p->rows,
            .head = p->best_head + k * p->rows,
            .head_probability = shares ? lists.heads + k * p->rows : NULL,
            .label_probability =
                p->best_label_probability ? p->best_label_probability + k * p->rows : NULL};
    const md_ranking ranking = {.outputs = lists.outputs,
                                .count = p->best,
                                .score = p->best_score,
                                .probability = p->best_probability};
    return md_write_ranking(dataset, &ranking, path, error);
}
