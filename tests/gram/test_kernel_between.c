/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel values and scores of new prepared rows against the formulas: unit diagonals by K(x,x) of
 * the new point, traces and means by the training rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gram_case.h"

enum { TRAINING = 270, FRESH = 90, LABELS = 4 };

/* New prepared rows for the bank of a case. */
struct fresh {
    medley_dataset *data;
    md_prepared prepared;
    float *values;                  /* [FRESH][columns of training] */
    double *expected[CASE_KERNELS]; /* [FRESH][TRAINING] */
};

static data_kind kind_of(size_t rows, bool sparse)
{
    return (data_kind){.rows = rows,
                       .columns = sparse ? 9 : 5,
                       .center = 1,
                       .spread = 1,
                       .zeros = sparse ? 0.7 : 0.05,
                       .sparse = sparse};
}

static void open_fresh(struct fresh *f, gram_case *c, const data_kind *kind)
{
    medley_error error = {0};
    *f = (struct fresh){.data = make_data(kind, 77)};
    f->values = dense_values(&f->data->tables[0].features);
    check_ok(md_prepared_make(&f->prepared, &c->bank, f->data, false, &error), &error);
    for (size_t m = 0; m < c->bank.count; m++)
        f->expected[m] = naive_matrix(&c->kernels[m], c->bank.kernels[m].norm,
                                      (naive_rows){f->values, f->prepared.rows, c->d},
                                      (naive_rows){c->values, c->n, c->d});
}

static void close_fresh(struct fresh *f)
{
    for (size_t m = 0; m < CASE_KERNELS; m++)
        free(f->expected[m]);
    free(f->values);
    md_prepared_clear(&f->prepared);
    medley_dataset_free(f->data);
}

/* Training rows, with the means that centred kernels need, and new ones. */
static void open_both(gram_case *c, struct fresh *f, bool sparse, const char *const *norms)
{
    const case_choice choice = {
        .kind = kind_of(TRAINING, sparse), .norms = norms, .seed = 11 + sparse};
    const data_kind kind = kind_of(FRESH, sparse);
    open_case(c, &choice);
    md_gram_free(open_gram(c, 1, 0));
    open_fresh(f, c, &kind);
}

static void values_of_new_points_equal_the_formulas(void **state)
{
    (void)state;
    for (size_t sparse = 0; sparse < 2; sparse++) {
        gram_case c;
        struct fresh f;
        open_both(&c, &f, sparse, NULL);
        float *values = md_calloc((size_t)FRESH * TRAINING, sizeof *values);
        float *again = md_calloc((size_t)FRESH * TRAINING, sizeof *again);
        assert_true(values != NULL && again != NULL);
        md_between between = {.bank = &c.bank, .left = &f.prepared, .right = &c.prepared};
        for (size_t m = 0; m < c.bank.count; m++) {
            const double scale =
                fmax(case_scale(&c, m), largest_of(f.expected[m], (size_t)FRESH * TRAINING));
            between.threads = 1;
            assert_int_equal(md_between_values(&between, m, values, NULL), MEDLEY_OK);
            between.threads = 2;
            assert_int_equal(md_between_values(&between, m, again, NULL), MEDLEY_OK);
            assert_memory_equal(again, values, (size_t)FRESH * TRAINING * sizeof *values);
            for (size_t i = 0; i < (size_t)FRESH * TRAINING; i++) {
                const double tolerance =
                    GRAM_TOLERANCE + kink(&c.kernels[m], f.values + i / TRAINING * c.d,
                                          c.values + i % TRAINING * c.d, c.d);
                if (!(fabs((double)values[i] - f.expected[m][i]) <= tolerance * scale))
                    fail_msg("%s at %zu, %zu: %.9g, expected %.9g", c.bank.kernels[m].name,
                             i / TRAINING, i % TRAINING, (double)values[i], f.expected[m][i]);
            }
        }
        free(values);
        free(again);
        close_fresh(&f);
        close_case(&c);
    }
}

static float *draw_coefficients(size_t count, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    float *values = md_calloc(count, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)md_random_normal(&random);
    return values;
}

/* One score by the formulas, and what rounding is relative to. */
static double naive_score(const double *const *expected, const md_expansion *terms, size_t count,
                          size_t row, size_t label)
{
    double sum = 0;
    for (size_t t = 0; t < count; t++)
        for (size_t j = 0; j < TRAINING; j++)
            sum += expected[terms[t].kernel][row * TRAINING + j] *
                   (double)terms[t].coefficient[j * LABELS + label];
    return sum;
}

