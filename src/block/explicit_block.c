/* SPDX-License-Identifier: BSD-3-Clause */
/* An explicit block: theta = scale * W with one weight per feature and part, [features][width] so
 * that the parts of a feature (the labels of a row, pairs of labels) are read together. Features
 * are the columns of a view, ids of a template, or one constant, times a gain.
 *
 * Bytes per feature of a row: 4 width read to score, read and written to step; flops 2 width and
 * about 5 width, since the norm is kept along the way. */
#include "block/explicit_internal.h"

#include "block/feature_weights.h"
#include "linalg/vectors.h"

/* ---- features of a row ---- */

/* ||phi||^2 of the features of a row. */
static double self(const md_block *block, size_t row)
{
    const explicit_block *x = (const explicit_block *)block;
    const struct feature_row features = row_of(&x->what.features, row);
    double sum = 0;
    for (size_t e = 0; e < features.count; e++)
        sum += value_at(&features, e) * value_at(&features, e);
    return x->what.gain * x->what.gain * sum;
}

/* ---- scores ---- */

static void score_row(const explicit_block *x, size_t row, float factor, float *out)
{
    const struct feature_row features = row_of(&x->what.features, row);
    if (x->applied == NULL) {
        const md_lookup lookup = {.weight = x->weight, .width = x->width, .stride = x->stride};
        md_add_weights_of_row(out, &lookup, features.column, features.value, features.count,
                              factor);
        return;
    }
    for (size_t e = 0; e < features.count; e++) {
        const size_t column = column_at(&features, e);
        const float value = (float)(factor * value_at(&features, e));
        if (value == 0)
            continue;
        const float *weight = md_explicit_weights(x, column);
        const float late = x->applied ? (float)(x->threshold - x->applied[column]) : 0;
        if (late > 0)
            md_add_thresholded(out, weight, value, late, x->width);
        else
            md_add_multiple(out, value, weight, x->width);
    }
}

static md_lookup lookup_of(const explicit_block *x, size_t first)
{
    const md_row_features *features = &x->what.features;
    return (md_lookup){.weight = x->weight,
                       .width = x->width,
                       .stride = x->stride,
                       .id = features->id ? features->id + first * features->id_step : NULL,
                       .step = features->id_step};
}

static void prefetch(const md_block *block, md_example example)
{
    const explicit_block *x = (const explicit_block *)block;
    const md_lookup lookup = lookup_of(x, example.row);
    if (block->norm > 0 && x->what.features.id != NULL)
        md_prefetch_weights(&lookup, example.length);
}

/* Some groups of the block's kind. */
static void score_groups(const explicit_block *x, md_example example, md_groups groups,
                         float *scores)
{
    const float factor = (float)(md_block_factor(&x->base) * x->what.gain);
    if (factor == 0)
        return;
    const size_t first = example.row + groups.row;
    if (x->what.features.id != NULL && x->applied == NULL) {
        const md_lookup lookup = lookup_of(x, first);
        md_add_weights_of_ids(scores + groups.first, &lookup, groups.count, factor);
        return;
    }
    for (size_t g = 0; g < groups.count; g++)
        score_row(x, first + g, factor, scores + groups.first + g * groups.width);
}

static md_groups groups_of(const explicit_block *x, size_t length)
{
    const md_space *space = &x->what.space;
    return space->structure->groups(space->shape, length, x->what.kind);
}

static void score(const md_block *block, md_example example, float *scores)
{
    const explicit_block *x = (const explicit_block *)block;
    score_groups(x, example, groups_of(x, example.length), scores);
}

/* Parts of several rows are scored with the first one. */
static void score_rows(const md_block *block, md_example example, size_t first, size_t rows,
                       float *scores)
{
    const explicit_block *x = (const explicit_block *)block;
    md_groups groups = groups_of(x, example.length);
    if (x->what.kind == MD_ROW_PARTS) {
        groups.row += first;
        groups.first += first * groups.width;
        groups.count = rows;
    }
    if (x->what.kind == MD_ROW_PARTS || first == 0)
        score_groups(x, example, groups, scores);
}

/* ---- steps ---- */

struct stepping {
    explicit_block *x;
    double step;
};

