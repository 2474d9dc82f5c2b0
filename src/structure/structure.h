/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures: what an output is made of. Part scores in; best output, cost-augmented output,
 * log-partition and part marginals out. A structure knows no kernels and no features.
 *
 * An example is `length` rows; an output is one whole number per row (a class, a tag, a head). The
 * score of an output is the sum of the scores of its parts. The first length * labels parts are
 * the (row, label) pairs, part row * labels + label; a structure may have further parts behind.
 *
 * A structure is one file and one line in structures.def. */
#ifndef MD_STRUCTURE_H
#define MD_STRUCTURE_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

typedef struct md_shape {
    size_t labels;
} md_shape;

/* A sparse vector over parts, such as the gradient of a loss in the part scores. */
typedef struct md_delta {
    uint32_t *part;
    float *coefficient;
    size_t count;
} md_delta;

/* Scratch memory of decoders, grown before a run to the longest example. */
typedef struct md_workspace {
    float *values;
    size_t capacity;
} md_workspace;

typedef struct md_structure {
    const char *name, *summary;

    size_t (*part_count)(md_shape shape, size_t length);

    /* Floats of workspace the functions below need for an example of this length. */
    size_t (*workspace_size)(md_shape shape, size_t length);

    /* The parts of output y, part_count-indexed, into parts; returns how many (at most
     * parts_per_output). */
    size_t (*parts_of)(md_shape shape, size_t length, const int32_t *y, uint32_t *parts);
    size_t (*parts_per_output)(md_shape shape, size_t length);

    /* argmax_y f(y) into best; returns its score. Ties go to the smaller label. */
    double (*decode)(md_shape shape, size_t length, const float *score, int32_t *best,
                     md_workspace *workspace);

    /* argmax_y f(y) + cost(y, gold) into worst; returns its value. */
    double (*decode_with_cost)(md_shape shape, size_t length, const float *score,
                               const int32_t *gold, int32_t *worst, md_workspace *workspace);

    /* log sum_y exp f(y); marginal[part] = probability of each part. */
    double (*log_partition)(md_shape shape, size_t length, const float *score, float *marginal,
                            md_workspace *workspace);

    double (*cost)(md_shape shape, size_t length, const int32_t *y, const int32_t *gold);
    double (*most_cost)(md_shape shape, size_t length);   /* largest cost of any output */
    double (*log_outputs)(md_shape shape, size_t length); /* log of the number of outputs */
} md_structure;

extern const md_structure *const md_structures[]; /* NULL-terminated */
const md_structure *md_structure_find(const char *name);

/* Returns 0, or -1 for lack of memory. */
int md_workspace_reserve(md_workspace *workspace, size_t floats);
void md_workspace_clear(md_workspace *workspace);

#endif
