/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a run of SpicyMKL, and what spicy.c calls on it. Notation of spicy.c and
 * docs/math.md: v_m = a_m + gamma rho, norms are those of the kernel. */
#ifndef MD_SPICY_H
#define MD_SPICY_H

#include "batch/batch.h"
#include "packed/mixture.h"

/* One kernel of the working set. */
typedef struct md_member {
    size_t kernel;
    double aKa;       /* ||a||^2 */
    double norm;      /* ||v|| */
    double length;    /* of prox(v), or slope of the conjugate: the new ||a|| */
    double ratio;     /* length / norm; above 0: the kernel is active */
    double curvature; /* derivative of length in norm */
    double cross;     /* x'K a for the trial point x */
    double line[3];   /* ||v||^2 along the direction: line[0] + 2 line[1] t + line[2] t^2 */
} md_member;

typedef struct md_spicy md_spicy;

/* The Hessian as the diagonal 1 / root^2 and a part of low rank, factored (lowrank_step.c). */
typedef struct md_low_step {
    double *V;     /* [n][rank], and after it: */
    double *S;     /* [rank][rank] factor of I + V'V */
    double *small; /* [rank] scratch */
    double *root;  /* [n] */
    size_t rank, capacity;
    bool ready;
} md_low_step;

struct md_spicy {
    md_pool pool; /* of the arrays whose size does not change */
    const md_batch_problem *problem;
    md_batch_solution *solution; /* gets the record of iterations, and at the end the model */
    md_packed *packed;
    size_t n, kernels, threads;

    bool finite_conjugate; /* of the penalty: every dual point is feasible */
    /* The penalty's conjugate is smooth and used as it is (section 4.3): a stays 0, v = rho, and
     * the outer loop is about the loss only. Where the conjugate is too steep, Newton's method
     * gives up. */
    bool smooth_penalty, gave_up;
    bool smooth_loss;      /* and so is the loss's: one outer step */
    double gamma, gamma_z; /* proximity to the coefficients, to the scores */
    double first_gamma_z, growth;
    double softness;                /* of the loss's kinks in phi; 0: they are as they are */
    double least_softness, set_gap; /* set_gap: of this working set, when last seen */
    double inner_target; /* smooth_loss: the Newton decrement to reach, as a share of the primal */

    md_member *members; /* [count] the working set */
    size_t count, capacity;
    bool *in_set;    /* [kernels] */
    double *a, *Ka;  /* [capacity][n]; not used if smooth_penalty */
    double *Kr, *Kx; /* [capacity][n] K rho, and K x at the trial point */
    double *norm2;   /* [capacity] squared norms at the trial point; norms of the candidate */
    double *weight;  /* [capacity] scratch */
    size_t *chosen;  /* [capacity] scratch */

    double *rho, *z, *f, *gradient; /* [n] f: scores without bias */
    double *new_z, *z_slope;        /* [n] scores that belong to rho, and -d/drho of them */
    double *direction, *trial;      /* [n] */
    double *sum, *hessian;          /* [n][n] sum_m weight K_m; with all its terms, or its factor;
                                     * NULL where there is: */
    md_mixture *mixture;            /* sum_m weight K_m for products only */
    size_t most_pivots;             /* rank of its part in the next preconditioner */
    double *tall;                   /* [tall_rows][n] scratch for rank-one terms */
    size_t tall_rows;
    double *scratch; /* [8 n] */
    bool sum_ready, factor_ready;
    bool summed; /* sum belongs to the trial point */
    md_low_step low;

    /* The best model so far: of the current a, or kept as coefficients. */
    double best_primal, best_loss, best_bias;
    bool best_is_here;  /* best_ratio and best_rho belong to the current a and gamma */
    double *best_ratio; /* [capacity] */
    double *best_rho;   /* [n] */
    double best_gamma;
    size_t kept; /* kernels of kept coefficients */
    size_t *kept_kernel;
    double *kept_coefficient; /* [kept][n] */

    /* Dual points: the projection of rho onto the domain, and the best one that was checked against
     * all kernels. */
    double *candidate, *dual_point; /* [n] */
    double best_dual;

    /* All kernels. */
    double *bound;      /* [kernels] at least ||last|| */
    double *dual_norms; /* [kernels] at least ||dual_point|| */
    double *last;       /* [n] the dual point that was last checked */
    bool *screened;     /* [kernels] without weight at the optimum: left out for good */
    size_t *list;       /* [kernels] scratch */
    double *values;     /* [kernels] scratch */