static void scores_are_sums_over_terms(void **state)
{
    (void)state;
    for (size_t sparse = 0; sparse < 2; sparse++) {
        gram_case c;
        struct fresh f;
        open_both(&c, &f, sparse, NULL);
        float *coefficient = draw_coefficients((size_t)2 * TRAINING * LABELS, 5);
        /* every second kernel, backwards, with two bodies of coefficients between them */
        md_expansion terms[CASE_KERNELS];
        size_t count = 0;
        double size = 1;
        for (size_t m = c.bank.count; m-- > 0;) {
            if (m % 2 == 0)
                continue;
            terms[count] = (md_expansion){
                .kernel = m, .coefficient = coefficient + count % 2 * TRAINING * LABELS};
            size += case_scale(&c, m) * TRAINING;
            count++;
        }
        float scores[2][FRESH * LABELS];
        md_between between = {.bank = &c.bank, .left = &f.prepared, .right = &c.prepared};
        for (size_t threads = 1; threads <= 2; threads++) {
            between.threads = threads;
            for (size_t i = 0; i < FRESH * LABELS; i++)
                scores[threads - 1][i] = (float)i;
            assert_int_equal(
                md_between_scores(&between, terms, count, LABELS, scores[threads - 1], NULL),
                MEDLEY_OK);
        }
        assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
        for (size_t i = 0; i < FRESH * LABELS; i++) {
            const double expected =
                (double)(float)i + naive_score((const double *const *)f.expected, terms, count,
                                               i / LABELS, i % LABELS);
            assert_true(fabs((double)scores[0][i] - expected) <= 1e-6 * size);
        }
        free(coefficient);
        close_fresh(&f);
        close_case(&c);
    }
}

/* A model keeps some kernels and some rows: what it computes stays the same. */
static void support_points_stand_for_the_training_rows(void **state)
{
    (void)state;
    static const char *const norms[] = {"none", "diag", "trace", NULL};
    for (size_t sparse = 0; sparse < 2; sparse++) {
        gram_case c;
        struct fresh f;
        open_both(&c, &f, sparse, norms);
        const size_t keep[] = {c.bank.count - 1, 4, 0, 7, 11};
        size_t rows[100];
        for (size_t r = 0; r < 100; r++)
            rows[r] = (r * 37 + 5) % TRAINING;
        md_bank subset;
        md_prepared support;
        md_prepared left;
        assert_int_equal(md_bank_subset(&subset, &c.bank, keep, 5, NULL), MEDLEY_OK);
        const md_prepared_choice choice = {
            .bank = &c.bank, .subset = &subset, .keep = keep, .rows = rows, .row_count = 100};
        assert_int_equal(md_prepared_subset(&support, &c.prepared, &choice, NULL), MEDLEY_OK);
        assert_int_equal(md_prepared_make(&left, &subset, f.data, false, NULL), MEDLEY_OK);
        const md_between between = {
            .bank = &subset, .left = &left, .right = &support, .training_row = rows, .threads = 2};
        float values[FRESH * 100];
        for (size_t k = 0; k < 5; k++) {
            const double scale = case_scale(&c, keep[k]);
            assert_int_equal(md_between_values(&between, k, values, NULL), MEDLEY_OK);
            for (size_t i = 0; i < (size_t)FRESH * 100; i++) {
                const size_t column = rows[i % 100];
                const double tolerance =
                    GRAM_TOLERANCE + kink(&c.kernels[keep[k]], f.values + i / 100 * c.d,
                                          c.values + column * c.d, c.d);
                const double expected = f.expected[keep[k]][i / 100 * TRAINING + column];
                assert_true(fabs((double)values[i] - expected) <= tolerance * scale);
            }
        }
        md_prepared_clear(&left);
        md_prepared_clear(&support);
        md_bank_clear(&subset);
        close_fresh(&f);
        close_case(&c);
    }
}

