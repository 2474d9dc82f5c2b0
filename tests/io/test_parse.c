/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes in memory are read as files with the same bytes are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "data/dataset.h"
#include "reading.h"
#include <math.h>

enum { SEEDS = 60 };

static void assert_strings_equal(const md_strings *a, const md_strings *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_string_equal(a->items[i], b->items[i]);
}

static void assert_same(const medley_dataset *a, const medley_dataset *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(medley_dataset_columns(a), medley_dataset_columns(b));
    assert_string_equal(a->format, b->format);
    assert_strings_equal(&a->label_names, &b->label_names);
    assert_int_equal(a->label != NULL, b->label != NULL);
    if (a->label != NULL)
        assert_memory_equal(a->label, b->label, a->rows * sizeof *a->label);
    assert_int_equal(a->sequence_count, b->sequence_count);
    assert_int_equal(a->token_columns, b->token_columns);
    for (size_t c = 0; c < a->token_columns; c++)
        assert_strings_equal(&a->token_values[c], &b->token_values[c]);
    if (a->token_columns > 0)
        assert_memory_equal(a->token, b->token, a->rows * a->token_columns * sizeof *a->token);
    float left[64];
    float right[64];
    assert_true(medley_dataset_columns(a) <= 64);
    for (size_t r = 0; medley_dataset_columns(a) > 0 && r < a->rows; r++) {
        medley_dataset_row(left, a, r);
        medley_dataset_row(right, b, r);
        assert_memory_equal(left, right, medley_dataset_columns(a) * sizeof *left);
    }
}

/* Parses and reads the same bytes under names with the same ending. */
static void compare(const char *bytes, size_t length, const char *ending)
{
    char path[READING_PATH_SIZE];
    char name[32];
    medley_error error = {0};
    medley_dataset *read = NULL;
    medley_dataset *parsed = NULL;
    snprintf(name, sizeof name, "memory%s", ending);
    reading_write(path, ending, bytes, length);
    char *copy = malloc(length); /* nothing behind its end may be looked at */
    memcpy(copy, bytes, length);
    assert_int_equal(medley_dataset_read(&read, path, NULL, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_parse(&parsed, copy, length, name, NULL, &error), MEDLEY_OK);
    assert_memory_equal(copy, bytes, length); /* and nothing changed */
    free(copy);
    unlink(path);
    assert_same(read, parsed);
    assert_string_equal(parsed->source, name);
    medley_dataset_free(read);
    medley_dataset_free(parsed);
}

static void bytes_in_memory_are_read_as_files_are(void **state)
{
    (void)state;
    static const char *const endings[] = {".csv", ".svm", ".conll", ".conllu", ""};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const size_t kind = seed % 5;
        md_random random;
        md_text text = {0};
        md_random_seed(&random, seed);
        const size_t rows = 1 + md_random_below(&random, 8);
        for (size_t r = 0; r < rows; r++) {
            const int a = (int)md_random_below(&random, 9) + 1;
            const double b = md_random_normal(&random);
            if (kind == 0 || kind == 4)
                md_text_addf(&text, "%d,%.5g,c%d\n", a, b, a % 3);
            else if (kind == 1)
                md_text_addf(&text, "%d %d:%.5g 20:1\n", a % 2, a, b);
            else if (kind == 2)
                md_text_addf(&text, "w%d p%d L%d\n%s", a, a % 2, a % 3, a > 6 ? "\n" : "");
            else
                md_text_addf(&text, "1\tw%d\t_\tX%d\t_\t_\t0\troot\t_\t_\n\n", a, a % 3);
        }
        compare(text.data, text.length, endings[kind]);
        size_t packed = 0;
        char *gzip = reading_gzip(text.data, text.length, &packed);
        compare(gzip, packed, endings[kind]);
        free(gzip);
        md_text_clear(&text);
    }
}

