/* SPDX-License-Identifier: BSD-3-Clause */
/* npy arrays: every element type and order, headers that are wrong, precomputed kernels and labels
 * in npy files. */
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

/* An npy file in memory: version, header dictionary, then the elements. */
static size_t make_npy(char *to, int version, const char *dictionary, const void *elements,
                       size_t bytes)
{
    const size_t length = strlen(dictionary);
    size_t used = 8;
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (char)version;
    to[7] = 0;
    to[used++] = (char)(length & 0xff);
    to[used++] = (char)(length >> 8);
    if (version > 1) {
        to[used++] = 0;
        to[used++] = 0;
    }
    memcpy(to + used, dictionary, length);
    memcpy(to + used + length, elements, bytes);
    return used + length + bytes;
}

static medley_status read_array(md_npy *array, const char *bytes, size_t length,
                                medley_error *error)
{
    char *copy = md_copy_text(bytes, length); /* exactly as long, so that overruns are seen */
    copy[length] = '\n';
    const md_input input = {"array.npy", copy, length};
    memset(error, 0, sizeof *error);
    const medley_status status = md_npy_read(array, &input, error);
    free(copy);
    return status;
}

/* Writes value as an element of the type, in the given byte order. */
static size_t put_element(unsigned char *to, const char *type, double value)
{
    union {
        float f4;
        double f8;
        int64_t integer;
    } raw = {.integer = 0};
    const size_t size = (size_t)(type[2] - '0');
    if (type[1] == 'f' && size == 4)
        raw.f4 = (float)value;
    else if (type[1] == 'f')
        raw.f8 = value;
    else
        raw.integer = (int64_t)value; /* the low bytes are those of every narrower type */
    for (size_t i = 0; i < size; i++)
        to[i] = ((unsigned char *)&raw)[type[0] == '>' ? size - 1 - i : i];
    return size;
}

static void every_element_type_and_order_is_read(void **state)
{
    (void)state;
    static const char *const types[] = {"<f4", ">f4", "<f8", ">f8", "|i1", "<i2", ">i2",
                                        "<i4", ">i4", "<i8", ">i8", "|u1", "<u2", ">u2",
                                        "<u4", ">u4", "<u8", ">u8", "|b1"};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (int fortran = 0; fortran < 2; fortran++) {
            double expected[2][3][4];
            unsigned char elements[24 * 8];
            size_t bytes = 0;
            for (size_t place = 0; place < 24; place++) { /* in the order of the file */
                const size_t i = fortran ? place % 2 : place / 12;
                const size_t j = fortran ? place / 2 % 3 : place / 4 % 3;
                const size_t k = fortran ? place / 6 : place % 4;
                double value = (double)(place * 5 % 24);
                if (types[t][1] == 'b')
                    value = (double)(place % 2);
                if (types[t][1] == 'i')
                    value -= 12;
                if (types[t][1] == 'f')
                    value = value / 4 - 3;
                expected[i][j][k] = value;
                bytes += put_element(elements + bytes, types[t], value);
            }
            char dictionary[128];
            char file[512];
            snprintf(dictionary, sizeof dictionary,
                     "{'descr': '%s', 'fortran_order': %s, 'shape': (2, 3, 4), }   \n", types[t],
                     fortran ? "True" : "False");
            const size_t length = make_npy(file, 1 + (int)t % 3, dictionary, elements, bytes);
            md_npy array;
            medley_error error;
            if (read_array(&array, file, length, &error) < 0)
                fail_msg("%s: %s", dictionary, error.message);
            assert_int_equal(array.dimensions, 3);
            assert_int_equal(array.shape[0], 2);
            assert_int_equal(array.shape[2], 4);
            assert_memory_equal(array.values, expected, sizeof expected);
            md_npy_clear(&array);
        }
    }
}

static void wrong_headers_and_lengths_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *dictionary;
        size_t bytes;
        const char *phrase;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7, "cut off"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 9, "followed by"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 12, "followed by"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 8, "type '|O'"},
        {"{'descr': '<U5', 'fortran_order': False, 'shape': (2,), }", 40, "type '<U5'"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", 16, "type '<c8'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8, "structured"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }", 8, "fortran_order"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4, "single number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", 0, "no elements"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 2), }", 8, "more than 3"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8, "whole number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 8,
         "too large"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,), }", 8,
         "cut off"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 8,
         "too large"},
        {"{'descr': '<f4', 'fortran_order': False, }", 8, "missing"},
        {"{'descr': '<f4', 'shape': (2,), }", 8, "missing"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", 8, "unknown key"},
        {"{'descr': '<f4' 'fortran_order': False}", 8, "comma"},
        {"('descr', '<f4')", 8, "begin with {"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2", 8, "does not end"},
        {"{'descr': '<f4", 8, "cannot be used"},
    };
    const float elements[16] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[512];
        md_npy array;
        medley_error error;
        const size_t length = make_npy(file, 1, cases[i].dictionary, elements, cases[i].bytes);
        assert_int_equal(read_array(&array, file, length, &error), MEDLEY_BAD_INPUT);
        if (strstr(error.message, cases[i].phrase) == NULL)
            fail_msg("%s: '%s' lacks '%s'", cases[i].dictionary, error.message, cases[i].phrase);
        file[6] = 4;
        assert_int_equal(read_array(&array, file, length, &error), MEDLEY_BAD_INPUT);
        assert_non_null(strstr(error.message, "version 4"));
        file[0] = 'x';
        assert_int_equal(read_array(&array, file, length, &error), MEDLEY_BAD_INPUT);
        assert_non_null(strstr(error.message, "no npy file"));
    }
}

