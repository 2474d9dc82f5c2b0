/* SPDX-License-Identifier: BSD-3-Clause */
/* Group lasso, the block 1-norm: Omega = sum d b; prox b' = max(0, b - tau d) (SPOM eq. 11,
 * SpicyMKL eq. 13). */
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

/* ---- as a sum of g(x) = x ---- */

static bool group_lasso_smooth_conjugate(const void *state)
{
    (void)state;
    return false;
}

static double group_lasso_scalar_value(const void *state, double x)
{
    (void)state;
    return x;
}

static double group_lasso_slope(const void *state, double x)
{
    (void)state;
    (void)x;
    return 1;
}

static double group_lasso_scalar_prox(const void *state, double tau, double y, double *derivative)
{
    (void)state;
    *derivative = y > tau;
    return y > tau ? y - tau : 0;
}

static double group_lasso_conjugate(const void *state, double tau, double y, double *slope,
                                    double *curvature)
{
    (void)state;
    (void)slope;
    (void)curvature;
    return y <= tau ? 0 : INFINITY;
}

static const md_scalar_penalty group_lasso_scalar = {
    .smooth_conjugate = group_lasso_smooth_conjugate,
    .value = group_lasso_scalar_value,
    .slope_at_zero = md_one,
    .slope = group_lasso_slope,
    .prox = group_lasso_scalar_prox,
    .conjugate = group_lasso_conjugate,
};

const md_penalty_class md_penalty_group_lasso = {
    .name = "group-lasso",
    .summary = "block 1-norm: few blocks",
    .formula = "sum d b",
    .scalar = &group_lasso_scalar,
    .is_norm = true,
    .separable = true,
    .value = group_lasso_value,
    .prox = group_lasso_prox,
    .dual_norm = md_largest_ratio,
    .kernel_weight = group_lasso_kernel_weight,
};
