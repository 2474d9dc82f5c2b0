/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the methods that take turns between kernel weights d and problems of one kernel: the
 * current point with what is known there, the best model and the best dual point so far. A method
 * is a function that moves on to other weights. */
#ifndef MD_WRAPPER_LOOP_H
#define MD_WRAPPER_LOOP_H

#include "baseline/one_kernel.h"

/* What solves the problem of one kernel, for fixed weights. */
typedef struct md_fixed {
    double *rho;        /* [n] the model is d_m rho / strength */
    double *point;      /* [n] the dual point, and where a solver begins */
    double loss, value; /* of the model, and of the problem: J(d) without h(d) */
} md_fixed;

typedef struct md_wrap {
    const md_batch_problem *problem;
    md_one_kernel_solver inner;
    size_t n, kernels;
    double gap; /* of problems of one kernel */

    /* The point. */
    double *weight; /* [kernels] d >= 0 */
    double *mix;    /* [n][n] upper triangle of sum_m d_m K_m */
    md_fixed here;  /* for these weights */
    double *norm;   /* [kernels] ||here.point||_{K_m}, known when a method moves */

    /* The best model so far, a_m = d_m rho / strength, and the best dual point. */
    double *best_weight, *best_rho;
    double best_primal, best_loss;
    double *dual_point;
    double best_dual;
    size_t active; /* kernels of the best model */

    size_t solved, looks; /* problems of one kernel, passes over all kernels */
    size_t *list;         /* [kernels] scratch */
    double *values;       /* [kernels] scratch */
    double *f;            /* [n] scratch: scores without bias */
    double began;
} md_wrap;

/* Moves to other weights, and solves the problem there. False in *moved: there is nowhere to go. */
typedef medley_status (*md_wrap_move)(md_wrap *w, void *method, bool *moved, medley_error *error);

/* Weights to begin with, then moves and looks until the gap is as wanted. inner NULL: the one that
 * suits. */
typedef struct md_wrap_method {
    md_wrap_move move;
    void *state;
    md_one_kernel_solver inner;
    double inner_share; /* of the wanted gap: accuracy of problems of one kernel */
} md_wrap_method;
medley_status md_wrap_run(md_batch_solution *solution, const md_batch_problem *problem,
                          const md_batch_solution *start, const md_wrap_method *method,
                          medley_error *error);

/* matrix = sum_m weight_m K_m, upper triangle. */
medley_status md_wrap_mix(md_wrap *w, const double *weight, double *matrix, medley_error *error);

/* Solves the problem of one kernel, from the point of fixed on. */
medley_status md_wrap_solve(md_wrap *w, const double *matrix, md_fixed *fixed, medley_error *error);

/* Both for the weights as they are now. */
medley_status md_wrap_settle(md_wrap *w, medley_error *error);

#endif
