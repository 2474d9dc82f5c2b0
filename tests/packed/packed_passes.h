/* SPDX-License-Identifier: BSD-3-Clause */
/* Every pass over the kernels of a packed grams against plain loops over the same values. For
 * cmocka tests. */
#ifndef TESTS_GRAM_STORE_PASSES_H
#define TESTS_GRAM_STORE_PASSES_H

#include "packed_case.h"

/* Kernels in any order, one of them twice. */
static inline size_t choose_kernels(size_t *kernels, size_t count, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    for (size_t m = 0; m < count; m++)
        kernels[m] = m;
    md_random_shuffle(&random, kernels, count);
    const size_t chosen = count > 3 ? count - 2 : count;
    kernels[chosen - 1] = kernels[0];
    return chosen;
}

/* Relative to the sizes of what is added up. */
static inline void check_close(double value, double expected, double size)
{
    if (!(fabs(value - expected) <= 1e-12 * size))
        fail_msg("%.17g, expected %.17g (sizes add up to %g)", value, expected, size);
}

static inline double weigh_by_norm(void *context, size_t i, double norm2)
{
    const double *factor = context;
    return i % 5 == 3 ? 0 : factor[i] / (1 + norm2);
}

struct passes {
    md_chosen chosen;
    double *matrices; /* [kernels][n][n] */
    size_t n, count;
    double *x, *each; /* [n], [count][n] */
    double *weight, *norm2, *y, *sum;
};

static inline void open_passes(struct passes *p, md_packed *packed, size_t *kernels, uint64_t seed)
{
    *p = (struct passes){.n = md_packed_rows(packed)};
    p->count = choose_kernels(kernels, md_packed_count(packed), seed);
    p->chosen = (md_chosen){.kernels = kernels, .count = p->count};
    p->matrices = read_matrices(packed);
    p->x = draw_doubles(p->n, seed + 1);
    p->each = draw_doubles(p->n * p->count, seed + 2);
    p->weight = draw_doubles(p->count, seed + 3);
    p->weight[p->count / 2] = 0;
    p->norm2 = draw_doubles(p->count, seed + 4);
    p->y = draw_doubles(p->n * p->count, seed + 5);
    p->sum = draw_doubles(p->n * p->n, seed + 6);
}

static inline void close_passes(struct passes *p)
{
    free(p->matrices);
    free(p->x);
    free(p->each);
    free(p->weight);
    free(p->norm2);
    free(p->y);
    free(p->sum);
}

static inline const double *matrix_of(const struct passes *p, size_t i)
{
    return p->matrices + p->chosen.kernels[i] * p->n * p->n;
}

static inline double size_of(const struct passes *p, size_t i)
{
    return (1 + largest_of(matrix_of(p, i), p->n * p->n)) * (double)p->n * 16;
}

static inline void check_norms2(const struct passes *p)
{
    double *y = md_calloc(p->n, sizeof *y);
    assert_non_null(y);
    for (size_t i = 0; i < p->count; i++) {
        naive_product(matrix_of(p, i), p->n, p->x, y);
        const double norm2 = naive_dots(p->x, y, p->n);
        check_close(p->norm2[i], norm2 > 0 ? norm2 : 0, size_of(p, i) * (double)p->n);
    }
    free(y);
}

static inline void check_products(const struct passes *p, bool each)
{
    double *y = md_calloc(p->n, sizeof *y);
    assert_non_null(y);
    for (size_t i = 0; i < p->count; i++) {
        const double size = size_of(p, i);
        naive_product(matrix_of(p, i), p->n, each ? p->each + i * p->n : p->x, y);
        for (size_t j = 0; j < p->n; j++)
            check_close(p->y[i * p->n + j], y[j], size);
    }
    free(y);
}

/* untouched: what was in sum before. */
static inline void check_sum(const struct passes *p, const double *weight, const double *untouched)
{
    for (size_t r = 0; r < p->n; r++)
        for (size_t c = 0; c < p->n; c++) {
            const size_t at = r * p->n + c;
            double sum = 0;
            double size = 0;
            for (size_t i = 0; i < p->count; i++) {
                sum += weight[i] * matrix_of(p, i)[at];
                size += fabs(weight[i] * matrix_of(p, i)[at]);
            }
            if (c >= r)
                check_close(p->sum[at], sum, size);
            else
                assert_true(p->sum[at] == untouched[at]);
        }
}

static inline void check_both(struct passes *p, md_packed *packed, double *factor, bool with_y)
{
    double *before = md_copy(p->sum, p->n * p->n * sizeof *p->sum);
    double *weight = md_calloc(p->count, sizeof *weight);
    assert_true(before != NULL && weight != NULL);
    memset(p->y, 0, p->n * p->count * sizeof *p->y);
    memset(p->norm2, 0, p->count * sizeof *p->norm2);
    assert_int_equal(md_packed_multiply_and_sum(packed, p->chosen, p->x, weigh_by_norm, factor,
                                                with_y ? p->y : NULL, p->norm2, p->sum, NULL),
                     MEDLEY_OK);
    check_norms2(p);
    if (with_y)
        check_products(p, false);
    for (size_t i = 0; i < p->count; i++)
        weight[i] = weigh_by_norm(factor, i, p->norm2[i]);
    check_sum(p, weight, before);
    free(before);
    free(weight);
}

static inline void check_passes(md_packed *packed, uint64_t seed)
{
    size_t kernels[CASE_KERNELS];
    struct passes p;
    open_passes(&p, packed, kernels, seed);
    assert_int_equal(md_packed_norms2(packed, p.chosen, p.x, p.norm2, NULL), MEDLEY_OK);
    check_norms2(&p);
    assert_int_equal(md_packed_multiply(packed, p.chosen, p.x, p.y, NULL), MEDLEY_OK);
    check_products(&p, false);
    assert_int_equal(md_packed_multiply_each(packed, p.chosen, p.each, p.y, NULL), MEDLEY_OK);
    check_products(&p, true);
    double *before = md_copy(p.sum, p.n * p.n * sizeof *p.sum);
    assert_non_null(before);
    assert_int_equal(md_packed_sum(packed, p.chosen, p.weight, p.sum, NULL), MEDLEY_OK);
    check_sum(&p, p.weight, before);
    free(before);
    check_both(&p, packed, p.weight, true);
    check_both(&p, packed, p.weight, false);
    close_passes(&p);
}

#endif
