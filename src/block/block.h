/* SPDX-License-Identifier: BSD-3-Clause */
/* A block is one kernel or one group of explicit features: theta_m = scale * body, so that
 * shrinking costs O(1). It can score the parts of an example, tell what an update would do to its
 * norm, take the update, be cleared, be averaged. Whatever it is made of, learners treat it alike.
 *
 * Notation: an update is theta -= step * d, d = sum_p delta_p phi(p) over the parts of one example.
 */
#ifndef MD_BLOCK_H
#define MD_BLOCK_H

#include "gram/gram.h"
#include "structure/structure.h"

/* Rows row .. row+length-1 of the training data. */
typedef struct md_example {
    size_t row, length;
} md_example;

typedef struct md_block md_block;

typedef struct md_block_class {
    const char *name;

    /* score[part] += theta's score of the (row, label) parts of an example. */
    void (*score)(const md_block *block, md_example example, float *score);

    /* <theta, d> and ||d||^2. */
    double (*slope)(const md_block *block, md_example example, const md_delta *delta);
    double (*delta_norm2)(md_block *block, md_example example, const md_delta *delta);

    void (*update)(md_block *block, md_example example, const md_delta *delta, double step);
    void (*clear)(md_block *block);   /* theta = 0; counted iterates stay counted */
    void (*restart)(md_block *block); /* theta = 0 and no iterates counted, as after creation */
    double (*norm2)(const md_block *block); /* ||theta||^2 from scratch */

    /* Soft-thresholds every coordinate by tau and returns sum |theta|; NULL: the block has no
     * coordinates (kernel expansions). */
    double (*soft_threshold)(md_block *block, double tau);

    /* theta becomes the average of the iterates counted by md_block_count_iterate (at least one),
     * which stay counted: another theta may be imported and counting go on. */
    medley_status (*take_average)(md_block *block, medley_error *error);

    /* Copies of theta: size in floats, out and in again. */
    size_t (*body_size)(const md_block *block);
    void (*export_body)(const md_block *block, float *body); /* theta itself, scale applied */
    medley_status (*import_body)(md_block *block, const float *body, medley_error *error);

    void (*free)(md_block *block);
} md_block_class;

struct md_block {
    const md_block_class *class;
    const char *name;
    size_t labels;
    double scale;      /* theta = scale * body; never 0 */
    double norm;       /* ||theta||, kept by the recurrence, refreshed every epoch */
    double weight_sum; /* of averages: the sum of counted iterates is weight_sum * body + aside */
    double iterates;   /* how many were counted */
};

/* Kernel m of gram; gram and name must outlive the block. averaging: iterates will be averaged. */
medley_status md_kernel_block_create(md_block **block, md_gram *gram, size_t m, const char *name,
                                     size_t labels, bool averaging, medley_error *error);

/* One weight for each column of features and label; gain multiplies the features. The matrix must
 * outlive the block. */
medley_status md_explicit_block_create(md_block **block, const md_matrix *features, double gain,
                                       const char *name, size_t labels, bool averaging,
                                       medley_error *error);

void md_block_free(md_block *block);

/* ||theta - step d||, from the recurrence (SPEC section 3). */
double md_block_norm_after(md_block *block, md_example example, const md_delta *delta, double step);

/* theta *= factor, in O(1). */
void md_block_rescale(md_block *block, double factor);

/* Recomputes the norm exactly: the recurrence drifts. A block without length is cleared, so that
 * norm 0 always means a body of zeros. */
void md_block_refresh_norm(md_block *block);

/* One more iterate for the average (call after every round). */
static inline void md_block_count_iterate(md_block *block)
{
    block->weight_sum += block->scale;
    block->iterates += 1;
}

#endif
