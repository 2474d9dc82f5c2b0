/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix products against triple loops in double precision, with strides and factors, on parts of
 * larger arrays whose other elements must stay as they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "linalg/blas.h"
#include <math.h>
#include <stdlib.h>

enum { MOST = 40, ROUNDS = 150 };

struct operands {
    size_t m, n, k, lda, ldb, ldc;
    float alpha, beta;
    float a[MOST * 2 * MOST], b[MOST * 2 * MOST], c[MOST * 2 * MOST], before[MOST * 2 * MOST];
};

static void make_operands(struct operands *o, md_random *random)
{
    static const float factors[] = {0, 1, -1, 0.5f};
    o->m = 1 + md_random_below(random, MOST);
    o->n = 1 + md_random_below(random, MOST);
    o->k = md_random_below(random, MOST);
    o->lda = o->k + md_random_below(random, MOST);
    o->ldb = o->n + md_random_below(random, MOST);
    o->ldc = o->n + md_random_below(random, MOST);
    o->alpha = factors[md_random_below(random, 4)];
    o->beta = factors[md_random_below(random, 4)];
    for (size_t i = 0; i < sizeof o->a / sizeof *o->a; i++) {
        o->a[i] = (float)md_random_normal(random);
        o->b[i] = (float)md_random_normal(random);
        o->c[i] = o->before[i] = (float)md_random_normal(random);
    }
}

static void check_result(const struct operands *o)
{
    for (size_t i = 0; i < sizeof o->c / sizeof *o->c; i++) {
        const size_t row = i / o->ldc;
        const size_t column = i % o->ldc;
        if (row >= o->m || column >= o->n) {
            assert_true(o->c[i] == o->before[i]);
            continue;
        }
        double expected = (double)o->beta * (double)o->before[i];
        double size = fabs(expected);
        for (size_t k = 0; k < o->k; k++) {
            const double term = (double)o->alpha * (double)o->a[row * o->lda + k] *
                                (double)o->b[k * o->ldb + column];
            expected += term;
            size += fabs(term);
        }
        /* (k + 2) roundings of 2^-24 relative to the sum of absolute terms */
        assert_true(fabs((double)o->c[i] - expected) <= (double)(o->k + 2) * 0x1p-24 * size);
    }
}

static void products_equal_the_loops(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 2);
    struct operands *o = malloc(sizeof *o);
    assert_non_null(o);
    for (int round = 0; round < ROUNDS; round++) {
        make_operands(o, &random);
        md_gemm(o->m, o->n, o->k, o->alpha, o->a, o->lda, o->b, o->ldb, o->beta, o->c, o->ldc);
        check_result(o);
    }
    free(o);
}

static void matrices_without_columns_give_zero(void **state)
{
    (void)state;
    float c[6] = {1, 2, 3, 4, 5, 6};
    const float nothing[1] = {9};
    md_gemm(2, 3, 0, 1, nothing, 0, nothing, 3, 0, c, 3);
    for (size_t i = 0; i < 6; i++)
        assert_true(c[i] == 0);
    md_gemm(2, 0, 0, 1, nothing, 0, nothing, 0, 0, c, 0); /* nothing to do, and no complaint */
}

int main(void)
{
    md_blas_single_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_equal_the_loops),
        cmocka_unit_test(matrices_without_columns_give_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
