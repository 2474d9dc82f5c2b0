/* SPDX-License-Identifier: BSD-3-Clause */
/* What methods share that choose kernel weights by programs on the simplex: weights as shares of
 * their sum, and bounds of J(d) from below,
 *
 *     J(d) >= -sum_i l*(-rho_i) + sum_m d_m (price - ||rho||_{K_m}^2 / (2 strength)),
 *
 * which hold for every dual point rho and are tight at the weights that it is the optimum for. */
#ifndef MD_WEIGHT_SIMPLEX_H
#define MD_WEIGHT_SIMPLEX_H

#include "baseline/wrappers.h"
#include "optim/linear_program.h"

/* Where the sum of weights is not fixed it is bounded: at the optimum it is sum_m ||f_m||, and
 * strength times that is less than the value of any model. What is left of the bound is one more
 * share, that of a kernel which is 0. */
typedef struct md_shares {
    size_t count;  /* kernels, and the rest where there is one */
    double total;  /* the sum of weights; 0: not known yet */
    double *x;     /* [count] weight / total */
    double *slope; /* [count] dJ/dx */
} md_shares;

medley_status md_shares_init(md_shares *shares, md_pool *pool, const md_batch_problem *problem,
                             medley_error *error);

/* x and slope of the weights as they are now; the total when it is called first. */
void md_shares_read(md_shares *shares, const md_wrap *w);

/* The weights of x. */
void md_shares_write(const md_shares *shares, md_wrap *w);

/* The largest of the bounds that are known is a model of J; a linear program says where it is
 * least. All values are divided by the scale.
 *
 * Where J has a kink the optimum has several dual points, and the one that was found may prove
 * nothing, however near the model is to J. By its prices the program tells a mean of the points
 * whose dual value is at least the least value of the model. */
typedef struct md_bounds {
    md_shares shares;
    md_linear_program *program;
    double scale;     /* J where it began */
    double height;    /* of the last bound, at x = 0 */
    double value;     /* of the last bound, at the weights that it is for */
    double *row;      /* [1 + count] of the program, without bounds: -1 and the last slopes */
    double *solution; /* [1 + count] the least value of the model, and where it is */
    double best;      /* the least J so far */
    double *points;   /* [known][n] dual points of all bounds */
    size_t known, point_capacity;
} md_bounds;

/* MEDLEY_NOT_SUPPORTED in builds without linear programs. */
medley_status md_bounds_init(md_bounds *bounds, md_pool *pool, const md_batch_problem *problem,
                             const char *method, medley_error *error);
void md_bounds_clear(md_bounds *bounds);

/* Adds the bound of the dual point as it is now and finds the least point of the model. Once that
 * is as near to the best J as is wanted, the certificate gets the point of the program. */
medley_status md_bounds_add(md_bounds *bounds, md_wrap *w, medley_error *error);

#endif
