/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of tuning is that of fits on the same folds, one by one, to the bit; where a batch method
 * starts from the solution before, up to its gap. */
#include "model/parser_case.h"
#include "select/tuning_case.h"

#include "base/random.h"

static const char *const bank = "kernel=rbf(auto) kernel=laplace kernel=poly(degree=2) "
                                "kernel=linear(norm=diag)@all kernel=bias";

static void check(const medley_dataset *data, const char *settings, const medley_choice *choices,
                  size_t count, const char *measure, double tolerance)
{
    char text[512];
    snprintf(text, sizeof text, "%s %s", bank, settings);
    medley_options *options = make_options(text);
    medley_tuning *tuning = tune_with(data, options, choices, count, 3, measure);
    assert_false(tuning->kernels_shared);
    assert_honest(data, options, tuning, tolerance);
    medley_tuning_free(tuning);
    medley_options_free(options);
}

static void certified_optima_are_the_same(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "method=spicy loss=logistic gap=1e-7", "method=spicy loss=hinge gap=1e-7 normalize=trace",
        "method=spicy loss=logistic gap=1e-7 normalize=center penalty=elastic(t=0.5)",
        "method=spicy loss=hinge gap=1e-7 normalize=diag penalty=block(q=1.5)"};
    static const medley_choice choices[] = {{"C", "0.01,3,0.3"}};
    medley_dataset *data = make_data("ringnorm", 70, 3);
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++)
        check(data, settings[s], choices, 1, "log-loss", 1e-3);
    medley_dataset_free(data);
}

/* Numbers: the labels are sums of the columns. */
static medley_dataset *make_numbers(size_t rows)
{
    enum { COLUMNS = 4 };
    double *values = malloc(rows * COLUMNS * sizeof *values);
    char(*texts)[32] = malloc(rows * sizeof *texts);
    const char **labels = malloc(rows * sizeof *labels);
    medley_dataset *data = NULL;
    medley_error error = {0};
    md_random random;
    assert_true(values != NULL && texts != NULL && labels != NULL);
    md_random_seed(&random, 4);
    for (size_t r = 0; r < rows; r++) {
        double sum = 0;
        for (size_t c = 0; c < COLUMNS; c++) {
            values[r * COLUMNS + c] = md_random_normal(&random);
            sum += (double)c * values[r * COLUMNS + c];
        }
        snprintf(texts[r], sizeof texts[r], "%.6f", sum + 0.1 * md_random_normal(&random));
        labels[r] = texts[r];
    }
    assert_int_equal(medley_dataset_from_dense(&data, values, rows, COLUMNS, labels, &error),
                     MEDLEY_OK);
    free(values);
    free(texts);
    free(labels);
    return data;
}

static void numbers_are_the_same(void **state)
{
    (void)state;
    static const medley_choice choices[] = {{"loss", "squared,epsilon(0.1)"}, {"C", "0.1..10"}};
    medley_dataset *data = make_numbers(60);
    check(data, "task=regression gap=1e-7", choices, 2, NULL, 1e-3);
    medley_dataset_free(data);
}

static void many_labels_are_the_same(void **state)
{
    (void)state;
    static const medley_choice choices[] = {{"penalty", "mkl,l2"}, {"C", "1,10"}};
    medley_dataset *data = make_data("waveform", 90, 5);
    check(data, "method=spom loss=logistic eta0=1 epochs=4 normalize=trace", choices, 2, "log-loss",
          0);
    check(data, "method=spicy loss=logistic gap=1e-6", choices + 1, 1, "log-loss", 1e-3);
    medley_dataset_free(data);
}

static void sequences_are_the_same(void **state)
{
    (void)state;
    static const medley_choice choices[] = {{"C", "1,10"}};
    medley_dataset *data = make_data("handwriting", 24, 6);
    check(data, "loss=logistic eta0=1 epochs=3", choices, 1, "log-loss", 0);
    check(data, "loss=logistic eta0=1 epochs=3 normalize=diag", choices, 1, "exact-match", 0);
    medley_dataset_free(data);
}

/* Columns: kernels of one weight for each. */
static void weights_of_columns_are_the_same(void **state)
{
    (void)state;
    static const medley_choice choices[] = {{"C", "1,10"}};
    medley_dataset *data = make_data("waveform", 130, 5);
    medley_options *options = make_options(
        "method=spom kernel=linear kernel=linear(norm=trace) eta0=1 epochs=4 normalize=diag");
    medley_tuning *tuning = tune_with(data, options, choices, 1, 3, NULL);
    assert_false(tuning->kernels_shared);
    assert_honest(data, options, tuning, 0);
    medley_tuning_free(tuning);
    medley_options_free(options);
    medley_dataset_free(data);
}

