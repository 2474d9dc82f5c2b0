/* SPDX-License-Identifier: BSD-3-Clause */
/* The svmlight format: what it accepts, what it refuses, and that what is written is read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "data/dataset.h"
#include "io/float_text.h"
#include "io/io.h"
#include "io/reading.h"
#include <math.h>

static medley_dataset *read_good(const char *text, const medley_read_options *options)
{
    medley_dataset *dataset;
    medley_error error;
    if (read_text(&dataset, text, strlen(text), options, &error) < 0)
        fail_msg("%s", error.message);
    return dataset;
}

static float value_at(const medley_dataset *dataset, size_t row, size_t column)
{
    float values[64];
    assert_true(medley_dataset_columns(dataset) <= 64);
    medley_dataset_row(values, dataset, row);
    return values[column];
}

static void rows_labels_and_values_are_read(void **state)
{
    (void)state;
    medley_dataset *dataset = read_good("# a comment\n"
                                        "\n"
                                        "+1 1:0.5 3:-2e1 # a remark 7:9\r\n"
                                        "  -1\t2:1e-3   \n"
                                        "1.0 4:.25",
                                        NULL);
    assert_int_equal(medley_dataset_rows(dataset), 3);
    assert_int_equal(medley_dataset_columns(dataset), 4);
    assert_int_equal(medley_dataset_label_count(dataset), 2);
    assert_string_equal(medley_dataset_label_name(dataset, 0), "-1");
    assert_string_equal(medley_dataset_label_name(dataset, 1), "1");
    assert_int_equal(medley_dataset_label(dataset, 0), 1);
    assert_int_equal(medley_dataset_label(dataset, 1), 0);
    assert_int_equal(medley_dataset_label(dataset, 2), 1);
    assert_true(value_at(dataset, 0, 0) == 0.5f && value_at(dataset, 0, 2) == -20.0f);
    assert_true(value_at(dataset, 1, 1) == 1e-3f && value_at(dataset, 2, 3) == 0.25f);
    assert_true(value_at(dataset, 0, 1) == 0.0f);
    assert_true(md_matrix_is_sparse(&dataset->tables[0].features));
    medley_dataset_free(dataset);
}

static void an_index_of_zero_makes_the_file_count_from_zero(void **state)
{
    (void)state;
    medley_dataset *dataset = read_good("a 1:1 2:2\nb 0:5 2:7\n", NULL);
    assert_int_equal(medley_dataset_columns(dataset), 3);
    assert_true(value_at(dataset, 0, 1) == 1.0f && value_at(dataset, 0, 2) == 2.0f);
    assert_true(value_at(dataset, 1, 0) == 5.0f && value_at(dataset, 1, 2) == 7.0f);
    medley_dataset_free(dataset);
}

static void the_first_index_can_be_given(void **state)
{
    (void)state;
    static const char text[] = "a 1:1 2:2\nb 2:7\n";
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    medley_dataset *dataset;
    medley_error error;
    options.first_index = 0;
    dataset = read_good(text, &options);
    assert_int_equal(medley_dataset_columns(dataset), 3);
    assert_true(value_at(dataset, 0, 0) == 0.0f && value_at(dataset, 1, 2) == 7.0f);
    medley_dataset_free(dataset);
    options.first_index = 1;
    dataset = read_good(text, &options);
    assert_int_equal(medley_dataset_columns(dataset), 2);
    medley_dataset_free(dataset);
    assert_int_equal(read_text(&dataset, "a 0:1\n", 6, &options, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "features with the index 0"));
}

static void mostly_filled_rows_become_dense(void **state)
{
    (void)state;
    medley_dataset *dataset = read_good("a 1:1 2:2\nb 1:5 2:7\nc 2:1\n", NULL);
    assert_false(md_matrix_is_sparse(&dataset->tables[0].features));
    assert_true(value_at(dataset, 2, 0) == 0.0f && value_at(dataset, 1, 1) == 7.0f);
    medley_dataset_free(dataset);
}

static void rows_of_one_qid_are_a_sequence(void **state)
{
    (void)state;
    medley_dataset *dataset = read_good("a qid:7 1:1\nb qid:7 2:1\na qid:3 1:2\n", NULL);
    assert_int_equal(medley_dataset_sequences(dataset), 2);
    assert_int_equal(dataset->sequence_start[0], 0);
    assert_int_equal(dataset->sequence_start[1], 2);
    assert_int_equal(dataset->sequence_start[2], 3);
    medley_dataset_free(dataset);
}

static void labels_may_be_missing_when_they_are_not_looked_at(void **state)
{
    (void)state;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.ignore_labels = true;
    options.feature_count = 9;
    medley_dataset *dataset = read_good("1:0.5 3:2\nx 2:1\n", &options);
    assert_int_equal(medley_dataset_rows(dataset), 2);
    assert_int_equal(medley_dataset_columns(dataset), 9); /* what the model expects */
    assert_int_equal(medley_dataset_label(dataset, 1), -1);
    assert_true(value_at(dataset, 0, 2) == 2.0f && value_at(dataset, 1, 1) == 1.0f);
    medley_dataset_free(dataset);
}

