/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the blocks that keep weights of features: explicit_block.c, whose features belong to
 * rows, and arc_block.c, whose features belong to arcs. What differs is how scores are looked up
 * and steps are taken; the rest is explicit_state.c. */
#ifndef MD_EXPLICIT_INTERNAL_H
#define MD_EXPLICIT_INTERNAL_H

#include "block/block.h"

typedef struct explicit_block {
    md_block base;
    md_explicit what;
    size_t features, width;
    float *weight; /* W of feature f at f * stride */
    size_t stride;
    size_t correction; /* of the average (block.h), if there is one: it stands this number of floats
                        * after W */
    bool borrowed;     /* weight belongs to someone else */
    double norm2;      /* ||W||^2 but for thresholds put off */

    /* features that may have weights since the last clear, so that clearing costs no more than
     * they do */
    uint32_t *log; /* [log_capacity] */
    size_t log_count, log_capacity;
    bool log_is_full; /* any feature may have weights */

    double threshold; /* sum of all thresholds since creation, in units of W */
    double *applied;  /* [features] how much of it each feature has applied; NULL: none are used */
} explicit_block;

static inline float *md_explicit_weights(const explicit_block *x, size_t feature)
{
    return x->weight + feature * x->stride;
}

/* NULL: no average is kept. */
static inline float *md_explicit_correction(const explicit_block *x, size_t feature)
{
    return x->what.averaging ? md_explicit_weights(x, feature) + x->correction : NULL;
}

/* The weight of a feature of width 1 as it is with the thresholds put off; there are some. */
static inline float md_explicit_thresholded(const explicit_block *x, size_t feature)
{
    const float weight = *md_explicit_weights(x, feature);
    const float magnitude = fabsf(weight) - (float)(x->threshold - x->applied[feature]);
    return magnitude > 0 ? copysignf(magnitude, weight) : 0;
}

/* This feature has, or is about to have, weights. */
static inline void md_explicit_note(explicit_block *x, size_t column)
{
    if (x->log_is_full)
        return;
    if (x->log_count == x->log_capacity)
        x->log_is_full = true;
    else
        x->log[x->log_count++] = (uint32_t)column;
}

/* The rest of a creation: log and thresholds, by x->features and x->what; and by x->width and
 * x->stride also weights, unless they are there already, and then belong to someone else. Frees x
 * on failure. */
medley_status md_explicit_finish_create(md_block **result, explicit_block *x, medley_error *error);

/* Applies the thresholds that were put off to a feature. */
void md_explicit_catch_up(explicit_block *x, size_t column);

/* Brings the scale back to 1 where it has become so small that steps would be too large. */
void md_explicit_mend_scale(explicit_block *x);

/* The length that a step returns, norm2 being kept along the way. */
double md_explicit_step_norm(explicit_block *x);

/* Functions of the class. */
void md_explicit_clear(md_block *block);
void md_explicit_restart(md_block *block);
double md_explicit_norm2(md_block *block);
double md_explicit_inner(md_block *block, const float *body);
void md_explicit_soft_threshold(md_block *block, double tau);
double md_explicit_sum_abs(md_block *block);
medley_status md_explicit_take_average(md_block *block, medley_error *error);
size_t md_explicit_body_size(const md_block *block);
void md_explicit_export_body(md_block *block, float *body);
medley_status md_explicit_import_body(md_block *block, const float *body, medley_error *error);
void md_explicit_visit_state(md_block *block, md_state_visitor visit, void *context);
void md_explicit_free(md_block *block);

/* These, in the table of a class. */
#define MD_EXPLICIT_STATE                                                                          \
    .clear = md_explicit_clear, .restart = md_explicit_restart, .norm2 = md_explicit_norm2,        \
    .inner = md_explicit_inner, .soft_threshold = md_explicit_soft_threshold,                      \
    .sum_abs = md_explicit_sum_abs, .take_average = md_explicit_take_average,                      \
    .body_size = md_explicit_body_size, .export_body = md_explicit_export_body,                    \
    .import_body = md_explicit_import_body, .visit_state = md_explicit_visit_state,                \
    .free = md_explicit_free

/* The gradient in the parts of one group. */
struct slice {
    const float *dense;       /* [width] */
    const uint32_t *part;     /* [count] */
    const float *coefficient; /* [count] */
    size_t count, first_part; /* part[i] - first_part is the place in the group */
};

/* Calls use for the slice of every group of this block's kind that the gradient has parts of. */
void md_for_every_slice(const explicit_block *x, const md_gradient *gradient,
                        void (*use)(void *context, size_t row, const struct slice *slice),
                        void *context);

/* ||d||^2 */
double md_explicit_gradient_norm2(md_block *block, const md_gradient *gradient);

/* ---- the features of a row of training data, whatever they are kept as ---- */

/* (column, value) pairs; dense rows have every column. */
struct feature_row {
    const int32_t *column; /* NULL: 0, 1, 2 ... */
    const float *value;    /* NULL: 1 */
    size_t count;
};

static inline struct feature_row row_of(const md_row_features *features, size_t row)
{
    const md_matrix *matrix = features->matrix;
    if (features->id != NULL)
        return (struct feature_row){features->id + row * features->id_step, NULL,
                                    features->id[row * features->id_step] >= 0};
    if (matrix == NULL)
        return (struct feature_row){NULL, NULL, 1};
    if (matrix->dense != NULL)
        return (struct feature_row){NULL, matrix->dense + row * matrix->columns, matrix->columns};
    return (struct feature_row){matrix->index + matrix->start[row],
                                matrix->value + matrix->start[row],
                                matrix->start[row + 1] - matrix->start[row]};
}

static inline size_t column_at(const struct feature_row *row, size_t e)
{
    return row->column ? (size_t)row->column[e] : e;
}

static inline double value_at(const struct feature_row *row, size_t e)
{
    return row->value ? (double)row->value[e] : 1;
}

#endif
