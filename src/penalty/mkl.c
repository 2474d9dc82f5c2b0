/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse multiple kernel learning: Omega = 1/2 (sum d b)^2, half the squared block 1-norm. Its
 * prox is SPOM Alg. 2 (d = 1) and Alg. 4. */
#include "penalty/mkl_prox.h"

#include "penalty/block_weight.h"
#include "penalty/penalty.h"

static double mkl_value(const void *state, const double *b, const double *weight, size_t count)
{
    (void)state;
    const double norm = md_weighted_sum(b, weight, count);
    return norm * norm / 2;
}

static void mkl_prox(const void *state, double tau, const double *b, const double *weight,
                     size_t count, double *shrunk, double *scratch)
{
    (void)state;
    md_mkl_prox(tau, b, weight, count, shrunk, scratch);
}

static double mkl_kernel_weight(const void *state, double b, double total)
{
    (void)state;
    return b / total;
}

extern const md_penalty_class md_penalty_mkl;
const md_penalty_class md_penalty_mkl = {
    .name = "mkl",
    .summary = "sparse multiple kernel learning: few blocks",
    .formula = "1/2 (sum d b)^2",
    .is_norm = true,
    .is_half_square = true,
    .value = mkl_value,
    .prox = mkl_prox,
    .dual_norm = md_largest_ratio,
    .kernel_weight = mkl_kernel_weight,
};
