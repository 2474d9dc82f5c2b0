/* SPDX-License-Identifier: BSD-3-Clause */
/* The squared l2 norm as a part of the loss instead of a prox: each step first shrinks theta by
 * 1 - eta lambda, as Pegasos does. Same objective as l2, other iterates. */
#include "penalty/block_weight.h"
#include "penalty/penalty.h"

static double strong_convexity(const void *state, double least_weight)
{
    (void)state;
    (void)least_weight;
    return 1;
}

extern const md_penalty_class md_penalty_absorbed_l2;
const md_penalty_class md_penalty_absorbed_l2 = {
    .name = "absorbed-l2",
    .summary = "squared l2 norm as a part of the loss (Pegasos)",
    .formula = "1/2 sum b^2, by gradient",
    .separable = true,
    .uniform = true,
    .value = md_zero_value,
    .prox = md_identity_prox,
    .absorbed = md_one,
    .kernel_weight = md_same_weight,
    .strong_convexity = strong_convexity,
};
