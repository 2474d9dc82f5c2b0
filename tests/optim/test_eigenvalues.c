/* SPDX-License-Identifier: BSD-3-Clause */
/* The ends of spectra that are known: turned diagonals of many kinds, second differences, ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/blas.h"
#include "optim/dense_symmetric.h"
#include "optim/optim.h"
#include <stdbool.h>

static void check(double *a, size_t n, double least, double most, const char *what)
{
    double found_least = NAN;
    double found_most = NAN;
    spoil_below(a, n);
    assert_int_equal(md_extreme_eigenvalues(a, n, &found_least, &found_most, NULL), MEDLEY_OK);
    const double scale = fmax(fabs(least), fabs(most));
    if (!(fabs(found_least - least) <= 1e-10 * scale && fabs(found_most - most) <= 1e-10 * scale))
        fail_msg("%s, n = %zu: found %.17g and %.17g, expected %.17g and %.17g", what, n,
                 found_least, found_most, least, most);
}

enum { EVEN, DECAYING, INDEFINITE, FEW_DISTINCT, ONE_SMALL, NEGATIVE, CLUSTERED, KINDS };

static double eigenvalue(int kind, size_t i, size_t n, md_random *random)
{
    const double part = ((double)i + 1) / (double)n;
    switch (kind) {
    case EVEN:
        return part;
    case DECAYING:
        return exp(-3.0 * (double)i);
    case INDEFINITE:
        return md_random_normal(random);
    case FEW_DISTINCT:
        return (double)(i % 3);
    case ONE_SMALL:
        return i == 0 ? 1e-3 : 1;
    case NEGATIVE:
        return -part * 1e6;
    default: /* CLUSTERED at both ends */
        return (i % 2 ? 1 : -1) * (1 - 1e-7 * part);
    }
}

static void turned_diagonals_keep_their_ends(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 5, 17, 60, 200};
    md_random random;
    md_random_seed(&random, 1);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const size_t n = sizes[s];
            double values[200];
            double least = INFINITY;
            double most = -INFINITY;
            for (size_t i = 0; i < n; i++) {
                values[i] = eigenvalue(kind, i, n, &random);
                least = fmin(least, values[i]);
                most = fmax(most, values[i]);
            }
            double *a = make_symmetric(values, n, &random);
            char what[32] = "kind 0";
            what[5] = (char)('0' + kind);
            check(a, n, least, most, what);
            free(a);
        }
}

static void second_differences_have_cosines(void **state)
{
    (void)state;
    const size_t n = 300;
    const double angle = acos(-1.0) / (double)(n + 1);
    double *a = calloc(n * n, sizeof *a);
    assert_non_null(a);
    for (size_t i = 0; i < n; i++) {
        a[i * n + i] = 2;
        if (i + 1 < n)
            a[i * n + i + 1] = -1;
    }
    check(a, n, 2 - 2 * cos(angle), 2 + 2 * cos(angle), "second differences");
    free(a);
}

static void simple_matrices(void **state)
{
    (void)state;
    enum { N = 40 };
    double a[N * N] = {0};
    double least = 1;
    double most = 1;
    assert_int_equal(md_extreme_eigenvalues(a, N, &least, &most, NULL), MEDLEY_OK);
    assert_true(least == 0 && most == 0);
    for (size_t i = 0; i < N; i++)
        a[i * N + i] = 7;
    check(a, N, 7, 7, "a multiple of the identity");
    for (size_t i = 0; i < N * N; i++)
        a[i] = 1;
    check(a, N, 0, N, "ones");
    a[0] = -3;
    check(a, 1, -3, -3, "one number");
    for (size_t i = 0; i < N * N; i++)
        a[i] = 1e-300;
    check(a, N, 0, N * 1e-300, "tiny numbers");
}

static void what_has_no_eigenvalues_is_refused(void **state)
{
    (void)state;
    double a[4] = {1, NAN, 0, 1};
    double least = 5;
    double most = 6;
    medley_error error = {0};
    assert_int_equal(md_extreme_eigenvalues(a, 2, &least, &most, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "not finite"));
    assert_int_equal(md_extreme_eigenvalues(a, 0, &least, &most, NULL), MEDLEY_BAD_INPUT);
    assert_true(least == 5 && most == 6);
}

int main(void)
{
    md_blas_single_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turned_diagonals_keep_their_ends),
        cmocka_unit_test(second_differences_have_cosines),
        cmocka_unit_test(simple_matrices),
        cmocka_unit_test(what_has_no_eigenvalues_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
