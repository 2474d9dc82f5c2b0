/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes over whole Gram matrices, full, sparse or streamed: products with coefficients, packed
 * triangles and mixtures, against sums over the formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gram_case.h"

enum { ROWS = 300, LABELS = 3 };

/* Dense values so far apart that the hat is mostly zero and kept sparse (centred it is not), while
 * the others are full or streamed, and the constant is a row of its own. */
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

/* 0: no limit; otherwise room for about so many rows of the kernels that are streamed. */
static const size_t windows[] = {0, 100, 7};
enum { WINDOWS = 3 };

static md_gram *open_window(gram_case *c, size_t w, size_t threads)
{
    const size_t all = c->bank.count * ROWS * sizeof(float);
    /* the sparse hat takes its part of the budget first */
    const size_t sparse = w == 0 ? 0 : ROWS * ROWS * sizeof(float) / 2;
    md_gram *gram = open_gram(c, threads, windows[w] ? sparse + (windows[w] + 1) * all : 0);
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
    for (size_t w = 0; w < WINDOWS; w++) {
        md_gram *gram = open_window(&c, w, 2);
        for (size_t m = 0; m < c.bank.count; m++) {
            static const size_t announced[] = {4, 9, 2};
            assert_int_equal(md_gram_prefetch(gram, announced, 3, NULL), MEDLEY_OK);
            memcpy(out, start, ROWS * LABELS * sizeof *out);
            assert_int_equal(md_gram_multiply(gram, m, coefficient, LABELS, out, NULL), MEDLEY_OK);
            check_product(c.expected[m], coefficient, start, out);
            /* rows can be asked for as before, also of kernels that the pass left out */
            const size_t window = md_gram_window(gram);
            const size_t first = w == 0 ? 0 : (ROWS - 1) / window * window; /* of the last window */
            const size_t other = m == 0 ? 1 : 0;
            const double scale = case_scale(&c, other);
            float row[ROWS];
            read_row(gram, other, first, row);
            for (size_t j = 0; j < ROWS; j++)
                check_near(&c, other, first, j, (double)row[j], scale);
        }
        md_gram_free(gram);
    }
    free(coefficient);
    free(start);
    free(out);
    close_case(&c);
}

