/* SPDX-License-Identifier: BSD-3-Clause */
/* The support vector machine's penalty: Omega = 1/2 sum (d b)^2; prox b' = b / (1 + tau d^2).
 * All blocks stay: the kernels are simply added. As a sum over norms it is the elastic net of t
 * = 1. */
#include "penalty/block_weight.h"
#include "penalty/penalty.h"

static double l2_value(const void *state, const double *b, const double *weight, size_t count)
{
    (void)state;
    double sum = 0;
    for (size_t m = 0; m < count; m++) {
        const double x = md_weighted(b, weight, m);
        sum += x * x;
    }
    return sum / 2;
}

static void l2_prox(const void *state, double tau, const double *b, const double *weight,
                    size_t count, double *shrunk, double *scratch)
{
    (void)state;
    (void)scratch;
    for (size_t m = 0; m < count; m++) {
        const double d = md_block_weight(weight, m);
        shrunk[m] = b[m] / (1 + tau * d * d);
    }
}

static double l2_strong_convexity(const void *state, double least_weight)
{
    (void)state;
    return least_weight * least_weight;
}

static double l2_conjugate(const void *state, const double *n, const double *weight, size_t count)
{
    (void)state;
    return md_half_squares(n, weight, count);
}

static void l2_link(const void *state, const double *n, const double *weight, size_t count,
                    double *scale)
{
    (void)state;
    (void)n;
    for (size_t m = 0; m < count; m++) {
        const double d = md_block_weight(weight, m);
        scale[m] = 1 / (d * d);
    }
}

const md_penalty_class md_penalty_l2 = {
    .name = "l2",
    .summary = "squared l2 norm: all blocks, added",
    .formula = "1/2 sum (d b)^2",
    .scalar = &md_elastic_scalar,
    .fixed = &(const double){1},
    .uniform = true,
    .value = l2_value,
    .prox = l2_prox,
    .kernel_weight = md_same_weight,
    .strong_convexity = l2_strong_convexity,
    .conjugate = l2_conjugate,
    .link = l2_link,
};
