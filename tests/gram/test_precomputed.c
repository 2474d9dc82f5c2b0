/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that came ready made: checked, normalised like others, left in place like others, and
 * looked up by training row when a model kept only some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gram_case.h"

enum { ROWS = 40, FRESH = 15, RANK = 4 };

/* Kernel values of training rows and of new ones: products of random factors. */
struct source {
    double training[ROWS][RANK], fresh[FRESH][RANK];
    medley_dataset *train, *new_rows;
};

static double product(const double *x, const double *z)
{
    double sum = 0;
    for (size_t c = 0; c < RANK; c++)
        sum += x[c] * z[c];
    return sum;
}

static md_precomputed *add_gram(medley_dataset **dataset, const char *name, size_t rows,
                                size_t columns)
{
    if (*dataset == NULL)
        assert_int_equal(medley_dataset_create(dataset, NULL), MEDLEY_OK);
    (*dataset)->rows = rows;
    md_precomputed *gram = NULL;
    assert_int_equal(md_dataset_new_gram(&gram, *dataset, name, NULL), MEDLEY_OK);
    assert_int_equal(md_matrix_init_dense(&gram->values, rows, columns, NULL), MEDLEY_OK);
    return gram;
}

/* Two kernels: the products, and twice their squares. */
static void open_source(struct source *s)
{
    md_random random;
    md_random_seed(&random, 8);
    *s = (struct source){.train = NULL};
    for (size_t i = 0; i < (size_t)ROWS * RANK; i++)
        s->training[i / RANK][i % RANK] = md_random_normal(&random);
    for (size_t i = 0; i < (size_t)FRESH * RANK; i++)
        s->fresh[i / RANK][i % RANK] = md_random_normal(&random);
    for (size_t g = 0; g < 2; g++) {
        md_precomputed *train = add_gram(&s->train, g ? "squares" : "products", ROWS, ROWS);
        md_precomputed *fresh = add_gram(&s->new_rows, g ? "squares" : "products", FRESH, ROWS);
        for (size_t j = 0; j < ROWS; j++) {
            for (size_t i = 0; i < ROWS; i++) {
                const double value = product(s->training[i], s->training[j]);
                train->values.dense[i * ROWS + j] = (float)(g ? 2 * value * value : value);
            }
            for (size_t i = 0; i < FRESH; i++) {
                const double value = product(s->fresh[i], s->training[j]);
                fresh->values.dense[i * ROWS + j] = (float)(g ? 2 * value * value : value);
            }
        }
    }
}

static void close_source(struct source *s)
{
    medley_dataset_free(s->train);
    medley_dataset_free(s->new_rows);
}

/* K(x,x) of the new rows, as a file of its own would bring it. */
static void add_diagonals(struct source *s)
{
    for (size_t g = 0; g < 2; g++) {
        double *diagonal = md_calloc(FRESH, sizeof *diagonal);
        assert_non_null(diagonal);
        for (size_t i = 0; i < FRESH; i++) {
            const double value = product(s->fresh[i], s->fresh[i]);
            diagonal[i] = g ? 2 * value * value : value;
        }
        s->new_rows->grams[g].diagonal = diagonal;
    }
}

/* The normalised value of kernel g between two factors. */
static double expected_value(const struct source *s, size_t g, md_norm norm, const double *x,
                             const double *z)
{
    double trace = 0;
    double mean_x = 0;
    double mean_z = 0;
    double grand = 0;
#define VALUE(a, b) (g ? 2 * product(a, b) * product(a, b) : product(a, b))
    if (norm == MD_NORM_NONE)
        return VALUE(x, z);
    if (norm == MD_NORM_DIAG)
        return VALUE(x, z) / sqrt(VALUE(x, x) * VALUE(z, z));
    for (size_t i = 0; i < ROWS; i++) {
        trace += VALUE(s->training[i], s->training[i]);
        mean_x += VALUE(x, s->training[i]) / ROWS;
        mean_z += VALUE(z, s->training[i]) / ROWS;
        for (size_t j = 0; j < ROWS; j++)
            grand += VALUE(s->training[i], s->training[j]) / ((double)ROWS * ROWS);
    }
    return norm == MD_NORM_TRACE ? VALUE(x, z) / trace : VALUE(x, z) - mean_x - mean_z + grand;
#undef VALUE
}

static void open_bank(md_bank *bank, md_prepared *prepared, const medley_dataset *data,
                      md_norm norm)
{
    const md_bank_options options = {.views = "all", .normalize = norm};
    medley_error error = {0};
    if (md_bank_make(bank, data, &options, &error) < 0 ||
        md_prepared_make(prepared, bank, data, true, &error) < 0)
        fail_msg("%s", error.message);
}

static void check_value(double value, double expected)
{
    assert_true(fabs(value - expected) <= 2e-5 * (1 + fabs(expected)));
}

