/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear kernel <x, z>. */
#include "kernel/kernel.h"

#include <string.h>

static void map_identity(const void *state, const float *q, float *out, size_t count)
{
    (void)state;
    if (out != q)
        memcpy(out, q, count * sizeof *out);
}

extern const md_kernel_class md_kernel_linear;
const md_kernel_class md_kernel_linear = {
    .name = "linear",
    .summary = "dot product; linear(explicit) keeps one weight per feature instead of per row",
    .formula = "<x,z>",
    .quantity = MD_DOT,
    .positive_definite = true,
    .map = map_identity,
};
