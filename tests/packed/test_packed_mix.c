/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores of one kernel that is a matrix or a weighted sum: against plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optim/optim.h"
#include "packed_case.h"

/* X X' for random X[n][rank]. */
static double *draw_matrix(size_t n, size_t rank, uint64_t seed)
{
    double *x = draw_doubles(n * rank, seed);
    double *matrix = md_calloc(n * n, sizeof *matrix);
    assert_non_null(matrix);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            matrix[i * n + j] = naive_dots(x + i * rank, x + j * rank, rank);
    free(x);
    return matrix;
}

static md_packed *packed_of(const double *matrix, size_t n, size_t threads)
{
    md_packed *packed = NULL;
    medley_error error = {0};
    check_ok(md_packed_of_matrix(&packed, matrix, n, threads, &error), &error);
    assert_int_equal(md_packed_count(packed), 1);
    assert_int_equal(md_packed_rows(packed), n);
    assert_true(md_packed_is_resident(packed));
    return packed;
}

static void assert_close(double found, double expected, double scale)
{
    if (!(fabs(found - expected) <= 1e-12 * scale))
        fail_msg("%.17g, expected %.17g (scale %g)", found, expected, scale);
}

/* All that a packed grams of one kernel can be asked. */
static void check_products(md_packed *packed, const double *matrix, uint64_t seed)
{
    const size_t n = md_packed_rows(packed);
    const md_chosen one = {.count = 1};
    double *x = draw_doubles(n, seed);
    double *y = md_calloc(2 * n, sizeof *y);
    double *sum = md_calloc(n * n, sizeof *sum);
    double norm2;
    assert_true(y != NULL && sum != NULL);
    naive_product(matrix, n, x, y + n);
    const double scale = 1 + sqrt(naive_dots(y + n, y + n, n) * naive_dots(x, x, n));
    assert_int_equal(md_packed_multiply(packed, one, x, y, NULL), MEDLEY_OK);
    for (size_t i = 0; i < n; i++)
        assert_close(y[i], y[n + i], scale);
    assert_int_equal(md_packed_norms2(packed, one, x, &norm2, NULL), MEDLEY_OK);
    assert_close(norm2, fmax(0, naive_dots(x, y + n, n)), scale);
    const double weight = 0.5;
    assert_int_equal(md_packed_hold(packed, one, NULL), MEDLEY_OK);
    assert_int_equal(md_packed_sum(packed, one, &weight, sum, NULL), MEDLEY_OK);
    double trace = 0;
    for (size_t i = 0; i < n; i++) {
        trace += matrix[i * n + i];
        for (size_t j = i; j < n; j++)
            assert_close(sum[i * n + j], matrix[i * n + j] / 2, fabs(matrix[i * n + j]) + 1e-300);
    }
    assert_close(md_packed_trace(packed, 0), trace, 1 + fabs(trace));
    free(x);
    free(y);
    free(sum);
}

/* Sizes with one block of rows and with many. */
static void a_matrix_is_a_kernel(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 7, 40, 600};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t n = sizes[s];
        double *matrix = draw_matrix(n, 3, s);
        for (size_t threads = 1; threads <= 2; threads++) {
            md_packed *packed = packed_of(matrix, n, threads);
            check_products(packed, matrix, 7);
            md_packed_free(packed);
        }
        free(matrix);
    }
}

static void only_the_upper_triangle_counts(void **state)
{
    (void)state;
    const double matrix[] = {2, 1, 0, NAN, 3, -1, NAN, NAN, 4};
    const double full[] = {2, 1, 0, 1, 3, -1, 0, -1, 4};
    md_packed *packed = packed_of(matrix, 3, 1);
    check_products(packed, full, 1);
    md_packed_free(packed);
}

/* The spread is at least the largest eigenvalue of the centred matrix. */
static void the_spread_bounds_centred_eigenvalues(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        const size_t n = 2 + seed;
        double *matrix = draw_matrix(n, 1 + seed % 4, seed);
        double *centred = md_calloc(n * n, sizeof *centred);
        double *mean = md_calloc(n, sizeof *mean);
        double least;
        double most;
        double grand = 0;
        assert_true(centred != NULL && mean != NULL);
        md_packed *packed = packed_of(matrix, n, 1);
        for (size_t i = 0; i < n * n; i++) {
            mean[i / n] += matrix[i] / (double)n;
            grand += matrix[i] / (double)(n * n);
        }
        for (size_t i = 0; i < n * n; i++)
            centred[i] = matrix[i] - mean[i / n] - mean[i % n] + grand;
        assert_int_equal(md_extreme_eigenvalues(centred, n, &least, &most, NULL), MEDLEY_OK);
        assert_true(md_packed_spread(packed, 0) >= most * (1 - 1e-9));
        assert_true(md_packed_spread(packed, 0) <= 2.1 * most + 1e-5 * md_packed_trace(packed, 0));
        md_packed_free(packed);
        free(matrix);
        free(centred);
        free(mean);
    }
}

static void mixtures_are_weighted_sums(void **state)
{
    (void)state;
    static const char *const kernels[] = {"linear", "rbf", "poly", NULL};
    const case_choice choice = {.kind = {.rows = 33, .columns = 4}, .kernels = kernels, .seed = 5};
    gram_case c;
    open_case(&c, &choice);
    md_packed *packed = open_store(&c, &(md_packed_options){.threads = 2});
    const size_t n = c.n;
    double *all = read_matrices(packed);
    double *expected = md_calloc(n * n, sizeof *expected);
    assert_non_null(expected);
    const size_t chosen[] = {7, 2, 5};
    const double weight[] = {0.25, 2, 1};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < n * n; i++)
            expected[i] += weight[k] * all[chosen[k] * n * n + i];
    md_packed *mixed = NULL;
    assert_int_equal(
        md_packed_mix(&mixed, packed, (md_chosen){.kernels = chosen, .count = 3}, weight, NULL),
        MEDLEY_OK);
    check_products(mixed, expected, 3);
    md_packed_free(mixed);
    memset(expected, 0, n * n * sizeof *expected); /* of no kernels: nothing */
    assert_int_equal(md_packed_mix(&mixed, packed, (md_chosen){.kernels = chosen}, weight, NULL),
                     MEDLEY_OK);
    check_products(mixed, expected, 3);
    md_packed_free(mixed);
    md_packed_free(packed);
    free(all);
    free(expected);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_is_a_kernel),
        cmocka_unit_test(only_the_upper_triangle_counts),
        cmocka_unit_test(the_spread_bounds_centred_eigenvalues),
        cmocka_unit_test(mixtures_are_weighted_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
