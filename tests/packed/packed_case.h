/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores over the cases of gram_case.h, and their kernels read out as full matrices. For cmocka
 * tests. */
#ifndef TESTS_GRAM_STORE_CASE_H
#define TESTS_GRAM_STORE_CASE_H

#include "gram/gram_case.h"
#include "packed/packed.h"

static inline md_packed *open_store(gram_case *c, const md_packed_options *options)
{
    md_packed *packed = NULL;
    medley_error error = {0};
    check_ok(md_packed_create(&packed, &c->bank, &c->prepared, options, &error), &error);
    assert_int_equal(md_packed_count(packed), c->bank.count);
    assert_int_equal(md_packed_rows(packed), c->prepared.rows);
    return packed;
}

static inline double *draw_doubles(size_t count, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    double *values = md_calloc(count, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = md_random_normal(&random);
    return values;
}

/* Kernel m in full, [n][n], as a sum of one; the caller frees it. */
static inline double *read_matrix(md_packed *packed, size_t m)
{
    const size_t n = md_packed_rows(packed);
    const double one = 1;
    double *matrix = md_calloc(n * n, sizeof *matrix);
    assert_non_null(matrix);
    const md_chosen chosen = {.kernels = &m, .count = 1};
    assert_int_equal(md_packed_sum(packed, chosen, &one, matrix, NULL), MEDLEY_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            assert_true(matrix[i * n + j] == 0); /* left as it was */
            matrix[i * n + j] = matrix[j * n + i];
        }
    return matrix;
}

/* All kernels, [count][n][n]; the caller frees it. */
static inline double *read_matrices(md_packed *packed)
{
    const size_t size = md_packed_rows(packed) * md_packed_rows(packed);
    double *all = md_calloc(md_packed_count(packed) * size, sizeof *all);
    assert_non_null(all);
    for (size_t m = 0; m < md_packed_count(packed); m++) {
        double *matrix = read_matrix(packed, m);
        memcpy(all + m * size, matrix, size * sizeof *all);
        free(matrix);
    }
    return all;
}

static inline double naive_dots(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline void naive_product(const double *matrix, size_t n, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = naive_dots(matrix + i * n, x, n);
}

/* Triangles as they lie in memory: a few zeros behind them, whole cache lines. */
static inline size_t triangle_bytes(size_t n, size_t value)
{
    return ((n * (n + 1) / 2 + 4) * value + 63) / 64 * 64;
}

#endif
