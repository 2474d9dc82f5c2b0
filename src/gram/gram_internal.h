/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the gram module. */
#ifndef MD_GRAM_INTERNAL_H
#define MD_GRAM_INTERNAL_H

#include "gram/card.h"
#include "gram/gram.h"
#include "gram/tile.h"
#include "linalg/vectors.h"

/* How one kernel's values are kept: one of full, sparse, a single row that serves as every row
 * (constant kernels), or none of these (deferred scores has them computed). */
typedef struct md_stored {
    float *full;      /* [n][n] */
    md_matrix sparse; /* start != NULL if used */
    float *same;      /* [n] every row of a constant kernel */
    double *diagonal; /* [n] */
    bool is_unit;     /* all of them are 1 */
} md_stored;

struct md_gram {
    md_pool pool; /* of what is there as long as the Gram source */
    md_bank *bank;
    const md_prepared *prepared;
    size_t n, count, threads;
    const medley_observer *observer;
    medley_comm *comm;
    double began;
    bool streamed;
    size_t bytes;
    md_stored *stored;        /* [count] */
    float *small;             /* the full matrices, where they share one array */
    md_tile_scratch *scratch; /* [threads] */
    double *mix;              /* [count] weights of the mixture, or NULL */
    md_card *card;            /* has the kernels that are not kept here; NULL: there is none */
    double largest_self;      /* with a card: of its K(x,x) */
    bool is_rounded;          /* values are, on the card, to half precision */
};

/* Row of a kernel that is kept, but not sparse, [n]. */
const float *md_gram_row(md_gram *gram, size_t m, size_t row);

enum { MD_TERMS = 64 }; /* of a kernel value, roughly: columns and what its map takes */

/* Threads for so many multiplications: one if waking the others would take longer. */
size_t md_gram_threads(const md_gram *gram, size_t rows, size_t work_per_row);

/* ---- full.c ---- */
medley_status md_gram_center_full(md_gram *gram, medley_error *error);

/* From the sums of the n rows of the matrix as it is without centring. */
medley_status md_gram_learn_means(md_kernel *kernel, const double *sums, size_t n,
                                  medley_error *error);
double md_sum_row(const float *values, size_t count);
/* values[count] of one row against training rows 0..count-1. */
void md_center_row(const md_kernel *kernel, float *values, size_t count, double row_mean);

/* ---- sparse.c: keeps the kernels that are mostly zero as sparse matrices ---- */
medley_status md_gram_build_sparse(md_gram *gram, size_t memory, medley_error *error);

/* ---- means.c ---- */
medley_status md_gram_learn_unkept_means(md_gram *gram, const bool *unkept, medley_error *error);

#endif