/* Row `at` of both kernels, and its entries in a window of rows out of order. */
static void check_row(const struct source *s, gram_rows *rows, size_t at, md_norm norm)
{
    medley_error error = {0};
    const size_t next[4] = {at, (at + 20) % ROWS, (at + 1) % ROWS, (at + 7) % ROWS};
    fetch_rows(rows, at);
    for (size_t g = 0; g < 2; g++) {
        for (size_t j = 0; j < ROWS; j++)
            check_value((double)row_of(rows, g)[j],
                        expected_value(s, g, norm, s->training[at], s->training[j]));
        check_value(md_gram_diagonal(rows->gram, g, at),
                    expected_value(s, g, norm, s->training[at], s->training[at]));
        if (norm == MD_NORM_DIAG)
            assert_true(row_of(rows, g)[at] == 1);
    }
    if (rows->deferred != NULL)
        check_ok(md_deferred_open(rows->deferred, next, 4, &error), &error);
    for (size_t g = 0; g < 2; g++)
        for (size_t j = 0; j < 4; j++) {
            const double value = rows->deferred
                                     ? (double)md_deferred_entry(rows->deferred, g, at, next[j])
                                     : (double)md_gram_entry(rows->gram, g, at, next[j]);
            check_value(value, expected_value(s, g, norm, s->training[at], s->training[next[j]]));
            if (norm == MD_NORM_DIAG && j == 0)
                assert_true(value == 1);
        }
}

static void matrices_are_normalised_like_others(void **state)
{
    (void)state;
    struct source s;
    open_source(&s);
    for (md_norm norm = MD_NORM_NONE; norm <= MD_NORM_CENTER; norm++)
        for (size_t streamed = 0; streamed < 2; streamed++) {
            md_bank bank;
            md_prepared prepared;
            md_gram *gram = NULL;
            const md_gram_options options = {
                .threads = 2, .memory = streamed ? (size_t)2 * 11 * ROWS * sizeof(float) : 0};
            open_bank(&bank, &prepared, s.train, norm);
            assert_int_equal(md_gram_create(&gram, &bank, &prepared, &options, NULL), MEDLEY_OK);
            assert_int_equal(md_gram_is_streamed(gram), streamed);
            gram_rows rows = open_rows(gram);
            for (size_t i = 0; i < ROWS; i++)
                check_row(&s, &rows, i * 17 % ROWS, norm);
            close_rows(&rows);
            md_gram_free(gram);
            md_prepared_clear(&prepared);
            md_bank_clear(&bank);
        }
    close_source(&s);
}

static void new_rows_are_normalised_like_others(void **state)
{
    (void)state;
    struct source s;
    open_source(&s);
    add_diagonals(&s);
    for (md_norm norm = MD_NORM_NONE; norm <= MD_NORM_CENTER; norm++) {
        md_bank bank;
        md_prepared prepared;
        md_prepared left;
        md_gram *gram = NULL;
        float values[FRESH * ROWS];
        const md_gram_options options = {.threads = 1};
        open_bank(&bank, &prepared, s.train, norm);
        assert_int_equal(md_gram_create(&gram, &bank, &prepared, &options, NULL), MEDLEY_OK);
        assert_int_equal(md_prepared_make(&left, &bank, s.new_rows, false, NULL), MEDLEY_OK);
        const md_between between = {.bank = &bank, .left = &left, .right = &prepared, .threads = 2};
        for (size_t g = 0; g < 2; g++) {
            assert_int_equal(md_between_values(&between, g, values, NULL), MEDLEY_OK);
            for (size_t i = 0; i < (size_t)FRESH * ROWS; i++)
                check_value((double)values[i],
                            expected_value(&s, g, norm, s.fresh[i / ROWS], s.training[i % ROWS]));
        }
        md_gram_free(gram);
        md_prepared_clear(&left);
        md_prepared_clear(&prepared);
        md_bank_clear(&bank);
    }
    close_source(&s);
}

