/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear kernel <x, z>. */
#include "kernel/kernel.h"

const md_kernel_class md_kernel_linear = {
    .name = "linear",
    .summary = "dot product; linear(explicit) keeps one weight per feature instead of per row",
    .formula = "<x,z>",
    .quantity = MD_DOT,
    .positive_definite = true,
    .has_primal_form = true,
    .map = md_map_identity,
    .exact = md_exact_identity,
    .form = md_form_identity,
};
