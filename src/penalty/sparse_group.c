/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse group lasso: Omega = s sum d b + (1-s) ||theta||_1. The blocks soft-threshold their
 * coordinates by tau (1-s) first; the group shrink by tau s here, of the norms after that, makes
 * the pair the exact prox. */
#include "penalty/block_weight.h"
#include "penalty/penalty.h"

static const md_param sparse_group_params[] =
    MD_ONE_NUMBER("s", "0.5", 0, 1, "S", "Share of the group lasso; 0 is l1, 1 is group-lasso.");

static double sparse_group_value(const void *state, const double *b, const double *weight,
                                 size_t count)
{
    return md_number(state) * md_weighted_sum(b, weight, count);
}

static void sparse_group_prox(const void *state, double tau, const double *b, const double *weight,
                              size_t count, double *shrunk, double *scratch)
{
    (void)scratch;
    md_soft_threshold(tau * md_number(state), b, weight, count, shrunk);
}

static double sparse_group_inner_threshold(const void *state)
{
    return 1 - md_number(state);
}

static double sparse_group_kernel_weight(const void *state, double b, double total)
{
    (void)total;
    return b / md_number(state);
}

const md_penalty_class md_penalty_sparse_group = {
    .name = "sparse-group",
    .summary = "sparse group lasso: few blocks and few features in them",
    .formula = "s sum d b + (1-s) ||theta||_1",
    .params = sparse_group_params,
    .state_size = sizeof(double),
    .value = sparse_group_value,
    .prox = sparse_group_prox,
    .inner_threshold = sparse_group_inner_threshold,
    .kernel_weight = sparse_group_kernel_weight,
};
