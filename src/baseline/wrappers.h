/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods that SpicyMKL is compared with. They minimise the same objective as md_batch_solve,
 * stop at the same certified gap and return the same kind of solution:
 *
 *     sum_i l(y_i, f_i) + strength sum_m g(||f_m||)
 *         = min over d >= 0 of   sum_i l(y_i, f_i) + strength/2 sum_m (||f_m||^2 / d_m + h(d_m))
 *
 * (SpicyMKL eq. 44), for fixed d a problem of the one kernel sum_m d_m K_m (baseline/one_kernel.h).
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

/* Reduced gradient on d with a line search (SimpleMKL, Rakotomamonjy et al.). MEDLEY_NOT_SUPPORTED
 * for penalties other than the block 1-norm, h(d) = d. */
medley_status md_batch_simplemkl(md_batch_solution *solution, const md_batch_problem *problem,
                                 const md_batch_solution *start, medley_error *error);

/* The same with a solver of problems of one kernel of the caller's choice. */
typedef medley_status (*md_wrapper)(md_batch_solution *solution, const md_batch_problem *problem,
                                    const md_batch_solution *start, md_one_kernel_solver inner,
                                    medley_error *error);
medley_status md_gauss_seidel_by(md_batch_solution *solution, const md_batch_problem *problem,
                                 const md_batch_solution *start, md_one_kernel_solver inner,
                                 medley_error *error);
medley_status md_simplemkl_by(md_batch_solution *solution, const md_batch_problem *problem,
                              const md_batch_solution *start, md_one_kernel_solver inner,
                              medley_error *error);

/* ---- baselines.c: a single kernel, with its own objective and certificate ---- */

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

#endif
