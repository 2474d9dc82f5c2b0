/* SPDX-License-Identifier: BSD-3-Clause */
/* The problem of one kernel, which methods that take turns between kernel weights and a model
 * solve again and again:
 *
 *     minimise over f, b   sum_i l(y_i, f_i + b) + strength/2 ||f||_K^2,   f = K rho / strength
 *
 * with rho = -dl/df, of sum 0. Any support vector machine will do; which one it was is no part of
 * the result, whose certificate comes from rho alone. */
#ifndef MD_INNER_H
#define MD_INNER_H

#include "batch/batch.h"

typedef struct md_inner {
    const md_batch_problem *problem; /* its loss, y, strength and threads; its kernels are unused */
    const double *kernel;            /* [n][n] upper triangle */
    size_t n;
    double gap;   /* wanted: how far the objective may be above the least one, as a share of it */
    double level; /* about as large as the objective will be, or larger */
} md_inner;

/* point[n], inside the loss's domain and with sum 0, comes in as a place to begin with and goes out
 * as the best dual point, as good as inside; rho[n] comes out as that of the best model. */
typedef medley_status (*md_inner_solver)(const md_inner *inner, double *rho, double *point,
                                         medley_error *error);

/* Our own Newton method, for every loss. */
medley_status md_inner_newton(const md_inner *inner, double *rho, double *point,
                              medley_error *error);

/* libsvm, if it was there when this was built and knows the loss; else NULL. Its kernel values are
 * single precision. */
md_inner_solver md_inner_libsvm(const md_batch_problem *problem);

#endif
