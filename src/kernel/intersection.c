/* SPDX-License-Identifier: BSD-3-Clause */
/* Histogram intersection kernel sum_c min(x_c, z_c). */
#include "kernel/kernel.h"

#include "base/vector.h"

MD_VECTOR(float, sum_of_minima, (const float *x, const float *z, size_t columns), (x, z, columns))
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t c = 0; c < columns; c++)
        sum += x[c] < z[c] ? x[c] : z[c];
    return sum;
}

MD_VECTOR(double, exact_sum_of_minima, (const float *x, const float *z, size_t columns),
          (x, z, columns))
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t c = 0; c < columns; c++)
        sum += (double)(x[c] < z[c] ? x[c] : z[c]);
    return sum;
}

static void form_of_intersection(const void *state, md_device_form *form)
{
    md_form_identity(state, form);
    form->quantity = MD_ON_MINIMA;
}

const md_kernel_class md_kernel_intersection = {
    .name = "intersection",
    .summary = "histogram intersection",
    .formula = "sum min(x,z)",
    .quantity = MD_PAIRED,
    .positive_definite = true,
    .nonnegative_data = true,
    .map = md_map_identity,
    .exact = md_exact_identity,
    .form = form_of_intersection,
    .pair_sum = sum_of_minima,
    .exact_pair_sum = exact_sum_of_minima,
};
