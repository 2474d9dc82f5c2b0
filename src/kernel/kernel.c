/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of kernels and what several of them share: a vector exp. */
#include "kernel/kernel.h"

#include "base/exp.h"
#include "base/vector.h"
#include <float.h>

const md_kernel_class *const md_kernels[] = {
#define MD_KERNEL(name) &md_kernel_##name,
#include "kernel/kernels.def"
#undef MD_KERNEL
    NULL};

const md_kernel_class *md_kernel_find(const char *name)
{
    for (size_t i = 0; md_kernels[i] != NULL; i++)
        if (strcmp(md_kernels[i]->name, name) == 0)
            return md_kernels[i];
    return NULL;
}

/* Below -87, and where the product is no number, the result is 0. */
MD_VECTOR_VOID(exp_scaled, (const float *q, float *out, size_t count, float factor),
               (q, out, count, factor))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        const float x = factor * q[j];
        out[j] = md_exp_float(x >= -87.0f ? x : -88.0f);
    }
}

void md_exp_scaled(const float *q, float *out, size_t count, double factor)
{
    exp_scaled(q, out, count, md_float_factor(factor));
}

float md_float_factor(double factor)
{
    return (float)fmin(fmax(factor, -(double)FLT_MAX), (double)FLT_MAX);
}

void md_map_identity(const void *state, const float *q, float *out, size_t count)
{
    (void)state;
    if (out != q)
        memcpy(out, q, count * sizeof *out);
}

void md_exact_identity(const void *state, const double *q, double *out, size_t count)
{
    (void)state;
    if (out != q)
        memcpy(out, q, count * sizeof *out);
}

void md_form_identity(const void *state, md_device_form *form)
{
    (void)state;
    *form = (md_device_form){
        .quantity = MD_ON_PRODUCT, .map = MD_MAP_POWER, .scale = 1, .offset = 0, .degree = 1};
}

double md_round_choice(double value)
{
    char text[32];
    double rounded;
    md_print(text, sizeof text, "%.6g", value);
    return md_parse_double(text, &rounded) ? rounded : value;
}