/* A model of one of two kernels and some of the rows still takes the matrices of all. */
static void support_rows_are_found_among_the_columns(void **state)
{
    (void)state;
    static const size_t keep[] = {1};
    static const size_t rows[] = {30, 2, 17, 5};
    struct source s;
    md_bank bank;
    md_bank subset;
    md_prepared prepared;
    md_prepared support;
    md_prepared left;
    open_source(&s);
    add_diagonals(&s);
    open_bank(&bank, &prepared, s.train, MD_NORM_DIAG);
    assert_int_equal(md_bank_subset(&subset, &bank, keep, 1, NULL), MEDLEY_OK);
    const md_prepared_choice choice = {
        .bank = &bank, .subset = &subset, .keep = keep, .rows = rows, .row_count = 4};
    assert_int_equal(md_prepared_subset(&support, &prepared, &choice, NULL), MEDLEY_OK);
    assert_int_equal(md_prepared_make(&left, &subset, s.new_rows, false, NULL), MEDLEY_OK);
    const md_between between = {
        .bank = &subset, .left = &left, .right = &support, .training_row = rows, .threads = 1};
    float values[FRESH * 4];
    float scores[FRESH] = {0};
    static const float coefficient[] = {1, -2, 0.5f, 3};
    const md_expansion term = {.coefficient = coefficient};
    assert_int_equal(md_between_values(&between, 0, values, NULL), MEDLEY_OK);
    assert_int_equal(md_between_scores(&between, &term, 1, 1, scores, NULL), MEDLEY_OK);
    for (size_t i = 0; i < FRESH; i++) {
        double sum = 0;
        for (size_t j = 0; j < 4; j++) {
            const double expected =
                expected_value(&s, 1, MD_NORM_DIAG, s.fresh[i], s.training[rows[j]]);
            check_value((double)values[i * 4 + j], expected);
            sum += expected * (double)coefficient[j];
        }
        check_value((double)scores[i], sum);
    }
    md_prepared_clear(&left);
    md_prepared_clear(&support);
    md_prepared_clear(&prepared);
    md_bank_clear(&subset);
    md_bank_clear(&bank);
    close_source(&s);
}

/* ---- what is refused ---- */

static void check_refused(const medley_dataset *data, md_norm norm, medley_status code,
                          const char *expected)
{
    const md_bank_options options = {.views = "all", .normalize = norm};
    md_bank bank;
    md_prepared prepared = {0};
    medley_error error = {0};
    assert_int_equal(md_bank_make(&bank, data, &options, NULL), MEDLEY_OK);
    assert_int_equal(md_prepared_make(&prepared, &bank, data, true, &error), code);
    if (strstr(error.message, expected) == NULL)
        fail_msg("'%s' is not in: %s", expected, error.message);
    md_prepared_clear(&prepared);
    md_bank_clear(&bank);
}

static void training_matrices_must_be_square_and_symmetric(void **state)
{
    (void)state;
    struct source s;
    medley_dataset *wide = NULL;
    add_gram(&wide, "wide", 3, 4);
    check_refused(wide, MD_NORM_NONE, MEDLEY_BAD_INPUT, "kernel 'wide' is not square: 3 x 4");
    medley_dataset_free(wide);
    open_source(&s);
    float *value = &s.train->grams[1].values.dense[3 * ROWS + 7];
    const float before = *value;
    *value = 1000;
    s.train->grams[1].values.dense[7 * ROWS + 3] = 2000;
    check_refused(s.train, MD_NORM_NONE, MEDLEY_BAD_INPUT,
                  "kernel 'squares' is not symmetric: row 8, column 4 is 2000 but row 4, column 8 "
                  "is 1000");
    *value = s.train->grams[1].values.dense[7 * ROWS + 3] = NAN;
    check_refused(s.train, MD_NORM_NONE, MEDLEY_BAD_INPUT,
                  "kernel 'squares': row 4, column 8 is nan");
    *value = s.train->grams[1].values.dense[7 * ROWS + 3] = INFINITY;
    check_refused(s.train, MD_NORM_NONE, MEDLEY_BAD_INPUT, "column 8 is inf");
    *value = s.train->grams[1].values.dense[7 * ROWS + 3] = before;
    value = &s.train->grams[0].values.dense[5 * ROWS + 5];
    *value = -INFINITY;
    check_refused(s.train, MD_NORM_NONE, MEDLEY_BAD_INPUT, "row 6, column 6 is -inf");
    *value = -1;
    check_refused(s.train, MD_NORM_DIAG, MEDLEY_BAD_INPUT, "row 6, column 6 is -1");
    check_refused(s.train, MD_NORM_TRACE, MEDLEY_BAD_INPUT, "cannot be negative");
    close_source(&s);
}

/* Whatever the size of the matrix: every element is compared with its mirror. */
static void one_asymmetric_pair_is_found(void **state)
{
    (void)state;
    enum { SIZE = 150 };
    medley_dataset *data = NULL;
    md_random random;
    md_random_seed(&random, 3);
    float *values = add_gram(&data, "k", SIZE, SIZE)->values.dense;
    for (size_t i = 0; i < (size_t)SIZE * SIZE; i++)
        values[i] = i % (SIZE + 1) == 0 ? 1 : 0.25f;
    for (size_t trial = 0; trial < 300; trial++) {
        const size_t i = md_random_below(&random, SIZE);
        const size_t j = md_random_below(&random, SIZE);
        char expected[64];
        if (i == j)
            continue;
        snprintf(expected, sizeof expected, "row %zu, column %zu is 0.5", i + 1, j + 1);
        values[i * SIZE + j] = 0.5f;
        check_refused(data, MD_NORM_NONE, MEDLEY_BAD_INPUT, expected);
        values[i * SIZE + j] = 0.25f;
    }
    medley_dataset_free(data);
}

