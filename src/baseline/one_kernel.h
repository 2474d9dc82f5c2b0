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

struct md_one_kernel {
    const md_batch_problem *problem; /* its loss, y, strength and threads; its kernels are unused */
    const double *kernel;            /* [n][n] upper triangle */
    size_t n;
    double gap;   /* wanted: how far the objective may be above the least one, as a share of it */
    double level; /* about as large as the objective will be, or larger */
};

/* A solver: point[n], inside the loss's domain and with sum 0, comes in as a place to begin with
 * and goes out as the best dual point, as good as inside; rho[n] comes out as that of the best
 * model. */

/* SpicyMKL with the penalty 1/2 ||f||^2, for every loss. start: as for md_batch_solve. */
medley_status md_one_kernel_solve(md_batch_solution *solution, const md_one_kernel *one,
                                  const md_batch_solution *start, medley_error *error);

/* The same as a solver among others. */
medley_status md_one_kernel_newton(const md_one_kernel *one, double *rho, double *point,
                                   medley_error *error);

/* libsvm, if it was there when this was built and knows the loss; else NULL. Its kernel values are
 * single precision. */
md_one_kernel_solver md_one_kernel_libsvm(const md_batch_problem *problem);

/* ---- libsvm on a ready-made kernel matrix, which is turned into its form once and then serves
 * many machines, on all rows or on some ---- */

/* It was there when this was built, and can number the rows. */
bool md_libsvm_takes(size_t rows);

/* From the upper triangle of kernel[n][n], which is not needed any more afterwards; 16 bytes a
 * value. */
typedef struct md_libsvm md_libsvm;
medley_status md_libsvm_create(md_libsvm **matrix, const double *kernel, size_t n,
                               medley_error *error);
void md_libsvm_free(md_libsvm *matrix);
MD_OWNER(md_libsvm_free, md_libsvm)

typedef struct md_libsvm_task {
    const size_t *rows; /* [count] those that are learnt from; NULL: the first count */
    size_t count;
    const double *y;  /* [count] -1 and +1, both of them; or numbers */
    bool classifies;  /* hinge loss; else epsilon-insensitive */
    double tolerance; /* epsilon of that loss */
    double C;         /* libsvm's own: of the losses, not of the penalty */
    double eps;       /* slopes of two rows that differ by less are the same */
    double cache;     /* most megabytes for values in single precision; as many as are of use */
} md_libsvm_task;

/* coefficient[count]: f = sum_i K(., rows[i]) coefficient[i] + b, within 0 and C for y = +1, -C and
 * 0 for y = -1, of sum 0. Many threads may solve on one matrix. */
medley_status md_libsvm_solve(const md_libsvm *matrix, const md_libsvm_task *task,
                              double *coefficient, medley_error *error);

#endif