static void trees_are_the_same(void **state)
{
    (void)state;
    static const medley_choice choices[] = {{"C", "1,10"}, {"projective", "no,yes"}};
    static const char *const measures[] = {NULL, "uas", "exact-match"};
    medley_dataset *data = treebank(small_treebank);
    medley_options *options = parser_options("");
    for (size_t i = 0; i < 3; i++) {
        medley_tuning *tuning = tune_with(data, options, choices, 2, 3, measures[i]);
        assert_string_equal(tuning->measure, measures[i] ? measures[i] : "las");
        assert_false(tuning->kernels_shared);
        assert_honest(data, options, tuning, 0);
        medley_tuning_free(tuning);
    }
    medley_options_free(options);
    medley_dataset_free(data);
}

/* 1 + <x,z> of all rows, as a kernel that came ready made. */
static void put_products(medley_dataset *data)
{
    const size_t n = data->rows;
    const md_matrix *x = &data->tables[0].features;
    double *values = malloc(n * n * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < n * n; i++) {
        values[i] = 1;
        for (size_t c = 0; c < x->columns; c++)
            values[i] +=
                (double)x->dense[i / n * x->columns + c] * (double)x->dense[i % n * x->columns + c];
    }
    medley_table table = MEDLEY_TABLE_INIT;
    medley_error error = {0};
    table.name = "given";
    table.rows = table.columns = n;
    table.values = values;
    if (medley_dataset_put_gram(data, &table, NULL, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    free(values);
}

/* Of unit diagonal held-out rows need their K(x,x). memory: so little that kernels are computed on
 * the fly. */
static void ready_made_kernels_are_the_same(void **state)
{
    (void)state;
    static const char *const norms[] = {"none", "diag", "trace", "center"};
    static const medley_choice choices[] = {{"C", "0.1,1"}};
    medley_dataset *plain = make_data("ringnorm", 45, 3);
    medley_dataset *given = make_data("ringnorm", 45, 3);
    put_products(given);
    for (size_t i = 0; i < 8; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "method=spicy loss=logistic gap=1e-8 kernel=rbf(sigma2=9) normalize=%s%s",
                 norms[i % 4], i < 4 ? "" : " memory=2K");
        medley_tuning *found = tune_text(given, text, choices, 1, 3, "log-loss");
        snprintf(text + strlen(text), sizeof text - strlen(text), " kernel=poly(degree=1)");
        medley_tuning *expected = tune_text(plain, text, choices, 1, 3, "log-loss");
        for (size_t t = 0; t < 2; t++)
            for (size_t f = 0; f < 3; f++)
                assert_true(fabs(found->trials[t].fold[f] - expected->trials[t].fold[f]) < 1e-3);
        assert_true(found->kernels_shared);
        medley_tuning_free(found);
        medley_tuning_free(expected);
    }
    medley_dataset_free(plain);
    medley_dataset_free(given);
}

/* ---- more than one view: specs such as linear@all mean more than one of them ---- */

static medley_dataset *parse_named(const char *text, const char *name)
{
    medley_dataset *data = NULL;
    medley_error error = {0};
    if (medley_dataset_parse(&data, text, strlen(text), name, NULL, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return data;
}

/* A second table with so many columns. */
static void put_view(medley_dataset *data, const char *name, size_t columns)
{
    medley_table table = MEDLEY_TABLE_INIT;
    medley_error error = {0};
    md_random random;
    double *values = malloc(data->rows * columns * sizeof *values);
    assert_non_null(values);
    md_random_seed(&random, 11);
    for (size_t i = 0; i < data->rows * columns; i++)
        values[i] = md_random_normal(&random);
    table.name = name;
    table.rows = data->rows;
    table.columns = columns;
    table.values = values;
    if (medley_dataset_put_table(data, &table, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    free(values);
}

/* Kernels with weights beside others, scalings, widths. */
static void views_of_several_tables_are_the_same(void **state)
{
    (void)state;
    enum { FEW = 4, MANY = 60 }; /* columns: the linear kernel of MANY is no weights */
    static const struct {
        const char *kernels;
        size_t columns;
    } cases[] = {
        {"kernel=linear kernel=rbf(auto)", FEW},
        {"kernel=linear(explicit) kernel=linear(norm=trace) kernel=rbf(auto)@b", FEW},
        {"kernel=linear@b kernel=rbf(sigma2=9)", FEW},
        {"kernel=linear kernel=rbf(sigma2=9)", MANY},
        {"kernel=linear@b kernel=rbf(auto)", MANY},
        {"kernel=linear kernel=rbf(auto) scale=b=standard", FEW},
        {"kernel=linear kernel=rbf(auto) views=all+each", FEW},
        {"kernel=linear@each kernel=rbf(auto)@all views=all+each scale=minmax", FEW},
    };
    static const medley_choice choices[] = {{"C", "1,10"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "method=spom penalty=l2 loss=logistic eta0=0.01 epochs=3 %s",
                 cases[i].kernels);
        medley_dataset *data = make_data("waveform", 130, 5);
        put_view(data, "b", cases[i].columns);
        medley_options *options = make_options(text);
        medley_tuning *tuning = tune_with(data, options, choices, 1, 3, "log-loss");
        assert_honest(data, options, tuning, 0);
        for (size_t t = 0; t < tuning->trial_count; t++) { /* of l2 all blocks are active */
            size_t active;
            honest(data, options, tuning, t, 0, &active);
            assert_true(fabs(tuning->trials[t].active - (double)active) < 1e-9);
        }
        medley_tuning_free(tuning);
        medley_options_free(options);
        medley_dataset_free(data);
    }
}

/* The name of a column is no spec: its braces would be expanded. */
static void columns_may_be_called_anything(void **state)
{
    (void)state;
    enum { ROWS = 60 };
    static const medley_choice choices[] = {{"C", "1,10"}};
    char text[4096];
    md_random random;
    md_random_seed(&random, 3);
    int used = snprintf(text, sizeof text, "\"a{1,2}\",b@each,label\n");
    for (size_t r = 0; r < ROWS; r++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%.3f,%.3f,%s\n",
                         md_random_normal(&random) + (double)(r % 2), md_random_normal(&random),
                         r % 2 ? "yes" : "no");
    medley_dataset *data = parse_named(text, "names.csv");
    medley_options *options = make_options("method=spom eta0=1 epochs=2 views=each kernel=linear "
                                           "kernel=rbf(sigma2=2)");
    medley_tuning *tuning = tune_with(data, options, choices, 1, 3, NULL);
    assert_honest(data, options, tuning, 0);
    medley_tuning_free(tuning);
    medley_options_free(options);
    medley_dataset_free(data);
}

/* ---- memory and threads ---- */

static void assert_same_table(const medley_tuning *a, const medley_tuning *b)
{
    assert_true(a->best == b->best && a->one_error == b->one_error);
    for (size_t t = 0; t < a->trial_count; t++)
        for (size_t f = 0; f < a->fold_count; f++)
            if (a->trials[t].fold[f] != b->trials[t].fold[f])
                fail_msg("trial %zu, fold %zu: %.17g and %.17g", t, f, a->trials[t].fold[f],
                         b->trials[t].fold[f]);
}

/* Widths, scalings, traces and means are those of a fold's training rows, with much memory and with
 * little, of which the kernels of all rows take more and those of a fold do not, or both. */
static void memory_and_threads_make_no_difference(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "method=spicy loss=hinge gap=1e-4 kernel=rbf(auto) kernel=poly(degree=2) scale=standard",
        "method=spicy loss=logistic kernel=laplace kernel=rbf(auto) normalize=center",
        "method=spom kernel=rbf(auto) kernel=poly(degree=2) normalize=trace scale=minmax epochs=4",
        "method=svm kernel=rbf(auto) kernel=laplace normalize=diag"};
    static const char *const limits[] = {"memory=40K threads=1", "memory=60K threads=2",
                                         "memory=150K threads=3", "memory=1G threads=1",
                                         "threads=2"};
    static const medley_choice choices[] = {{"C", "0.1,1,10"}};
    medley_dataset *data = make_data("ringnorm", 90, 3);
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        medley_options *options = make_options(settings[s]);
        medley_tuning *first = tune_with(data, options, choices, 1, 3, "accuracy");
        assert_honest(data, options, first, strstr(settings[s], "spicy") != NULL ? 0.02 : 0);
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            char text[256];
            snprintf(text, sizeof text, "%s %s", settings[s], limits[i]);
            medley_tuning *other = tune_text(data, text, choices, 1, 3, "accuracy");
            assert_same_table(first, other);
            medley_tuning_free(other);
        }
        medley_tuning_free(first);
        medley_options_free(options);
    }
    medley_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certified_optima_are_the_same),
        cmocka_unit_test(numbers_are_the_same),
        cmocka_unit_test(many_labels_are_the_same),
        cmocka_unit_test(sequences_are_the_same),
        cmocka_unit_test(weights_of_columns_are_the_same),
        cmocka_unit_test(trees_are_the_same),
        cmocka_unit_test(ready_made_kernels_are_the_same),
        cmocka_unit_test(views_of_several_tables_are_the_same),
        cmocka_unit_test(columns_may_be_called_anything),
        cmocka_unit_test(memory_and_threads_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
