/* SPDX-License-Identifier: BSD-3-Clause */
/* No penalty: Omega = 0, the online projected subgradient method of Zinkevich. */
#include "penalty/block_weight.h"
#include "penalty/penalty.h"

extern const md_penalty_class md_penalty_none;
const md_penalty_class md_penalty_none = {
    .name = "none",
    .summary = "no penalty",
    .formula = "0",
    .separable = true,
    .uniform = true,
    .value = md_zero_value,
    .prox = md_identity_prox,
};
