/* SPDX-License-Identifier: BSD-3-Clause */
/* The certificate that every batch method gives: the value of a model from its coefficients alone,
 * the value of a dual point, their gap; and the record of iterations. */
#ifndef MD_CERTIFICATE_H
#define MD_CERTIFICATE_H

#include "batch/batch.h"

/* (primal - dual) / primal; 0 if rounding makes it negative. */
double md_relative_gap(double primal, double dual);

/* The same where kernel values may be coarse: a dual value that exceeds the primal one by more than
 * rounding counts as a gap too. */
double md_certified_gap(double primal, double dual);

/* Memory for a model of `active` kernels in place of an earlier one; rho is copied. */
medley_status md_batch_allocate(md_batch_solution *solution, size_t rows, size_t active,
                                const double *rho, medley_error *error);

/* The loss of the scores f[rows] with the best bias for them. */
double md_batch_loss(const md_batch_problem *problem, const double *f, double *bias);

/* Norms, bias, loss and primal value of kernel[active] and coefficient, the dual value of rho,
 * their gap, and whether it is small enough. All of it from kernel values in double precision:
 * nothing that iterations tracked enters the certificate. norms: of rho in all kernels, or upper
 * bounds of them where they do not matter, as values are stored; NULL: they are not known. rho is
 * scaled to the point that has the dual value. */
medley_status md_batch_certify(md_batch_solution *solution, const md_batch_problem *problem,
                               const double *norms, medley_error *error);

/* The primal side of it alone: norms, bias, loss and primal value. */
medley_status md_batch_value_model(md_batch_solution *solution, const md_batch_problem *problem,
                                   medley_error *error);

/* (sum x^q)^(1/q) of x >= 0, for q = infinity the largest; and the norm dual to that. */
double md_norm_of(double q, const double *x, size_t count);
double md_dual_norm_of(double q, const double *x, size_t count);

/* The penalty of norms, without the strength: a sum over kernels, or half a squared norm and what
 * there is beside it; and that rest alone. */
double md_batch_penalty(const md_batch_problem *problem, const double *norm, size_t count);
double md_batch_rest(const md_batch_problem *problem, const double *norm, size_t count);

/* What follows from the primal and the dual value: the gap, and whether it is the wanted one. A
 * dual value above the primal one cannot be trusted, and becomes 0. */
void md_batch_conclude(md_batch_solution *solution, double wanted);

/* Upper bounds h[kernels] of the norms ||rho||, exact where they matter. given: as `norms` above.
 */
medley_status md_batch_dual_norms(double *h, const md_batch_problem *problem, const double *rho,
                                  const double *given, medley_error *error);

/* -sum l*(-s r) - sum_m (strength g)*(s h_m) at the best s, and s, for a point r inside the loss's
 * domain with sum 0. h[count]: norms ||r|| of the kernels that count. Of a squared norm, that of
 * the problem itself. */
double md_dual_value(const md_batch_problem *problem, const double *r, const double *h,
                     size_t count, double *scale);

/* strength g'(0): a kernel has weight at the optimum only if its norm reaches this. */
double md_penalty_threshold(const md_batch_problem *problem);

/* Is (strength g)* finite everywhere, so that every dual point is feasible? */
bool md_penalty_conjugate_is_finite(const md_batch_problem *problem);

/* Appends a step and calls the problem's watch function; if that returns false, solution->stopped
 * is set. */
medley_status md_batch_record(md_batch_solution *solution, const md_batch_problem *problem,
                              const md_batch_step *step, medley_error *error);

/* Moves the better of two solutions to first, with the step counts of both, and the other one to
 * second. */
void md_batch_keep_better(md_batch_solution *first, md_batch_solution *second);
/* Did the iterations reach the gap by kernel values in single precision? */
bool md_batch_reached_rounded(const md_batch_problem *problem, const md_batch_solution *solution);

#endif
