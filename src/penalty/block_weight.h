/* SPDX-License-Identifier: BSD-3-Clause */
/* What several penalties share: the weight d_m of a block and operations of weighted l1 norms. A
 * penalty with weights is Omega(d b), each norm times its weight (SPOM Alg. 4 for mkl). */
#ifndef MD_BLOCK_WEIGHT_H
#define MD_BLOCK_WEIGHT_H

#include "base/base.h"

/* d_m, where weight is NULL for all one. */
static inline double md_block_weight(const double *weight, size_t m)
{
    return weight == NULL ? 1.0 : weight[m];
}

/* What the penalty sees of a block of norm b. */
static inline double md_weighted(const double *b, const double *weight, size_t m)
{
    return weight == NULL ? b[m] : weight[m] * b[m];
}

/* What the conjugate sees of a dual vector whose block has the norm n: infinite where that block
 * costs nothing. */
static inline double md_over_weight(const double *n, const double *weight, size_t m)
{
    return weight == NULL || n[m] == 0 ? n[m] : n[m] / weight[m];
}

/* max b, 0 where there are none */
double md_largest_norm(const double *b, size_t count);

/* sum d b */
double md_weighted_sum(const double *b, const double *weight, size_t count);

/* shrunk = max(0, b - threshold d), in place or not. */
void md_soft_threshold(double threshold, const double *b, const double *weight, size_t count,
                       double *shrunk);

/* The prox of tau/2 (sum d b)^2 (SPOM Alg. 2 and 4): b' = max(0, b - t d) for one threshold t,
 * found by selection in O(count). shrunk may be b. scratch: 2 * count doubles. */
double md_mkl_threshold(double tau, const double *b, const double *weight, size_t count,
                        double *scratch);
void md_mkl_prox(double tau, const double *b, const double *weight, size_t count, double *shrunk,
                 double *scratch);

/* max n/d, the dual norm of sum d b; infinite where a block with n > 0 has no weight. */
double md_largest_ratio(const double *n, const double *weight, size_t count);

/* sum (n/d)^2 / 2, the conjugate of sum (d b)^2 / 2; infinite in the same case. */
double md_half_squares(const double *n, const double *weight, size_t count);

/* Slots that are 0 or 1, whatever the penalty: of a state, and the weight of blocks under l2. */
double md_zero(const void *state);
double md_one(const void *state);
double md_number_of(const void *state); /* which is one number */
double md_same_weight(const void *state, double b, double total);

#endif
