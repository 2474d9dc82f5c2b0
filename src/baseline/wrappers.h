/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods that SpicyMKL is compared with. They minimise the same objective as md_batch_solve,
 * stop at the same certified gap and return the same kind of solution:
 *
 *     sum_i l(y_i, f_i) + strength sum_m g(||f_m||)
 *         = min over d >= 0 of   sum_i l(y_i, f_i) + strength/2 sum_m (||f_m||^2 / d_m + h(d_m))
 *
 * (SpicyMKL eq. 44), for fixed d a problem of the one kernel sum_m d_m K_m (baseline/one_kernel.h).
 * Where the sum of norms is squared, as in most papers on these methods, d is on the simplex:
 *
 *     sum_i l(y_i, f_i) + strength/2 (sum_m ||f_m||)^2
 *         = min over d >= 0, sum_m d_m = 1 of   sum_i l(y_i, f_i) + strength/2 sum_m ||f_m||^2 /
 * d_m
 *
 * Of a solution, steps are outer iterations, newton_steps the problems of one kernel that were
 * solved, passes the looks at all kernels. */
#ifndef MD_WRAPPERS_H
#define MD_WRAPPERS_H

#include "baseline/one_kernel.h"

/* Is the penalty such a minimum over d? Powers of norms above 2 are none. */
bool md_has_kernel_weights(const md_batch_problem *problem);

/* Takes turns (Kloft et al.): the best f for d, then the best d for f, which is
 * ||f_m|| / g'(||f_m||). MEDLEY_NOT_SUPPORTED without kernel weights. */
medley_status md_batch_gauss_seidel(md_batch_solution *solution, const md_batch_problem *problem,
                                    const md_batch_solution *start, medley_error *error);

/* Those that follow take the block 1-norm, h(d) = d, or its square, and are MEDLEY_NOT_SUPPORTED
 * for other penalties. */

/* Reduced gradient on d with a line search (SimpleMKL, Rakotomamonjy et al.). */
medley_status md_batch_simplemkl(md_batch_solution *solution, const md_batch_problem *problem,
                                 const md_batch_solution *start, medley_error *error);

/* Linear programs in d from bounds of the value (SILP, Sonnenburg et al.). Needs Clp. */
medley_status md_batch_silp(md_batch_solution *solution, const md_batch_problem *problem,
                            const md_batch_solution *start, medley_error *error);

/* The nearest d at which the same bounds are below a level between the best value and their least
 * one (LevelMKL, Xu et al.). Needs Clp. */
medley_status md_batch_levelmkl(md_batch_solution *solution, const md_batch_problem *problem,
                                const md_batch_solution *start, medley_error *error);

/* Newton's steps on d: a quadratic program each, then a line search (HessianMKL, Chapelle and
 * Rakotomamonjy). */
medley_status md_batch_hessianmkl(md_batch_solution *solution, const md_batch_problem *problem,
                                  const md_batch_solution *start, medley_error *error);

/* ---- batch_baselines.c: a single kernel, with its own objective and certificate ---- */

/* The mean of all kernels: every one is active, with the same coefficients. */
medley_status md_batch_average(md_batch_solution *solution, const md_batch_problem *problem,
                               const md_batch_solution *start, medley_error *error);
/* As md_batch_largest_strength: a strength that is large for the mean kernel, for both. */
medley_status md_batch_average_strength(const md_batch_problem *problem, double *largest,
                                        double *without_slope, medley_error *error);

/* The kernel that does best on a held-out fifth (every fifth row of each label) when it is learnt
 * alone on the rest, then learnt on all rows. */
medley_status md_batch_best(md_batch_solution *solution, const md_batch_problem *problem,
                            const md_batch_solution *start, medley_error *error);

/* ---- wrapper_loop.c: what the methods share that take turns between kernel weights d and problems
 * of one kernel: the current point with what is known there, the best model and the best dual point
 * so far. A method is a function that moves on to other weights. ---- */

/* What solves the problem of one kernel, for fixed weights. */
typedef struct md_fixed {
    double *rho;        /* [n] the model is d_m rho / strength */
    double *point;      /* [n] the dual point, and where a solver begins */
    double loss, value; /* of the model, and of the problem: J(d) without the price of d */
} md_fixed;

typedef struct md_wrap {
    const md_batch_problem *problem;
    md_one_kernel_solver inner;
    size_t n, kernels;
    double gap;      /* of problems of one kernel */
    bool on_simplex; /* d has the sum 1 */
    double price;    /* of weights: J(d) has strength/2 times this for each unit; 1, or 0 there */

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
    double *share;        /* [kernels] scratch: norms of a model */
    double *f;            /* [n] scratch: scores without bias */
    double began;
} md_wrap;

/* Moves to other weights, and solves the problem there. False in *moved: there is nowhere to go. */
typedef medley_status (*md_wrap_move)(md_wrap *w, void *method, bool *moved, medley_error *error);

/* Weights to begin with, then moves and looks until the gap is as wanted. */
typedef struct md_wrap_method {
    md_wrap_move move;
    void *state;
    double inner_share; /* of the wanted gap: accuracy of problems of one kernel */
} md_wrap_method;
medley_status md_wrap_run(md_batch_solution *solution, const md_batch_problem *problem,
                          const md_batch_solution *start, const md_wrap_method *method,
                          medley_error *error);

/* matrix = sum_m weight_m K_m, upper triangle. */
medley_status md_wrap_mix(md_wrap *w, const double *weight, double *matrix, medley_error *error);

/* Solves the problem of one kernel, from the point of fixed on. */
medley_status md_wrap_solve(md_wrap *w, const double *matrix, md_fixed *fixed, medley_error *error);

/* to = from, for problems of n rows. */
void md_fixed_copy(md_fixed *to, const md_fixed *from, size_t n);

/* Both for the weights as they are now. */
medley_status md_wrap_settle(md_wrap *w, medley_error *error);

/* J(d) for the weights as they are now. */
double md_wrap_total(const md_wrap *w);

/* The slope of J where it falls if the weight of kernel m grows: -dJ/dd_m. */
double md_wrap_descent(const md_wrap *w, size_t m);

/* A point inside the loss's domain with sum 0 becomes the dual point of the certificate if it is
 * better than that. Looks at all kernels. */
medley_status md_wrap_try_point(md_wrap *w, const double *point, medley_error *error);

/* Where nothing helps, the values that are compared must be more accurate: solves for the same
 * weights again. False in *moved if they cannot be. */
medley_status md_wrap_refine(md_wrap *w, bool *moved, medley_error *error);

/* Is the penalty the block 1-norm or its square? If not, a refusal that names the method. */
medley_status md_wrap_check_penalty(const md_batch_problem *problem, const char *method,
                                    medley_error *error);

#endif
