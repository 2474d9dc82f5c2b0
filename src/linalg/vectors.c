/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops over rows in which methods spend their time outside of products with matrices, compiled
 * for several generations of processors. MD_VECTOR is for static functions, hence the
 * pairs. */
#include "linalg/vectors.h"

#include "base/vector.h"

MD_VECTOR(double, dot_product, (const double *restrict x, const double *restrict y, size_t n),
          (x, y, n))
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

double md_dot(const double *x, const double *y, size_t n)
{
    return dot_product(x, y, n);
}

MD_VECTOR_VOID(add_scaled, (double *restrict f, double p, const double *restrict x, size_t n),
               (f, p, x, n))
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        f[i] += p * x[i];
}

void md_add_scaled(double *f, double p, const double *x, size_t n)
{
    add_scaled(f, p, x, n);
}

MD_VECTOR_VOID(add_two,
               (double *restrict f, double p, const double *restrict x, double q,
                const double *restrict y, size_t n),
               (f, p, x, q, y, n))
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        f[i] += p * x[i] + q * y[i];
}

void md_add_two(double *f, double p, const double *x, double q, const double *y, size_t n)
{
    add_two(f, p, x, q, y, n);
}

MD_VECTOR_VOID(add_multiple,
               (float *restrict y, float alpha, const float *restrict x, size_t count),
               (y, alpha, x, count))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++)
        y[j] += alpha * x[j];
}

void md_add_multiple(float *y, float alpha, const float *x, size_t count)
{
    add_multiple(y, alpha, x, count);
}

MD_VECTOR_VOID(add_two_multiples,
               (float *restrict y, float alpha, float *restrict z, float beta,
                const float *restrict x, size_t count),
               (y, alpha, z, beta, x, count))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        y[j] += alpha * x[j];
        z[j] += beta * x[j];
    }
}

void md_add_two_multiples(float *y, float alpha, float *z, float beta, const float *x, size_t count)
{
    add_two_multiples(y, alpha, z, beta, x, count);
}

MD_VECTOR_VOID(add_half_multiple,
               (float *restrict y, float alpha, const uint16_t *restrict x, size_t count),
               (y, alpha, x, count))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++)
        y[j] += alpha * md_half_value(x[j]);
}

void md_add_half_multiple(float *y, float alpha, const uint16_t *x, size_t count)
{
    add_half_multiple(y, alpha, x, count);
}

MD_VECTOR_VOID(add_two_half_multiples,
               (float *restrict y, float alpha, float *restrict z, float beta,
                const uint16_t *restrict x, size_t count),
               (y, alpha, z, beta, x, count))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        const float value = md_half_value(x[j]);
        y[j] += alpha * value;
        z[j] += beta * value;
    }
}

void md_add_two_half_multiples(float *y, float alpha, float *z, float beta, const uint16_t *x,
                               size_t count)
{
    add_two_half_multiples(y, alpha, z, beta, x, count);
}
