/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known about rows, given from memory: labels, numbers to be predicted, sequences; and rows
 * chosen by number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "data/dataset.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 6, SEEDS = 100 };

/* Rows r of one column with the value r. */
static medley_dataset *numbered(size_t rows)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    double *values = malloc(rows * sizeof *values);
    for (size_t r = 0; r < rows; r++)
        values[r] = (double)r;
    assert_int_equal(medley_dataset_from_dense(&dataset, values, rows, 1, NULL, &error), MEDLEY_OK);
    free(values);
    return dataset;
}

static void assert_says(const medley_error *error, const char *phrase)
{
    if (strstr(error->message, phrase) == NULL)
        fail_msg("'%s' does not say '%s'", error->message, phrase);
}

/* ---- labels ---- */

static void names_keep_their_order_and_unused_ones_count(void **state)
{
    (void)state;
    static const char *const names[] = {"pear", "apple", "fig", "kiwi"};
    const int32_t label[ROWS] = {1, 0, -1, 1, 1, 0};
    medley_error error = {0};
    medley_dataset *dataset = numbered(ROWS);
    assert_int_equal(medley_dataset_put_labels(dataset, label, ROWS, names, 4, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_label_count(dataset), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(medley_dataset_label_name(dataset, i), names[i]);
    for (size_t r = 0; r < ROWS; r++)
        assert_int_equal(medley_dataset_label(dataset, r), label[r]);
    assert_null(dataset->target);
    medley_dataset_free(dataset);
}

/* Numbers have targets, as those of a file have, and are written as there. */
static void names_that_are_numbers_are_targets_too(void **state)
{
    (void)state;
    static const char *const names[] = {"2.50", "-1", "+10"};
    static const char *const written[] = {"2.5", "-1", "10"};
    const int32_t label[ROWS] = {2, 1, 0, 0, -1, 2};
    const double value[] = {2.5, -1, 10};
    medley_error error = {0};
    medley_dataset *dataset = numbered(ROWS);
    assert_int_equal(medley_dataset_put_labels(dataset, label, ROWS, names, 3, &error), MEDLEY_OK);
    assert_non_null(dataset->target);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(medley_dataset_label_name(dataset, i), written[i]);
    for (size_t r = 0; r < ROWS; r++)
        assert_true(label[r] < 0 ? isnan(dataset->target[r])
                                 : dataset->target[r] == value[label[r]]);
    medley_dataset_free(dataset);
}

static void labels_may_come_before_the_table_and_be_replaced(void **state)
{
    (void)state;
    static const char *const names[] = {"b", "a"};
    const int32_t label[] = {0, 1};
    const double target[] = {0.5, -3};
    const double values[] = {1, 2, 3};
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    assert_int_equal(medley_dataset_create(&dataset, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_put_labels(dataset, label, 2, names, 2, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_rows(dataset), 2);
    medley_table table = MEDLEY_TABLE_INIT;
    table.rows = 3;
    table.columns = 1;
    table.values = values;
    assert_int_equal(medley_dataset_put_table(dataset, &table, &error), MEDLEY_BAD_INPUT);
    table.rows = 2;
    error = (medley_error){0};
    assert_int_equal(medley_dataset_put_table(dataset, &table, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_put_targets(dataset, target, 2, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_label_count(dataset), 0);
    assert_int_equal(medley_dataset_label(dataset, 0), -1);
    assert_memory_equal(dataset->target, target, sizeof target);
    assert_int_equal(medley_dataset_put_labels(dataset, label, 2, names, 2, &error), MEDLEY_OK);
    assert_null(dataset->target);
    assert_string_equal(medley_dataset_label_name(dataset, 1), "a");
    medley_dataset_free(dataset);
}

static void bad_labels_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    static const char *const twice[] = {"1", "2", "1.0"};
    static const char *const missing[] = {"a", NULL, "c"};
    static const char *const empty[] = {"a", "b", ""};
    const int32_t good[ROWS] = {0, 1, 2, 0, 1, 2};
    const int32_t beyond[ROWS] = {0, 1, 2, 0, 3, 2};
    const int32_t below[ROWS] = {0, -2, 2, 0, 1, 2};
    const double target[ROWS] = {0, 1, 2, (double)NAN, 4, 5};
    const struct {
        const int32_t *label;
        size_t rows;
        const char *const *names;
        size_t count;
        const char *phrase;
    } cases[] = {
        {beyond, ROWS, names, 3, "row 5 is number 3, and the names have the numbers 0 to 2"},
        {below, ROWS, names, 3, "row 2 is number -2"},
        {good, ROWS, twice, 3, "0 and 2 are both called '1'"},
        {good, ROWS, missing, 3, "name of label 1 is NULL"},
        {good, ROWS, empty, 3, "name of label 2 is empty"},
        {NULL, ROWS, names, 3, "labels are NULL"},
        {good, ROWS, NULL, 3, "names of labels are NULL"},
        {good, ROWS - 1, names, 3, "5 labels for 6 rows"},
        {good, 0, names, 3, "no labels"},
        {good, ROWS, names, 0, "0 names"},
    };
    medley_dataset *dataset = numbered(ROWS);
    medley_error error = {0};
    assert_int_equal(medley_dataset_put_labels(dataset, good, ROWS, names, 3, &error), MEDLEY_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error = (medley_error){0};
        assert_true(medley_dataset_put_labels(dataset, cases[i].label, cases[i].rows,
                                              cases[i].names, cases[i].count, &error) < 0);
        assert_says(&error, cases[i].phrase);
        assert_memory_equal(dataset->label, good, sizeof good); /* what was there stays */
        assert_int_equal(medley_dataset_label_count(dataset), 3);
    }
    error = (medley_error){0};
    assert_int_equal(medley_dataset_put_targets(dataset, target, ROWS, &error), MEDLEY_BAD_INPUT);
    assert_says(&error, "of row 4 is nan");
    error = (medley_error){0};
    assert_int_equal(medley_dataset_put_targets(dataset, target, 3, &error), MEDLEY_BAD_INPUT);
    assert_says(&error, "3 numbers to be predicted for 6 rows");
    error = (medley_error){0};
    assert_int_equal(medley_dataset_put_targets(dataset, NULL, ROWS, &error), MEDLEY_USAGE);
    assert_says(&error, "numbers to be predicted are NULL");
    assert_memory_equal(dataset->label, good, sizeof good);
    medley_dataset_free(dataset);
}

/* However many names there are beside those of the rows: both parts have half of each label. */
static void names_without_rows_are_no_strata(void **state)
{
    (void)state;
    enum { MANY = 40, NAMES = 100 };
    char texts[NAMES][8];
    const char *names[NAMES];
    int32_t label[MANY];
    for (size_t i = 0; i < NAMES; i++) {
        snprintf(texts[i], sizeof texts[i], "n%zu", i);
        names[i] = texts[i];
    }
    for (size_t r = 0; r < MANY; r++)
        label[r] = r % 4 == 0 ? 99 : r % 4 == 1 ? 7 : 3;
    medley_error error = {0};
    medley_dataset *dataset = numbered(MANY);
    medley_dataset *half = NULL;
    assert_int_equal(medley_dataset_put_labels(dataset, label, MANY, names, NAMES, &error),
                     MEDLEY_OK);
    assert_int_equal(medley_dataset_folds(&half, dataset, "0/2", &error), MEDLEY_OK);
    size_t counts[NAMES] = {0};
    for (size_t r = 0; r < half->rows; r++)
        counts[medley_dataset_label(half, r)]++;
    assert_int_equal(counts[99], 5);
    assert_int_equal(counts[7], 5);
    assert_int_equal(counts[3], 10);
    medley_dataset_free(half);
    medley_dataset_free(dataset);
}

/* ---- numbers to be predicted ---- */

/* A file with labels of its own that is added to them: they stay, and must be the same. */
static void targets_stay_when_a_file_is_added(void **state)
{
    (void)state;
    static const char *const files[] = {"1,0.5\n2,0.25\n3,7\n", "1,0.5\n2,0.3\n3,7\n",
                                        "1,a\n2,b\n3,a\n", "1\n2\n3\n"};
    static const medley_status codes[] = {MEDLEY_OK, MEDLEY_BAD_INPUT, MEDLEY_BAD_INPUT, MEDLEY_OK};
    static const char *const label_columns[] = {"last", "last", "last", "none"};
    const double target[] = {0.5, 0.25, 7};
    for (size_t i = 0; i < 4; i++) {
        char path[] = "/tmp/medley-rows-XXXXXX.csv";
        const int handle = mkstemps(path, 4);
        assert_true(handle >= 0);
        assert_int_equal(write(handle, files[i], strlen(files[i])), strlen(files[i]));
        close(handle);
        medley_error error = {0};
        medley_dataset *dataset = NULL;
        medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
        options.label = label_columns[i];
        assert_int_equal(medley_dataset_create(&dataset, &error), MEDLEY_OK);
        assert_int_equal(medley_dataset_put_targets(dataset, target, 3, &error), MEDLEY_OK);
        assert_int_equal(medley_dataset_add_table(dataset, "", path, &options, &error), codes[i]);
        if (codes[i] < 0)
            assert_says(&error, i == 1 ? "row 2 is '0.3'" : "row 1 is 'a'");
        assert_memory_equal(dataset->target, target, sizeof target);
        assert_null(dataset->label);
        medley_dataset_free(dataset);
        remove(path);
    }
}

/* The same parts as of labels with these numbers, whether they repeat or not. */
static void targets_are_divided_as_the_labels_of_a_file(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        enum { MANY = 60 };
        md_random random;
        md_random_seed(&random, seed);
        const size_t distinct = 1 + md_random_below(&random, 40);
        double target[MANY];
        char texts[MANY][32];
        const char *labels[MANY];
        double values[MANY];
        for (size_t r = 0; r < MANY; r++) {
            target[r] = ((double)md_random_below(&random, distinct) - 10) / 4;
            labels[r] = md_format_double(texts[r], target[r]);
            values[r] = (double)r;
        }
        medley_error error = {0};
        medley_dataset *named = NULL;
        medley_dataset *bare = numbered(MANY);
        assert_int_equal(medley_dataset_from_dense(&named, values, MANY, 1, labels, &error),
                         MEDLEY_OK);
        assert_int_equal(medley_dataset_put_targets(bare, target, MANY, &error), MEDLEY_OK);
        medley_dataset *expected = NULL;
        medley_dataset *found = NULL;
        assert_int_equal(medley_dataset_folds(&expected, named, "1-3/4", &error), MEDLEY_OK);
        assert_int_equal(medley_dataset_folds(&found, bare, "1-3/4", &error), MEDLEY_OK);
        assert_int_equal(found->rows, expected->rows);
        assert_memory_equal(found->tables[0].features.dense, expected->tables[0].features.dense,
                            found->rows * sizeof(float));
        assert_memory_equal(found->target, expected->target, found->rows * sizeof(double));
        medley_dataset_free(expected);
        medley_dataset_free(found);
        medley_dataset_free(named);
        medley_dataset_free(bare);
    }
}

/* ---- sequences ---- */

static void sequences_have_the_lengths_given(void **state)
{
    (void)state;
    const size_t length[] = {1, 3, 2};
    const size_t one[] = {6};
    medley_error error = {0};
    medley_dataset *dataset = numbered(ROWS);
    assert_int_equal(medley_dataset_put_sequences(dataset, length, 3, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_sequences(dataset), 3);
    const size_t start[] = {0, 1, 4, 6};
    for (size_t s = 0; s < 4; s++)
        assert_int_equal(medley_dataset_sequence_row(dataset, s), start[s]);
    assert_int_equal(medley_dataset_put_sequences(dataset, one, 1, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_sequences(dataset), 1);
    medley_dataset_free(dataset);
}

static void bad_sequences_are_refused(void **state)
{
    (void)state;
    const size_t empty[] = {3, 0, 3};
    const size_t few[] = {3, 2};
    const size_t endless[] = {3, SIZE_MAX};
    const struct {
        const size_t *length;
        size_t count;
        const char *phrase;
    } cases[] = {{empty, 3, "sequence 2 has no rows"},
                 {few, 2, "add up to 5 rows, and there are 6"},
                 {endless, 2, "too many"},
                 {few, 0, "no sequences"}};
    medley_dataset *dataset = numbered(ROWS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_error error = {0};
        assert_int_equal(
            medley_dataset_put_sequences(dataset, cases[i].length, cases[i].count, &error),
            MEDLEY_BAD_INPUT);
        assert_says(&error, cases[i].phrase);
        assert_int_equal(medley_dataset_sequences(dataset), 0);
    }
    medley_error missing = {0};
    assert_int_equal(medley_dataset_put_sequences(dataset, NULL, 2, &missing), MEDLEY_USAGE);
    assert_says(&missing, "lengths of sequences are NULL");
    medley_dataset *selected = NULL;
    missing = (medley_error){0};
    assert_int_equal(medley_dataset_rows_of(&selected, dataset, NULL, 2, &missing), MEDLEY_USAGE);
    assert_says(&missing, "numbers of rows are NULL");
    medley_dataset_free(dataset);
    static const char text[] = "He PRP B\nran VB I\n\nNo UH B\n";
    const size_t three[] = {3};
    medley_error error = {0};
    assert_int_equal(medley_dataset_parse(&dataset, text, strlen(text), "a.conll", NULL, &error),
                     MEDLEY_OK);
    assert_int_equal(medley_dataset_put_sequences(dataset, three, 1, &error), MEDLEY_USAGE);
    assert_says(&error, "sequences of their own");
    medley_dataset_free(dataset);
}

/* ---- rows by number ---- */

static void rows_come_in_the_order_named(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        enum { MANY = 20 };
        md_random random;
        md_random_seed(&random, seed);
        medley_dataset *dataset = numbered(MANY);
        double target[MANY];
        float gram[MANY * MANY];
        size_t rows[MANY];
        const size_t count = 1 + md_random_below(&random, MANY);
        for (size_t r = 0; r < MANY; r++)
            target[r] = -(double)r;
        for (size_t i = 0; i < MANY * MANY; i++)
            gram[i] = (float)i;
        for (size_t i = 0; i < count; i++)
            rows[i] = md_random_below(&random, MANY); /* some more than once */
        medley_error error = {0};
        medley_table table = MEDLEY_TABLE_INIT;
        table.rows = table.columns = MANY;
        table.type = MEDLEY_FLOAT32;
        table.values = gram;
        table.borrow = true;
        assert_int_equal(medley_dataset_put_targets(dataset, target, MANY, &error), MEDLEY_OK);
        assert_int_equal(medley_dataset_put_gram(dataset, &table, NULL, &error), MEDLEY_OK);
        medley_dataset *chosen = NULL;
        assert_int_equal(medley_dataset_rows_of(&chosen, dataset, rows, count, &error), MEDLEY_OK);
        medley_dataset_free(dataset);
        assert_int_equal(chosen->rows, count);
        assert_int_equal(chosen->grams[0].values.columns, count);
        for (size_t i = 0; i < count; i++) {
            assert_true(chosen->tables[0].features.dense[i] == (float)rows[i]);
            assert_true(chosen->target[i] == -(double)rows[i]);
            for (size_t j = 0; j < count; j++)
                assert_true(chosen->grams[0].values.dense[i * count + j] ==
                            (float)(rows[i] * MANY + rows[j]));
        }
        medley_dataset_free(chosen);
    }
}

static void sequences_are_chosen_whole(void **state)
{
    (void)state;
    const size_t length[] = {1, 3, 2};
    const size_t good[] = {4, 5, 0, 4, 5};
    const size_t within[] = {0, 2, 3};
    const size_t cut[] = {4, 5, 1, 2};
    const size_t mixed[] = {1, 3, 2};
    const size_t beyond[] = {0, 6};
    medley_error error = {0};
    medley_dataset *dataset = numbered(ROWS);
    medley_dataset *chosen = NULL;
    assert_int_equal(medley_dataset_put_sequences(dataset, length, 3, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_rows_of(&chosen, dataset, good, 5, &error), MEDLEY_OK);
    assert_int_equal(chosen->sequence_count, 3);
    assert_int_equal(chosen->sequence_start[1], 2);
    assert_int_equal(chosen->sequence_start[2], 3);
    assert_int_equal(chosen->sequence_start[3], 5);
    medley_dataset_free(chosen);
    const struct {
        const size_t *rows;
        size_t count;
        const char *phrase;
    } cases[] = {{within, 3, "row 2 stands within a sequence"},
                 {cut, 4, "row 3 of a sequence is missing"},
                 {mixed, 3, "row 2 of a sequence is missing or out of order"},
                 {beyond, 2, "there is no row 6; the rows have the numbers 0 to 5"},
                 {good, 0, "no rows were named"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error = (medley_error){0};
        chosen = NULL;
        assert_int_equal(
            medley_dataset_rows_of(&chosen, dataset, cases[i].rows, cases[i].count, &error),
            MEDLEY_USAGE);
        assert_says(&error, cases[i].phrase);
        assert_null(chosen);
    }
    medley_dataset_free(dataset);
}

/* ---- words ---- */

static void words_and_heads_can_be_looked_at(void **state)
{
    (void)state;
    static const char tree[] = "1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\n"
                               "2\trains\train\tVERB\t_\t_\t0\troot\t_\t_\n"
                               "3\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_\n";
    static const char tagged[] = "It PRP B\nrains VBZ I\n";
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    assert_int_equal(medley_dataset_parse(&dataset, tree, strlen(tree), "a.conllu", NULL, &error),
                     MEDLEY_OK);
    assert_int_equal(medley_dataset_word_columns(dataset), 10);
    assert_string_equal(medley_dataset_word(dataset, 0, 1), "It");
    assert_string_equal(medley_dataset_word(dataset, 1, 7), "root");
    assert_null(medley_dataset_word(dataset, 3, 1));
    assert_null(medley_dataset_word(dataset, 0, 10));
    assert_int_equal(medley_dataset_head(dataset, 0), 2);
    assert_int_equal(medley_dataset_head(dataset, 1), 0);
    assert_int_equal(medley_dataset_head(dataset, 2), -1);
    assert_int_equal(medley_dataset_head(dataset, 3), -1);
    medley_dataset_free(dataset);
    assert_int_equal(
        medley_dataset_parse(&dataset, tagged, strlen(tagged), "a.conll", NULL, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_word_columns(dataset), 2);
    assert_string_equal(medley_dataset_word(dataset, 1, 1), "VBZ");
    assert_int_equal(medley_dataset_head(dataset, 0), -1);
    medley_dataset_free(dataset);
    dataset = numbered(2);
    assert_int_equal(medley_dataset_word_columns(dataset), 0);
    assert_null(medley_dataset_word(dataset, 0, 0));
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_keep_their_order_and_unused_ones_count),
        cmocka_unit_test(names_that_are_numbers_are_targets_too),
        cmocka_unit_test(labels_may_come_before_the_table_and_be_replaced),
        cmocka_unit_test(bad_labels_are_refused),
        cmocka_unit_test(names_without_rows_are_no_strata),
        cmocka_unit_test(targets_stay_when_a_file_is_added),
        cmocka_unit_test(targets_are_divided_as_the_labels_of_a_file),
        cmocka_unit_test(sequences_have_the_lengths_given),
        cmocka_unit_test(bad_sequences_are_refused),
        cmocka_unit_test(rows_come_in_the_order_named),
        cmocka_unit_test(sequences_are_chosen_whole),
        cmocka_unit_test(words_and_heads_can_be_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