static void columns_can_be_chosen_by_number(void **state)
{
    (void)state;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.columns = "2-3,5";
    medley_dataset *dataset = read_good("a 1:1 2:2 5:5\nb 3:3 4:4\n", &options);
    assert_int_equal(medley_dataset_columns(dataset), 3);
    assert_true(value_at(dataset, 0, 0) == 2.0f && value_at(dataset, 0, 2) == 5.0f);
    assert_true(value_at(dataset, 1, 1) == 3.0f && value_at(dataset, 1, 2) == 0.0f);
    medley_dataset_free(dataset);
}

static void malformed_lines_are_refused_with_their_number(void **state)
{
    (void)state;
    static const reading_fault faults[] = {
        {"1 1:1\n1 x:2\n", 2, "found 'x:2', expected index:value"},
        {"1 1:1\n1 -3:2\n", 2, "whole number as the index"},
        {"1 1:1\n\n# c\n1 2\n", 4, "':' behind the index"},
        {"1 2:1 2:3\n", 1, "index 2 follows index 2"},
        {"1 1:1\n1 5:1 3:3", 2, "index 3 follows index 5"},
        {"1 1:\n", 1, "a number as the value"},
        {"1 1:abc\n", 1, "found '1:abc'"},
        {"1 1:1.5x 2:3\n", 1, "a number as the value"},
        {"1 1:0x10\n", 1, "a number as the value"},
        {"1 1:1,5\n", 1, "a number as the value"},
        {"1 1:1\n2 1:nan\n", 2, "finite number"},
        {"1 1:-inf\n", 1, "finite number"},
        {"1 1:1e39\n", 1, "finite number"},
        {"1 2147483647:1\n", 1, "at most 100000000"},
        {"1 99999999999999999999999:1\n", 1, "at most 100000000"},
        {"1 1:1\n1:1\n", 2, "a label at the beginning"},
        {"1 qid:1 1:1\n1 qid:2 1:1\n1 qid:1 1:1\n", 3, "used before"},
        {"1 qid:1 1:1\n1 1:1\n", 2, "no qid"},
        {"1 1:1\n1 qid:1 1:1\n", 2, "no qid here"},
        {"1 qid:x 1:1\n", 1, "qid: with a whole number"},
        {"1 1:1 qid:3\n", 1, "whole number as the index"},
        {"a\nb\n", 0, "no row has a feature"},
        {"# nothing\n\n", 0, "no rows"},
    };
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "svmlight";
    assert_true(reading_finds_faults(faults, sizeof faults / sizeof *faults, &options));
    medley_dataset *dataset;
    medley_error error;
    assert_int_equal(read_text(&dataset, "1 1:1\n1 \0 2:1", 13, &options, &error),
                     MEDLEY_BAD_INPUT);
    assert_int_equal(error.line, 2);
}

static void truncated_files_are_read_or_refused(void **state)
{
    (void)state;
    static const char text[] = "# made by hand\n+1 qid:1 1:0.5 3:-2.25e-1 12:7\n"
                               "-1 qid:1 2:123456789012345678 # remark\r\n"
                               "word qid:2 1:.5 4000:3\n";
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "svmlight";
    assert_true(reading_survives_truncation(text, strlen(text), &options));
}

