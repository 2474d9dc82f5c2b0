/* SPDX-License-Identifier: BSD-3-Clause */
/* Plain l1 (truncated gradient): every coordinate inside the blocks is soft-thresholded by tau;
 * nothing on the norms. */
#include "penalty/block_weight.h"
#include "penalty/penalty.h"

extern const md_penalty_class md_penalty_l1;
const md_penalty_class md_penalty_l1 = {
    .name = "l1",
    .summary = "l1 norm inside the blocks: few features",
    .formula = "||theta||_1",
    .separable = true,
    .uniform = true,
    .value = md_zero_value,
    .prox = md_identity_prox,
    .inner_threshold = md_one,
};
