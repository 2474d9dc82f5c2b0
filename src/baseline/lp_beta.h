/* SPDX-License-Identifier: BSD-3-Clause */
/* The second layer of LP-beta (Gehler and Nowozin 2009): weights of kernels from the scores that a
 * machine of each kernel alone gives to rows it has not seen. */
#ifndef MD_LP_BETA_H
#define MD_LP_BETA_H

#include "base/base.h"

typedef struct md_lp_beta {
    size_t kernels;
    size_t outputs;             /* one for each label; or 1: the second of two, the first has 0 */
    const double *const *score; /* [kernels] each [row][outputs] */
    const int32_t *label;       /* [row] */
} md_lp_beta;

typedef struct md_lp_weights {
    double *beta; /* [kernels], the caller's; of sum 1 */
    double value; /* rho - 1/(nu N) sum xi */
    double bound; /* of value: beta is the optimum if they are the same */
} md_lp_weights;

/* The greatest rho - 1/(nu count) sum xi over beta >= 0 of sum 1, rho and xi >= 0 with
 *
 *     sum_m beta_m (score_m(i, y_i) - score_m(i, y)) + xi_i >= rho   for all y other than y_i,
 *
 * of the given rows i. 0 < nu <= 1. MEDLEY_NOT_SUPPORTED without a library for linear programs. */
medley_status md_lp_beta_solve(md_lp_weights *weights, const md_lp_beta *scores, const size_t *rows,
                               size_t count, double nu, medley_error *error);

/* The share of these rows whose label has the largest weighted score; the first of equals wins. */
medley_status md_lp_beta_accuracy(double *accuracy, const md_lp_beta *scores, const double *beta,
                                  const size_t *rows, size_t count, medley_error *error);

#endif
