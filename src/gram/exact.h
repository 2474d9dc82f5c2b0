/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel values in double precision, from the same prepared rows that tiles are computed from: for
 * certificates, for the storage of float64, and for models whose coefficients cancel. A value
 * depends on its two rows only, but rows of values and products round it differently. */
#ifndef MD_EXACT_H
#define MD_EXACT_H

#include "gram/gram.h"

/* out[right rows] = K_m(row of left, .), normalised but for centring. scratch: one of
 * md_exact_scratch(right) doubles. */
void md_exact_row(const md_between *between, size_t m, size_t row, double *out, double *scratch);
/* K_m(x, x) of a row of left, which stands on the right too. */
double md_exact_self(const md_between *between, size_t m, size_t row);

/* Of all rows; kernels of distances have one value for all of them. */
void md_exact_selves(const md_between *between, size_t m, double *self);

size_t md_exact_scratch(const md_prepared *right);

/* y[k][left rows] = K_m x[k][right rows] for k < count, without centring. */
medley_status md_exact_multiply(const md_between *between, size_t m, const double *x, size_t count,
                                double *y, medley_error *error);

/* y[row - first][kernel] = K_m(row, .) x for left rows first .. end - 1 of each m of
 * kernels[count], with x + kernel * stride, without centring. Kernels of the same function of the
 * same view that follow one another share what they are functions of. */
typedef struct md_exact_products {
    const size_t *kernels;
    size_t count;
    const double *x; /* [right rows], or [count][right rows] */
    size_t stride;
    size_t first, end;
} md_exact_products;
medley_status md_exact_multiply_rows(const md_between *between, const md_exact_products *products,
                                     double *y, medley_error *error);

/* scores[left rows][labels] += sum_j K_m(x_i, z_j) coefficient[j][labels], all normalisation
 * included: md_between_scores of one term in double precision. */
medley_status md_exact_scores(const md_between *between, size_t m, const double *coefficient,
                              size_t labels, double *scores, medley_error *error);

#endif
