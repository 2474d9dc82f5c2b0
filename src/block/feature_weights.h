/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops of explicit blocks: rows of `width` weights, a few dozen numbers each. */
#ifndef MD_WEIGHTS_H
#define MD_WEIGHTS_H

#include "base/base.h"

enum { MD_FEW_PARTS = 4 }; /* a full row is faster unless fewer than one part in four changes */

/* out += factor * weight, with every weight soft-thresholded first. */
void md_add_thresholded(float *out, const float *weight, float factor, float threshold,
                        size_t width);

/* Rows of weights that are looked up by ids: row f starts at weight + f * stride, the id of row i
 * of the data stands at id[i * step], -1: none. */
typedef struct md_lookup {
    const float *weight;
    size_t width, stride;
    const int32_t *id;
    size_t step;
} md_lookup;

/* out[i] += factor * (row of weights of i), i = 0 .. count-1, out in rows of width. */
void md_add_weights_of_ids(float *out, const md_lookup *lookup, size_t count, float factor);

/* out += factor * sum_e value[e] * (row column[e] of weights); value NULL: 1, column NULL: 0, 1, 2
 * ... */
void md_add_weights_of_row(float *out, const md_lookup *lookup, const int32_t *column,
                           const float *value, size_t count, float factor);

/* Asks for the rows of weights that will be needed soon. */
void md_prefetch_weights(const md_lookup *lookup, size_t count);

/* weight += change, change = factor * delta, and correction -= sum * change where there is one;
 * returns by how much the squared norm of weight grows. */
double md_step_weights(float *weight, float *correction, const float *delta, float factor,
                       float sum, size_t width);

double md_sum_squares(const float *values, size_t count);

#endif
