/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of rows with rows against loops in double precision; and what BLAS does not give: no bit
 * of an element depends on the other rows, on its place among them or on where it lies in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "linalg/products.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, DEEPEST = 600, STRIDE = 640, ROUNDS = 150 };

struct operands {
    size_t m, n, k;
    float a[MOST * STRIDE], b[MOST * STRIDE], c[MOST * MOST], before[MOST * MOST];
};

/* Elements that span many sizes, so that every other order of sums is rounded in another way. */
/* Large and small numbers of either sign. */
static void fill(float *values, size_t count, md_random *random)
{
    for (size_t i = 0; i < count; i++)
        values[i] =
            (float)(ldexp(md_random_uniform(random) - 0.5, (int)md_random_below(random, 12)));
}

static struct operands *make_operands(md_random *random)
{
    struct operands *o = malloc(sizeof *o);
    assert_non_null(o);
    o->m = 1 + md_random_below(random, MOST);
    o->n = 1 + md_random_below(random, md_random_below(random, 2) ? MOST : 9);
    o->k = md_random_below(random, md_random_below(random, 2) ? DEEPEST : 40);
    fill(o->a, sizeof o->a / sizeof *o->a, random);
    fill(o->b, sizeof o->b / sizeof *o->b, random);
    fill(o->before, sizeof o->before / sizeof *o->before, random);
    memcpy(o->c, o->before, sizeof o->c);
    return o;
}

static void check_result(const struct operands *o, bool added)
{
    for (size_t i = 0; i < (size_t)MOST * MOST; i++) {
        const size_t row = i / MOST;
        const size_t column = i % MOST;
        if (row >= o->m || column >= o->n) {
            assert_true(o->c[i] == o->before[i]);
            continue;
        }
        double expected = added ? (double)o->before[i] : 0;
        double size = fabs(expected);
        for (size_t k = 0; k < o->k; k++) {
            const double term = (double)o->a[row * STRIDE + k] * (double)o->b[column * STRIDE + k];
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
    md_random_seed(&random, 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct operands *o = make_operands(&random);
        md_multiply_rows(o->m, o->n, o->k, o->a, STRIDE, o->b, STRIDE, o->c, MOST);
        check_result(o, false);
        memcpy(o->c, o->before, sizeof o->c);
        md_add_products(o->m, o->n, o->k, o->a, STRIDE, o->b, STRIDE, o->c, MOST);
        check_result(o, true);
        free(o);
    }
}

/* Some rows of a matrix, in any order, begun anywhere. */
struct chosen {
    size_t count, which[MOST];
    float *memory, *rows;
};

static struct chosen choose_rows(const float *matrix, size_t rows, md_random *random)
{
    struct chosen chosen = {.count = 1 + md_random_below(random, MOST),
                            .memory = malloc((MOST + 1) * STRIDE * sizeof(float))};
    assert_non_null(chosen.memory);
    chosen.rows = chosen.memory + md_random_below(random, 20);
    for (size_t i = 0; i < chosen.count; i++) {
        chosen.which[i] = md_random_below(random, rows);
        memcpy(chosen.rows + i * STRIDE, matrix + chosen.which[i] * STRIDE, STRIDE * sizeof(float));
    }
    return chosen;
}

static void elements_depend_on_their_two_rows_only(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 2);
    for (int round = 0; round < ROUNDS; round++) {
        struct operands *o = make_operands(&random);
        float some[MOST * MOST];
        float turned[MOST * MOST];
        struct chosen a = choose_rows(o->a, o->m, &random);
        struct chosen b = choose_rows(o->b, o->n, &random);
        md_multiply_rows(o->m, o->n, o->k, o->a, STRIDE, o->b, STRIDE, o->c, MOST);
        md_multiply_rows(a.count, b.count, o->k, a.rows, STRIDE, b.rows, STRIDE, some, MOST);
        md_multiply_rows(b.count, a.count, o->k, b.rows, STRIDE, a.rows, STRIDE, turned, MOST);
        for (size_t i = 0; i < a.count; i++)
            for (size_t j = 0; j < b.count; j++) {
                const float *whole = &o->c[a.which[i] * MOST + b.which[j]];
                assert_memory_equal(&some[i * MOST + j], whole, sizeof *whole);
                assert_memory_equal(&turned[j * MOST + i], whole, sizeof *whole);
            }
        free(a.memory);
        free(b.memory);
        free(o);
    }
}

static void rows_that_are_added_depend_on_their_own_row_only(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 3);
    for (int round = 0; round < ROUNDS; round++) {
        struct operands *o = make_operands(&random);
        float some[MOST * MOST];
        struct chosen a = choose_rows(o->a, o->m, &random);
        for (size_t i = 0; i < a.count; i++)
            memcpy(some + i * MOST, o->before + a.which[i] * MOST, sizeof o->before / MOST);
        md_add_products(o->m, o->n, o->k, o->a, STRIDE, o->b, STRIDE, o->c, MOST);
        md_add_products(a.count, o->n, o->k, a.rows, STRIDE, o->b, STRIDE, some, MOST);
        for (size_t i = 0; i < a.count; i++)
            assert_memory_equal(some + i * MOST, o->c + a.which[i] * MOST, sizeof o->c / MOST);
        free(a.memory);
        free(o);
    }
}

static void matrices_without_columns_give_zero(void **state)
{
    (void)state;
    float c[6] = {1, 2, 3, 4, 5, 6};
    const float nothing[1] = {9};
    md_multiply_rows(2, 3, 0, nothing, 0, nothing, 0, c, 3);
    for (size_t i = 0; i < 6; i++)
        assert_true(c[i] == 0);
    md_multiply_rows(0, 1, 1, nothing, 1, nothing, 1, c, 3); /* nothing to do, and no complaint */
    md_add_products(1, 0, 1, nothing, 1, nothing, 1, c, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_equal_the_loops),
        cmocka_unit_test(elements_depend_on_their_two_rows_only),
        cmocka_unit_test(rows_that_are_added_depend_on_their_own_row_only),
        cmocka_unit_test(matrices_without_columns_give_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
