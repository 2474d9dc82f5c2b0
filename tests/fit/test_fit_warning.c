/* SPDX-License-Identifier: BSD-3-Clause */
/* A warning of columns that differ a thousandfold in spread where kernels of histograms keep them
 * from being standardised, and of nothing else. */
#include "fit/fitting.h"

#include "base/random.h"

enum { ROWS = 40, COLUMNS = 3 };

/* Columns of about these deviations, none of them below 0. */
static medley_dataset *make_columns(const double *spread, size_t height)
{
    double values[ROWS * COLUMNS];
    static const char *const names[] = {"a", "b"};
    int32_t labels[ROWS];
    medley_dataset *data = NULL;
    medley_error error = {0};
    md_random random;
    md_random_seed(&random, 2);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        values[i] = 5 + spread[i % COLUMNS] * fabs(md_random_normal(&random));
    for (size_t r = 0; r < ROWS; r++)
        labels[r] = (int32_t)(r % 2);
    medley_table table = MEDLEY_TABLE_INIT;
    table.rows = ROWS;
    table.columns = COLUMNS;
    table.values = values;
    table.height = height;
    table.width = height > 0 ? COLUMNS : 0;
    assert_int_equal(medley_dataset_create(&data, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_put_table(data, &table, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_put_labels(data, labels, ROWS, names, 2, &error), MEDLEY_OK);
    return data;
}

static bool warns(const double *spread, size_t height, const char *settings, const char *says)
{
    char text[600];
    medley_dataset *data = make_columns(spread, height);
    medley_options *options = settings != NULL ? make_options(settings) : NULL;
    const size_t length = medley_fit_warning(text, sizeof text, data, options);
    assert_int_equal(length, strlen(text));
    if (length > 0 && says != NULL && strstr(text, says) == NULL)
        fail_msg("%s", text);
    medley_options_free(options);
    medley_dataset_free(data);
    return length > 0;
}

static void columns_of_very_different_spread_are_told_of(void **state)
{
    (void)state;
    static const double uneven[] = {1, 0, 5000}; /* a constant column has no spread */
    assert_true(warns(uneven, 0, "kernel=chi2",
                      "chi2 needs values that are not negative, so use "
                      "`scale=minmax`"));
    assert_true(warns(uneven, 0, "kernel=chi2", "column 3 has deviation"));
    assert_true(warns(uneven, 0, "kernel=rbf kernel=intersection", "column 1 "));
    assert_true(warns(uneven, 0, "views=all+each kernel=chi2@all kernel=rbf@each", "view 'all'"));
}

static void everything_else_is_silent(void **state)
{
    (void)state;
    static const double uneven[] = {1, 0, 5000};
    static const double even[] = {1, 300, 0};
    assert_false(warns(even, 0, "kernel=chi2", NULL));
    assert_false(warns(uneven, 1, "kernel=chi2", NULL)); /* images */
    assert_false(warns(uneven, 0, NULL, NULL));          /* standardised */
    static const char *const settings[] = {"kernel=chi2 scale=standard",
                                           "kernel=chi2 scale=none",
                                           "kernel=chi2 scale=all=minmax",
                                           "kernel=chi2 views=each",
                                           "kernel=bias",
                                           "kernel=rbf",
                                           "views=all+each kernel=chi2@each",
                                           "kernel=nonsense"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (warns(uneven, 0, settings[i], NULL))
            fail_msg("%s", settings[i]);
}

/* As snprintf does. */
static void short_buffers_are_enough_to_ask(void **state)
{
    (void)state;
    static const double uneven[] = {1, 2, 5000};
    medley_dataset *data = make_columns(uneven, 0);
    char text[600];
    char few[8];
    medley_options *options = make_options("kernel=chi2");
    const size_t length = medley_fit_warning(text, sizeof text, data, options);
    assert_true(length > sizeof few);
    assert_int_equal(medley_fit_warning(NULL, 0, data, options), length);
    assert_int_equal(medley_fit_warning(few, sizeof few, data, options), length);
    medley_options_free(options);
    assert_memory_equal(few, text, sizeof few - 1);
    assert_int_equal(few[7], '\0');
    medley_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_very_different_spread_are_told_of),
        cmocka_unit_test(everything_else_is_silent),
        cmocka_unit_test(short_buffers_are_enough_to_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
