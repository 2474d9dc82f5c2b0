/* SPDX-License-Identifier: BSD-3-Clause */
/* The problem of all batch methods: the optimum of
 *
 *     P(a, b) = sum_i l(y_i, f_i) + strength sum_m g(||a_m||_{K_m}),   f = sum_m K_m a_m + b
 *
 * or of P(a, b) = sum_i l(y_i, f_i) + strength (1/2 (sum_m ||a_m||^q)^(2/q) + sum_m g(||a_m||)),
 * with a certificate (docs/math.md). md_batch_solve is SpicyMKL (spicy.c has the theory);
 * wrappers.h has the methods that it is compared with. The bias has no penalty, so dual points rho
 * sum to 0. */
#ifndef MD_BATCH_H
#define MD_BATCH_H

#include "penalty/scalar_sum.h"
#include "setup/setup.h"

/* Where the solver stands after an outer iteration. primal is of the best model so far, dual of the
 * best dual point that was checked against all kernels: the gap is always a true one. */
typedef struct md_batch_step {
    double primal, loss, dual, gap;
    size_t active; /* kernels of the best model */
    double seconds;
} md_batch_step;

/* A solver of problems of one kernel, which some methods are made of (baseline/one_kernel.h). */
typedef struct md_one_kernel md_one_kernel;
typedef medley_status (*md_one_kernel_solver)(const md_one_kernel *one, double *rho, double *point,
                                              medley_error *error);

struct md_batch_problem {
    md_packed *packed;
    const md_margin_loss *loss;
    const void *loss_state;
    const double *y; /* [rows] -1 and +1, or regression targets */
    const md_scalar_penalty *penalty;
    const void *penalty_state;
    double strength;           /* of the penalty: lambda N, the C of the SpicyMKL paper */
    double square;             /* q of a squared norm, and penalty is ||a||^q / q; 0: none */
    const md_scalar_sum *rest; /* what is added to the square; NULL: nothing */
    double gap;                /* wanted: (primal - dual) / primal */
    size_t max_iterations;     /* outer ones */
    double first_gamma;        /* in units of the automatic one; 0: 1 */
    double growth;             /* of gamma, with each outer iteration; 0: as it suits */
    size_t threads;
    bool products_only; /* no matrix of rows by rows: packed grams are by rows (packed.h) */
    size_t mixture;     /* bytes for a weighted sum of kernels as values, if products_only */
    md_one_kernel_solver inner; /* of such methods; NULL: the one that suits */
    /* After each outer iteration; false: stop. May be NULL. */
    bool (*watch)(void *context, const md_batch_step *step);
    void *context;
};

struct md_batch_solution {
    size_t rows, active;
    size_t *kernel;      /* [active] increasing */
    double *coefficient; /* [active][rows] */
    double *norm;        /* [active] ||a_m|| */
    double bias;
    double *rho; /* [rows] the dual point of the certificate */
    double primal, loss, dual, gap;
    size_t newton_steps, passes; /* passes: over kernels outside of the working set */
    md_batch_step *steps;        /* [step_count] */
    size_t step_count, step_capacity;
    bool converged, stopped;
    bool coarse; /* the gap was reached with kernel values as they are stored, not with true ones */
};

/* SpicyMKL. start: the solution of a similar problem (another strength), or NULL. It is no error if
 * the wanted gap is not reached, within max_iterations or because of rounding: then converged is
 * false, and gap says how far the model may be from the optimum. The solution, as that of every
 * method, is to be cleared whatever comes back. */
medley_status md_batch_solve(md_batch_solution *solution, const md_batch_problem *problem,
                             const md_batch_solution *start, medley_error *error);
/* Problems of squared norms (squared.c), which md_batch_solve hands over. */
medley_status md_batch_solve_squared(md_batch_solution *solution, const md_batch_problem *problem,
                                     const md_batch_solution *start, medley_error *error);
/* The model with the least primal value between two (segment.c), of a squared norm, with the dual
 * point of the second; nothing is known of the dual value. */
medley_status md_batch_join(md_batch_solution *joined, const md_batch_problem *problem,
                            const md_batch_solution *a, const md_batch_solution *b,
                            medley_error *error);
/* A strength that is large for them, since none leaves out all kernels. */
medley_status md_batch_large_square(const md_batch_problem *problem, double *large,
                                    medley_error *error);
void md_batch_solution_clear(md_batch_solution *solution);

/* The least strength for which the solution has no kernels: max_m ||rho_0||_{K_m} for the dual
 * point of the empty model, over g'(0). Infinite where kernels are never left out (g'(0) = 0): then
 * *without_slope, that maximum itself, is still a sensible scale. */
medley_status md_batch_largest_strength(const md_batch_problem *problem, double *largest,
                                        double *without_slope, medley_error *error);

/* ---- certified.c: methods that end in a certified optimum, SpicyMKL and those it is compared
 * with. Each brings a solver of one output (md_method.solve), the rest is the same for all of them
 * ---- */

medley_status md_fit_batch(medley_model **model, md_problem *problem, medley_error *error);
medley_status md_fit_batch_path(md_problem *problem, const medley_path_options *path,
                                medley_path_taker take, void *context, medley_error *error);

/* Fields of a method's row that all of them share. */
#define MD_CERTIFIED_METHOD .needs_kernels = true, .kind = &md_batch_kind, .fit = md_fit_batch

#endif
