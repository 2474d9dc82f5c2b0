/* SPDX-License-Identifier: BSD-3-Clause */
/* An explicit block: theta = scale * W with one weight per feature and part, [features][width] so
 * that the parts of a feature (the labels of a row, pairs of labels) are read together. Features
 * are the columns of a view, ids of a template, or one constant, times a gain.
 *
 * Bytes per feature of a row: 4 width read to score, read and written to step; flops 2 width and
 * about 5 width, since the norm is kept along the way. Soft thresholds are put off: two in a row
 * are one with their sum, so a feature remembers how much it has had and gets the rest when it is
 * next looked at. */
#include "block/explicit_internal.h"

#include "base/memory.h"
#include "block/row_features.h"
#include "block/weights.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SMALLEST_SCALE = 1e-6;                 /* below: fold the scale into the body */
static const double SMALLEST_SCALE_OF_AVERAGES = 1.0 / 32; /* weight_sum * body must not cancel */
enum { LOG_SHARE = 8 }; /* a log of more than this part of the features is no faster than none */

static explicit_block *cast(md_block *block)
{
    return (explicit_block *)block;
}

static const explicit_block *view(const md_block *block)
{
    return (const explicit_block *)block;
}

static float *weights_of(const explicit_block *x, size_t feature)
{
    return x->weight + feature * x->stride;
}

/* NULL: no average is kept. */
static float *aside_of(const explicit_block *x, size_t feature)
{
    return x->what.averaging ? weights_of(x, feature) + x->width : NULL;
}

/* ---- features of a row ---- */

/* ||phi||^2 of the features of a row. */
static double self(const md_block *block, size_t row)
{
    const explicit_block *x = view(block);
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
    if (x->had == NULL) {
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
        const float *weight = weights_of(x, column);
        const float late = x->had ? (float)(x->threshold - x->had[column]) : 0;
        if (late > 0)
            md_add_thresholded(out, weight, value, late, x->width);
        else
            md_add_weights(out, weight, value, x->width);
    }
}

static md_lookup lookup_of(const explicit_block *x, size_t first)
{
    const md_row_features *features = &x->what.features;
    return (md_lookup){.weight = x->weight,
                       .width = x->width,
                       .stride = x->stride,
                       .id = features->id + first * features->id_step,
                       .step = features->id_step};
}

static void prefetch(const md_block *block, md_example example)
{
    const explicit_block *x = view(block);
    const md_lookup lookup = lookup_of(x, example.row);
    if (block->norm > 0 && x->what.features.id != NULL)
        md_prefetch_weights(&lookup, example.length);
}

static void score(const md_block *block, md_example example, float *scores)
{
    const explicit_block *x = view(block);
    const float factor = (float)(md_block_factor(block) * x->what.gain);
    if (factor == 0)
        return;
    const md_space *space = &x->what.space;
    const md_groups groups = space->structure->groups(space->shape, example.length, x->what.kind);
    const size_t first = example.row + groups.row;
    if (x->what.features.id != NULL && x->had == NULL) {
        const md_lookup lookup = lookup_of(x, first);
        md_add_weights_of_ids(scores + groups.first, &lookup, groups.count, factor);
        return;
    }
    for (size_t g = 0; g < groups.count; g++)
        score_row(x, first + g, factor, scores + groups.first + g * groups.width);
}

/* ---- keeping count ---- */

static void note(explicit_block *x, size_t column)
{
    if (x->log_is_full)
        return;
    if (x->log_count == x->log_capacity)
        x->log_is_full = true;
    else
        x->log[x->log_count++] = (uint32_t)column;
}

/* Gives a feature the thresholds it has not had yet. */
static void catch_up(explicit_block *x, size_t column)
{
    if (x->had == NULL || x->had[column] == x->threshold)
        return;
    const float late = (float)(x->threshold - x->had[column]);
    float *weight = weights_of(x, column);
    float *aside = aside_of(x, column);
    for (size_t p = 0; p < x->width; p++) {
        const float old = weight[p];
        const float magnitude = fabsf(old) - late;
        weight[p] = magnitude > 0 ? copysignf(magnitude, old) : 0;
        x->norm2 += (double)weight[p] * (double)weight[p] - (double)old * (double)old;
        if (aside != NULL)
            aside[p] -= (float)(x->base.weight_sum * (double)(weight[p] - old));
    }
    x->had[column] = x->threshold;
}

static void catch_up_all(explicit_block *x)
{
    for (size_t c = 0; x->had != NULL && c < x->features; c++)
        catch_up(x, c);
}

