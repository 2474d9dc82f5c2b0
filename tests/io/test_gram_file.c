/* SPDX-License-Identifier: BSD-3-Clause */
/* Precomputed kernels from npy files: rounded, or with all their digits as well, in any order of
 * the file, and what selections of rows keep of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "data/dataset.h"
#include "io/io.h"
#include "io/reading.h"
#include <math.h>

/* An npy file of float64 or float32 with these values, row-major in memory. */
struct array {
    size_t shape[3];
    double *values;
    bool fortran, single;
};

static size_t count_of(const struct array *array)
{
    return array->shape[0] * array->shape[1] * array->shape[2];
}

static void put(FILE *file, const struct array *array, size_t k, size_t i, size_t j)
{
    const double value = array->values[(k * array->shape[1] + i) * array->shape[2] + j];
    const float rounded = (float)value;
    const size_t size = array->single ? sizeof rounded : sizeof value;
    assert_int_equal(fwrite(array->single ? (const void *)&rounded : &value, size, 1, file), 1);
}

static void write_stack(char path[READING_PATH_SIZE], const struct array *array)
{
    const size_t *n = array->shape;
    char header[118 + 1];
    FILE *file = fdopen(reading_temporary(path, ".npy"), "wb");
    assert_non_null(file);
    const int length = snprintf(
        header, sizeof header, "{'descr': '<f%d', 'fortran_order': %s, 'shape': (%zu, %zu, %zu)}",
        array->single ? 4 : 8, array->fortran ? "True" : "False", n[0], n[1], n[2]);
    fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, length > 0 ? header : "");
    if (array->fortran)
        for (size_t p = 0; p < count_of(array); p++)
            put(file, array, p % n[0], p / n[0] % n[1], p / n[0] / n[1]);
    else
        for (size_t p = 0; p < count_of(array); p++)
            put(file, array, p / n[2] / n[1], p / n[2] % n[1], p % n[2]);
    assert_int_equal(fclose(file), 0);
}

static struct array draw(size_t kernels, size_t rows, size_t columns, uint64_t seed)
{
    struct array array = {.shape = {kernels, rows, columns}};
    md_random random;
    md_random_seed(&random, seed);
    array.values = md_calloc(count_of(&array), sizeof *array.values);
    assert_non_null(array.values);
    for (size_t p = 0; p < count_of(&array); p++)
        array.values[p] = md_random_normal(&random);
    return array;
}

static medley_dataset *read_stack(const struct array *array, bool wide)
{
    char path[READING_PATH_SIZE];
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    write_stack(path, array);
    assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
    if (wide)
        medley_dataset_keep_wide(dataset);
    if (medley_dataset_add_gram(dataset, NULL, path, &error) < 0)
        fail_msg("%s", error.message);
    unlink(path);
    return dataset;
}

static void values_are_rounded_and_on_request_kept(void **state)
{
    (void)state;
    for (int kind = 0; kind < 8; kind++) {
        struct array array = draw(3, 5, 4, (uint64_t)kind);
        const bool wide = kind & 4;
        array.fortran = kind & 1;
        array.single = kind & 2;
        medley_dataset *dataset = read_stack(&array, wide);
        assert_int_equal(dataset->gram_count, 3);
        for (size_t p = 0; p < count_of(&array); p++) {
            const md_precomputed *gram = &dataset->grams[p / 20];
            const double value = array.single ? (double)(float)array.values[p] : array.values[p];
            assert_true(gram->values.dense[p % 20] == (float)value);
            assert_true((gram->wide != NULL) == wide);
            if (wide)
                assert_true(gram->wide[p % 20] == value);
        }
        medley_dataset_free(dataset);
        free(array.values);
    }
}

/* Large enough that the file's memory is given back while it is read. */
static void large_stacks_are_read_whole(void **state)
{
    (void)state;
    struct array array = draw(5, 1000, 1100, 3);
    for (int fortran = 0; fortran < 2; fortran++) {
        array.fortran = fortran;
        array.shape[0] = fortran ? 1 : 5;
        medley_dataset *dataset = read_stack(&array, true);
        const size_t size = array.shape[1] * array.shape[2];
        for (size_t k = 0; k < array.shape[0]; k++)
            assert_memory_equal(dataset->grams[k].wide, array.values + k * size,
                                size * sizeof *array.values);
        medley_dataset_free(dataset);
    }
    free(array.values);
}

static void kernels_of_other_files_keep_what_was_asked_for_then(void **state)
{
    (void)state;
    struct array array = draw(2, 3, 3, 1);
    char path[READING_PATH_SIZE];
    medley_dataset *dataset = read_stack(&array, false);
    write_stack(path, &array);
    medley_dataset_keep_wide(dataset);
    assert_int_equal(medley_dataset_add_gram(dataset, "k", path, NULL), MEDLEY_OK);
    assert_null(dataset->grams[1].wide);
    assert_non_null(dataset->grams[3].wide);
    assert_true(dataset->grams[3].wide[8] == array.values[17]);
    unlink(path);
    medley_dataset_free(dataset);
    free(array.values);
}

