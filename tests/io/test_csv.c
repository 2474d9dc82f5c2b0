/* SPDX-License-Identifier: BSD-3-Clause */
/* The CSV format: headers, label columns, quotes, what is refused, and that what is written is read
 * back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "data/dataset.h"
#include "io/reading.h"
#include <math.h>

static medley_dataset *read_good(const char *text, const medley_read_options *options)
{
    medley_dataset *dataset;
    medley_error error;
    medley_read_options csv = MEDLEY_READ_OPTIONS_INIT;
    if (options != NULL)
        csv = *options;
    csv.format = "csv";
    if (read_text(&dataset, text, strlen(text), &csv, &error) < 0)
        fail_msg("%s: %s", text, error.message);
    return dataset;
}

static void check_shape(const medley_dataset *dataset, size_t rows, size_t columns, size_t labels)
{
    assert_int_equal(medley_dataset_rows(dataset), rows);
    assert_int_equal(medley_dataset_columns(dataset), columns);
    assert_int_equal(medley_dataset_label_count(dataset), labels);
}

static float value_at(const medley_dataset *dataset, size_t row, size_t column)
{
    return dataset->tables[0].features.dense[row * medley_dataset_columns(dataset) + column];
}

static const char *label_at(const medley_dataset *dataset, size_t row)
{
    return medley_dataset_label_name(dataset, (size_t)medley_dataset_label(dataset, row));
}

static void plain_numbers_with_the_label_last_are_read(void **state)
{
    (void)state;
    medley_dataset *dataset = read_good("1,2.5,a\r\n\r\n-3e2, 4 ,b\n5,6,a", NULL);
    check_shape(dataset, 3, 2, 2);
    assert_true(value_at(dataset, 1, 0) == -300.0f && value_at(dataset, 1, 1) == 4.0f);
    assert_string_equal(label_at(dataset, 1), "b");
    assert_string_equal(label_at(dataset, 2), "a");
    assert_null(dataset->target);
    medley_dataset_free(dataset);
}

static void semicolons_and_tabs_are_recognised(void **state)
{
    (void)state;
    medley_dataset *dataset = read_good("\"a,b\";c;y\n1;2;0\n3;4;1\n", NULL);
    check_shape(dataset, 2, 2, 2);
    assert_string_equal(dataset->tables[0].column_names.items[0], "a,b");
    medley_dataset_free(dataset);
    dataset = read_good("1\t2\t0\n3\t4\t1\n", NULL);
    check_shape(dataset, 2, 2, 2);
    assert_true(value_at(dataset, 1, 1) == 4.0f);
    medley_dataset_free(dataset);
}

static void quotes_hold_delimiters_quotes_and_line_ends(void **state)
{
    (void)state;
    medley_dataset *dataset = read_good("\"x \"\"1\"\"\",label\n"
                                        "\"1.5\",\"a, \"\"b\"\"\nc\"\n"
                                        " \"2\" ,plain\n",
                                        NULL);
    check_shape(dataset, 2, 1, 2);
    assert_string_equal(dataset->tables[0].column_names.items[0], "x \"1\"");
    assert_string_equal(label_at(dataset, 0), "a, \"b\"\nc");
    assert_true(value_at(dataset, 0, 0) == 1.5f && value_at(dataset, 1, 0) == 2.0f);
    medley_dataset_free(dataset);
}

static void headers_are_guessed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t rows, columns;
    } cases[] = {
        {"a,b,label\n1,2,x\n", 1, 2},                     /* words above numbers */
        {"1,2,x\n3,4,x\n", 2, 2},                         /* a label is no header */
        {"id,1999,label\n1,2,3\n", 1, 2},                 /* one word is enough */
        {"0,1,2,3,4,5,0\n1,0,0,133.15,1.3,16,0\n", 1, 6}, /* a data frame's numbers */
        {"1,2,3,y\n7,8,9,1\n", 1, 3},                     /* the same from 1 */
        {"0,1,5\n1,1,5\n", 2, 2},                         /* too few to be a header */
        {"0,1,3,0\n1,1,5,1\n", 2, 3},                     /* not consecutive */
        {"5,6,1\n", 1, 2},
        {"2019,2020,label\n1,2,a\n", 1, 2},        /* years as names */
        {"400.5,401,Class\n1,2,a\n3,4,b\n", 2, 2}, /* wavelengths */
        {"1,y\n2,x\n3,y\n", 3, 1},                 /* a class called y, */
        {"1,2,x\n3,4,y\n", 2, 2},                  /* not in the first row */
        {"400.5,401.5,grade\n0.1,0.2,0\n", 1, 2},  /* any name above numbers */
        {"id,1.5,2.5,kind\n1,2,3,a\n", 1, 3},
        {"sample,401.5,400.5,kind\n1,2,3,a\n", 1, 3},
        {"25%,50%,kind\n1,2,a\n", 1, 2},
        {"Na,Type\n1.0,a\n", 1, 1},                                 /* sodium */
        {"0.2,1.2,target\n0.3,0.1,standard\n0.5,1,target\n", 3, 2}, /* a class, */
        {"1.2,0.2,target\n0.3,0.1,standard\n1,2,target\n", 3, 2},
        {"3,1,2,label\n1,2,3,a\n", 2, 3}, /* no scale */
        {"5,3;4\n2,1;3\n", 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_dataset *dataset = read_good(cases[i].text, NULL);
        assert_int_equal(medley_dataset_rows(dataset), cases[i].rows);
        assert_int_equal(medley_dataset_columns(dataset), cases[i].columns);
        medley_dataset_free(dataset);
    }
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.header = 0;
    medley_dataset *dataset = read_good("0,1,2,3,0\n1,2,3,4,1\n", &options);
    check_shape(dataset, 2, 4, 2);
    medley_dataset_free(dataset);
    options.header = 1;
    dataset = read_good("5,6,1\n7,8,2\n", &options);
    check_shape(dataset, 1, 2, 1);
    medley_dataset_free(dataset);
}

