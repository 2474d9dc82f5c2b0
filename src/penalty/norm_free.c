/* SPDX-License-Identifier: BSD-3-Clause */
/* Penalties that put nothing on block norms: their value is 0 and their prox changes nothing. What
 * they do happens inside the blocks (l1) or in the gradient of the loss (absorbed-l2). */
#include "penalty/block_weight.h"
#include "penalty/penalty.h"

static double zero_value(const void *state, const double *b, const double *weight, size_t count)
{
    (void)state;
    (void)b;
    (void)weight;
    (void)count;
    return 0;
}

static void identity_prox(const void *state, double tau, const double *b, const double *weight,
                          size_t count, double *shrunk, double *scratch)
{
    (void)state;
    (void)tau;
    (void)weight;
    (void)scratch;
    if (shrunk != b)
        memcpy(shrunk, b, count * sizeof *b);
}

/* Omega = 0: the online projected subgradient method of Zinkevich. */
const md_penalty_class md_penalty_none = {
    .name = "none",
    .summary = "no penalty",
    .formula = "0",
    .uniform = true,
    .value = zero_value,
    .prox = identity_prox,
};

/* Plain l1 (truncated gradient): every coordinate inside the blocks is soft-thresholded by tau. */
const md_penalty_class md_penalty_l1 = {
    .name = "l1",
    .summary = "l1 norm inside the blocks: few features",
    .formula = "||theta||_1",
    .uniform = true,
    .value = zero_value,
    .prox = identity_prox,
    .inner_threshold = md_one,
};

static double absorbed_strong_convexity(const void *state, double least_weight)
{
    (void)state;
    (void)least_weight;
    return 1;
}

static double absorbed_conjugate(const void *state, const double *n, const double *weight,
                                 size_t count)
{
    (void)state;
    (void)weight; /* what is absorbed is not weighted */
    return md_half_squares(n, NULL, count);
}

/* The squared l2 norm as a part of the loss instead of a prox: each step first shrinks theta by
 * 1 - eta lambda, as Pegasos does. Same objective as l2, other iterates. */
const md_penalty_class md_penalty_absorbed_l2 = {
    .name = "absorbed-l2",
    .summary = "squared l2 norm as a part of the loss (Pegasos)",
    .formula = "1/2 sum b^2, by gradient",
    .uniform = true,
    .value = zero_value,
    .prox = identity_prox,
    .absorbed = md_one,
    .kernel_weight = md_same_weight,
    .strong_convexity = absorbed_strong_convexity,
    .conjugate = absorbed_conjugate,
};