/* A random sparse dataset with labels and, for odd seeds, sequences. */
static medley_dataset *random_dataset(uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    const size_t rows = 1 + md_random_below(&random, 20);
    const size_t columns = 1 + md_random_below(&random, 30);
    const double density = md_random_uniform(&random);
    double values[20 * 30] = {0};
    const char *labels[20];
    static const char *const names[] = {"-1", "1", "cat", "B-NP", "2.5"};
    for (size_t i = 0; i < rows * columns; i++)
        if (md_random_uniform(&random) < density)
            values[i] =
                md_random_normal(&random) * pow(10, (double)md_random_below(&random, 60) - 30);
    for (size_t i = 0; i < rows; i++)
        labels[i] = names[md_random_below(&random, 5)];
    medley_dataset *dataset;
    assert_int_equal(medley_dataset_from_dense(&dataset, values, rows, columns, labels, NULL),
                     MEDLEY_OK);
    if (seed % 2 == 1) {
        dataset->sequence_start = calloc(rows + 1, sizeof *dataset->sequence_start);
        for (size_t i = 1; i <= rows; i++)
            if (i == rows || md_random_below(&random, 3) == 0)
                dataset->sequence_start[++dataset->sequence_count] = i;
    }
    return dataset;
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        char path[READING_PATH_SIZE];
        medley_dataset *dataset = random_dataset(seed);
        medley_dataset *back = NULL;
        close(reading_temporary(path, seed % 3 == 0 ? ".svm.gz" : ".svm"));
        assert_int_equal(medley_dataset_write(dataset, path, NULL, NULL), MEDLEY_OK);
        assert_int_equal(medley_dataset_read(&back, path, NULL, NULL), MEDLEY_OK);
        unlink(path);
        assert_int_equal(back->rows, dataset->rows);
        assert_int_equal(medley_dataset_columns(back), medley_dataset_columns(dataset));
        assert_int_equal(back->sequence_count, dataset->sequence_count);
        for (size_t s = 0; dataset->sequence_count > 0 && s <= dataset->sequence_count; s++)
            assert_int_equal(back->sequence_start[s], dataset->sequence_start[s]);
        for (size_t row = 0; row < dataset->rows; row++) {
            assert_string_equal(
                medley_dataset_label_name(back, (size_t)medley_dataset_label(back, row)),
                medley_dataset_label_name(dataset, (size_t)medley_dataset_label(dataset, row)));
            for (size_t c = 0; c < medley_dataset_columns(dataset); c++)
                assert_true(value_at(back, row, c) == value_at(dataset, row, c));
        }
        medley_dataset_free(dataset);
        medley_dataset_free(back);
    }
}

static void labels_that_are_no_single_word_are_not_written(void **state)
{
    (void)state;
    static const char *const bad[] = {"two words", "3:4", "#x", "qid:1"};
    for (size_t i = 0; i < 4; i++) {
        char path[READING_PATH_SIZE];
        medley_dataset *dataset;
        medley_error error = {0};
        const double value = 1;
        assert_int_equal(medley_dataset_from_dense(&dataset, &value, 1, 1, &bad[i], NULL),
                         MEDLEY_OK);
        close(reading_temporary(path, ".svm"));
        assert_int_equal(medley_dataset_write(dataset, path, NULL, &error), MEDLEY_USAGE);
        assert_non_null(strstr(error.message, bad[i]));
        unlink(path);
        medley_dataset_free(dataset);
    }
}

/* ---- numbers ---- */

/* The text of a random number with up to 22 digits, a point somewhere, sometimes an exponent. */
static void random_number(char text[64], md_random *random)
{
    char *p = text;
    const size_t digits = 1 + md_random_below(random, 22);
    const size_t point = md_random_below(random, digits + 2);
    if (md_random_below(random, 3) == 0)
        *p++ = '-';
    for (size_t i = 0; i < digits; i++) {
        if (i == point)
            *p++ = '.';
        *p++ = (char)('0' + md_random_below(random, 10));
    }
    *p = '\0';
    if (md_random_below(random, 3) == 0)
        snprintf(p, 16, "%c%d", md_random_below(random, 2) ? 'e' : 'E',
                 (int)md_random_below(random, 40) - 20);
}

