/* SPDX-License-Identifier: BSD-3-Clause */
/* Double-precision products and triangular systems against loops, on parts of larger arrays. What
 * is below the diagonal of symmetric and triangular matrices is not a number and must not matter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "linalg/blas.h"
#include <math.h>
#include <string.h>

enum { MOST = 24, STRIDE = 30, ROUNDS = 60 };

struct operands {
    size_t m, n, k;
    double a[MOST * STRIDE], b[MOST * STRIDE], c[MOST * STRIDE], before[MOST * STRIDE];
    double r[MOST * STRIDE]; /* upper triangle, well conditioned */
};

static void make_operands(struct operands *o, md_random *random)
{
    o->m = 1 + md_random_below(random, MOST);
    o->n = 1 + md_random_below(random, MOST);
    o->k = md_random_below(random, MOST);
    for (size_t i = 0; i < MOST * STRIDE; i++) {
        const size_t row = i / STRIDE;
        const size_t column = i % STRIDE;
        o->a[i] = md_random_normal(random);
        o->b[i] = md_random_normal(random);
        o->c[i] = o->before[i] = md_random_normal(random);
        o->r[i] = row > column ? NAN : md_random_normal(random) / MOST + (row == column ? 2 : 0);
    }
}

static void run(void (*check)(struct operands *o))
{
    md_random random;
    md_random_seed(&random, 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct operands o;
        make_operands(&o, &random);
        check(&o);
    }
}

static void assert_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-13 * (1 + fabs(expected))))
        fail_msg("%.17g instead of %.17g", found, expected);
}

static double column_product(const struct operands *o, const double *a, size_t i, const double *b,
                             size_t j)
{
    double sum = 0;
    for (size_t k = 0; k < o->k; k++)
        sum += a[k * STRIDE + i] * b[k * STRIDE + j];
    return sum;
}

static void check_products(struct operands *o)
{
    md_dgemm_columns(o->m, o->n, o->k, -1, o->a, STRIDE, o->b, STRIDE, 0.5, o->c, STRIDE);
    for (size_t i = 0; i < MOST; i++)
        for (size_t j = 0; j < STRIDE; j++) {
            const double before = o->before[i * STRIDE + j];
            const bool inside = i < o->m && j < o->n;
            const double product = inside ? column_product(o, o->a, i, o->b, j) : 0;
            assert_close(o->c[i * STRIDE + j], inside ? before / 2 - product : before);
        }
}

static void products_of_columns_equal_the_loops(void **state)
{
    (void)state;
    run(check_products);
}

static void check_squares(struct operands *o)
{
    md_dsyrk_columns(o->n, o->k, -1, o->a, STRIDE, 1, o->c, STRIDE);
    for (size_t i = 0; i < MOST; i++)
        for (size_t j = 0; j < STRIDE; j++) {
            const bool inside = i <= j && j < o->n;
            const double product = inside ? column_product(o, o->a, i, o->a, j) : 0;
            assert_close(o->c[i * STRIDE + j], o->before[i * STRIDE + j] - product);
        }
}

static void squares_of_columns_change_the_upper_triangle_only(void **state)
{
    (void)state;
    run(check_squares);
}

/* op(R)[i][j] of an m x m triangle. */
static double element(const struct operands *o, bool transposed, size_t i, size_t j)
{
    const size_t row = transposed ? j : i;
    const size_t column = transposed ? i : j;
    return row <= column ? o->r[row * STRIDE + column] : 0;
}

static void check_left_systems(struct operands *o)
{
    md_dtrsm_transposed(o->m, o->n, o->r, STRIDE, o->c, STRIDE);
    for (size_t i = 0; i < o->m; i++)
        for (size_t j = 0; j < o->n; j++) {
            double sum = 0;
            for (size_t k = 0; k < o->m; k++)
                sum += element(o, true, i, k) * o->c[k * STRIDE + j];
            assert_close(sum, o->before[i * STRIDE + j]);
        }
}

static void check_vector_systems(struct operands *o)
{
    for (int transposed = 0; transposed < 2; transposed++) {
        memcpy(o->c, o->before, sizeof o->c);
        md_dtrsv(o->n, o->r, STRIDE, transposed, o->c);
        for (size_t i = 0; i < o->n; i++) {
            double sum = 0;
            for (size_t k = 0; k < o->n; k++)
                sum += element(o, transposed, i, k) * o->c[k];
            assert_close(sum, o->before[i]);
        }
    }
}

static void triangular_systems_are_solved(void **state)
{
    (void)state;
    run(check_left_systems);
    run(check_vector_systems);
}

static void check_vectors(struct operands *o)
{
    md_dsymv(o->n, o->r, STRIDE, o->b, o->c);
    for (size_t i = 0; i < o->n; i++) {
        double sum = 0;
        for (size_t j = 0; j < o->n; j++)
            sum += element(o, i > j, i, j) * o->b[j];
        assert_close(o->c[i], sum);
    }
    for (int transposed = 0; transposed < 2; transposed++) {
        memcpy(o->c, o->before, sizeof o->c);
        md_dgemv(o->m, o->n, 2, o->a, STRIDE, transposed, o->b, -1, o->c);
        for (size_t i = 0; i < (transposed ? o->n : o->m); i++) {
            double sum = -o->before[i];
            for (size_t j = 0; j < (transposed ? o->m : o->n); j++)
                sum += 2 * o->a[transposed ? j * STRIDE + i : i * STRIDE + j] * o->b[j];
            assert_close(o->c[i], sum);
        }
    }
}

static void products_with_vectors_equal_the_loops(void **state)
{
    (void)state;
    run(check_vectors);
}

int main(void)
{
    md_blas_single_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_columns_equal_the_loops),
        cmocka_unit_test(squares_of_columns_change_the_upper_triangle_only),
        cmocka_unit_test(triangular_systems_are_solved),
        cmocka_unit_test(products_with_vectors_equal_the_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
