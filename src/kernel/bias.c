/* SPDX-License-Identifier: BSD-3-Clause */
/* The constant kernel 1: a block of one number per label, an intercept that is penalised like any
 * other block. Without it a mixture of kernels that vanish far from the data must vote 0 there. */
#include "kernel/kernel.h"

static void map_one(const void *state, const float *q, float *out, size_t count)
{
    (void)state;
    (void)q;
    for (size_t j = 0; j < count; j++)
        out[j] = 1;
}

static void exactly_one(const void *state, const double *q, double *out, size_t count)
{
    (void)state;
    (void)q;
    for (size_t j = 0; j < count; j++)
        out[j] = 1;
}

/* Of any quantity. */
static void form_of_bias(const void *state, md_device_form *form)
{
    (void)state;
    *form = (md_device_form){
        .quantity = MD_ON_PRODUCT, .map = MD_MAP_POWER, .scale = 0, .offset = 1, .degree = 1};
}

const md_kernel_class md_kernel_bias = {
    .name = "bias",
    .summary = "constant: an intercept for each label",
    .formula = "1",
    .quantity = MD_DOT,
    .positive_definite = true,
    .constant = true,
    .map = map_one,
    .exact = exactly_one,
    .form = form_of_bias,
};
