/* SPDX-License-Identifier: BSD-3-Clause */
/* Leave-one-out residuals in closed form are those of machines that are trained without the row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "optim/optim.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUTS = 2, MOST = 140 };

struct problem {
    size_t n;
    double *a; /* [n][n] */
    double *y; /* [OUTPUTS][n] */
};

static double *new_doubles(size_t count)
{
    double *x = calloc(count, sizeof *x);
    assert_non_null(x);
    return x;
}

/* X'X of few columns plus a ridge. */
static struct problem make(size_t n, double ridge, uint64_t seed)
{
    enum { COLUMNS = 5 };
    struct problem p = {.n = n, .a = new_doubles(n * n), .y = new_doubles(OUTPUTS * n)};
    double *x = new_doubles(n * COLUMNS);
    md_random random;
    md_random_seed(&random, seed);
    for (size_t i = 0; i < n * COLUMNS; i++)
        x[i] = md_random_normal(&random);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            for (size_t c = 0; c < COLUMNS; c++)
                p.a[i * n + j] += x[i * COLUMNS + c] * x[j * COLUMNS + c];
            p.a[i * n + j] += i == j ? ridge : 0;
        }
    for (size_t i = 0; i < OUTPUTS * n; i++)
        p.y[i] = i < n ? (x[i * COLUMNS] > 0 ? 1 : -1) : 3 + md_random_normal(&random);
    free(x);
    return p;
}

static void clear(struct problem *p)
{
    free(p->a);
    free(p->y);
}

/* x becomes the solution of m[n][n] x; by elimination with pivots. */
static void eliminate(double *m, double *x, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            pivot = fabs(m[i * n + k]) > fabs(m[pivot * n + k]) ? i : pivot;
        for (size_t j = 0; j < n; j++) {
            const double t = m[k * n + j];
            m[k * n + j] = m[pivot * n + j];
            m[pivot * n + j] = t;
        }
        const double t = x[k];
        x[k] = x[pivot];
        x[pivot] = t;
        for (size_t i = k + 1; i < n; i++) {
            const double factor = m[i * n + k] / m[k * n + k];
            for (size_t j = k; j < n; j++)
                m[i * n + j] -= factor * m[k * n + j];
            x[i] -= factor * x[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++)
            x[k] -= m[k * n + j] * x[j];
        x[k] /= m[k * n + k];
    }
}

/* y_i less what the machine of all other rows says. The kernel of row i with them has no ridge. */
static double residual_without(const struct problem *p, const double *y, size_t left_out)
{
    const size_t n = p->n; /* n - 1 rows, and the bias */
    double *m = new_doubles(n * n);
    double *x = new_doubles(n);
    for (size_t i = 0; i + 1 < n; i++) {
        const size_t row = i < left_out ? i : i + 1;
        for (size_t j = 0; j + 1 < n; j++)
            m[i * n + j] = p->a[row * n + (j < left_out ? j : j + 1)];
        m[i * n + n - 1] = m[(n - 1) * n + i] = 1;
        x[i] = y[row];
    }
    eliminate(m, x, n);
    double residual = y[left_out] - x[n - 1];
    for (size_t i = 0; i + 1 < n; i++)
        residual -= x[i] * p->a[left_out * n + (i < left_out ? i : i + 1)];
    free(m);
    free(x);
    return residual;
}

static void residuals_are_those_of_machines_without_the_row(void **state)
{
    (void)state;
    static const size_t sizes[] = {2, 3, 20, 63, 64, 65, MOST};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t n = sizes[s];
        struct problem p = make(n, s % 2 ? 0.01 : 2, 7 + s);
        double *a = new_doubles(n * n);
        double *residual = new_doubles(OUTPUTS * n);
        double *again = new_doubles(OUTPUTS * n);
        double *scratch = new_doubles(n * (n + 2));
        memcpy(a, p.a, n * n * sizeof *a);
        for (size_t i = 0; i < n; i++) /* only the upper triangle counts */
            for (size_t j = 0; j < i; j++)
                a[i * n + j] = NAN;
        assert_true(md_leave_one_out(a, n, p.y, OUTPUTS, residual, scratch, 1));
        for (size_t o = 0; o < OUTPUTS; o++)
            for (size_t i = 0; i < n; i += 1 + n / 12) {
                const double expected = residual_without(&p, p.y + o * n, i);
                assert_true(fabs(residual[o * n + i] - expected) <= 1e-7 * (1 + fabs(expected)));
            }
        memcpy(a, p.a, n * n * sizeof *a);
        assert_true(md_leave_one_out(a, n, p.y, OUTPUTS, again, scratch, 3));
        assert_memory_equal(residual, again, OUTPUTS * n * sizeof *again);
        free(a);
        free(residual);
        free(again);
        free(scratch);
        clear(&p);
    }
}

static void what_is_not_positive_definite_is_told(void **state)
{
    (void)state;
    struct problem p = make(20, -0.5, 3);
    double residual[OUTPUTS * 20];
    double scratch[20 * 22];
    assert_false(md_leave_one_out(p.a, 20, p.y, OUTPUTS, residual, scratch, 1));
    clear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_are_those_of_machines_without_the_row),
        cmocka_unit_test(what_is_not_positive_definite_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
