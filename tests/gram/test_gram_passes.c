/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes over whole Gram matrices, full, sparse or computed on the fly: products with coefficients
 * and mixtures, against sums over the formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gram_case.h"

enum { ROWS = 300, LABELS = 3 };

/* Dense values so far apart that the hat is mostly zero and kept sparse (centred it is not), while
 * the others are full or computed, and the constant is a row of its own. */
static void open_mixed(gram_case *c)
{
    static const char *const names[] = {"poly", "rbf", "bspline", "bias", NULL};
    static const char *const norms[] = {"diag", "center", NULL};
    const case_choice choice = {.kind = {.rows = ROWS, .columns = 5, .spread = 9},
                                .kernels = names,
                                .norms = norms,
                                .seed = 2};
    open_case(c, &choice);
}

/* 0: no limit; otherwise room for about so many rows of the kernels that are not kept. */
static const size_t budgets[] = {0, 100, 7};
enum { BUDGETS = 3 };

static md_gram *open_budget(gram_case *c, size_t w, size_t threads)
{
    const size_t all = c->bank.count * ROWS * sizeof(float);
    /* the sparse hat takes its part of the budget first */
    const size_t sparse = w == 0 ? 0 : ROWS * ROWS * sizeof(float) / 2;
    md_gram *gram = open_gram(c, threads, budgets[w] ? sparse + (budgets[w] + 1) * all : 0);
    assert_int_equal(md_gram_is_streamed(gram), w > 0);
    return gram;
}

static float *draw_floats(size_t count, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    float *values = md_calloc(count, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)md_random_normal(&random);
    return values;
}

/* Is out[ROWS][LABELS] = start + values coefficient? Rounding is relative to what was added up. */
static void check_product(const double *values, const float *coefficient, const float *start,
                          const float *out)
{
    const double largest = largest_of(values, (size_t)ROWS * ROWS);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t l = 0; l < LABELS; l++) {
            double sum = start == NULL ? 0 : (double)start[i * LABELS + l];
            double size = fabs(sum);
            for (size_t j = 0; j < ROWS; j++) {
                const double a = (double)coefficient[j * LABELS + l];
                sum += values[i * ROWS + j] * a;
                size += fabs(a);
            }
            assert_true(fabs((double)out[i * LABELS + l] - sum) <=
                        GRAM_TOLERANCE * (1 + largest) * size);
        }
}

static void products_add_to_what_is_there(void **state)
{
    (void)state;
    gram_case c;
    open_mixed(&c);
    float *coefficient = draw_floats(ROWS * LABELS, 1);
    float *start = draw_floats(ROWS * LABELS, 2);
    float *out = md_calloc(ROWS * LABELS, sizeof *out);
    assert_non_null(out);
    for (size_t w = 0; w < BUDGETS; w++) {
        md_gram *gram = open_budget(&c, w, 2);
        for (size_t m = 0; m < c.bank.count; m++) {
            if (!md_gram_is_kept(gram, m))
                continue;
            memcpy(out, start, ROWS * LABELS * sizeof *out);
            md_gram_multiply(gram, m, coefficient, LABELS, out);
            check_product(c.expected[m], coefficient, start, out);
        }
        md_gram_free(gram);
    }
    free(coefficient);
    free(start);
    free(out);
    close_case(&c);
}

/* deferred scores's product: coefficients that replace what was there, flushed for all rows at
 * once. */