/* Columns that no training row had: products do not see them, distances do. */
static void unseen_columns_of_sparse_rows_count_for_distances(void **state)
{
    (void)state;
    enum { WIDE = 60 };
    static const char *const none[] = {"none", NULL};
    const case_choice choice = {.kind = kind_of(40, true), .norms = none, .seed = 3};
    data_kind wide = kind_of(30, true);
    wide.columns = WIDE;
    gram_case c;
    struct fresh f = {.data = make_data(&wide, 5)};
    open_case(&c, &choice);
    assert_int_equal(md_prepared_make(&f.prepared, &c.bank, f.data, false, NULL), MEDLEY_OK);
    f.values = dense_values(&f.data->tables[0].features);
    float *longer =
        md_calloc((size_t)40 * WIDE, sizeof *longer); /* training rows with zeros added */
    assert_non_null(longer);
    for (size_t i = 0; i < 40 * 9; i++)
        longer[i / 9 * WIDE + i % 9] = c.values[i];
    const md_between between = {
        .bank = &c.bank, .left = &f.prepared, .right = &c.prepared, .threads = 1};
    for (size_t m = 0; m < c.bank.count; m++) {
        float values[30 * 40];
        f.expected[m] = naive_matrix(&c.kernels[m], MD_NORM_NONE, (naive_rows){f.values, 30, WIDE},
                                     (naive_rows){longer, 40, WIDE});
        const double scale = largest_of(f.expected[m], 30 * 40);
        assert_int_equal(md_between_values(&between, m, values, NULL), MEDLEY_OK);
        for (size_t i = 0; i < 30 * 40; i++)
            assert_true(fabs((double)values[i] - f.expected[m][i]) <= 5 * GRAM_TOLERANCE * scale);
    }
    free(longer);
    close_fresh(&f);
    close_case(&c);
}

/* `medley kernel` writes what training uses: exactly symmetric, exactly 1 on unit diagonals. */
static void points_with_themselves_are_symmetric(void **state)
{
    (void)state;
    const case_choice choice = {.kind = kind_of(TRAINING, false), .seed = 4};
    gram_case c;
    open_case(&c, &choice);
    md_gram *gram = open_gram(&c, 1, 0);
    float *values = md_calloc((size_t)TRAINING * TRAINING, sizeof *values);
    assert_non_null(values);
    const md_between between = {
        .bank = &c.bank, .left = &c.prepared, .right = &c.prepared, .threads = 2};
    for (size_t m = 0; m < c.bank.count; m++) {
        const double scale = case_scale(&c, m);
        assert_int_equal(md_between_values(&between, m, values, NULL), MEDLEY_OK);
        for (size_t i = 0; i < TRAINING; i++)
            for (size_t j = 0; j < TRAINING; j++) {
                const float value = values[i * TRAINING + j];
                const double difference = (double)value - (double)md_gram_entry(gram, m, i, j);
                if (value != values[j * TRAINING + i] || !(fabs(difference) <= 1e-6 * scale))
                    fail_msg("%s: %zu, %zu", c.bank.kernels[m].name, i, j);
            }
    }
    free(values);
    md_gram_free(gram);
    close_case(&c);
}

/* ---- data that kernels cannot take ---- */

static medley_status make_prepared(const medley_dataset *train, const medley_dataset *data,
                                   const char *kernel, const char *scale, medley_error *error)
{
    char spec[40];
    char kind[20] = "none";
    snprintf(spec, sizeof spec, "%s", kernel);
    snprintf(kind, sizeof kind, "%s", scale);
    char *const specs[] = {spec, NULL};
    char *const scales[] = {kind, NULL};
    const md_bank_options options = {.kernels = specs, .views = "all", .scale = scales};
    md_bank bank;
    md_prepared prepared = {0};
    check_ok(md_bank_make(&bank, train, &options, error), error);
    const medley_status status = md_prepared_make(&prepared, &bank, data, train == data, error);
    for (size_t i = 0; status == MEDLEY_OK && i < prepared.rows * prepared.views[0].columns; i++)
        assert_true(prepared.views[0].dense[i] >= 0 || strncmp(kernel, "chi2", 4) != 0);
    md_prepared_clear(&prepared);
    md_bank_clear(&bank);
    return status;
}

static void histogram_kernels_refuse_negative_values(void **state)
{
    (void)state;
    const data_kind around_zero = {.rows = 10, .columns = 3, .spread = 2};
    const data_kind positive = {.rows = 10, .columns = 3, .center = 1, .spread = 1};
    medley_dataset *bad = make_data(&around_zero, 1);
    medley_dataset *good = make_data(&positive, 2);
    static const char *const kernels[] = {"chi2(gamma=1)", "intersection"};
    for (size_t k = 0; k < 2; k++) {
        medley_error error = {0};
        assert_int_equal(make_prepared(good, good, kernels[k], "none", &error), MEDLEY_OK);
        assert_int_equal(make_prepared(bad, bad, kernels[k], "minmax", &error), MEDLEY_OK);
        assert_int_equal(make_prepared(bad, bad, kernels[k], "none", &error), MEDLEY_BAD_INPUT);
        assert_non_null(strstr(error.message, "values that are not negative"));
        error = (medley_error){0};
        assert_int_equal(make_prepared(good, bad, kernels[k], "none", &error), MEDLEY_BAD_INPUT);
        /* scaled: what lies below the training range counts as 0 */
        assert_int_equal(make_prepared(good, bad, kernels[k], "minmax", &error), MEDLEY_OK);
    }
    medley_dataset_free(bad);
    medley_dataset_free(good);
}

