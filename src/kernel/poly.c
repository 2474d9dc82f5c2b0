/* SPDX-License-Identifier: BSD-3-Clause */
/* Polynomial kernel (scale <x, z> + offset)^degree. */
#include "kernel/kernel.h"

#include "base/vector.h"

struct poly {
    long long degree;
    double offset, scale;
};

static const md_param poly_params[] = {
    {.name = "degree",
     .type = MD_INT,
     .offset = offsetof(struct poly, degree),
     .fallback = "2",
     .least = 1,
     .most = 20,
     .argument = "N",
     .help = "power"},
    {MD_NUMBER(struct poly, offset, "1", 0, 1e30, "X",
               "added to the product; 0 gives the homogeneous kernel")},
    {MD_NUMBER(struct poly, scale, "1", 1e-30, 1e30, "X", "factor of the product")},
    {0}};

enum { PIECE = 256 }; /* values at a time: their bases stay in registers or the nearest cache */

MD_VECTOR_VOID(square_of_affine,
               (const float *q, float *out, size_t count, float scale, float offset),
               (q, out, count, scale, offset))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        const float base = scale * q[j] + offset;
        out[j] = base * base;
    }
}

/* count <= PIECE */
MD_VECTOR_VOID(power_of_affine, (const float *q, float *out, size_t count, const struct poly *poly),
               (q, out, count, poly))
{
    const float scale = (float)poly->scale;
    const float offset = (float)poly->offset;
    float base[PIECE];
#pragma omp simd
    for (size_t j = 0; j < count; j++)
        out[j] = base[j] = scale * q[j] + offset;
    for (long long i = 1; i < poly->degree; i++) {
#pragma omp simd
        for (size_t j = 0; j < count; j++)
            out[j] *= base[j];
    }
}

static void map_poly(const void *state, const float *q, float *out, size_t count)
{
    const struct poly *poly = state;
    if (poly->degree == 2) { /* the common case in one pass */
        square_of_affine(q, out, count, (float)poly->scale, (float)poly->offset);
        return;
    }
    for (size_t j = 0; j < count; j += PIECE)
        power_of_affine(q + j, out + j, md_min(count - j, PIECE), poly);
}

/* count <= PIECE */
MD_VECTOR_VOID(exact_power, (const double *q, double *out, size_t count, const struct poly *poly),
               (q, out, count, poly))
{
    double base[PIECE];
#pragma omp simd
    for (size_t j = 0; j < count; j++)
        out[j] = base[j] = poly->scale * q[j] + poly->offset;
    for (long long i = 1; i < poly->degree; i++) {
#pragma omp simd
        for (size_t j = 0; j < count; j++)
            out[j] *= base[j];
    }
}

static void exact_poly(const void *state, const double *q, double *out, size_t count)
{
    for (size_t j = 0; j < count; j += PIECE)
        exact_power(q + j, out + j, md_min(count - j, PIECE), state);
}

static void form_of_poly(const void *state, md_device_form *form)
{
    const struct poly *poly = state;
    *form = (md_device_form){.quantity = MD_ON_PRODUCT,
                             .map = MD_MAP_POWER,
                             .scale = (float)poly->scale,
                             .offset = (float)poly->offset,
                             .degree = (int)poly->degree};
}

const md_kernel_class md_kernel_poly = {
    .name = "poly",
    .summary = "polynomial",
    .formula = "(scale <x,z> + offset)^degree",
    .quantity = MD_DOT,
    .params = poly_params,
    .state_size = sizeof(struct poly),
    .positive_definite = true,
    .map = map_poly,
    .exact = exact_poly,
    .form = form_of_poly,
};
