/* SPDX-License-Identifier: BSD-3-Clause */
/* The problem of one kernel, which methods that take turns between kernel weights and a model
 * solve again and again:
 *
 *     minimise over f, b   sum_i l(y_i, f_i + b) + strength/2 ||f||_K^2,   f = K rho / strength
 *
 * with rho = -dl/df, of sum 0. Any solver will do: the certificate comes from rho alone. */
#ifndef MD_ONE_KERNEL_H
#define MD_ONE_KERNEL_H

#include "batch/batch.h"

typedef struct md_one_kernel {
    const md_batch_problem *problem; /* its loss, y, strength and threads; its kernels are unused */
    const double *kernel;            /* [n][n] upper triangle */
    size_t n;
    double gap;   /* wanted: how far the objective may be above the least one, as a share of it */
    double level; /* about as large as the objective will be, or larger */
} md_one_kernel;

/* point[n], inside the loss's domain and with sum 0, comes in as a place to begin with and goes out
 * as the best dual point, as good as inside; rho[n] comes out as that of the best model. */
typedef medley_status (*md_one_kernel_solver)(const md_one_kernel *one, double *rho, double *point,
                                              medley_error *error);

/* SpicyMKL with the penalty 1/2 ||f||^2, for every loss. start: as for md_batch_solve. */
medley_status md_one_kernel_solve(md_batch_solution *solution, const md_one_kernel *one,
                                  const md_batch_solution *start, medley_error *error);

/* The same as a solver among others. */
medley_status md_one_kernel_newton(const md_one_kernel *one, double *rho, double *point,
                                   medley_error *error);

/* libsvm, if it was there when this was built and knows the loss; else NULL. Its kernel values are
 * single precision. */
md_one_kernel_solver md_one_kernel_libsvm(const md_batch_problem *problem);

#endif
