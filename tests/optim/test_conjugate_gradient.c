/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients against Cholesky's factorisation: plain and in the plane of sum 0, with and
 * without a preconditioner, from any start; and what happens where the matrix is not positive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/blas.h"
#include "optim/dense_symmetric.h"
#include "optim/optim.h"

enum { MOST = 80 };

struct system {
    size_t n;
    double *a;
    double diagonal[MOST], b[MOST], scratch[5 * MOST];
    md_linear_system linear;
};

static void multiply(void *context, const double *x, double *y)
{
    const struct system *system = context;
    md_dgemv(system->n, system->n, 1, system->a, system->n, false, x, 0, y);
}

/* A positive definite matrix whose diagonal is uneven, so that a preconditioner helps. */
static void make_system(struct system *s, size_t n, md_random *random)
{
    double scale[MOST];
    for (size_t i = 0; i < n; i++)
        scale[i] = 0.05 + md_random_uniform(random);
    *s = (struct system){.n = n, .a = make_symmetric(scale, n, random)};
    for (size_t i = 0; i < n; i++)
        scale[i] = exp(md_random_normal(random));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            s->a[i * n + j] *= scale[i] * scale[j];
        s->diagonal[i] = 1 / s->a[i * n + i];
        s->b[i] = md_random_normal(random);
    }
    s->linear = (md_linear_system){.n = n, .context = s, .multiply = multiply};
}

/* A^-1 b, and in the plane A^-1 (b + mu 1) with the mu that makes the sum 0. */
static void solve_directly(const struct system *s, double *x)
{
    const size_t n = s->n;
    double *r = malloc(n * n * sizeof *r);
    double right[2 * MOST];
    assert_non_null(r);
    memcpy(r, s->a, n * n * sizeof *r);
    assert_true(md_cholesky(r, n, 1));
    for (size_t i = 0; i < n; i++) {
        right[i] = s->b[i];
        right[n + i] = 1;
    }
    md_cholesky_solve(r, n, right);
    md_cholesky_solve(r, n, right + n);
    double sum = 0;
    double ones = 0;
    for (size_t i = 0; i < n; i++) {
        sum += right[i];
        ones += right[n + i];
    }
    const double mu = s->linear.centred ? -sum / ones : 0;
    for (size_t i = 0; i < n; i++)
        x[i] = right[i] + mu * right[n + i];
    free(r);
}

static void solutions_equal_the_direct_ones(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 10, MOST};
    md_random random;
    md_random_seed(&random, 1);
    for (int round = 0; round < 80; round++) {
        struct system s;
        double x[MOST];
        double expected[MOST];
        const size_t n = sizes[md_random_below(&random, 5)];
        make_system(&s, n, &random);
        s.linear.centred = round % 2;
        s.linear.inverse_diagonal = round % 4 < 2 ? s.diagonal : NULL;
        for (size_t i = 0; i < n; i++)
            x[i] = round % 8 < 4 ? 0 : md_random_normal(&random);
        solve_directly(&s, expected);
        md_conjugate_gradient(&s.linear, s.b, x, 1e-13, 50 * n, s.scratch);
        double sum = 0;
        double largest = 0;
        for (size_t i = 0; i < n; i++) {
            largest = fmax(largest, fabs(expected[i]));
            sum += x[i];
        }
        for (size_t i = 0; i < n; i++)
            if (!(fabs(x[i] - expected[i]) <= 1e-9 * (1 + largest)))
                fail_msg("round %d, n = %zu: %.17g instead of %.17g", round, n, x[i], expected[i]);
        if (s.linear.centred)
            assert_true(fabs(sum) <= 1e-13 * (1 + largest) * (double)n);
        free(s.a);
    }
}

/* The residual is as small as asked for, and its size decides the number of steps. */
static void the_tolerance_is_kept(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 2);
    struct system s;
    make_system(&s, MOST, &random);
    s.linear.inverse_diagonal = s.diagonal;
    size_t before = 0;
    for (double tolerance = 1; tolerance > 1e-12; tolerance /= 10) {
        double x[MOST] = {0};
        double image[MOST];
        const size_t steps = md_conjugate_gradient(&s.linear, s.b, x, tolerance, 1000, s.scratch);
        multiply(&s, x, image);
        double residual = 0;
        double square = 0;
        for (size_t i = 0; i < MOST; i++) {
            residual += (s.b[i] - image[i]) * (s.b[i] - image[i]);
            square += s.b[i] * s.b[i];
        }
        assert_true(sqrt(residual) <= tolerance * sqrt(square) * (1 + 1e-6) + 1e-13);
        assert_true(steps >= before);
        before = steps;
    }
    assert_true(before > 5);
    double x[MOST] = {0};
    assert_int_equal(md_conjugate_gradient(&s.linear, s.b, x, 1e-12, 3, s.scratch), 3);
    free(s.a);
}

