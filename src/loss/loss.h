/* SPDX-License-Identifier: BSD-3-Clause */
/* Losses of a structured prediction. A loss sees part scores and asks the structure to decode or
 * to give marginals; what comes back is the gradient with respect to the part scores, sparse.
 *
 * A loss is one file and one line in losses.def. */
#ifndef MD_LOSS_H
#define MD_LOSS_H

#include "structure/structure.h"
#include <stdbool.h>

/* Everything one evaluation needs, allocated once per thread for the longest example. */
typedef struct md_inference {
    const md_structure *structure;
    md_shape shape;
    md_workspace workspace;
    int32_t *output; /* [length] */
    uint32_t *parts; /* [2 * parts_per_output] */
    float *marginal; /* [part_count] */
    md_delta delta;  /* [part_count] */
} md_inference;

medley_status md_inference_init(md_inference *inference, const md_structure *structure,
                                md_shape shape, size_t longest, medley_error *error);
void md_inference_clear(md_inference *inference);

typedef struct md_loss {
    const char *name, *summary, *formula;

    /* Loss of the scores; fills inference->delta with its (sub)gradient if wants_gradient. */
    double (*evaluate)(md_inference *inference, size_t length, const float *score,
                       const int32_t *gold, bool wants_gradient);

    /* What bounds the loss at theta = 0 (SPOM: Lambda): the mean of this over examples. */
    double (*at_zero)(const md_structure *structure, md_shape shape, size_t length);
} md_loss;

extern const md_loss *const md_losses[]; /* NULL-terminated */
const md_loss *md_loss_find(const char *name);

#endif