static void the_label_column_can_be_chosen(void **state)
{
    (void)state;
    static const char text[] = "a,Class,b,c\n1,10,2,3\n4,20,5,6\n";
    static const struct {
        const char *label;
        size_t columns, labels;
        const char *first;
    } cases[] = {{NULL, 3, 2, "10"},  {"Class", 3, 2, "10"}, {"1", 3, 2, "1"},
                 {"last", 3, 2, "3"}, {"b", 3, 2, "2"},      {"none", 4, 0, NULL}};
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options.label = cases[i].label;
        medley_dataset *dataset = read_good(text, &options);
        check_shape(dataset, 2, cases[i].columns, cases[i].labels);
        if (cases[i].first != NULL)
            assert_string_equal(label_at(dataset, 0), cases[i].first);
        medley_dataset_free(dataset);
    }
}

static void a_file_with_just_the_features_of_a_model_has_no_label(void **state)
{
    (void)state;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.feature_count = 3;
    medley_dataset *dataset = read_good("1,2,3\n4,5,6\n", &options);
    check_shape(dataset, 2, 3, 0);
    medley_dataset_free(dataset);
    options.feature_count = 2;
    dataset = read_good("1,2,3\n4,5,6\n", &options);
    check_shape(dataset, 2, 2, 2);
    medley_dataset_free(dataset);
    options.ignore_labels = true; /* then labels may be missing, as a column or in places */
    dataset = read_good("1,2,\n4,5,?\n", &options);
    check_shape(dataset, 2, 2, 0);
    medley_dataset_free(dataset);
    options.label = "class";
    dataset = read_good("a,b\n1,2\n4,5\n", &options);
    check_shape(dataset, 2, 2, 0);
    medley_dataset_free(dataset);
    options.label = "1";
    dataset = read_good("a,b\n1,2\n4,5\n", &options);
    check_shape(dataset, 2, 2, 0);
    medley_dataset_free(dataset);
}

static void feature_columns_can_be_chosen(void **state)
{
    (void)state;
    static const char text[] = "id,a,b,c-d,label\nu1,1,2,3,x\nu2,4,5,6,y\n";
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.columns = "2-3";
    medley_dataset *dataset = read_good(text, &options);
    check_shape(dataset, 2, 2, 2);
    assert_string_equal(dataset->tables[0].column_names.items[1], "b");
    medley_dataset_free(dataset);
    options.columns = "c-d,a";
    dataset = read_good(text, &options);
    check_shape(dataset, 2, 2, 2);
    assert_true(value_at(dataset, 1, 0) == 4.0f && value_at(dataset, 1, 1) == 6.0f);
    medley_dataset_free(dataset);
}

