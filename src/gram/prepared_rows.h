/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepared rows: rows of data as a bank sees them, ready for kernel values: views extracted,
 * squared norms, unit-diagonal factors. Training rows, support rows and new rows all take this
 * form. */
#ifndef MD_PREPARED_H
#define MD_PREPARED_H

#include "gram/bank.h"
#include <float.h>

/* Of K(x,x): below it single precision has lost digits, and a row counts as the zero vector where
 * it is divided by sqrt(K(x,x)). */
#define MD_LEAST_SELF ((double)FLT_MIN)

typedef struct md_prepared {
    md_pool pool; /* of the arrays with an entry for each view or kernel */
    size_t rows;
    size_t view_count, kernel_count;
    md_matrix *views;      /* [view_count]; dense views are shifted by the bank's origin */
    md_matrix *transposed; /* [view_count] of sparse views, empty otherwise */
    float **norm2;         /* [view_count][rows] squared norms of the (shifted) rows */
    float **lift;          /* [view_count][rows] <x,z> = product + lift(x) + lift(z); NULL: 0 */
    float **inverse_root;  /* [kernel_count][rows] 1/sqrt(K(x,x)); NULL unless norm=diag */
    const md_matrix **precomputed; /* [kernel_count] borrowed values [][training rows], or NULL */
    const double **precomputed_float64; /* [kernel_count] the same before rounding to float, where
                                         * the dataset kept them, with the same columns; or NULL */
    const size_t *precomputed_row; /* [rows] where each row stands in them; borrowed; NULL: there */
    bool *used; /* [view_count] some kernel (not explicit weights only) needs products of it */
} md_prepared;

void md_prepared_clear(md_prepared *prepared);

/* Empty prepared rows with room for so many views and kernels: for readers of model files. */
medley_status md_prepared_init(md_prepared *prepared, size_t rows, size_t view_count,
                               size_t kernel_count, medley_error *error);

/* Chooses data-dependent kernel parameters and origins of a new bank from its training data.
 * Kernels of one view must stand together, and precomputed ones after all others. */
medley_status md_bank_choose(md_bank *bank, const medley_dataset *dataset, uint64_t seed,
                             medley_error *error);

/* The rows of dataset as prepared rows. training: this is the bank's own training set, so traces
 * are learnt from it. The dataset must outlive the prepared rows (precomputed values are borrowed).
 */
medley_status md_prepared_make(md_prepared *prepared, md_bank *bank, const medley_dataset *dataset,
                               bool training, medley_error *error);

/* The named rows only, to stand on the left: borrows rows[] and the precomputed values. */
medley_status md_prepared_gather(md_prepared *subset, const md_prepared *prepared,
                                 const size_t *rows, size_t count, medley_error *error);

/* The same where it is done many times: memory for `most` rows is kept in subset, which is empty at
 * first and cleared in the end. */
typedef struct md_some_rows {
    const size_t *rows;
    size_t count, most;
    size_t threads;
} md_some_rows;

medley_status md_prepared_gather_again(md_prepared *subset, const md_prepared *prepared,
                                       const md_some_rows *some, medley_error *error);

/* The rows of other, prepared rows of the same bank, after those of prepared rows, ready to stand
 * on the right. On failure prepared rows stay as they are. Precomputed kernels, whose values are
 * not of rows, have no place here. */
medley_status md_prepared_append(md_prepared *prepared, const md_prepared *other,
                                 medley_error *error);

/* The named rows as prepared rows of a subset of the bank (md_bank_subset with
 * keep[subset->count]), ready to stand on the right: the support of a model. */
typedef struct md_prepared_choice {
    const md_bank *bank, *subset;
    const size_t *keep; /* [subset->count] kernels of bank */
    const size_t *rows;
    size_t row_count;
} md_prepared_choice;

medley_status md_prepared_subset(md_prepared *support, const md_prepared *prepared,
                                 const md_prepared_choice *choice, medley_error *error);

/* Can the values be a kernel of so many training rows? Square, finite, symmetric up to rounding,
 * nothing negative on the diagonal. md_prepared_make asks. */
medley_status md_precomputed_check(const md_precomputed *gram, size_t rows, medley_error *error);

/* ---- distance.c ---- */

/* The mean distance of two rows; 1 where they are all the same. */
double md_distance_gamma(const md_precomputed *distance);

/* Are these distances? In training also of every row to itself. */
medley_status md_distance_check(const md_precomputed *distance, bool training, medley_error *error);

/* Kernel m has the values exp(-d / gamma). */
medley_status md_distance_attach(md_prepared *prepared, size_t m, const md_precomputed *distance,
                                 double gamma, medley_error *error);

/* Prepares prepared rows to stand on the right: transposes of sparse views. md_prepared_make does
 * it. */
medley_status md_prepared_index(md_prepared *prepared, medley_error *error);

/* What the weights of a linear kernel are multiplied with: its rows, unshifted and normalised;
 * sparse where more than half is zero. */
medley_status md_prepared_features(md_matrix *features, const md_prepared *prepared,
                                   const md_bank *bank, size_t kernel, medley_error *error);

/* K(x,x) before normalisation, of every row. */
void md_prepared_self(const md_prepared *prepared, const md_bank *bank, size_t kernel,
                      double *self);

#endif