/* Moves weight_sum * W of a feature aside. */
static void settle_feature(explicit_block *x, size_t feature)
{
    const double sum = x->base.weight_sum;
    const float *weight = weights_of(x, feature);
    float *aside = aside_of(x, feature);
    for (size_t p = 0; aside != NULL && sum != 0 && p < x->width; p++)
        aside[p] += (float)(sum * (double)weight[p]);
}

/* Puts the whole sum of iterates aside, so that W may change in any way. */
static void settle(explicit_block *x)
{
    catch_up_all(x);
    for (size_t f = 0; x->what.averaging && f < x->features; f++)
        settle_feature(x, f);
    x->base.weight_sum = 0;
}

/* Brings scale back to 1. */
static void fold_scale(explicit_block *x)
{
    settle(x);
    for (size_t f = 0; f < x->features; f++)
        for (size_t p = 0; p < x->width; p++)
            weights_of(x, f)[p] = (float)(x->base.scale * (double)weights_of(x, f)[p]);
    x->norm2 *= x->base.scale * x->base.scale;
    x->base.scale = 1;
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
        float *weight = weights_of(x, column);
        float *aside = aside_of(x, column);
        const float sum = (float)x->base.weight_sum;
        catch_up(x, column);
        note(x, column);
        if (MD_FEW_PARTS * slice->count < x->width) {
            for (size_t i = 0; i < slice->count; i++) {
                const size_t p = slice->part[i] - slice->first_part;
                const float change = factor * slice->coefficient[i];
                const float old = weight[p];
                x->norm2 += (double)change * (2 * (double)old + (double)change);
                weight[p] = old + change;
                if (aside != NULL) /* what rounding leaves of the change */
                    aside[p] -= sum * (weight[p] - old);
            }
        } else {
            x->norm2 += md_step_weights(weight, aside, slice->dense, factor, sum, x->width);
        }
    }
}

static double step(md_block *block, const md_step *step)
{
    explicit_block *x = cast(block);
    if (block->scale < (x->what.averaging ? SMALLEST_SCALE_OF_AVERAGES : SMALLEST_SCALE))
        fold_scale(x);
    for (size_t g = 0; g < step->count; g++) {
        struct stepping stepping = {.x = x, .step = step->eta / block->scale * x->what.gain};
        md_for_every_slice(x, &step->gradients[g], take, &stepping);
    }
    if (!isfinite(
            x->norm2)) /* squares that are too large for single precision: weights may not be */
        block->class->norm2(block);
    return x->norm2 <= 0 ? 0 : block->scale * sqrt(x->norm2);
}

static void finish(md_block *block, const md_step *step)
{
    (void)block; /* a weight is there at once */
    (void)step;
}

/* ---- the rest ---- */

static void clear_feature(explicit_block *x, size_t column)
{
    catch_up(x, column);
    settle_feature(x, column);
    memset(weights_of(x, column), 0, x->width * sizeof *x->weight);
}

static void clear(md_block *block)
{
    explicit_block *x = cast(block);
    for (size_t f = 0; x->log_is_full && f < x->features; f++)
        clear_feature(x, f);
    for (size_t i = 0; !x->log_is_full && i < x->log_count; i++)
        clear_feature(x, x->log[i]); /* one that comes again is zero by then */
    x->log_count = 0;
    x->log_is_full = false;
    x->norm2 = 0;
    block->weight_sum = 0;
    block->scale = 1;
    block->norm = 0;
}

static void restart(md_block *block)
{
    explicit_block *x = cast(block);
    clear(block);
    block->iterates = 0;
    memset(x->weight, 0, x->features * x->stride * sizeof *x->weight);
}

static double norm2(md_block *block)
{
    explicit_block *x = cast(block);
    catch_up_all(x);
    double sum = 0;
    for (size_t f = 0; f < x->features; f++)
        sum += md_sum_squares(weights_of(x, f), x->width);
    x->norm2 = sum;
    return block->scale * block->scale * sum;
}

static void soft_threshold(md_block *block, double tau)
{
    explicit_block *x = cast(block);
    if (block->norm > 0)
        x->threshold += tau / block->scale;
    if (x->what.averaging) /* the iterate that is counted next must have had it */
        catch_up_all(x);
}

static double sum_abs(md_block *block)
{
    explicit_block *x = cast(block);
    catch_up_all(x);
    double sum = 0;
    for (size_t f = 0; f < x->features; f++)
        for (size_t p = 0; p < x->width; p++)
            sum += fabs((double)weights_of(x, f)[p]);
    return block->scale * sum;
}