static void numbers_of_a_data_frame_are_no_names(void **state)
{
    (void)state;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.columns = "2";
    medley_dataset *dataset = read_good("0,1,2,0\n10,20,30,5\n", &options);
    assert_true(value_at(dataset, 0, 0) == 20.0f);
    assert_int_equal(dataset->tables[0].column_names.count, 0);
    medley_dataset_free(dataset);
}

static void malformed_files_are_refused_with_their_line(void **state)
{
    (void)state;
    static const reading_fault faults[] = {
        {"a,b,label\n1,2,x\n1,zwei,x\n", 3, "column 2 ('b') holds 'zwei', expected a number"},
        {"1,2,x\n1,,x\n", 2, "missing value in column 2"},
        {"1,2,x\n1,nan,x\n", 2, "missing value ('nan') in column 2"},
        {"1,2,x\n1,-inf,x\n", 2, "finite number"},
        {"1,2,x\n1,1e50,x\n", 2, "finite number"},
        {"1,2,x\n1,2\n", 2, "2 fields were found, expected 3"},
        {"1,2,x\n\n1,2,3,4\n", 3, "4 fields were found, expected 3"},
        {"1,2,x\n1,2,\n", 2, "the label is missing (column 3)"},
        {"1,2,x\n1,\"2,x\n3,4,y\n", 2, "a quote is opened here and not closed"},
        {"1,2,x\n1,\"2\"z,x\n", 2, "'z' follows a closing quote"},
        {"1,2,\"x\ny\"\n1,2,z\n1,b,c\n", 4, "expected a number"},
        {"a,b,label\n", 0, "no rows"},
        {"\n\n", 0, "no rows"},
        {"1,2;5,x\n1,2;5,x\n", 1, "expected a number"},
        {"1.5,-,0.3,a\n1,2,3,b\n", 1, "missing value ('-') in column 2"}, /* and no header */
        {"2,None,3,a\n1,2,3,b\n", 1, "missing value ('None') in column 2"},
        {"1,12%,3,a\n1,2,3,b\n", 1, "leave out the %"},
        {"1,25;2,5;a\n1,5;3,5;b\n", 1, "write a decimal point in place of the comma"},
        {"1,5;2,5;a\n1,2;3,5;b\n", 1, "write a decimal point in place of the comma"},
        {"1.5,red,a\n1,2,b\n", 1, "'red', expected a number"},
        {"w(kg),label\n1,a\nx,b\n", 3,
         "`ignore=1`"}, /* a name that a shell would not leave alone */
        {"a|b|y\n1|2|x\n", 2, "columns are separated by commas, semicolons or tabs"},
    };
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "csv";
    assert_true(reading_finds_faults(faults, sizeof faults / sizeof *faults, &options));
}

static void check_usage(const char *text, const medley_read_options *options, const char *phrase)
{
    medley_dataset *dataset;
    medley_error error;
    assert_int_equal(read_text(&dataset, text, strlen(text), options, &error), MEDLEY_USAGE);
    assert_null(dataset);
    if (strstr(error.message, phrase) == NULL)
        fail_msg("'%s' lacks '%s'", error.message, phrase);
}

static void columns_that_do_not_exist_are_named_with_those_that_do(void **state)
{
    (void)state;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "csv";
    options.label = "klass";
    check_usage("a,b,c\n1,2,3\n", &options, "no label column 'klass'; the columns are 'a', 'b'");
    options.label = "9";
    check_usage("1,2,3\n1,2,3\n", &options, "the columns are 1 to 3");
    options.label = "a";
    check_usage("a,a,c\n1,2,3\n", &options, "2 columns are called 'a'");
    options.label = NULL;
    options.columns = "1-2,x";
    check_usage("a,b,c\n1,2,3\n", &options, "there is no column 'x'");
    options.columns = "3-2";
    check_usage("a,b,c\n1,2,3\n", &options, "'3-2'");
    options.columns = "";
    check_usage("a,b,c\n1,2,3\n", &options, "no column");
    options.columns = "c";
    check_usage("a,b,c\n1,2,3\n", &options, "no column is left");
}

