/* SPDX-License-Identifier: BSD-3-Clause */
/* Group lasso, the block 1-norm: Omega = sum d b; prox b' = max(0, b - tau d) (SPOM eq. 11,
 * SpicyMKL eq. 13). As a sum over norms it is the elastic net of t = 0. */
#include "penalty/block_weight.h"
#include "penalty/penalty.h"

static double group_lasso_value(const void *state, const double *b, const double *weight,
                                size_t count)
{
    (void)state;
    return md_weighted_sum(b, weight, count);
}

static void group_lasso_prox(const void *state, double tau, const double *b, const double *weight,
                             size_t count, double *shrunk, double *scratch)
{
    (void)state;
    (void)scratch;
    md_soft_threshold(tau, b, weight, count, shrunk);
}

static double group_lasso_kernel_weight(const void *state, double b, double total)
{
    (void)state;
    (void)total;
    return b;
}

/* The dual norm is at most 1, or the supremum is infinite. */
static double group_lasso_conjugate(const void *state, const double *n, const double *weight,
                                    size_t count)
{
    (void)state;
    return md_largest_ratio(n, weight, count) <= 1 ? 0 : INFINITY;
}

const md_penalty_class md_penalty_group_lasso = {
    .name = "group-lasso",
    .summary = "block 1-norm: few blocks",
    .formula = "sum d b",
    .scalar = &md_elastic_scalar,
    .fixed = &(const double){0},
    .value = group_lasso_value,
    .prox = group_lasso_prox,
    .kernel_weight = group_lasso_kernel_weight,
    .conjugate = group_lasso_conjugate,
};