/* A table put in memory is the table that a file with the same numbers gives. */
static void a_table_from_memory_is_that_of_a_file(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        enum { ROWS = 7, COLUMNS = 12 };
        md_random random;
        md_random_seed(&random, seed);
        md_text text = {0};
        float values[ROWS * COLUMNS];
        int64_t start[ROWS + 1] = {0};
        int32_t index[ROWS * COLUMNS];
        int32_t label[ROWS];
        size_t used = 0;
        for (size_t r = 0; r < ROWS; r++) {
            label[r] = r < 2 ? (int32_t)r : (int32_t)md_random_below(&random, 2);
            md_text_addf(&text, "%s", label[r] == 0 ? "no" : "yes");
            for (size_t c = 0; c < COLUMNS; c++) {
                if (c + 1 < COLUMNS && md_random_below(&random, 4) > 0)
                    continue;
                values[used] = (float)md_random_normal(&random);
                index[used] = (int32_t)c;
                md_text_addf(&text, " %zu:%.9g", c + 1, (double)values[used++]);
            }
            md_text_addf(&text, "\n");
            start[r + 1] = (int64_t)used;
        }
        static const char *const names[] = {"no", "yes"};
        medley_error error = {0};
        medley_dataset *read = NULL;
        medley_dataset *put = NULL;
        medley_table table = MEDLEY_TABLE_INIT;
        table.rows = ROWS;
        table.columns = COLUMNS;
        table.type = MEDLEY_FLOAT32;
        table.values = values;
        table.start = start;
        table.index = index;
        assert_int_equal(medley_dataset_parse(&read, text.data, text.length, "x.svm", NULL, &error),
                         MEDLEY_OK);
        assert_int_equal(medley_dataset_create(&put, &error), MEDLEY_OK);
        assert_int_equal(medley_dataset_put_table(put, &table, &error), MEDLEY_OK);
        assert_int_equal(medley_dataset_put_labels(put, label, ROWS, names, 2, &error), MEDLEY_OK);
        put->format = "svmlight";
        assert_same(read, put);
        medley_dataset_free(read);
        medley_dataset_free(put);
        md_text_clear(&text);
    }
}

static void errors_name_the_bytes_and_the_line(void **state)
{
    (void)state;
    static const char bad[] = "1,2,a\n3,x,b\n";
    static const char plain[] = "1,2\n";
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    assert_int_equal(medley_dataset_parse(&dataset, bad, strlen(bad), "lines.csv", NULL, &error),
                     MEDLEY_BAD_INPUT);
    assert_string_equal(error.file, "lines.csv");
    assert_int_equal(error.line, 2);
    error = (medley_error){0};
    assert_int_equal(medley_dataset_parse(&dataset, NULL, 0, "none.csv", NULL, &error),
                     MEDLEY_BAD_INPUT);
    assert_string_equal(error.file, "none.csv");
    assert_non_null(strstr(error.message, "empty"));
    size_t packed = 0;
    char *gzip = reading_gzip(plain, strlen(plain), &packed);
    error = (medley_error){0};
    assert_int_equal(medley_dataset_parse(&dataset, gzip, packed - 3, "cut.gz", NULL, &error),
                     MEDLEY_BAD_INPUT);
    assert_string_equal(error.file, "cut.gz");
    free(gzip);
    error = (medley_error){0};
    assert_int_equal(medley_dataset_parse(&dataset, "\1\2", 2, NULL, NULL, &error),
                     MEDLEY_BAD_INPUT);
    assert_string_equal(error.file, "text");
    assert_null(dataset);
}

/* Numbers to be predicted are written where labels stand, and come back as they were. */
static void targets_are_written_as_labels(void **state)
{
    (void)state;
    static const char *const endings[] = {".csv", ".svm", ".columns"};
    const double values[] = {1, 2, 3, 4, 5, 6};
    const double target[] = {0.1, -1e-7, 1234567.25};
    for (size_t i = 0; i < 3; i++) {
        char path[READING_PATH_SIZE];
        medley_error error = {0};
        medley_dataset *dataset = NULL;
        medley_dataset *back = NULL;
        reading_write(path, endings[i], "", 0);
        assert_int_equal(medley_dataset_from_dense(&dataset, values, 3, 2, NULL, &error),
                         MEDLEY_OK);
        assert_int_equal(medley_dataset_put_targets(dataset, target, 3, &error), MEDLEY_OK);
        assert_int_equal(medley_dataset_write(dataset, path, NULL, &error), MEDLEY_OK);
        assert_int_equal(medley_dataset_read(&back, path, NULL, &error), MEDLEY_OK);
        unlink(path);
        assert_int_equal(medley_dataset_columns(back), 2);
        assert_memory_equal(back->target, target, sizeof target);
        medley_dataset_free(back);
        medley_dataset_free(dataset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_in_memory_are_read_as_files_are),
        cmocka_unit_test(a_table_from_memory_is_that_of_a_file),
        cmocka_unit_test(errors_name_the_bytes_and_the_line),
        cmocka_unit_test(targets_are_written_as_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
