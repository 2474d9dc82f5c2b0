/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of kernels and what several of them share: the width parameter and a vector exp. */
#include "kernel/kernel.h"

#include "base/vector.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MD_KERNEL(name) extern const md_kernel_class md_kernel_##name;
#include "kernel/kernels.def"
#undef MD_KERNEL

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

/* exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2)/2. exp(r) = 1 + r + r^2 p(r) with the p of
 * degree 4 that makes the largest relative error least (3e-9, far below rounding); 2^n by building
 * the exponent's bits. ln 2 is subtracted in two pieces so that r keeps its digits. Below -87 the
 * result is 0. */
MD_VECTOR
static void exp_scaled(const float *q, float *out, size_t count, float factor)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        float x = factor * q[j];
        const float inside = x >= -87.0f ? 1.0f : 0.0f; /* 0 too where x is no number */
        x = x >= -87.0f ? x : -87.0f;
        x = x > 88.0f ? 88.0f : x;
        /* adding and taking away 1.5 * 2^23 rounds to the nearest whole number */
        const float shifted = x * 1.44269504f + 12582912.0f;
        const float n = shifted - 12582912.0f;
        const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
        float p = 0.0013814222f;
        p = p * r + 0.00836889866f;
        p = p * r + 0.0416684057f;
        p = p * r + 0.166665191f;
        p = p * r + 0.499999933f;
        p = p * r + 1.0f;
        p = p * r + 1.0f;
        const int32_t bits = ((int32_t)n + 127) * (1 << 23);
        float power;
        memcpy(&power, &bits, sizeof power);
        out[j] = inside * p * power;
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

double md_round_choice(double value)
{
    char text[32];
    double rounded;
    snprintf(text, sizeof text, "%.6g", value);
    return md_parse_double(text, &rounded) ? rounded : value;
}

medley_status md_width_gamma(const md_width *width, const char *kernel, double *gamma,
                             medley_error *error)
{
    const int given = !isnan(width->sigma) + !isnan(width->sigma2) + !isnan(width->gamma);
    if (given > 1 || (given == 1 && width->automatic))
        return md_fail(error, MEDLEY_USAGE,
                       "kernel %s: give one of sigma, sigma2, gamma and auto, not several", kernel);
    *gamma = NAN;
    if (!isnan(width->sigma))
        *gamma = 1 / (2 * width->sigma * width->sigma);
    else if (!isnan(width->sigma2))
        *gamma = 1 / (2 * width->sigma2);
    else if (!isnan(width->gamma))
        *gamma = width->gamma;
    return MEDLEY_OK;
}
