/* SPDX-License-Identifier: BSD-3-Clause */
/* A weighted sum of kernels of packed grams, as far as products with it are concerned: for Newton
 * steps where there are too many rows for a matrix in double precision. The sum of kernels that
 * have values is a packed triangle of float32 where memory allows it, and computed anew for every
 * product otherwise; kernels of low rank stay factors. Results are the same bits for any number of
 * threads. */
#ifndef MD_MIXTURE_H
#define MD_MIXTURE_H

#include "packed/packed.h"

typedef struct md_mixture md_mixture;

/* Of packed grams by rows (md_packed_options), which must outlive it. memory: bytes that a triangle
 * may take. */
medley_status md_mixture_create(md_mixture **mixture, md_packed *packed, size_t memory,
                                medley_error *error);
void md_mixture_free(md_mixture *mixture);
MD_OWNER(md_mixture_free, md_mixture)

/* What a triangle would take. */
size_t md_mixture_bytes(size_t rows);

/* The sum becomes sum_i weight[i] K of the chosen kernels. */
medley_status md_mixture_set(md_mixture *mixture, md_chosen chosen, const double *weight,
                             medley_error *error);

/* y[n] = sum x */
medley_status md_mixture_multiply(md_mixture *mixture, const double *x, double *y,
                                  medley_error *error);

/* The diagonal and a column of it, [n] each, to about single precision. */
medley_status md_mixture_diagonal(const md_mixture *mixture, double *diagonal, medley_error *error);
medley_status md_mixture_column(md_mixture *mixture, size_t row, double *column,
                                medley_error *error);

#endif