static void deferred_scores_multiply_replaced_coefficients(void **state)
{
    (void)state;
    gram_case c;
    open_mixed(&c);
    float *by_label = draw_floats(ROWS * LABELS, 1);
    float *coefficient = md_calloc(ROWS * LABELS, sizeof *coefficient);
    float *scores = md_calloc(CASE_KERNELS * ROWS * LABELS, sizeof *scores);
    float *out = md_calloc(ROWS * LABELS, sizeof *out);
    assert_true(coefficient != NULL && scores != NULL && out != NULL);
    for (size_t i = 0; i < ROWS * LABELS; i++)
        coefficient[i] = by_label[i % LABELS * ROWS + i / LABELS];
    for (size_t w = 1; w < BUDGETS; w++) {
        md_gram *gram = open_budget(&c, w, 2);
        md_deferred *deferred = NULL;
        const md_deferred_options options = {.labels = LABELS, .longest = 1, .memory = w};
        assert_int_equal(md_deferred_create(&deferred, gram, &options, NULL), MEDLEY_OK);
        for (size_t m = 0; m < c.bank.count; m++)
            if (!md_gram_is_kept(gram, m)) {
                float *score = scores + m * ROWS * LABELS;
                assert_int_equal(md_deferred_attach(deferred, m, score, NULL), MEDLEY_OK);
                md_deferred_replace(deferred, m, by_label, 1);
            }
        assert_int_equal(md_deferred_close(deferred, NULL), MEDLEY_OK);
        for (size_t m = 0; m < c.bank.count; m++) {
            for (size_t i = 0; i < ROWS * LABELS; i++)
                out[i] = scores[m * ROWS * LABELS + i % LABELS * ROWS + i / LABELS];
            if (!md_gram_is_kept(gram, m))
                check_product(c.expected[m], coefficient, NULL, out);
        }
        md_deferred_free(deferred);
        md_gram_free(gram);
    }
    free(by_label);
    free(coefficient);
    free(scores);
    free(out);
    close_case(&c);
}

/* sum weight[m] expected[m]; the caller frees it. */
static double *naive_mixture(const gram_case *c, const double *weight)
{
    double *sum = md_calloc((size_t)ROWS * ROWS, sizeof *sum);
    assert_non_null(sum);
    for (size_t m = 0; m < c->bank.count; m++)
        for (size_t i = 0; i < (size_t)ROWS * ROWS; i++)
            sum[i] += weight[m] * c->expected[m][i];
    return sum;
}

static void check_mixture(md_gram *gram, const double *expected)
{
    const double tolerance = 1e-4 * largest_of(expected, (size_t)ROWS * ROWS); /* with kinks */
    gram_rows rows = open_rows(gram);
    assert_int_equal(md_gram_count(gram), 1);
    for (size_t i = 0; i < ROWS; i++) {
        fetch_rows(&rows, i);
        for (size_t j = 0; j < ROWS; j++)
            assert_true(fabs((double)row_of(&rows, 0)[j] - expected[i * ROWS + j]) <= tolerance);
        assert_true(fabs(md_gram_diagonal(gram, 0, i) - expected[i * ROWS + i]) <= tolerance);
        const size_t j = (i * 13 + 5) % ROWS;
        assert_true(fabs(entry_of(&rows, 0, i, j) - expected[i * ROWS + j]) <= tolerance);
    }
    close_rows(&rows);
    if (!md_gram_is_kept(gram, 0))
        return;
    float *coefficient = draw_floats(ROWS * LABELS, 3);
    float *out = md_calloc(ROWS * LABELS, sizeof *out);
    assert_non_null(out);
    md_gram_multiply(gram, 0, coefficient, LABELS, out);
    check_product(expected, coefficient, NULL, out);
    free(coefficient);
    free(out);
}

static void mixtures_are_weighted_sums(void **state)
{
    (void)state;
    static const double weights[][8] = {
        {0.5, 0.25, 2, 0.125, 1, 0.75, 0.375, 1},
        {0, 1, 0, 0, 0.5, 0, 2, 0}, /* the first full one is not the first */
        {0, 0, 0, 0, 1, 0, 0, 0}};  /* nothing full at all */
    gram_case c;
    open_mixed(&c);
    assert_int_equal(c.bank.count, 8);
    for (size_t i = 0; i < 3 * BUDGETS; i++) {
        const double *weight = weights[i % 3];
        md_gram *gram = open_budget(&c, i / 3, 1);
        double *expected = naive_mixture(&c, weight);
        assert_int_equal(md_gram_mix(gram, weight, NULL), MEDLEY_OK);
        check_mixture(gram, expected);
        free(expected);
        md_gram_free(gram);
    }
    close_case(&c);
}

