/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights of templates and label context on their way into a model: features without any are left
 * behind. */
#include "learner/build_model.h"

#include "base/memory.h"
#include <string.h>

/* Which features of a template have any weight. */
static medley_status find_kept(md_builder *b, size_t block, size_t *count)
{
    const md_candidate *candidate = md_builder_candidate(b, block);
    const md_learnt *learnt = &b->learnt[block];
    const size_t features = md_features_count(b->problem->features, candidate->index);
    bool *kept = md_calloc(features, sizeof *kept);
    if (kept == NULL)
        return md_fail_memory(b->error, features * sizeof *kept);
    b->kept[candidate->index] = kept;
    const bool hashed = b->problem->options->hash_bits > 0;
    const size_t width = learnt->size / features;
    *count = 0;
    for (size_t f = 0; f < features; f++) {
        kept[f] =
            hashed || md_learnt_has_some(learnt, f * width, width); /* slots are where they are */
        *count += kept[f];
    }
    return MEDLEY_OK;
}

/* The features that stay move together; their order stays. */
static medley_status copy_weights(md_builder *b, size_t block, md_weights *weights)
{
    const md_candidate *candidate = md_builder_candidate(b, block);
    const md_learnt *learnt = &b->learnt[block];
    const md_space *space = &b->problem->space;
    const bool templated = candidate->source == MD_FROM_TEMPLATE;
    *weights =
        (md_weights){.kind = candidate->kind,
                     .info = learnt->candidate,
                     .block = templated ? candidate->index : MD_CONSTANT,
                     .width = space->structure->groups(space->shape, 3, candidate->kind).width,
                     .rows = 1};
    if (templated) {
        const medley_status status = find_kept(b, block, &weights->rows);
        if (status < 0)
            return status;
    }
    weights->values = md_calloc(weights->rows * weights->width, sizeof *weights->values);
    if (weights->values == NULL)
        return md_fail_memory(b->error, weights->rows * weights->width * sizeof(float));
    const size_t rows = learnt->size / weights->width;
    float *to = weights->values;
    for (size_t f = 0; f < rows; f++) {
        if (templated && !b->kept[candidate->index][f])
            continue;
        memcpy(to, learnt->values + f * weights->width, weights->width * sizeof *to);
        to += weights->width;
    }
    return MEDLEY_OK;
}

/* Templates without weights are left out, so those behind them move up. */
static void renumber_templates(md_builder *b)
{
    for (size_t w = 0; w < b->model->weights_count; w++) {
        md_weights *weights = &b->model->weights[w];
        size_t place = 0;
        for (size_t t = 0; weights->block != MD_CONSTANT && t < weights->block; t++)
            place += b->kept[t] != NULL;
        if (weights->block != MD_CONSTANT)
            weights->block = place;
    }
}

medley_status md_builder_copy_features(md_builder *b)
{
    medley_model *model = b->model;
    const md_templates *templates = b->problem->templates;
    b->template_count = templates ? md_templates_count(templates) : 0;
    b->kept = md_calloc(b->template_count, sizeof *b->kept);
    model->weights = md_calloc(b->trained->block_count, sizeof *model->weights);
    if (b->kept == NULL || model->weights == NULL)
        return md_fail_memory(b->error, b->trained->block_count * sizeof *model->weights);
    bool templated = false;
    for (size_t i = 0; i < b->trained->block_count; i++) {
        if (!md_learnt_is_active(&b->learnt[i]) || md_builder_has_kernels(b, i))
            continue;
        templated = templated || md_builder_candidate(b, i)->source == MD_FROM_TEMPLATE;
        const medley_status status = copy_weights(b, i, &model->weights[model->weights_count++]);
        if (status < 0)
            return status;
    }
    model->token_columns = templates ? b->problem->train->token_columns : 0;
    model->label_column = templates ? b->problem->train->label_column + 1 : 0;
    if (!templated)
        return MEDLEY_OK;
    renumber_templates(b);
    return md_features_subset(&model->features, b->problem->features, (const bool *const *)b->kept,
                              b->error);
}
