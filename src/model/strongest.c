/* SPDX-License-Identifier: BSD-3-Clause */
/* The weights of a block that matter most, as strings. */
#include "model/model.h"

struct place {
    float magnitude;
    size_t at; /* in the weights */
};

void medley_features_free(medley_feature *features, size_t count)
{
    for (size_t i = 0; features != NULL && i < count; i++)
        free(features[i].text);
    free(features);
}

struct list {
    medley_feature *features;
    size_t count;
};

static void clear_list(struct list *list)
{
    medley_features_free(list->features, list->count);
}

static int by_magnitude(const void *a, const void *b)
{
    const struct place *first = a;
    const struct place *second = b;
    if (first->magnitude != second->magnitude)
        return first->magnitude < second->magnitude ? 1 : -1;
    return first->at < second->at ? -1 : first->at > second->at;
}

/* The `most` largest: sorted, longer ones are cut off whenever twice as many have come together. */
static size_t find_largest(const md_weights *weights, struct place *places, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < weights->rows * weights->width; i++) {
        const float magnitude = fabsf(weights->values[i]);
        if (magnitude == 0)
            continue;
        places[count++] = (struct place){.magnitude = magnitude, .at = i};
        if (count == 2 * most) {
            qsort(places, count, sizeof *places, by_magnitude);
            count = most;
        }
    }
    qsort(places, count, sizeof *places, by_magnitude);
    return count < most ? count : most;
}

/* The labels that a part of this kind is about, in order. */
static void add_labels(const medley_model *model, md_part_kind kind, size_t part, md_text *text)
{
    const size_t labels = model->labels.count;
    char *const *names = model->labels.items;
    if (kind == MD_SHARED_PARTS)
        md_text_addf(text, "part %zu", part);
    else if (kind == MD_END_PARTS)
        md_text_addf(text, part < labels ? "first %s" : "last %s", names[part % labels]);
    else if (kind == MD_TRIPLE_PARTS)
        md_text_addf(text, "%s %s %s", names[part / labels / labels], names[part / labels % labels],
                     names[part % labels]);
    else if (kind == MD_PAIR_PARTS)
        md_text_addf(text, "%s %s", names[part / labels], names[part % labels]);
    else
        md_text_addf(text, "%s", names[part]);
}

static medley_status describe(const medley_model *model, const md_weights *weights, size_t at,
                              medley_feature *feature, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    if (weights->block != MD_CONSTANT) {
        md_feature_text(model->features, weights->block, at / weights->width, &text);
        md_text_addf(&text, " -> ");
    }
    add_labels(model, weights->kind, at % weights->width, &text);
    if (text.failed)
        return md_fail_memory(error, text.length);
    *feature = (medley_feature){.text = md_take(&text.data), .value = (double)weights->values[at]};
    return MEDLEY_OK;
}

static const md_weights *weights_of(const medley_model *model, size_t block)
{
    for (size_t w = 0; w < model->weights_count; w++)
        if (model->weights[w].info == block)
            return &model->weights[w];
    return NULL;
}

medley_status medley_model_features(medley_feature **features, size_t *count,
                                    const medley_model *model, size_t block, size_t most,
                                    medley_error *error)
{
    md_begin(error);
    const md_weights *weights = weights_of(model, block);
    *features = NULL;
    *count = 0;
    if (weights == NULL || most == 0)
        return MEDLEY_OK;
    const size_t size = weights->rows * weights->width;
    most = most < size ? most : size;
    MD_OWNED(free) struct place *places = NULL;
    MD_CLEARED(clear_list) struct list list = {0};
    MEDLEY_TRY(md_new(&places, 2 * most, sizeof *places, error));
    MEDLEY_TRY(md_new(&list.features, most, sizeof *list.features, error));
    list.count = find_largest(weights, places, most);
    for (size_t i = 0; i < list.count; i++)
        MEDLEY_TRY(describe(model, weights, places[i].at, &list.features[i], error));
    *features = md_take(&list.features);
    *count = list.count;
    return MEDLEY_OK;
}