static void values_too_large_are_refused(void **state)
{
    (void)state;
    const data_kind huge = {.rows = 4, .columns = 3, .center = 1e25, .spread = 1e24};
    const data_kind large = {.rows = 4, .columns = 3, .center = 1e5, .spread = 1e4};
    medley_dataset *data = make_data(&huge, 1);
    medley_error error = {0};
    assert_int_equal(make_prepared(data, data, "linear", "none", &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "too large for kernels"));
    error = (medley_error){0};
    assert_int_equal(make_prepared(data, data, "rbf", "standard", &error), MEDLEY_OK);
    medley_dataset_free(data);
    data = make_data(&large, 1);
    assert_int_equal(make_prepared(data, data, "poly(degree=9)", "none", &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "K(x,x) is not finite in row 1"));
    assert_int_equal(make_prepared(data, data, "poly(degree=2)", "none", &error), MEDLEY_OK);
    medley_dataset_free(data);
}

/* ---- bits ---- */

/* Scores and values of some of the new prepared rows, in any order, are those of all of them. */
static void check_company(gram_case *c, const struct fresh *f, const size_t *rows, size_t count,
                          const float *coefficient, size_t labels)
{
    md_prepared some = {0};
    const size_t size = FRESH * (c->n > labels ? c->n : labels);
    float *whole = md_calloc(size, sizeof *whole);
    float *part = md_calloc(size, sizeof *part);
    assert_true(whole != NULL && part != NULL);
    check_ok(md_prepared_gather(&some, &f->prepared, rows, count, NULL), NULL);
    const md_between all = {
        .bank = &c->bank, .left = &f->prepared, .right = &c->prepared, .threads = 2};
    const md_between few = {.bank = &c->bank, .left = &some, .right = &c->prepared, .threads = 1};
    for (size_t m = 0; m < c->bank.count; m++) {
        const md_expansion term = {.kernel = m, .coefficient = coefficient};
        for (size_t scores = 0; scores < 2; scores++) {
            const size_t columns = scores ? labels : c->n;
            memset(whole, 0, size * sizeof *whole);
            memset(part, 0, size * sizeof *part);
            check_ok(scores ? md_between_scores(&all, &term, 1, labels, whole, NULL)
                            : md_between_values(&all, m, whole, NULL),
                     NULL);
            check_ok(scores ? md_between_scores(&few, &term, 1, labels, part, NULL)
                            : md_between_values(&few, m, part, NULL),
                     NULL);
            for (size_t i = 0; i < count; i++)
                if (memcmp(part + i * columns, whole + rows[i] * columns, columns * sizeof *part) !=
                    0)
                    fail_msg("%s: %s of row %zu change in the company of %zu others",
                             c->bank.kernels[m].name, scores ? "scores" : "values", rows[i],
                             count - 1);
        }
    }
    md_prepared_clear(&some);
    free(whole);
    free(part);
}

/* Few and many columns, labels and rows: there is code for each. */
static void new_points_do_not_depend_on_their_company(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 7, 16, 17, 50, FRESH};
    static const size_t labels[] = {1, 3, 10};
    md_random random;
    md_random_seed(&random, 3);
    float *coefficient = draw_coefficients((size_t)TRAINING * 10, 5);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        data_kind kind = kind_of(i < 5 ? TRAINING : 50, i % 2);
        kind.columns = i < 5 ? 40 : 300;
        gram_case c;
        struct fresh f;
        size_t rows[FRESH];
        open_case(&c, &(case_choice){.kind = kind, .seed = 40 + i});
        md_gram_free(open_gram(&c, 1, 0));
        kind.rows = FRESH;
        open_fresh(&f, &c, &kind);
        for (size_t r = 0; r < FRESH; r++)
            rows[r] = r;
        md_random_shuffle(&random, rows, FRESH);
        check_company(&c, &f, rows, counts[i], coefficient, labels[i % 3]);
        close_fresh(&f);
        close_case(&c);
    }
    free(coefficient);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_new_points_equal_the_formulas),
        cmocka_unit_test(scores_are_sums_over_terms),
        cmocka_unit_test(support_points_stand_for_the_training_rows),
        cmocka_unit_test(unseen_columns_of_sparse_rows_count_for_distances),
        cmocka_unit_test(points_with_themselves_are_symmetric),
        cmocka_unit_test(histogram_kernels_refuse_negative_values),
        cmocka_unit_test(values_too_large_are_refused),
        cmocka_unit_test(new_points_do_not_depend_on_their_company),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