static void check_float(const char *text)
{
    char padded[128]; /* as in a file: more text follows, then the '\n' behind the input */
    for (int follow = 0; follow < 2; follow++) {
        snprintf(padded, sizeof padded, "%s%s\n", text,
                 follow ? " 123456789012345678901234567890" : "");
        const char *cursor = padded;
        float value = 0;
        assert_true(md_read_float(&cursor, padded + strlen(padded) - 1, &value));
        assert_ptr_equal(cursor, padded + strlen(text));
        if (value != (float)strtod(text, NULL))
            fail_msg("%s was read as %.9g", text, (double)value);
    }
}

static void numbers_are_read_as_the_c_library_reads_them(void **state)
{
    (void)state;
    static const char *const special[] = {"0",
                                          "-0",
                                          "5.",
                                          ".5",
                                          "1e5",
                                          "1E+5",
                                          "16777217",
                                          "16777217.0000000001",
                                          "0.1",
                                          "3.4028235e38",
                                          "1.17549435e-38",
                                          "1e-45",
                                          "123456789.987654321",
                                          "9007199791611905",
                                          "0.00000000000000000000001",
                                          "00000000000000000000001",
                                          "1e-400",
                                          "+7"};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        check_float(special[i]);
    md_random random;
    md_random_seed(&random, 5);
    char text[64];
    for (int i = 0; i < 50000; i++) {
        random_number(text, &random);
        check_float(text);
    }
    for (int i = 0; i < 20000; i++) { /* next to and at the midpoint of two floats */
        const float value = (float)md_random_normal(&random);
        const double middle = ((double)value + (double)nextafterf(value, 2 * value)) / 2 *
                              (1 + ((double)md_random_below(&random, 5) - 2) * 1.2e-16);
        snprintf(text, sizeof text, "%.*f", 17 + (int)md_random_below(&random, 2), middle);
        check_float(text);
    }
}

static void floats_are_written_shortly_and_read_back(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(md_float_text(text, 0.1f), "0.1");
    assert_string_equal(md_float_text(text, -12.0f), "-12");
    assert_string_equal(md_float_text(text, 1e-7f), "1e-07");
    assert_string_equal(md_float_text(text, 0.0f), "0");
    md_random random;
    md_random_seed(&random, 6);
    for (int i = 0; i < 50000; i++) {
        union {
            uint32_t bits;
            float value;
        } number = {.bits = (uint32_t)md_random_bits(&random)};
        if (i % 2 == 0)
            number.value = (float)md_random_normal(&random);
        if (!isfinite(number.value))
            continue;
        md_float_text(text, number.value);
        assert_true((float)strtod(text, NULL) == number.value);
        assert_true(strlen(text) <= 15);
        if (i % 2 == 0) { /* no text with fewer digits would do */
            int digits = 0;
            for (const char *p = text + strspn(text, "-0."); *p != '\0' && *p != 'e'; p++)
                digits += *p != '.';
            char shorter[32];
            snprintf(shorter, sizeof shorter, "%.*e", digits > 1 ? digits - 2 : 0,
                     (double)number.value);
            assert_true(digits == 1 || (float)strtod(shorter, NULL) != number.value);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_labels_and_values_are_read),
        cmocka_unit_test(an_index_of_zero_makes_the_file_count_from_zero),
        cmocka_unit_test(the_first_index_can_be_given),
        cmocka_unit_test(mostly_filled_rows_become_dense),
        cmocka_unit_test(rows_of_one_qid_are_a_sequence),
        cmocka_unit_test(labels_may_be_missing_when_they_are_not_looked_at),
        cmocka_unit_test(columns_can_be_chosen_by_number),
        cmocka_unit_test(malformed_lines_are_refused_with_their_number),
        cmocka_unit_test(truncated_files_are_read_or_refused),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(labels_that_are_no_single_word_are_not_written),
        cmocka_unit_test(numbers_are_read_as_the_c_library_reads_them),
        cmocka_unit_test(floats_are_written_shortly_and_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
