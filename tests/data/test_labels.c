/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels of datasets: their order, their numbers, their translation; values that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "data/dataset.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static medley_dataset *labelled(const char *const *labels, size_t rows)
{
    medley_dataset *dataset;
    double *values = md_calloc(rows, sizeof *values);
    for (size_t i = 0; i < rows; i++)
        values[i] = (double)i;
    assert_int_equal(medley_dataset_from_dense(&dataset, values, rows, 1, labels, NULL), MEDLEY_OK);
    free(values);
    return dataset;
}

static void check_names(const char *const *labels, size_t rows, const char *const *expected,
                        size_t count)
{
    medley_dataset *dataset = labelled(labels, rows);
    assert_int_equal(medley_dataset_label_count(dataset), count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(medley_dataset_label_name(dataset, i), expected[i]);
    assert_null(medley_dataset_label_name(dataset, count));
    medley_dataset_free(dataset);
}

static void labels_are_sorted_by_value_or_by_bytes(void **state)
{
    (void)state;
    check_names((const char *[]){"10", "9", "-1", "9.5"}, 4,
                (const char *[]){"-1", "9", "9.5", "10"}, 4);
    check_names((const char *[]){"b", "10", "9", "B"}, 4, (const char *[]){"10", "9", "B", "b"}, 4);
    check_names((const char *[]){"nan", "1"}, 2, (const char *[]){"1", "nan"}, 2);
}

static void numbers_written_differently_are_one_label(void **state)
{
    (void)state;
    check_names((const char *[]){"+1", "1.0", "1", "1e0", "01"}, 5, (const char *[]){"1"}, 1);
    check_names((const char *[]){"-0", "0", "0.0"}, 3, (const char *[]){"0"}, 1);
    /* but long numbers that a double cannot tell apart stay apart */
    check_names((const char *[]){"12345678901234567890", "12345678901234567891"}, 2,
                (const char *[]){"12345678901234567890", "12345678901234567891"}, 2);
}

static void targets_exist_only_if_all_labels_are_numbers(void **state)
{
    (void)state;
    static const char *const numbers[] = {"1.5", NULL, "-2"};
    static const char *const words[] = {"1.5", "two", "-2"};
    static const char *const none[] = {NULL, NULL, NULL};
    medley_dataset *dataset = labelled(numbers, 3);
    assert_true(dataset->target[0] == 1.5 && dataset->target[2] == -2);
    assert_true(isnan(dataset->target[1]));
    assert_int_equal(medley_dataset_label(dataset, 0), 1);
    assert_int_equal(medley_dataset_label(dataset, 1), -1);
    medley_dataset_free(dataset);
    dataset = labelled(words, 3);
    assert_null(dataset->target);
    medley_dataset_free(dataset);
    dataset = labelled(none, 3);
    assert_null(dataset->label);
    medley_dataset_free(dataset);
}

static void labels_are_translated_by_name(void **state)
{
    (void)state;
    static const char *const labels[] = {"c", "a", NULL, "b"};
    medley_dataset *dataset = labelled(labels, 4);
    md_strings names = {0};
    md_strings_add(&names, "b", 1);
    md_strings_add(&names, "c", 1);
    int32_t *mapped = NULL;
    assert_int_equal(md_dataset_map_labels(&mapped, dataset, &names, NULL), MEDLEY_OK);
    assert_int_equal(mapped[0], 1);
    assert_int_equal(mapped[1], -1);
    assert_int_equal(mapped[2], -1);
    assert_int_equal(mapped[3], 0);
    free(mapped);
    md_strings_clear(&names);
    medley_dataset_free(dataset);
}

static void values_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    static const double wrong[] = {(double)NAN, (double)INFINITY, -1e300};
    for (size_t i = 0; i < 3; i++) {
        const double values[6] = {0, 1, 2, 3, wrong[i], 5};
        medley_dataset *dataset = NULL;
        medley_error error = {0};
        assert_int_equal(medley_dataset_from_dense(&dataset, values, 3, 2, NULL, &error),
                         MEDLEY_BAD_INPUT);
        assert_null(dataset);
        assert_non_null(strstr(error.message, "row 3, column 1"));
    }
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    assert_int_equal(medley_dataset_from_dense(&dataset, wrong, 0, 2, NULL, &error),
                     MEDLEY_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_sorted_by_value_or_by_bytes),
        cmocka_unit_test(numbers_written_differently_are_one_label),
        cmocka_unit_test(targets_exist_only_if_all_labels_are_numbers),
        cmocka_unit_test(labels_are_translated_by_name),
        cmocka_unit_test(values_that_are_not_finite_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