static void packed_rows_are_the_upper_triangles(void **state)
{
    (void)state;
    const size_t triangle = (size_t)ROWS * (ROWS + 1) / 2;
    gram_case c;
    open_mixed(&c);
    float *packed = md_calloc(c.bank.count * triangle, sizeof *packed);
    assert_non_null(packed);
    for (size_t w = 0; w < WINDOWS; w++) {
        md_gram *gram = open_window(&c, w, 2);
        memset(packed, 0xff, c.bank.count * triangle * sizeof *packed);
        assert_int_equal(md_gram_pack(gram, packed, NULL), MEDLEY_OK);
        for (size_t m = 0; m < c.bank.count; m++) {
            const double scale = case_scale(&c, m);
            const float *value = packed + m * triangle;
            for (size_t i = 0; i < ROWS; i++)
                for (size_t j = i; j < ROWS; j++)
                    check_near(&c, m, i, j, (double)*value++, scale);
        }
        md_gram_free(gram);
    }
    free(packed);
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
    const size_t triangle = (size_t)ROWS * (ROWS + 1) / 2;
    const double tolerance = 1e-4 * largest_of(expected, (size_t)ROWS * ROWS); /* with kinks */
    float *coefficient = draw_floats(ROWS * LABELS, 3);
    float *out = md_calloc(ROWS * LABELS, sizeof *out);
    float *packed = md_calloc(triangle, sizeof *packed);
    float row[ROWS];
    assert_true(out != NULL && packed != NULL);
    assert_int_equal(md_gram_count(gram), 1);
    assert_int_equal(md_gram_pack(gram, packed, NULL), MEDLEY_OK);
    const float *value = packed;
    for (size_t i = 0; i < ROWS; i++) {
        read_row(gram, 0, i, row);
        for (size_t j = 0; j < ROWS; j++)
            assert_true(fabs((double)row[j] - expected[i * ROWS + j]) <= tolerance);
        for (size_t j = i; j < ROWS; j++)
            assert_true(fabs((double)*value++ - expected[i * ROWS + j]) <= tolerance);
        assert_true(fabs(md_gram_diagonal(gram, 0, i) - expected[i * ROWS + i]) <= tolerance);
        const size_t j = (i * 13 + 5) % ROWS;
        assert_true(fabs((double)md_gram_entry(gram, 0, i, j) - (double)row[j]) <= tolerance);
    }
    assert_int_equal(md_gram_multiply(gram, 0, coefficient, LABELS, out, NULL), MEDLEY_OK);
    check_product(expected, coefficient, NULL, out);
    free(coefficient);
    free(out);
    free(packed);
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
    for (size_t i = 0; i < 3 * WINDOWS; i++) {
        const double *weight = weights[i % 3];
        md_gram *gram = open_window(&c, i / 3, 1);
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
    md_points points;
    md_gram *gram = NULL;
    assert_int_equal(md_bank_make(&bank, data, &bank_options, NULL), MEDLEY_OK);
    assert_int_equal(md_points_make(&points, &bank, data, true, NULL), MEDLEY_OK);
    assert_int_equal(md_gram_create(&gram, &bank, &points, &options, NULL), MEDLEY_OK);
    assert_int_equal(md_gram_bytes(gram), 3 * sizeof(float) * MANY * MANY);
    const float first = md_gram_entry(gram, 0, 5, 1000);
    const float last = md_gram_entry(gram, 2, 5, 1000);
    assert_int_equal(md_gram_mix(gram, weight, NULL), MEDLEY_OK);
    assert_int_equal(md_gram_bytes(gram), sizeof(float) * MANY * MANY);
    assert_true(fabsf(md_gram_entry(gram, 0, 5, 1000) - (0.5f * first + 0.25f * last)) < 1e-6f);
    md_gram_free(gram);
    md_points_clear(&points);
    md_bank_clear(&bank);
    medley_dataset_free(data);
}

static void threads_do_not_change_a_bit_of_passes(void **state)
{
    (void)state;
    const size_t triangle = (size_t)ROWS * (ROWS + 1) / 2;
    gram_case c;
    open_mixed(&c);
    static const double weight[] = {0.5, 0.25, 2, 0.125, 1, 0.75, 0.375, 1};
    float *coefficient = draw_floats(ROWS * LABELS, 1);
    for (size_t w = 0; w < 2; w++) {
        float *first[2] = {NULL, NULL};
        for (size_t threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
            float *out = md_calloc(ROWS * LABELS, sizeof *out);
            float *packed = md_calloc(triangle, sizeof *packed);
            assert_true(out != NULL && packed != NULL);
            md_gram *gram = open_window(&c, w, threads);
            assert_int_equal(md_gram_multiply(gram, 1, coefficient, LABELS, out, NULL), MEDLEY_OK);
            assert_int_equal(md_gram_mix(gram, weight, NULL), MEDLEY_OK);
            assert_int_equal(md_gram_pack(gram, packed, NULL), MEDLEY_OK);
            md_gram_free(gram);
            if (threads == 1) {
                first[0] = out;
                first[1] = packed;
                continue;
            }
            assert_memory_equal(out, first[0], ROWS * LABELS * sizeof *out);
            assert_memory_equal(packed, first[1], triangle * sizeof *packed);
            free(out);
            free(packed);
        }
        free(first[0]);
        free(first[1]);
    }
    free(coefficient);
    close_case(&c);
}

/* A bank that has learnt means once learns them again, not means of centred values. */
static void a_bank_may_be_used_twice(void **state)
{
    (void)state;
    gram_case c;
    open_mixed(&c);
    for (size_t w = 0; w < 2 * WINDOWS; w++) {
        md_gram *gram = open_window(&c, w % WINDOWS, 1);
        for (size_t m = 0; m < c.bank.count; m++)
            check_near(&c, m, 3, 200, (double)md_gram_entry(gram, m, 3, 200), case_scale(&c, m));
        md_gram_free(gram);
    }
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_add_to_what_is_there),
        cmocka_unit_test(packed_rows_are_the_upper_triangles),
        cmocka_unit_test(mixtures_are_weighted_sums),
        cmocka_unit_test(mixtures_release_memory),
        cmocka_unit_test(threads_do_not_change_a_bit_of_passes),
        cmocka_unit_test(a_bank_may_be_used_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