static void take(void *context, size_t row, const struct slice *slice)
{
    const struct stepping *stepping = context;
    explicit_block *x = stepping->x;
    const struct feature_row features = row_of(&x->what.features, row);
    for (size_t e = 0; e < features.count; e++) {
        const size_t column = column_at(&features, e);
        const float factor = (float)(-stepping->step * value_at(&features, e));
        if (factor == 0)
            continue;
        float *weight = md_explicit_weights(x, column);
        float *correction = md_explicit_correction(x, column);
        const float sum = (float)x->base.weight_sum;
        if (x->applied != NULL)
            md_explicit_catch_up(x, column);
        md_explicit_note(x, column);
        if (MD_FEW_PARTS * slice->count < x->width) {
            for (size_t i = 0; i < slice->count; i++) {
                const size_t p = slice->part[i] - slice->first_part;
                const float change = factor * slice->coefficient[i];
                const float old = weight[p];
                x->norm2 += (double)change * (2 * (double)old + (double)change);
                weight[p] = old + change;
                if (correction != NULL) /* what rounding leaves of the change */
                    correction[p] -= sum * (weight[p] - old);
            }
        } else {
            x->norm2 += md_step_weights(weight, correction, slice->dense, factor, sum, x->width);
        }
    }
}

/* Asks for the weights that a gradient is about to change. Where other ranks have scored its
 * example they are not in the cache. */
static void prefetch_step(const explicit_block *x, const md_gradient *gradient)
{
    enum { LINE = 16 }; /* floats */
    const md_row_features *features = &x->what.features;
    const md_delta *delta = gradient->delta;
    for (size_t r = 0; features->id != NULL && r < delta->row_count; r++) {
        const size_t row = gradient->example.row + delta->row[r];
        const int32_t id = features->id[row * features->id_step];
        for (size_t p = 0; id >= 0 && p < x->width; p += LINE)
            __builtin_prefetch(md_explicit_weights(x, (size_t)id) + p, 1);
    }
}

static double step(md_block *block, const md_step *step)
{
    explicit_block *x = (explicit_block *)block;
    md_explicit_mend_scale(x);
    for (size_t g = 0; g < step->count; g++) {
        if (g + 1 < step->count && x->what.kind == MD_ROW_PARTS)
            prefetch_step(x, &step->gradients[g + 1]);
        struct stepping stepping = {.x = x, .step = step->eta / block->scale * x->what.gain};
        md_for_every_slice(x, &step->gradients[g], take, &stepping);
    }
    return md_explicit_step_norm(x);
}

struct sloping {
    explicit_block *x;
    double sum;
};

static void add_slope(void *context, size_t row, const struct slice *slice)
{
    struct sloping *sloping = context;
    explicit_block *x = sloping->x;
    const struct feature_row features = row_of(&x->what.features, row);
    for (size_t e = 0; e < features.count; e++) {
        const size_t column = column_at(&features, e);
        double sum = 0;
        if (x->applied != NULL)
            md_explicit_catch_up(x, column);
        const float *weight = md_explicit_weights(x, column);
        for (size_t i = 0; i < slice->count; i++)
            sum +=
                (double)slice->coefficient[i] * (double)weight[slice->part[i] - slice->first_part];
        sloping->sum += value_at(&features, e) * sum;
    }
}

static double slope(md_block *block, const md_gradient *gradient)
{
    struct sloping sloping = {.x = (explicit_block *)block};
    if (block->norm > 0)
        md_for_every_slice(sloping.x, gradient, add_slope, &sloping);
    return block->scale * sloping.x->what.gain * sloping.sum;
}

static const md_block_class explicit_block_class = {
    .name = "explicit",
    .score = score,
    .score_rows = score_rows,
    .prefetch = prefetch,
    .step = step,
    .self = self,
    .slope = slope,
    .gradient_norm2 = md_explicit_gradient_norm2,
    MD_EXPLICIT_STATE,
};

medley_status md_explicit_block_create(md_block **result, const md_explicit *what,
                                       medley_error *error)
{
    explicit_block *x;
    MEDLEY_TRY(md_new(&x, 1, sizeof *x, error));
    const size_t labels = what->space.shape.labels;
    x->base = (md_block){.class = &explicit_block_class, .name = what->name, .labels = labels};
    x->what = *what;
    x->features = what->features.count;
    x->width = what->space.structure->groups(what->space.shape, 3, what->kind).width;
    x->stride = (what->averaging ? 2 : 1) * x->width;
    if (x->features > 1) /* in whole quarters of what memory gives at a time */
        x->stride = (x->stride + 3) / 4 * 4;
    return md_explicit_finish_create(result, x, error);
}