/* Large matrices that went into the sum are given back. */
static void mixtures_release_memory(void **state)
{
    (void)state;
    enum { MANY = 1100 };
    const data_kind kind = {.rows = MANY, .columns = 2, .spread = 1};
    medley_dataset *data = make_data(&kind, 1);
    char spec[] = "rbf(gamma=1..3)";
    char *const specs[] = {spec, NULL};
    const md_bank_options bank_options = {.kernels = specs, .views = "all"};
    const md_gram_options options = {.threads = 2};
    static const double weight[] = {0.5, 0, 0.25};
    md_bank bank;
    md_prepared prepared;
    md_gram *gram = NULL;
    assert_int_equal(md_bank_make(&bank, data, &bank_options, NULL), MEDLEY_OK);
    assert_int_equal(md_prepared_make(&prepared, &bank, data, true, NULL), MEDLEY_OK);
    assert_int_equal(md_gram_create(&gram, &bank, &prepared, &options, NULL), MEDLEY_OK);
    assert_int_equal(md_gram_bytes(gram), 3 * sizeof(float) * MANY * MANY);
    const float first = md_gram_entry(gram, 0, 5, 1000);
    const float last = md_gram_entry(gram, 2, 5, 1000);
    assert_int_equal(md_gram_mix(gram, weight, NULL), MEDLEY_OK);
    assert_int_equal(md_gram_bytes(gram), sizeof(float) * MANY * MANY);
    assert_true(fabsf(md_gram_entry(gram, 0, 5, 1000) - (0.5f * first + 0.25f * last)) < 1e-6f);
    md_gram_free(gram);
    md_prepared_clear(&prepared);
    md_bank_clear(&bank);
    medley_dataset_free(data);
}

/* The product of kernel 1 where it is kept, then all rows of the mixture; the caller frees them. */
static float *all_passes(gram_case *c, size_t w, size_t threads)
{
    static const double weight[] = {0.5, 0.25, 2, 0.125, 1, 0.75, 0.375, 1};
    float *coefficient = draw_floats(ROWS * LABELS, 1);
    float *out = md_calloc(ROWS * LABELS + ROWS * ROWS, sizeof *out);
    assert_non_null(out);
    md_gram *gram = open_budget(c, w, threads);
    if (md_gram_is_kept(gram, 1))
        md_gram_multiply(gram, 1, coefficient, LABELS, out);
    assert_int_equal(md_gram_mix(gram, weight, NULL), MEDLEY_OK);
    gram_rows rows = open_rows(gram);
    for (size_t i = 0; i < ROWS; i++) {
        fetch_rows(&rows, i);
        memcpy(out + ROWS * LABELS + i * ROWS, row_of(&rows, 0), ROWS * sizeof *out);
    }
    close_rows(&rows);
    md_gram_free(gram);
    free(coefficient);
    return out;
}

static void threads_do_not_change_a_bit_of_passes(void **state)
{
    (void)state;
    gram_case c;
    open_mixed(&c);
    for (size_t w = 0; w < 2; w++) {
        float *one = all_passes(&c, w, 1);
        for (size_t threads = 2; threads <= 5; threads += 3) {
            float *many = all_passes(&c, w, threads);
            assert_memory_equal(many, one, (ROWS * LABELS + ROWS * ROWS) * sizeof *one);
            free(many);
        }
        free(one);
    }
    close_case(&c);
}

/* A bank that has learnt means once learns them again, not means of centred values. */
static void a_bank_may_be_used_twice(void **state)
{
    (void)state;
    gram_case c;
    open_mixed(&c);
    for (size_t w = 0; w < 2 * BUDGETS; w++) {
        md_gram *gram = open_budget(&c, w % BUDGETS, 1);
        gram_rows rows = open_rows(gram);
        for (size_t m = 0; m < c.bank.count; m++)
            check_near(&c, m, 3, 200, entry_of(&rows, m, 3, 200), case_scale(&c, m));
        close_rows(&rows);
        md_gram_free(gram);
    }
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_add_to_what_is_there),
        cmocka_unit_test(deferred_scores_multiply_replaced_coefficients),
        cmocka_unit_test(mixtures_are_weighted_sums),
        cmocka_unit_test(mixtures_release_memory),
        cmocka_unit_test(threads_do_not_change_a_bit_of_passes),
        cmocka_unit_test(a_bank_may_be_used_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
