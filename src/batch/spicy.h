/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the batch module. Notation of docs/math.md; v_m = a_m + gamma rho. */
#ifndef MD_SPICY_H
#define MD_SPICY_H

#include "batch/batch.h"

/* Members without weight stay while their norm is above this share of the threshold. */
#define MD_SPICY_NEAR 0.95

/* One kernel of the working set. */
typedef struct md_member {
    size_t kernel;
    double aKa;       /* ||a||^2 */
    double norm;      /* ||v|| */
    double length;    /* of the prox, or slope of the conjugate: the new ||a|| */
    double ratio;     /* length / norm */
    double curvature; /* derivative of length in norm */
    double cross;     /* x'K a for the trial point x */
    double line[3];   /* ||v||^2 along the direction: line[0] + 2 line[1] t + line[2] t^2 */
} md_member;

typedef struct md_spicy {
    const md_batch_problem *problem;
    md_store *store;
    size_t n, kernels, threads;

    bool finite_conjugate; /* of the penalty: every dual point is feasible */
    /* It is smooth too, and used as it is: a stays 0, v = rho, and the outer loop is only about the
     * loss (section 4.3). Where that is too steep for Newton's method it gives up, and the run
     * starts again with proximal steps on the coefficients. */
    bool smooth_penalty, gave_up;
    /* So is the conjugate of the loss, and it is used as it is: one outer step. */
    bool smooth_loss;
    double gamma, gamma_z; /* proximity to the coefficients, to the scores */
    double first_gamma_z;  /* it does not shrink below that */
    double most_gamma_z;   /* it does not grow beyond that */
    double inner_target;   /* decrement that will do where there is one outer step, of the primal */

    md_member *members; /* [count] the working set */
    size_t count, capacity;
    bool *in_set;    /* [kernels] */
    double *a, *Ka;  /* [capacity][n]; not used if smooth_penalty */
    double *Kr, *Kx; /* [capacity][n] K rho, and at the trial point */
    double *norm2;   /* [capacity] scratch */
    double *weight;  /* [capacity] scratch */
    size_t *chosen;  /* [capacity] scratch */

    double *rho, *z, *f, *gradient; /* [n] f without bias */
    double *new_z, *z_slope;        /* [n] scores that belong to rho, and -d/drho of them */
    double *direction, *trial;      /* [n] */
    double *sum, *hessian;          /* [n][n] sum_m weight K_m; with all its terms, or its factor */
    double *tall;                   /* [tall_rows][n] scratch for rank-one terms */
    size_t tall_rows;
    double *scratch; /* [8 n] */
    bool sum_ready, factor_ready;

    /* The best model so far: of the current a, or kept as coefficients. */
    double best_primal, best_loss, best_bias;
    bool best_is_here;  /* ratio and rho below belong to the current a and gamma */
    double *best_ratio; /* [capacity] */
    double *best_rho;   /* [n] */
    double best_gamma;
    size_t kept; /* kernels of kept coefficients */
    size_t *kept_kernel;
    double *kept_coefficient; /* [kept][n] */

    /* The best dual point so far, checked against all kernels. */
    double best_dual;
    double *dual_point; /* [n] */

    /* All kernels. */
    double *bound;  /* [kernels] at least ||last|| */
    double *last;   /* [n] the dual point that was last checked */
    bool *dropped;  /* [kernels] they have no weight at the optimum: left out for good */
    size_t *list;   /* [kernels] scratch */
    double *values; /* [kernels] scratch */

    size_t iterations, newton_steps, passes;
    size_t rounds;    /* working sets that were checked against all kernels */
    double least_gap; /* of this working set */
    size_t stalled;   /* outer iterations without a smaller one */
    double began;
} md_spicy;

/* ---- state.c ---- */
/* direct: conjugates may be used as they are, where they are smooth. */
medley_status md_spicy_init(md_spicy *s, const md_batch_problem *problem, bool direct,
                            medley_error *error);
void md_spicy_clear(md_spicy *s);
/* The working set becomes these kernels; what was known of those that stay, stays. */
medley_status md_spicy_set(md_spicy *s, const size_t *kernels, size_t count, medley_error *error);
/* Members without weight whose norm (in norm2, as set by the last look at the set) is far below the
 * threshold leave the set; the look at all kernels brings them back if need be. */
medley_status md_spicy_prune(md_spicy *s, medley_error *error);
md_chosen md_spicy_members(md_spicy *s, bool active_only);

/* ---- model.c: primal values, the best model ---- */
void md_spicy_evaluate(md_spicy *s);  /* all about the current rho */
void md_spicy_try_model(md_spicy *s); /* is it the best so far? */
medley_status md_spicy_keep_best(md_spicy *s, medley_error *error);
medley_status md_spicy_finish(md_spicy *s, md_batch_solution *solution, medley_error *error);

/* length and its derivative for a norm. */
double md_spicy_length(const md_spicy *s, double norm, double *derivative);
/* Scores that belong to rho, and -d/drho of them. */
void md_spicy_scores(const md_spicy *s, const double *rho, double *scores, double *slope);

double md_batch_dot(const double *x, const double *y, size_t n);
void md_batch_add(double *f, double p, const double *x, size_t n); /* f += p x */

/* ---- newton.c ---- */
medley_status md_spicy_minimise(md_spicy *s, medley_error *error);

/* ---- hessian.c ---- */
/* direction: the Newton step, with sum 0; returns the decrement -gradient'direction in *decrement.
 */
medley_status md_spicy_direction(md_spicy *s, double *decrement, medley_error *error);
/* The decrement by the factor of the last Hessian; NaN if there is none. */
double md_spicy_old_decrement(md_spicy *s);

/* ---- dual.c ---- */
/* -sum l*(-s r) - sum_i (strength g)*(s h_i) at the best s, and s. h: norms of the kernels that
 * count. */
double md_spicy_dual(const md_spicy *s, const double *r, const double *h, size_t count,
                     double *scale);

/* ---- screen.c: all kernels against a dual point ---- */
/* Brings bound up to date for r, exactly where it matters: wherever it could be above limit.
 * member_norm (may be NULL): ||r|| of the members, where they are known. */
medley_status md_spicy_check_all(md_spicy *s, const double *r, const double *member_norm,
                                 double limit, medley_error *error);
/* Drops kernels that cannot be active at the optimum: the dual is at most best_primal there. scale:
 * of r for best_dual. */
void md_spicy_screen(md_spicy *s, double scale);
/* The kernels that the working set should have, in list; returns how many, SIZE_MAX for lack of
 * memory. */
size_t md_spicy_choose(md_spicy *s);

#endif
