/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over packed upper triangles: row i of n holds K(i,i) .. K(i,n-1), and rows follow one
 * another without gaps. One table of functions for each precision of the values; sums and vectors
 * are double precision. What takes a range of rows works on a piece of a triangle, so that large
 * ones can be divided among threads. */
#ifndef MD_TRIANGLE_LOOPS_H
#define MD_TRIANGLE_LOOPS_H

#include "gram/tile.h"

enum {
    MD_TRIANGLE_LANES = 4,   /* values that are taken at once */
    MD_TRIANGLE_TOGETHER = 8 /* triangles that add takes at once */
};

typedef struct md_triangle_loops {
    size_t value_bytes;

    /* In norm2 and multiply x has MD_TRIANGLE_LANES zeros after it, y as many numbers that do not
     * count, and what follows the triangle is as many numbers, of any finite value.
     *
     * Part of x'Kx that rows [row, end) hold: x_i (K_ii x_i + 2 sum_{j>i} K_ij x_j). */
    double (*norm2)(const void *k, size_t n, size_t row, size_t end, const double *x);

    /* y[j] += what rows [row, end) hold of Kx; touches y[row] .. y[n-1]. */
    void (*multiply)(const void *k, size_t n, size_t row, size_t end, const double *x, double *y);

    /* sum[j] += weight[0] k[0][first + j] + ...: at most MD_TRIANGLE_TOGETHER triangles. */
    void (*add)(double *sum, const void *const *k, const double *weight, size_t triangles,
                size_t first, size_t count);

    /* Sum of squares of values [first, first + count). */
    double (*squares)(const void *k, size_t first, size_t count);

    /* All of `count` values times factor. */
    void (*scale)(void *k, double factor, size_t count);

    double (*get)(const void *k, size_t place);
    void (*set)(void *k, size_t place, double value);

    /* column[j] = K(j, place), all n. */
    void (*column)(const void *k, size_t n, size_t place, double *column);

    /* Puts what a tile holds on and above the diagonal where it belongs. */
    void (*take)(void *k, size_t n, const md_tile_values *tile);

    /* K(i,j) += grand - (mean[i] + mean[j]) in rows [row, end). */
    void (*center)(void *k, size_t n, size_t row, size_t end, const double *mean, double grand);
} md_triangle_loops;

extern const md_triangle_loops md_triangle_float, md_triangle_double;

/* Before row i there are rows of n, n-1, ..., n-i+1 values; also the place of K(i,i). */
/* `bytes` before or after an address that may not be in an array: where a triangle would begin of
 * which some rows are at hand, and back. The rows that are not there are never looked at. */
static inline void *md_moved(const void *address, ptrdiff_t bytes)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): arithmetic on the pointer would leave its array */
    return (void *)((uintptr_t)address + (uintptr_t)bytes);
}

static inline size_t md_triangle_row(size_t n, size_t i)
{
    return i * (2 * n - i + 1) / 2;
}

static inline size_t md_triangle_size(size_t n)
{
    return n * (n + 1) / 2;
}

#endif