/* W has been filled anew. */
static void adopt(explicit_block *x)
{
    x->base.scale = 1;
    x->base.norm = 1; /* until it is refreshed: not 0 */
    x->log_is_full = true;
}

static medley_status take_average(md_block *block, medley_error *error)
{
    explicit_block *x = cast(block);
    (void)error;
    settle(x);
    for (size_t f = 0; f < x->features; f++)
        for (size_t p = 0; p < x->width; p++)
            weights_of(x, f)[p] = (float)((double)aside_of(x, f)[p] / block->iterates);
    adopt(x);
    return MEDLEY_OK;
}

static size_t body_size(const md_block *block)
{
    return view(block)->features * view(block)->width;
}

/* The gain belongs to the body here, so that W applies to the features themselves. */
static void export_body(md_block *block, float *body)
{
    explicit_block *x = cast(block);
    catch_up_all(x);
    const float factor = block->norm > 0 ? (float)(block->scale * block->link * x->what.gain) : 0;
    for (size_t f = 0; f < x->features; f++)
        for (size_t p = 0; p < x->width; p++)
            body[f * x->width + p] = factor * weights_of(x, f)[p];
}

static medley_status import_body(md_block *block, const float *body, medley_error *error)
{
    explicit_block *x = cast(block);
    (void)error;
    settle(x);
    for (size_t f = 0; f < x->features; f++)
        for (size_t p = 0; p < x->width; p++)
            weights_of(x, f)[p] = (float)((double)body[f * x->width + p] / x->what.gain);
    adopt(x);
    return MEDLEY_OK;
}

static void visit_state(md_block *block, md_state_visitor visit, void *context)
{
    explicit_block *x = cast(block);
    visit(context, x->weight, x->features * x->stride * sizeof *x->weight);
    visit(context, &x->norm2, sizeof x->norm2);
    visit(context, x->log, x->log_capacity * sizeof *x->log);
    visit(context, &x->log_count, sizeof x->log_count);
    visit(context, &x->log_is_full, sizeof x->log_is_full);
    visit(context, &x->threshold, sizeof x->threshold);
    if (x->had != NULL)
        visit(context, x->had, x->features * sizeof *x->had);
}

static void free_block(md_block *block)
{
    explicit_block *x = cast(block);
    free(x->weight);
    free(x->log);
    free(x->had);
    free(x);
}

static const md_block_class explicit_block_class = {
    .name = "explicit",
    .score = score,
    .prefetch = prefetch,
    .step = step,
    .finish = finish,
    .self = self,
    .gradient_norm2 = md_explicit_gradient_norm2,
    .clear = clear,
    .restart = restart,
    .norm2 = norm2,
    .soft_threshold = soft_threshold,
    .sum_abs = sum_abs,
    .take_average = take_average,
    .body_size = body_size,
    .export_body = export_body,
    .import_body = import_body,
    .visit_state = visit_state,
    .free = free_block,
};

/* Rows are looked up at random: large pages spare the processor many look-ups of its own. */
static float *zeros(size_t count)
{
    float *values = md_alloc_aligned(count, sizeof *values);
    if (values != NULL)
        memset(values, 0, count * sizeof *values);
    return values;
}

medley_status md_explicit_block_create(md_block **result, const md_explicit *what,
                                       medley_error *error)
{
    explicit_block *x = md_calloc(1, sizeof *x);
    if (x == NULL)
        return md_fail_memory(error, sizeof *x);
    const size_t labels = what->space.shape.labels;
    x->base = (md_block){.class = &explicit_block_class,
                         .name = what->name,
                         .labels = labels,
                         .scale = 1,
                         .link = 1};
    x->what = *what;
    x->features = what->features.count;
    x->width = what->space.structure->groups(what->space.shape, 3, what->kind).width;
    x->log_capacity = x->features / LOG_SHARE + 1;
    x->log = md_calloc(x->log_capacity, sizeof *x->log);
    x->stride = (what->averaging ? 2 : 1) * x->width;
    if (x->features > 1) /* in whole quarters of what memory gives at a time */
        x->stride = (x->stride + 3) / 4 * 4;
    x->weight = zeros(x->features * x->stride);
    if (what->thresholds)
        x->had = md_calloc(x->features, sizeof *x->had);
    if (x->weight == NULL || x->log == NULL || (what->thresholds && x->had == NULL)) {
        const size_t bytes = x->features * x->stride * sizeof(float);
        free_block(&x->base);
        return md_fail_memory(error, bytes);
    }
    *result = &x->base;
    return MEDLEY_OK;
}