/* Writes a small array of the shape; values[i] = i + 1 unless given. */
static void write_array(char path[READING_PATH_SIZE], const float *values, const size_t *shape,
                        size_t dimensions)
{
    md_output output = {0};
    close(reading_temporary(path, ".npy"));
    assert_int_equal(md_output_open(&output, path, NULL), MEDLEY_OK);
    assert_int_equal(md_npy_write(&output, values, shape, dimensions, NULL), MEDLEY_OK);
    assert_int_equal(md_output_commit(&output, NULL), MEDLEY_OK);
}

static void truncated_files_are_refused(void **state)
{
    (void)state;
    static const float values[] = {1, 2, 3, 4, 5, 6};
    char file[256];
    const size_t length =
        make_npy(file, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", values,
                 sizeof values);
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "npy";
    assert_true(reading_survives_truncation(file, length, &options));
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        md_random random;
        md_random_seed(&random, seed);
        const size_t rows = 1 + md_random_below(&random, 20);
        const size_t columns = 1 + md_random_below(&random, 9);
        double values[20 * 9];
        for (size_t i = 0; i < rows * columns; i++)
            values[i] = md_random_normal(&random);
        char path[READING_PATH_SIZE];
        medley_dataset *dataset = NULL;
        medley_dataset *back = NULL;
        assert_int_equal(medley_dataset_from_dense(&dataset, values, rows, columns, NULL, NULL),
                         MEDLEY_OK);
        close(reading_temporary(path, ".npy"));
        assert_int_equal(medley_dataset_write(dataset, path, NULL, NULL), MEDLEY_OK);
        assert_int_equal(medley_dataset_read(&back, path, NULL, NULL), MEDLEY_OK);
        unlink(path);
        assert_int_equal(back->rows, rows);
        assert_int_equal(medley_dataset_columns(back), columns);
        assert_memory_equal(back->tables[0].features.dense, dataset->tables[0].features.dense,
                            rows * columns * sizeof(float));
        medley_dataset_free(dataset);
        medley_dataset_free(back);
    }
}

static void values_that_are_not_finite_are_refused_by_place(void **state)
{
    (void)state;
    float values[12] = {0};
    values[7] = NAN;
    char path[READING_PATH_SIZE];
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    write_array(path, values, (const size_t[]){4, 3}, 2);
    assert_int_equal(medley_dataset_read(&dataset, path, NULL, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "row 3, column 2"));
    unlink(path);
    memset(&error, 0, sizeof error);
    assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
    write_array(path, values, (const size_t[]){2, 3, 2}, 3);
    assert_int_equal(medley_dataset_add_gram(dataset, NULL, path, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "kernel 2, row 1, column 2"));
    assert_int_equal(dataset->gram_count, 0);
    assert_int_equal(dataset->rows, 0);
    unlink(path);
    medley_dataset_free(dataset);
}

static void kernels_and_their_diagonals_are_added(void **state)
{
    (void)state;
    float values[24];
    for (size_t i = 0; i < 24; i++)
        values[i] = (float)i + 1;
    char path[READING_PATH_SIZE];
    medley_dataset *dataset;
    medley_error error = {0};
    assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
    write_array(path, values, (const size_t[]){2, 3, 4}, 3);
    assert_int_equal(medley_dataset_add_gram(dataset, "k", path, NULL), MEDLEY_OK);
    assert_int_equal(medley_dataset_add_gram(dataset, "k", path, &error), MEDLEY_USAGE);
    assert_int_equal(dataset->gram_count, 2);
    assert_int_equal(dataset->rows, 3);
    assert_string_equal(dataset->grams[0].name, "k1");
    assert_string_equal(dataset->grams[1].name, "k2");
    assert_true(dataset->grams[1].values.dense[0] == 13.0f);
    assert_int_equal(dataset->grams[1].values.columns, 4);
    unlink(path);
    write_array(path, values, (const size_t[]){3, 8}, 2);
    assert_int_equal(medley_dataset_add_gram(dataset, NULL, path, NULL), MEDLEY_OK);
    assert_string_equal(dataset->grams[2].name, "gram3");
    unlink(path);
    memset(&error, 0, sizeof error);
    write_array(path, values, (const size_t[]){4, 6}, 2);
    assert_int_equal(medley_dataset_add_gram(dataset, NULL, path, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "4 rows, expected 3"));
    unlink(path);
    write_array(path, values, (const size_t[]){3, 3}, 2);
    assert_int_equal(medley_dataset_add_gram_diagonal(dataset, path, NULL), MEDLEY_OK);
    assert_true(dataset->grams[2].diagonal[1] == 8.0);
    unlink(path);
    memset(&error, 0, sizeof error);
    write_array(path, values, (const size_t[]){3}, 1);
    assert_int_equal(medley_dataset_add_gram_diagonal(dataset, path, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "expected shape (3, 3)"));
    unlink(path);
    medley_dataset_free(dataset);
}

static void labels_in_an_array_are_read(void **state)
{
    (void)state;
    static const float labels[] = {2, -1, 2, 0.5f};
    char path[READING_PATH_SIZE];
    medley_dataset *dataset;
    assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
    write_array(path, labels, (const size_t[]){4}, 1);
    assert_int_equal(medley_dataset_read_labels(dataset, path, NULL), MEDLEY_OK);
    assert_int_equal(dataset->rows, 4);
    assert_int_equal(medley_dataset_label_count(dataset), 3);
    assert_string_equal(medley_dataset_label_name(dataset, 2), "2");
    assert_int_equal(medley_dataset_label(dataset, 1), 0);
    assert_true(dataset->target[3] == 0.5);
    unlink(path);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_type_and_order_is_read),
        cmocka_unit_test(wrong_headers_and_lengths_are_refused),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(values_that_are_not_finite_are_refused_by_place),
        cmocka_unit_test(kernels_and_their_diagonals_are_added),
        cmocka_unit_test(labels_in_an_array_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