/* A name that is there already, whether given or numbered. */
static void names_are_distinct(void **state)
{
    (void)state;
    struct array array = draw(3, 2, 2, 1);
    char path[READING_PATH_SIZE];
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    write_stack(path, &array);
    assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
    assert_int_equal(medley_dataset_add_gram(dataset, "gram", path, NULL), MEDLEY_OK);
    assert_int_equal(medley_dataset_add_gram(dataset, "k", path, NULL), MEDLEY_OK);
    assert_int_equal(medley_dataset_add_gram(dataset, NULL, path, NULL), MEDLEY_OK); /* gram7 .. */
    assert_string_equal(dataset->grams[8].name, "gram9");
    assert_int_equal(medley_dataset_add_gram(dataset, "k", path, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "two precomputed kernels called 'k1'"));
    assert_int_equal(dataset->gram_count, 9);
    unlink(path);
    medley_dataset_free(dataset);
    free(array.values);
}

static void values_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    static const double wrong[] = {NAN, INFINITY, -INFINITY, 1e39, -1e300};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++)
        for (int wide = 0; wide < 2; wide++) {
            struct array array = draw(2, 3, 4, 1);
            char path[READING_PATH_SIZE];
            medley_dataset *dataset = NULL;
            medley_error error = {0};
            array.values[12 + 4 + 2] = wrong[w];
            write_stack(path, &array);
            assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
            if (wide)
                medley_dataset_keep_wide(dataset);
            assert_int_equal(medley_dataset_add_gram(dataset, NULL, path, &error),
                             MEDLEY_BAD_INPUT);
            assert_non_null(strstr(error.message, "kernel 2, row 2, column 3 is"));
            assert_int_equal(dataset->gram_count, 0);
            unlink(path);
            medley_dataset_free(dataset);
            free(array.values);
        }
}

/* ---- selections ---- */

static void check_selected(const medley_dataset *selected, const struct array *array,
                           const size_t *rows, size_t count, const md_columns *columns)
{
    const size_t width = columns ? columns->count : array->shape[2];
    assert_int_equal(selected->rows, count);
    for (size_t g = 0; g < selected->gram_count; g++) {
        const md_precomputed *gram = &selected->grams[g];
        assert_int_equal(gram->values.columns, width);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < width; j++) {
                const size_t column = columns ? columns->rows[j] : j;
                const double value =
                    array->values[(g * array->shape[1] + rows[i]) * array->shape[2] + column];
                assert_true(gram->wide[i * width + j] == value);
                assert_true(gram->values.dense[i * width + j] == (float)value);
            }
    }
}

static void selections_carry_all_digits(void **state)
{
    (void)state;
    static const size_t rows[] = {4, 0, 5};
    static const size_t kept[] = {1, 4, 5, 2};
    const md_columns columns = {kept, 4};
    for (size_t width = 6; width <= 7; width++) { /* square: columns are cut; else they stay */
        struct array array = draw(2, 6, width, width);
        medley_dataset *dataset = read_stack(&array, true);
        medley_dataset *selected = NULL;
        assert_int_equal(md_dataset_select(&selected, dataset, rows, 3, NULL, NULL), MEDLEY_OK);
        check_selected(selected, &array, rows, 3, NULL);
        assert_true(selected->keeps_wide);
        medley_dataset_free(selected);
        assert_int_equal(md_dataset_select(&selected, dataset, rows, 3, &columns, NULL), MEDLEY_OK);
        check_selected(selected, &array, rows, 3, width == 6 ? &columns : NULL);
        medley_dataset_free(selected);
        medley_dataset_free(dataset);
        free(array.values);
    }
}

/* Of what is drawn or divided each row is known by its values. */
static void samples_carry_all_digits(void **state)
{
    (void)state;
    struct array array = draw(1, 6, 6, 2);
    medley_dataset *dataset = read_stack(&array, true);
    medley_dataset *sample = NULL;
    assert_int_equal(medley_dataset_sample(&sample, dataset, 4, 3, NULL), MEDLEY_OK);
    assert_int_equal(sample->grams[0].values.columns, 4);
    size_t rows[4];
    for (size_t i = 0; i < 4; i++) { /* the diagonal tells which */
        for (rows[i] = 0; rows[i] < 6 && array.values[rows[i] * 7] != sample->grams[0].wide[i * 5];)
            rows[i]++;
        assert_true(rows[i] < 6);
    }
    const md_columns columns = {rows, 4};
    check_selected(sample, &array, rows, 4, &columns);
    medley_dataset_free(sample);
    medley_dataset_free(dataset);
    free(array.values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_rounded_and_on_request_kept),
        cmocka_unit_test(large_stacks_are_read_whole),
        cmocka_unit_test(kernels_of_other_files_keep_what_was_asked_for_then),
        cmocka_unit_test(names_are_distinct),
        cmocka_unit_test(values_that_are_not_finite_are_refused),
        cmocka_unit_test(selections_carry_all_digits),
        cmocka_unit_test(samples_carry_all_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
