/* SPDX-License-Identifier: BSD-3-Clause */
/* An explicit block: theta = scale * W with one weight per feature and label, [columns][labels] so
 * that the labels of a feature are read together. Features are the columns of a view, dense or
 * sparse, times a constant gain. */
#include "block/block.h"

#include "base/memory.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const double SMALLEST_SCALE = 1e-6;                 /* below: fold the scale into the body */
static const double SMALLEST_SCALE_OF_AVERAGES = 1.0 / 32; /* weight_sum * body must not cancel */

typedef struct explicit_block {
    md_block base;
    const md_matrix *features;
    double gain;
    size_t columns;
    float *weight; /* [columns][labels] W */
    float *aside;  /* [columns][labels] the sum of iterates is weight_sum * W + aside; or NULL */
} explicit_block;

/* A row as a list of (column, value): dense rows have every column. */
struct feature_row {
    const int32_t *column; /* NULL: 0, 1, 2 ... */
    const float *value;
    size_t count;
};

static struct feature_row row_of(const md_matrix *matrix, size_t row)
{
    if (matrix->dense != NULL)
        return (struct feature_row){NULL, matrix->dense + row * matrix->columns, matrix->columns};
    return (struct feature_row){matrix->index + matrix->start[row],
                                matrix->value + matrix->start[row],
                                matrix->start[row + 1] - matrix->start[row]};
}

static size_t column_at(const struct feature_row *row, size_t e)
{
    return row->column ? (size_t)row->column[e] : e;
}

static void score(const md_block *block, md_example example, float *scores)
{
    const explicit_block *x = (const explicit_block *)block;
    const float factor = (float)(block->scale * x->gain);
    if (block->norm == 0)
        return;
    for (size_t i = 0; i < example.length; i++) {
        const struct feature_row row = row_of(x->features, example.row + i);
        float *out = scores + i * block->labels;
        for (size_t e = 0; e < row.count; e++) {
            const float value = factor * row.value[e];
            const float *weight = x->weight + column_at(&row, e) * block->labels;
            for (size_t l = 0; l < block->labels; l++)
                out[l] += value * weight[l];
        }
    }
}

static double slope(const md_block *block, md_example example, const md_delta *delta)
{
    const explicit_block *x = (const explicit_block *)block;
    double sum = 0;
    for (size_t i = 0; i < delta->count; i++) {
        const size_t place = delta->part[i] / block->labels;
        const size_t label = delta->part[i] % block->labels;
        if (place >= example.length)
            continue;
        const struct feature_row row = row_of(x->features, example.row + place);
        double score_there = 0;
        for (size_t e = 0; e < row.count; e++)
            score_there += (double)row.value[e] *
                           (double)x->weight[column_at(&row, e) * block->labels + label];
        sum += (double)delta->coefficient[i] * score_there;
    }
    return block->scale * x->gain * sum;
}

static double row_product(const md_matrix *matrix, size_t i, size_t j)
{
    const struct feature_row a = row_of(matrix, i);
    const struct feature_row b = row_of(matrix, j);
    double sum = 0;
    size_t q = 0;
    for (size_t p = 0; p < a.count; p++) {
        while (q < b.count && column_at(&b, q) < column_at(&a, p))
            q++;
        if (q < b.count && column_at(&b, q) == column_at(&a, p))
            sum += (double)a.value[p] * (double)b.value[q];
    }
    return sum;
}

static double delta_norm2(md_block *block, md_example example, const md_delta *delta)
{
    const explicit_block *x = (const explicit_block *)block;
    double sum = 0;
    size_t held = SIZE_MAX; /* the row whose square is in `square`: parts come row by row */
    double square = 0;
    for (size_t i = 0; i < delta->count; i++) {
        const size_t place = delta->part[i] / block->labels;
        const double a = (double)delta->coefficient[i];
        if (place >= example.length)
            continue;
        if (place != held)
            square = row_product(x->features, example.row + place, example.row + place);
        held = place;
        sum += a * a * square;
        for (size_t j = 0; example.length > 1 && j < i; j++) {
            const size_t other = delta->part[j] / block->labels;
            if (other < example.length && other != place &&
                delta->part[j] % block->labels == delta->part[i] % block->labels)
                sum += 2 * a * (double)delta->coefficient[j] *
                       row_product(x->features, example.row + place, example.row + other);
        }
    }
    return x->gain * x->gain * sum;
}

/* Puts the whole sum of iterates aside, so that W may change in any way. */
static void settle(explicit_block *x)
{
    const double sum = x->base.weight_sum;
    for (size_t i = 0; x->aside != NULL && sum != 0 && i < x->columns * x->base.labels; i++)
        x->aside[i] += (float)(sum * (double)x->weight[i]);
    x->base.weight_sum = 0;
}

/* Brings scale back to 1. */
static void fold_scale(explicit_block *x)
{
    settle(x);
    for (size_t i = 0; i < x->columns * x->base.labels; i++)
        x->weight[i] = (float)(x->base.scale * (double)x->weight[i]);
    x->base.scale = 1;
}