static void the_preconditioner_saves_steps(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 3);
    for (int centred = 0; centred < 2; centred++) {
        struct system s;
        double x[MOST] = {0};
        make_system(&s, MOST, &random);
        s.linear.centred = centred;
        const size_t plain = md_conjugate_gradient(&s.linear, s.b, x, 1e-8, 1000, s.scratch);
        memset(x, 0, sizeof x);
        s.linear.inverse_diagonal = s.diagonal;
        assert_true(md_conjugate_gradient(&s.linear, s.b, x, 1e-8, 1000, s.scratch) < plain);
        free(s.a);
    }
}

static double height(const struct system *s, const double *x)
{
    double image[MOST];
    double sum = 0;
    multiply((void *)s, x, image);
    for (size_t i = 0; i < s->n; i++)
        sum += x[i] * (image[i] / 2 - s->b[i]);
    return sum;
}

/* Also for matrices with negative eigenvalues and after few steps. */
static void the_result_is_never_uphill_from_zero(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 4);
    for (int round = 0; round < 200; round++) {
        struct system s;
        double x[MOST];
        const size_t n = 1 + md_random_below(&random, 20);
        make_system(&s, n, &random);
        s.linear.inverse_diagonal = round % 2 ? s.diagonal : NULL;
        s.linear.centred = round % 3 == 0;
        for (size_t i = 0; i < n; i++) {
            s.a[i * n + i] -= round % 4 == 0 ? 2 * md_random_uniform(&random) : 0;
            x[i] = 10 * md_random_normal(&random);
        }
        md_conjugate_gradient(&s.linear, s.b, x, 1e-10, md_random_below(&random, 10), s.scratch);
        assert_true(height(&s, x) <= 1e-12);
        free(s.a);
    }
}

static void negative_curvature_ends_the_search(void **state)
{
    (void)state;
    double a[4] = {-1, 0, 0, -1};
    struct system s = {.n = 2, .a = a, .b = {1, 2}};
    double x[2] = {0, 0};
    s.linear = (md_linear_system){.n = 2, .context = &s, .multiply = multiply};
    assert_int_equal(md_conjugate_gradient(&s.linear, s.b, x, 1e-10, 100, s.scratch), 0);
    assert_true(x[0] == 0 && x[1] == 0);
}

static void nothing_to_solve_takes_no_steps(void **state)
{
    (void)state;
    double a[4] = {2, 0, 0, 3};
    struct system s = {.n = 2, .a = a, .b = {0, 0}};
    double x[2] = {5, -5};
    s.linear = (md_linear_system){.n = 2, .context = &s, .multiply = multiply};
    assert_int_equal(md_conjugate_gradient(&s.linear, s.b, x, 1e-10, 100, s.scratch), 0);
    assert_true(x[0] == 0 && x[1] == 0);
    s.b[0] = s.b[1] = 4; /* a multiple of 1: the plane of sum 0 knows nothing of it */
    s.linear.centred = true;
    assert_int_equal(md_conjugate_gradient(&s.linear, s.b, x, 1e-10, 100, s.scratch), 0);
    assert_true(x[0] == 0 && x[1] == 0);
    s.linear.n = 0;
    assert_int_equal(md_conjugate_gradient(&s.linear, s.b, x, 1e-10, 100, s.scratch), 0);
}

int main(void)
{
    md_blas_single_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_equal_the_direct_ones),
        cmocka_unit_test(the_tolerance_is_kept),
        cmocka_unit_test(the_preconditioner_saves_steps),
        cmocka_unit_test(the_result_is_never_uphill_from_zero),
        cmocka_unit_test(negative_curvature_ends_the_search),
        cmocka_unit_test(nothing_to_solve_takes_no_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