/* Rounding is measured by what the rows are large enough to cause: a huge row does not hide that
 * small ones differ, and small ones need not agree to the digits of a huge one. */
static void rounding_is_no_asymmetry(void **state)
{
    (void)state;
    medley_dataset *data = NULL;
    md_random random;
    md_random_seed(&random, 5);
    double x[ROWS][RANK];
    float *values = add_gram(&data, "k", ROWS, ROWS)->values.dense;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < RANK; c++)
            x[i][c] = md_random_normal(&random) * (i == 0 ? 1e4 : 1);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            const double error = i == j ? 0 : 1e-5 * (md_random_uniform(&random) - 0.5);
            const double scale = sqrt(product(x[i], x[i]) * product(x[j], x[j]));
            values[i * ROWS + j] = (float)(product(x[i], x[j]) + error * scale);
        }
    md_bank bank;
    md_prepared prepared;
    open_bank(&bank, &prepared, data, MD_NORM_NONE);
    md_prepared_clear(&prepared);
    md_bank_clear(&bank);
    values[3 * ROWS + 2] += 1e4f; /* still less than 1e-4 of the largest value */
    check_refused(data, MD_NORM_NONE, MEDLEY_BAD_INPUT, "is not symmetric: row 4, column 3");
    medley_dataset_free(data);
}

/* ---- values with all their digits ---- */

static void points_show_the_unrounded_values(void **state)
{
    (void)state;
    static const size_t rows[] = {7, 2};
    struct source s;
    md_bank bank;
    md_prepared prepared;
    md_prepared gathered;
    open_source(&s);
    md_precomputed *gram = &s.train->grams[1];
    gram->wide = md_calloc((size_t)ROWS * ROWS, sizeof *gram->wide);
    assert_non_null(gram->wide);
    double trace = 0;
    for (size_t i = 0; i < (size_t)ROWS * ROWS; i++) {
        const double value = product(s.training[i / ROWS], s.training[i % ROWS]);
        gram->wide[i] = 2 * value * value;
        trace += i % (ROWS + 1) == 0 ? gram->wide[i] : 0;
    }
    open_bank(&bank, &prepared, s.train, MD_NORM_TRACE);
    assert_null(prepared.precomputed_float64[0]);
    assert_ptr_equal(prepared.precomputed_float64[1], gram->wide);
    assert_true(fabs(bank.kernels[1].factor * trace - 1) < 1e-14);
    assert_int_equal(md_prepared_gather(&gathered, &prepared, rows, 2, NULL), MEDLEY_OK);
    assert_ptr_equal(gathered.precomputed_float64[1], gram->wide);
    md_prepared_clear(&gathered);
    md_prepared_clear(&prepared);
    md_bank_clear(&bank);
    close_source(&s);
}

static medley_status make_new(md_bank *bank, const medley_dataset *data, medley_error *error)
{
    md_prepared left = {0};
    *error = (medley_error){0};
    const medley_status status = md_prepared_make(&left, bank, data, false, error);
    md_prepared_clear(&left);
    return status;
}

static void new_matrices_must_fit_the_training_rows(void **state)
{
    (void)state;
    struct source s;
    md_bank bank;
    md_prepared prepared;
    medley_error error = {0};
    medley_dataset *narrow = NULL;
    medley_dataset *single = NULL;
    open_source(&s);
    add_gram(&narrow, "products", FRESH, ROWS - 1);
    add_gram(&narrow, "squares", FRESH, ROWS - 1);
    add_gram(&single, "products", FRESH, ROWS);
    open_bank(&bank, &prepared, s.train, MD_NORM_DIAG);
    assert_int_equal(make_new(&bank, narrow, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "has 39 columns, expected one for each of the 40"));
    assert_int_equal(make_new(&bank, single, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "'squares' (number 2) but 1 are given"));
    assert_int_equal(make_new(&bank, s.new_rows, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "`gram-diagonal=FILE`"));
    add_diagonals(&s);
    assert_int_equal(make_new(&bank, s.new_rows, &error), MEDLEY_OK);
    md_prepared_clear(&prepared);
    md_bank_clear(&bank);
    medley_dataset_free(narrow);
    medley_dataset_free(single);
    close_source(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_are_normalised_like_others),
        cmocka_unit_test(new_rows_are_normalised_like_others),
        cmocka_unit_test(support_rows_are_found_among_the_columns),
        cmocka_unit_test(training_matrices_must_be_square_and_symmetric),
        cmocka_unit_test(one_asymmetric_pair_is_found),
        cmocka_unit_test(rounding_is_no_asymmetry),
        cmocka_unit_test(points_show_the_unrounded_values),
        cmocka_unit_test(new_matrices_must_fit_the_training_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
