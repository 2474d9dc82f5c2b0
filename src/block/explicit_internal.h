/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the explicit block. */
#ifndef MD_EXPLICIT_INTERNAL_H
#define MD_EXPLICIT_INTERNAL_H

#include "block/block.h"

typedef struct explicit_block {
    md_block base;
    md_explicit what;
    size_t features, width;
    float *weight; /* W of feature f at f * stride; behind it, if there is an average, what to add
                    * to weight_sum * W for the sum of iterates: they are needed together */
    size_t stride;
    double norm2; /* ||W||^2 but for thresholds put off */

    /* features that may have weights since the last clear, so that clearing costs no more than
     * they do */
    uint32_t *log; /* [log_capacity] */
    size_t log_count, log_capacity;
    bool log_is_full; /* any feature may have weights */

    double threshold; /* sum of all thresholds since creation, in units of W */
    double *had;      /* [features] how much of it each feature has had; NULL: none are used */
} explicit_block;

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

#endif
