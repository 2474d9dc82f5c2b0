/* SPDX-License-Identifier: BSD-3-Clause */
/* Small solvers that know nothing of learning: dense symmetric systems, least squares, conjugate
 * gradients, functions of one variable. */
#ifndef MD_OPTIM_H
#define MD_OPTIM_H

#include "base/base.h"

/* ---- cholesky.c: in place, by tiles, on several threads; the same bits for any number ---- */

/* a[n][n] by rows, upper triangle given; it becomes R with R'R = A. What is below the diagonal is
 * not looked at, nor kept. False if a pivot is not positive (a is then spoilt). */
bool md_cholesky(double *a, size_t n, size_t threads);

/* x[n] becomes A^-1 x. */
void md_cholesky_solve(const double *r, size_t n, double *x);

/* ---- add_squares.c ---- */

/* C[n][n] += alpha A[k][n]' A, upper triangle. */
void md_add_squares(size_t n, size_t k, double alpha, const double *a, size_t lda, double *c,
                    size_t ldc, size_t threads);

/* ---- leave_one_out.c ---- */

/* The least-squares support vector machine A a + b 1 = y, 1'a = 0, A = K + ridge I, whose upper
 * triangle is given in a[n][n] and spoilt; y[outputs][n]. residual[outputs][n]: how far y_i is from
 * what the machine of all other rows says of row i. n is 2 or more. False if A is not positive
 * definite. scratch: n * (n + 2) doubles. The same bits for any number of threads. */
bool md_leave_one_out(double *a, size_t n, const double *y, size_t outputs, double *residual,
                      double *scratch, size_t threads);

/* ---- eigenvalues.c ---- */

/* Smallest and largest eigenvalue of the symmetric matrix whose upper triangle is in a[n][n], which
 * is spoilt; to 1e-10 of the larger magnitude. MEDLEY_BAD_INPUT if n is 0 or an element is not
 * finite. */
medley_status md_extreme_eigenvalues(double *a, size_t n, double *least, double *most,
                                     medley_error *error);

/* ---- conjugate_gradient.c ---- */

typedef struct md_linear_system {
    size_t n;
    void *context;
    void (*multiply)(void *context, const double *x, double *y); /* y = A x */
    const double *inverse_diagonal;                              /* [n] preconditioner, or NULL */
    void (*precondition)(void *context, double *x); /* x = M x in its place; NULL: none */
    bool centred; /* solve A x = b + mu 1 with 1'x = 0: directions are kept in that plane */
} md_linear_system;

/* x (given: the start; comes back: the solution) with ||residual|| <= tolerance * ||b|| (centred:
 * both without their means); returns the number of steps. Stops as well at most_steps or where a
 * direction of no or negative curvature turns up: x is then the best so far, and never uphill from
 * 0. scratch: 6 * n doubles. */
size_t md_conjugate_gradient(const md_linear_system *system, const double *b, double *x,
                             double tolerance, size_t most_steps, double *scratch);

/* ---- line.c ---- */

/* slope(context, t) is the derivative of a convex function of t: increasing, possibly with jumps,
 * infinite outside of its domain. The least point of [low, high] to rounding (either may be
 * infinite if the other is not where the slope has the same sign): bisection sped up by secants. An
 * infinite end comes back if the function falls all the way there. */
typedef double (*md_slope)(void *context, double t);
double md_least_point(md_slope slope, void *context, double low, double high);

/* ---- golden_section.c: for functions whose values come when they come ---- */

/* The least point is between low and high, if there is one minimum only. */
typedef struct md_golden {
    double low, high;
    double point[2], value[2]; /* between them, point[0] < point[1] */
    size_t asked;              /* which of them */
    size_t known;              /* how many have a value */
} md_golden;

/* Between 0 and length. */
md_golden md_golden_over(double length);

/* The next point to look at, and its value. The two are called by turns. */
double md_golden_ask(md_golden *golden);
void md_golden_tell(md_golden *golden, double value);

#endif