    size_t iterations, newton_steps, passes;
    size_t rounds;    /* working sets that were checked against all kernels */
    double least_gap; /* of this working set when iterations last made progress */
    size_t stalled;   /* outer iterations since then */
    double began;
};

/* ---- spicy_state.c: the life of a run, and where it begins ---- */
/* direct: conjugates may be used as they are, where they are smooth. */
medley_status md_spicy_init(md_spicy *s, const md_batch_problem *problem, bool direct,
                            medley_error *error);
void md_spicy_clear(md_spicy *s);
/* The model without kernels and, unless that is good enough, the first working set. start: a
 * solution to set out from, or NULL. */
medley_status md_spicy_begin(md_spicy *s, const md_batch_solution *start, medley_error *error);

/* Threads that are worth waking for some products with vectors of each member. */
size_t md_spicy_threads(const md_spicy *s);

/* ---- inner_objective.c: phi(rho) ---- */
void md_spicy_evaluate(md_spicy *s); /* prox of all members, scores and gradient at rho */
/* The new ||a|| for a norm of v, and its derivative. */
double md_spicy_length(const md_spicy *s, double norm, double *derivative);
/* Scores that belong to rho, and -d/drho of them. */
void md_spicy_scores(const md_spicy *s, const double *rho, double *scores, double *slope);

/* ---- newton.c, hessian.c: its minimum ---- */
medley_status md_spicy_minimise(md_spicy *s, medley_error *error);
/* direction: the Newton step, with sum 0; *decrement: -gradient'direction. */
medley_status md_spicy_direction(md_spicy *s, double *decrement, medley_error *error);
/* The decrement by the factor of the last Hessian; NaN if there is none. */
double md_spicy_old_decrement(md_spicy *s);

/* ---- lowrank_step.c ---- */
bool md_spicy_has_low_rank(const md_spicy *s); /* all active members, as factors */
/* Factors the Hessian that way, if that is possible. */
medley_status md_spicy_factor_low(md_spicy *s, bool *done, medley_error *error);
void md_spicy_solve_low(const md_spicy *s, double *x); /* x becomes H^-1 x */
/* The same for any other V: room for it; and, when V and root are filled, S and its factor. False
 * if that is not positive definite. */
medley_status md_spicy_low_room(md_spicy *s, size_t rank, medley_error *error);
bool md_spicy_low_factor(md_spicy *s);

/* ---- products_step.c ---- */
/* direction by conjugate gradients on products with the kernels. */
medley_status md_spicy_step_by_products(md_spicy *s, medley_error *error);

/* ---- best_model.c ---- */
void md_spicy_try_model(md_spicy *s); /* is the model of rho the best so far? */
/* Writes the best model as coefficients, before a or the working set changes. */
medley_status md_spicy_keep_best(md_spicy *s, medley_error *error);
double md_spicy_gap(const md_spicy *s); /* of the best model and the best dual point */
medley_status md_spicy_record(md_spicy *s, medley_error *error);
/* The best model becomes the solution, certified from its coefficients. */
medley_status md_spicy_finish(md_spicy *s, medley_error *error);

/* ---- working_set.c ---- */
/* The working set becomes these kernels; what is known of members that stay, stays. */
medley_status md_spicy_set(md_spicy *s, const size_t *kernels, size_t count, medley_error *error);
md_chosen md_spicy_members(md_spicy *s, bool active_only);
/* A better set, by the bounds of all kernels; with those of the start, if there is one. */
medley_status md_spicy_next_set(md_spicy *s, const md_batch_solution *start, medley_error *error);
/* Members without weight that are far from the threshold leave the set. */
medley_status md_spicy_prune(md_spicy *s, medley_error *error);
/* The gap to reach on this set before all kernels are looked at. */
double md_spicy_set_target(const md_spicy *s, double wanted);
/* Projects rho to the candidate. *gap: to the best model, as if the members were all kernels. */
medley_status md_spicy_set_gap(md_spicy *s, double *gap, medley_error *error);

/* ---- screen.c ---- */
/* Checks the candidate against all kernels: its dual value, which kernels are screened, and the
 * bounds by which the next working set is chosen. */
medley_status md_spicy_check_all(md_spicy *s, medley_error *error);

#endif
