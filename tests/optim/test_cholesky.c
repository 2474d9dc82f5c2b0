/* SPDX-License-Identifier: BSD-3-Clause */
/* Cholesky's factors multiplied out, systems solved, matrices that are not positive definite, and
 * the same bits from any number of threads; sizes around those of blocks and tiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/blas.h"
#include "optim/dense_symmetric.h"
#include "optim/optim.h"

static const size_t sizes[] = {1, 2, 3, 31, 32, 33, 65, 100, 191, 192, 193, 385, 500};
enum { SIZES = sizeof sizes / sizeof *sizes };

static double *make_definite(size_t n, md_random *random)
{
    double *eigenvalues = malloc(n * sizeof *eigenvalues);
    assert_non_null(eigenvalues);
    for (size_t i = 0; i < n; i++)
        eigenvalues[i] = 0.01 + md_random_uniform(random);
    double *a = make_symmetric(eigenvalues, n, random);
    free(eigenvalues);
    return a;
}

static double *copy_of(const double *a, size_t count)
{
    double *copy = malloc(count * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, a, count * sizeof *copy);
    return copy;
}

/* The largest difference between R'R and A, on and above the diagonal. */
static double error_of_factor(const double *r, const double *a, size_t n)
{
    double *row = malloc(n * sizeof *row);
    double largest = 0;
    assert_non_null(row);
    for (size_t i = 0; i < n; i++) {
        memset(row, 0, n * sizeof *row);
        for (size_t k = 0; k <= i; k++)
            for (size_t j = i; j < n; j++)
                row[j] += r[k * n + i] * r[k * n + j];
        for (size_t j = i; j < n; j++)
            largest = fmax(largest, fabs(row[j] - a[i * n + j]));
    }
    free(row);
    return largest;
}

static void factors_multiply_to_the_matrix(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 1);
    for (size_t s = 0; s < SIZES; s++) {
        const size_t n = sizes[s];
        double *a = make_definite(n, &random);
        double *r = copy_of(a, n * n);
        spoil_below(r, n);
        assert_true(md_cholesky(r, n, 1));
        const double error = error_of_factor(r, a, n);
        if (!(error <= 1e-15 * (10 + sqrt((double)n))))
            fail_msg("n = %zu: R'R differs from A by %g", n, error);
        for (size_t i = 0; i < n; i++)
            assert_true(r[i * n + i] > 0);
        free(a);
        free(r);
    }
    assert_true(md_cholesky(NULL, 0, 1));
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 2);
    const size_t n = 700;
    double *a = make_definite(n, &random);
    double *one = copy_of(a, n * n);
    assert_true(md_cholesky(one, n, 1));
    for (size_t threads = 2; threads <= 4; threads++) {
        double *many = copy_of(a, n * n);
        assert_true(md_cholesky(many, n, threads));
        for (size_t i = 0; i < n; i++)
            assert_memory_equal(one + i * n + i, many + i * n + i, (n - i) * sizeof *one);
        free(many);
    }
    free(one);
    free(a);
}

static void systems_are_solved(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 3);
    for (size_t s = 0; s < SIZES; s++) {
        const size_t n = sizes[s];
        double *a = make_definite(n, &random);
        double *r = copy_of(a, n * n);
        assert_true(md_cholesky(r, n, 2));
        spoil_below(r, n);
        double *b = malloc(2 * n * sizeof *b);
        assert_non_null(b);
        for (size_t i = 0; i < 2 * n; i++)
            b[i] = md_random_normal(&random);
        double *x = copy_of(b, 2 * n);
        md_cholesky_solve(r, n, x);
        for (size_t i = 0; i < n; i++) {
            double product = 0;
            for (size_t j = 0; j < n; j++)
                product += a[i * n + j] * x[j];
            assert_true(fabs(product - b[i]) < 1e-12 * (double)(n + 10));
        }
        assert_memory_equal(x + n, b + n, n * sizeof *x); /* beyond the last */
        free(b);
        free(x);
        free(a);
        free(r);
    }
}

static void matrices_that_are_not_positive_definite_are_refused(void **state)
{
    (void)state;
    static const size_t places[] = {0, 5, 33, 150, 199, 250, 399};
    md_random random;
    md_random_seed(&random, 4);
    const size_t n = 400;
    double *a = make_definite(n, &random);
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (int kind = 0; kind < 3; kind++) {
            static const double bad[] = {-1, NAN, INFINITY};
            double *r = copy_of(a, n * n);
            r[places[p] * n + places[p]] = bad[kind];
            assert_false(md_cholesky(r, n, 2));
            free(r);
        }
    free(a);
    double zero[1] = {0};
    assert_false(md_cholesky(zero, 1, 1));
    double singular[4] = {1, 1, 1, 1};
    assert_false(md_cholesky(singular, 2, 1));
}

int main(void)
{
    md_blas_single_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_multiply_to_the_matrix),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(systems_are_solved),
        cmocka_unit_test(matrices_that_are_not_positive_definite_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