static void truncated_files_are_read_or_refused(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbfwidth,\"the, \"\"height\"\"\",label\r\n"
                               "1.25,-3e-2,\"a\nb\"\n 4 ,\"5\",c\n\n0.1234567890123,7,c\n";
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "csv";
    assert_true(reading_survives_truncation(text, strlen(text), &options));
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b c", "say \"x\"", "1,2", "line\nend"};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        md_random random;
        md_random_seed(&random, seed);
        const size_t rows = 1 + md_random_below(&random, 20);
        const size_t columns = 1 + md_random_below(&random, 9);
        double values[20 * 9];
        const char *labels[20];
        for (size_t i = 0; i < rows * columns; i++)
            values[i] =
                md_random_normal(&random) * pow(10, (double)md_random_below(&random, 60) - 30);
        for (size_t i = 0; i < rows; i++)
            labels[i] = names[md_random_below(&random, 5)];
        char path[READING_PATH_SIZE];
        medley_dataset *dataset = NULL;
        medley_dataset *back = NULL;
        assert_int_equal(medley_dataset_from_dense(&dataset, values, rows, columns, labels, NULL),
                         MEDLEY_OK);
        close(reading_temporary(path, seed % 3 == 0 ? ".csv.gz" : ".csv"));
        assert_int_equal(medley_dataset_write(dataset, path, NULL, NULL), MEDLEY_OK);
        assert_int_equal(medley_dataset_read(&back, path, NULL, NULL), MEDLEY_OK);
        unlink(path);
        check_shape(back, rows, columns, medley_dataset_label_count(dataset));
        assert_string_equal(back->tables[0].column_names.items[0], "x1");
        for (size_t row = 0; row < rows; row++)
            assert_string_equal(label_at(back, row), labels[row]);
        assert_memory_equal(back->tables[0].features.dense, dataset->tables[0].features.dense,
                            rows * columns * sizeof(float));
        medley_dataset_free(dataset);
        medley_dataset_free(back);
    }
}

static void files_of_the_shared_data_have_their_known_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t rows, columns, labels;
    } files[] = {{"uci/sonar.csv.gz", 208, 60, 2},
                 {"uci/liver.csv.gz", 345, 6, 2},
                 {"ida/waveform.csv.gz", 5000, 21, 2},
                 {"mfeat/mfeat-mor.csv.gz", 2000, 6, 10},
                 {"mfeat/mfeat-pix.csv.gz", 2000, 240, 10}};
    const char *folder = getenv("MEDLEY_DATA");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[READING_PATH_SIZE];
        snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "../shared/data",
                 files[i].name);
        if (access(path, R_OK) != 0) {
            print_message("%s is not there: skipped (MEDLEY_DATA names the folder)\n", path);
            skip();
        }
        medley_dataset *dataset;
        medley_error error = {0};
        if (medley_dataset_read(&dataset, path, NULL, &error) < 0)
            fail_msg("%s: %s", path, error.message);
        check_shape(dataset, files[i].rows, files[i].columns, files[i].labels);
        medley_dataset_free(dataset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_numbers_with_the_label_last_are_read),
        cmocka_unit_test(semicolons_and_tabs_are_recognised),
        cmocka_unit_test(quotes_hold_delimiters_quotes_and_line_ends),
        cmocka_unit_test(headers_are_guessed),
        cmocka_unit_test(the_label_column_can_be_chosen),
        cmocka_unit_test(a_file_with_just_the_features_of_a_model_has_no_label),
        cmocka_unit_test(feature_columns_can_be_chosen),
        cmocka_unit_test(numbers_of_a_data_frame_are_no_names),
        cmocka_unit_test(malformed_files_are_refused_with_their_line),
        cmocka_unit_test(columns_that_do_not_exist_are_named_with_those_that_do),
        cmocka_unit_test(truncated_files_are_read_or_refused),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(files_of_the_shared_data_have_their_known_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
