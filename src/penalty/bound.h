/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugates of whole penalties, and the lower bounds of objectives that they give (docs/math.md):
 * for any distributions over the outputs of the examples, with v the mean over examples of the
 * expected phi(gold) - phi(y), and cbar that of the cost, the entropy or both, as the loss has it,
 *
 *     lambda Omega(theta) + mean loss(theta) >= s cbar - lambda Omega*(s v / lambda), 0 <= s <= 1,
 *
 * whatever theta: s below 1 mixes in the right outputs, of which all three are 0. */
#ifndef MD_PENALTY_BOUND_H
#define MD_PENALTY_BOUND_H

#include "penalty/penalty.h"

/* Is Omega* known for every term? */
bool md_penalty_has_conjugate(const md_penalty *penalty);

/* Omega*(n), absorbed terms included. Of a sum of terms it is an upper bound: n may be split among
 * them in any way, of which the ways of a few families are tried (the best one is among them for
 * l2 + mkl, l2 + group-lasso and l2 + elastic). scratch: 2 * count doubles. */
double md_penalty_conjugate(const md_penalty *penalty, const double *n, size_t count,
                            double *scratch);

/* The best of the lower bounds over s, which comes back in *scale (may be NULL); 0 or more. norms:
 * the lengths of v's blocks, of which those from `penalised` on have an l2 term of their own, and
 * are not under the penalty. scratch: 3 * count doubles. */
double md_penalty_bound(const md_penalty *penalty, double lambda, double cbar, const double *norms,
                        size_t penalised, size_t count, double *scale, double *scratch);

#endif