static void update(md_block *block, md_example example, const md_delta *delta, double step)
{
    explicit_block *x = (explicit_block *)block;
    if (block->scale < (x->aside ? SMALLEST_SCALE_OF_AVERAGES : SMALLEST_SCALE))
        fold_scale(x);
    for (size_t i = 0; i < delta->count; i++) {
        const size_t place = delta->part[i] / block->labels;
        const size_t label = delta->part[i] % block->labels;
        if (place >= example.length)
            continue;
        const struct feature_row row = row_of(x->features, example.row + place);
        const double factor = -step / block->scale * x->gain * (double)delta->coefficient[i];
        for (size_t e = 0; e < row.count; e++) {
            const size_t at = column_at(&row, e) * block->labels + label;
            const float change = (float)(factor * (double)row.value[e]);
            x->weight[at] += change;
            if (x->aside != NULL)
                x->aside[at] -= (float)(block->weight_sum * (double)change);
        }
    }
}

static void clear(md_block *block)
{
    explicit_block *x = (explicit_block *)block;
    settle(x);
    memset(x->weight, 0, x->columns * block->labels * sizeof *x->weight);
    block->scale = 1;
    block->norm = 0;
}

static void restart(md_block *block)
{
    explicit_block *x = (explicit_block *)block;
    clear(block);
    block->iterates = 0;
    if (x->aside != NULL)
        memset(x->aside, 0, x->columns * block->labels * sizeof *x->aside);
}

static double norm2(const md_block *block)
{
    const explicit_block *x = (const explicit_block *)block;
    double sum = 0;
    for (size_t i = 0; i < x->columns * block->labels; i++)
        sum += (double)x->weight[i] * (double)x->weight[i];
    return block->scale * block->scale * sum;
}

static double soft_threshold(md_block *block, double tau)
{
    explicit_block *x = (explicit_block *)block;
    const float threshold = (float)(tau / block->scale);
    double sum = 0;
    for (size_t i = 0; i < x->columns * block->labels; i++) {
        const float old = x->weight[i];
        const float magnitude = fabsf(old) - threshold;
        const float shrunk = magnitude > 0 ? copysignf(magnitude, old) : 0;
        if (x->aside != NULL)
            x->aside[i] -= (float)(block->weight_sum * (double)(shrunk - old));
        x->weight[i] = shrunk;
        sum += fabs((double)shrunk);
    }
    return block->scale * sum;
}

static medley_status take_average(md_block *block, medley_error *error)
{
    explicit_block *x = (explicit_block *)block;
    (void)error;
    settle(x);
    for (size_t i = 0; i < x->columns * block->labels; i++)
        x->weight[i] = (float)((double)x->aside[i] / block->iterates);
    block->scale = 1;
    md_block_refresh_norm(block);
    return MEDLEY_OK;
}

static size_t body_size(const md_block *block)
{
    return ((const explicit_block *)block)->columns * block->labels;
}

/* The gain belongs to the body here, so that W applies to the view's own columns. */
static void export_body(const md_block *block, float *body)
{
    const explicit_block *x = (const explicit_block *)block;
    const float factor = block->norm > 0 ? (float)(block->scale * x->gain) : 0;
    for (size_t i = 0; i < x->columns * block->labels; i++)
        body[i] = factor * x->weight[i];
}

static medley_status import_body(md_block *block, const float *body, medley_error *error)
{
    explicit_block *x = (explicit_block *)block;
    (void)error;
    settle(x);
    for (size_t i = 0; i < x->columns * block->labels; i++)
        x->weight[i] = (float)((double)body[i] / x->gain);
    block->scale = 1;
    md_block_refresh_norm(block);
    return MEDLEY_OK;
}

static void free_block(md_block *block)
{
    explicit_block *x = (explicit_block *)block;
    free(x->weight);
    free(x->aside);
    free(x);
}

static const md_block_class explicit_block_class = {
    .name = "explicit",
    .score = score,
    .slope = slope,
    .delta_norm2 = delta_norm2,
    .update = update,
    .clear = clear,
    .restart = restart,
    .norm2 = norm2,
    .soft_threshold = soft_threshold,
    .take_average = take_average,
    .body_size = body_size,
    .export_body = export_body,
    .import_body = import_body,
    .free = free_block,
};

medley_status md_explicit_block_create(md_block **result, const md_matrix *features, double gain,
                                       const char *name, size_t labels, bool averaging,
                                       medley_error *error)
{
    explicit_block *x = md_calloc(1, sizeof *x);
    if (x == NULL)
        return md_fail_memory(error, sizeof *x);
    x->base =
        (md_block){.class = &explicit_block_class, .name = name, .labels = labels, .scale = 1};
    x->features = features;
    x->gain = gain;
    x->columns = features->columns;
    x->weight = md_calloc(x->columns * labels, sizeof *x->weight);
    if (averaging)
        x->aside = md_calloc(x->columns * labels, sizeof *x->aside);
    if (x->weight == NULL || (averaging && x->aside == NULL)) {
        free_block(&x->base);
        return md_fail_memory(error, features->columns * labels * sizeof(float));
    }
    *result = &x->base;
    return MEDLEY_OK;
}
