/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric matrices with a known spectrum: a diagonal turned by random reflections. */
#ifndef DENSE_SYMMETRIC_H
#define DENSE_SYMMETRIC_H

#include "base/random.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* a[n][n] = H a H for the reflection H = 1 - 2 v v' along a random unit vector. */
static inline void reflect(double *a, size_t n, md_random *random)
{
    double *v = malloc(2 * n * sizeof *v);
    double *image = v + n;
    double square = 0;
    double along = 0;
    if (v == NULL)
        abort();
    for (size_t i = 0; i < n; i++) {
        v[i] = md_random_normal(random);
        square += v[i] * v[i];
    }
    for (size_t i = 0; i < n; i++)
        v[i] /= sqrt(square);
    for (size_t i = 0; i < n; i++) {
        image[i] = 0;
        for (size_t j = 0; j < n; j++)
            image[i] += a[i * n + j] * v[j];
        along += image[i] * v[i];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            a[i * n + j] += 4 * along * v[i] * v[j] - 2 * (image[i] * v[j] + v[i] * image[j]);
    free(v);
}

/* The matrix with these eigenvalues, by rows; the caller frees it. */
static inline double *make_symmetric(const double *eigenvalues, size_t n, md_random *random)
{
    double *a = calloc(n * n, sizeof *a);
    if (a == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        a[i * n + i] = eigenvalues[i];
    for (int round = 0; round < 3; round++)
        reflect(a, n, random);
    return a;
}

/* What is below the diagonal may not be looked at. */
static inline void spoil_below(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            a[i * n + j] = NAN;
}

#endif
