/* SPDX-License-Identifier: BSD-3-Clause */
/* What blocks ask of a Gram source: multiples of one row added to several arrays at once, several
 * rows as one matrix product, and whose values are kept at all; for every way to keep kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gram_case.h"

enum { ROWS = 150, TARGETS = 5 };

/* The hat is mostly zero and kept sparse, the constant is one row; the others are full or
 * computed on the fly. */
static void open_mixed(gram_case *c)
{
    static const char *const names[] = {"poly", "rbf", "bspline", "bias", NULL};
    static const char *const norms[] = {"none", "diag", NULL};
    const case_choice choice = {.kind = {.rows = ROWS, .columns = 5, .spread = 9},
                                .kernels = names,
                                .norms = norms,
                                .seed = 4};
    open_case(c, &choice);
}

static size_t little_memory(const gram_case *c)
{
    return ROWS * ROWS * sizeof(float) / 2 + 12 * c->bank.count * ROWS * sizeof(float);
}

/* expected: of one kernel; scale: what rounding is relative to. */
static void check_targets(md_gram *gram, size_t m, const double *expected, double scale,
                          md_random *random)
{
    static float y[TARGETS][ROWS];
    double right[TARGETS][ROWS];
    float alpha[TARGETS];
    float *to[TARGETS];
    const size_t row = md_random_below(random, ROWS);
    const size_t count = md_random_below(random, TARGETS + 1);
    for (size_t t = 0; t < TARGETS; t++) {
        alpha[t] = (float)md_random_normal(random);
        to[t] = y[t];
        for (size_t j = 0; j < ROWS; j++) {
            y[t][j] = (float)md_random_normal(random);
            right[t][j] =
                (double)y[t][j] + (t < count ? (double)alpha[t] * expected[row * ROWS + j] : 0);
        }
    }
    md_gram_add_row(gram, m, row, &(md_targets){.alpha = alpha, .y = to, .count = count});
    for (size_t t = 0; t < TARGETS; t++)
        for (size_t j = 0; j < ROWS; j++)
            assert_true(fabs((double)y[t][j] - right[t][j]) <= 1e-4 * (1 + scale));
}

static void one_row_is_added_to_many_targets(void **state)
{
    (void)state;
    gram_case c;
    md_random random;
    open_mixed(&c);
    md_random_seed(&random, 1);
    for (size_t streamed = 0; streamed < 2; streamed++) {
        md_gram *gram = open_gram(&c, 1, streamed ? little_memory(&c) : 0);
        assert_int_equal(md_gram_is_streamed(gram), streamed);
        for (size_t trial = 0; trial < 40; trial++)
            for (size_t m = 0; m < c.bank.count; m++)
                if (md_gram_is_kept(gram, m))
                    check_targets(gram, m, c.expected[m], case_scale(&c, m), &random);
        md_gram_free(gram);
    }
    close_case(&c);
}

static void rows_of_mixtures_are_added_too(void **state)
{
    (void)state;
    static const double weight[] = {0.5, 0.25, 2, 0, 1, 0.75, 0.375, 1};
    gram_case c;
    md_random random;
    double *expected = md_calloc((size_t)ROWS * ROWS, sizeof *expected);
    assert_non_null(expected);
    open_mixed(&c);
    assert_int_equal(c.bank.count, 8);
    md_random_seed(&random, 2);
    for (size_t m = 0; m < c.bank.count; m++)
        for (size_t i = 0; i < (size_t)ROWS * ROWS; i++)
            expected[i] += weight[m] * c.expected[m][i];
    const double scale = largest_of(expected, (size_t)ROWS * ROWS);
    md_gram *gram = open_gram(&c, 1, 0);
    assert_int_equal(md_gram_mix(gram, weight, NULL), MEDLEY_OK);
    for (size_t trial = 0; trial < 40; trial++)
        check_targets(gram, 0, expected, scale, &random);
    md_gram_free(gram);
    free(expected);
    close_case(&c);
}

/* scores[label][j] += alpha sum_i coefficient[i][label] K(first + i, j), or nothing at all. */
static void check_product(md_gram *gram, size_t m, const double *expected, double scale,
                          md_random *random, size_t *done)
{
    enum { LABELS = 4, MOST = 9 };
    float coefficient[MOST * LABELS];
    float scores[LABELS * ROWS];
    float before[LABELS * ROWS];
    const size_t rows = 1 + md_random_below(random, MOST);
    const size_t first = md_random_below(random, ROWS - rows + 1);
    const float alpha = (float)md_random_normal(random);
    for (size_t i = 0; i < MOST * LABELS; i++)
        coefficient[i] = (float)md_random_normal(random);
    for (size_t i = 0; i < (size_t)LABELS * ROWS; i++)
        before[i] = (float)md_random_normal(random);
    memcpy(scores, before, sizeof scores);
    if (!md_gram_add_rows(gram, m, first, rows, alpha, coefficient, LABELS, scores)) {
        assert_memory_equal(scores, before, sizeof scores);
        return;
    }
    ++*done;
    for (size_t l = 0; l < LABELS; l++)
        for (size_t j = 0; j < ROWS; j++) {
            double sum = (double)before[l * ROWS + j];
            for (size_t i = 0; i < rows; i++)
                sum += (double)alpha * (double)coefficient[i * LABELS + l] *
                       expected[(first + i) * ROWS + j];
            assert_true(fabs((double)scores[l * ROWS + j] - sum) <= 1e-4 * (1 + scale));
        }
}

static void several_rows_are_one_product(void **state)
{
    (void)state;
    gram_case c;
    md_random random;
    open_mixed(&c);
    md_random_seed(&random, 3);
    for (size_t streamed = 0; streamed < 2; streamed++) {
        md_gram *gram = open_gram(&c, 1, streamed ? little_memory(&c) : 0);
        size_t done = 0;
        for (size_t trial = 0; trial < 30; trial++)
            for (size_t m = 0; m < c.bank.count; m++)
                if (md_gram_is_kept(gram, m))
                    check_product(gram, m, c.expected[m], case_scale(&c, m), &random, &done);
        assert_true(streamed ? done == 0 : done >= 30); /* what is kept in full is multiplied */
        md_gram_free(gram);
    }
    close_case(&c);
}

/* What is mostly zero or constant is kept under any budget. A mixture is kept if all of it is. */
static void kernels_tell_whether_they_are_kept(void **state)
{
    (void)state;
    static const double weight[] = {0.5, 0.25, 2, 0, 1, 0.75, 0.375, 1};
    gram_case c;
    open_mixed(&c);
    for (size_t streamed = 0; streamed < 2; streamed++) {
        md_gram *gram = open_gram(&c, 1, streamed ? little_memory(&c) : 0);
        size_t kept = 0;
        for (size_t m = 0; m < c.bank.count; m++) {
            const int kind = c.kernels[m].kind;
            assert_int_equal(md_gram_is_kept(gram, m),
                             !streamed || kind == BSPLINE || kind == BIAS);
            kept += md_gram_is_kept(gram, m);
        }
        assert_int_equal(kept, streamed ? 4 : 8);
        assert_int_equal(md_gram_mix(gram, weight, NULL), MEDLEY_OK);
        assert_int_equal(md_gram_is_kept(gram, 0), !streamed);
        md_gram_free(gram);
    }
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_row_is_added_to_many_targets),
        cmocka_unit_test(rows_of_mixtures_are_added_too),
        cmocka_unit_test(several_rows_are_one_product),
        cmocka_unit_test(kernels_tell_whether_they_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
