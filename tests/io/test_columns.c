/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns between blanks: tagged words and plain tables. */
#include "format_checks.h"

static const char WORDS[] = "He PRP B-NP\nreckons\tVBZ  B-VP\n. . O\n\nNow RB O\n, , O\n";

static void tokens_labels_and_sequences_are_read(void **state)
{
    (void)state;
    medley_dataset *dataset = read_good(WORDS, strlen(WORDS), NULL);
    assert_int_equal(dataset->rows, 5);
    assert_int_equal(dataset->sequence_count, 2);
    assert_int_equal(dataset->sequence_start[0], 0);
    assert_int_equal(dataset->sequence_start[1], 3);
    assert_int_equal(dataset->sequence_start[2], 5);
    assert_int_equal(dataset->table_count, 0);
    assert_int_equal(dataset->token_columns, 2);
    assert_string_equal(dataset->token_values[0].items[dataset->token[1 * 2 + 0]], "reckons");
    assert_string_equal(dataset->token_values[1].items[dataset->token[4 * 2 + 1]], ",");
    assert_int_equal(medley_dataset_label_count(dataset), 3);
    assert_string_equal(medley_dataset_label_name(dataset, 2), "O");
    assert_int_equal(medley_dataset_label(dataset, 0), 0);
    assert_int_equal(medley_dataset_label(dataset, 4), 2);
    medley_dataset_free(dataset);
}

static void blank_lines_and_line_ends_may_vary(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbf\n \nx a\r\n\r\n\t\r\n\r\ny b\r\n\r\n";
    medley_dataset *dataset = read_good(text, strlen(text), NULL);
    assert_int_equal(dataset->rows, 2);
    assert_int_equal(dataset->sequence_count, 2);
    assert_string_equal(medley_dataset_label_name(dataset, 1), "b");
    assert_string_equal(dataset->token_values[0].items[0], "x");
    medley_dataset_free(dataset);
}

static void numbers_without_blank_lines_are_a_table(void **state)
{
    (void)state;
    static const char text[] = "1.5 -2 yes\n3e2 0 no\n\n\n";
    medley_dataset *dataset = read_good(text, strlen(text), NULL);
    assert_int_equal(dataset->rows, 2);
    assert_int_equal(dataset->sequence_count, 0);
    assert_int_equal(dataset->token_columns, 0);
    assert_int_equal(medley_dataset_columns(dataset), 2);
    float row[2];
    medley_dataset_row(row, dataset, 1);
    assert_true(row[0] == 300 && row[1] == 0);
    medley_dataset_row(row, dataset, 0);
    assert_true(row[0] == 1.5F && row[1] == -2);
    assert_string_equal(medley_dataset_label_name(dataset, 0), "no");
    medley_dataset_free(dataset);
    /* a blank line between rows, or words in most of them, and they are tokens */
    dataset = read_good("1 2 x\n\n3 4 y\n", 13, NULL);
    assert_int_equal(dataset->token_columns, 2);
    medley_dataset_free(dataset);
    static const char sentence[] = "1992 O\nwas O\nfine O\n"; /* begins with a number */
    dataset = read_good(sentence, strlen(sentence), NULL);
    assert_int_equal(dataset->token_columns, 1);
    assert_int_equal(dataset->sequence_count, 1);
    medley_dataset_free(dataset);
}

static void numbers_are_tokens_where_tokens_are_expected(void **state)
{
    (void)state;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.text_columns = true;
    options.feature_count = 1;
    medley_dataset *dataset = read_good("1992 007\n12 1.0\n", 16, &options);
    assert_int_equal(dataset->token_columns, 1);
    assert_int_equal(dataset->sequence_count, 1);
    assert_int_equal(dataset->table_count, 0);
    assert_string_equal(medley_dataset_label_name(dataset, 1), "7"); /* canonical ... */
    assert_string_equal(dataset->label_texts.items[0], "007");       /* ... and as it was */
    medley_dataset_free(dataset);
}

static void sequences_may_be_short_or_long(void **state)
{
    (void)state;
    enum { LENGTH = 100000 };
    static const char short_ones[] = "a X\n\n\n\nb Y\n\nc X";
    medley_dataset *dataset = read_good(short_ones, strlen(short_ones), NULL);
    assert_int_equal(dataset->sequence_count, 3);
    for (size_t s = 0; s <= 3; s++)
        assert_int_equal(dataset->sequence_start[s], s);
    medley_dataset_free(dataset);
    md_text text = {0};
    for (size_t i = 0; i < LENGTH; i++)
        md_text_addf(&text, "w%zu %c\n", i % 977, "XYZ"[i % 3]);
    md_text_addf(&text, "\nlast X");
    dataset = read_good(text.data, text.length, NULL);
    assert_int_equal(dataset->sequence_count, 2);
    assert_int_equal(dataset->sequence_start[1], LENGTH);
    assert_int_equal(dataset->rows, LENGTH + 1);
    assert_int_equal(dataset->token_values[0].count, 978);
    assert_int_equal(medley_dataset_label(dataset, LENGTH - 1), (LENGTH - 1) % 3);
    medley_dataset_free(dataset);
    md_text_clear(&text);
}

static void the_label_column_can_be_chosen(void **state)
{
    (void)state;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.label = "1";
    medley_dataset *dataset = read_good(WORDS, strlen(WORDS), &options);
    assert_int_equal(medley_dataset_label_count(dataset), 5);
    assert_string_equal(dataset->token_values[0].items[dataset->token[0]], "PRP");
    assert_string_equal(dataset->token_values[1].items[dataset->token[1]], "B-NP");
    medley_dataset_free(dataset);
    options.label = "none";
    dataset = read_good(WORDS, strlen(WORDS), &options);
    assert_null(dataset->label);
    assert_int_equal(dataset->token_columns, 3);
    medley_dataset_free(dataset);
    options.label = "4";
    medley_error error = {0};
    assert_int_equal(read_text(&dataset, WORDS, strlen(WORDS), &options, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "choose 1 to 3"));
}

static void labels_may_be_missing_or_ignored(void **state)
{
    (void)state;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.feature_count = 3; /* all columns of the file are features */
    options.ignore_labels = true;
    medley_dataset *dataset = read_good(WORDS, strlen(WORDS), &options);
    assert_null(dataset->label);
    assert_int_equal(dataset->token_columns, 3);
    medley_dataset_free(dataset);
    options.label = "2"; /* not even that one: the model needs them all */
    dataset = read_good(WORDS, strlen(WORDS), &options);
    assert_int_equal(dataset->token_columns, 3);
    medley_dataset_free(dataset);
    options.label = NULL;
    options.feature_count = 2; /* the last one is a label, kept to be written again */
    dataset = read_good(WORDS, strlen(WORDS), &options);
    assert_int_equal(dataset->token_columns, 2);
    assert_string_equal(dataset->label_texts.items[dataset->label_text[1]], "B-VP");
    assert_int_equal(medley_dataset_label_count(dataset), 3);
    medley_dataset_free(dataset);
    options.feature_count = 2; /* in a table of numbers it is not looked at */
    dataset = read_good("1 2 x\n3 4 y\n", 12, &options);
    assert_int_equal(medley_dataset_columns(dataset), 2);
    assert_null(dataset->label);
    assert_null(dataset->label_text);
    medley_dataset_free(dataset);
    options.feature_count = 1;
    options.format = "columns";
    dataset = read_good("a\nb\n", 4, &options);
    assert_int_equal(dataset->token_columns, 1);
    assert_int_equal(dataset->rows, 2);
    medley_dataset_free(dataset);
}

static void bad_files_are_refused_with_their_line(void **state)
{
    (void)state;
    static const bad_file files[] = {
        {"a b c\nd e\n", 2, "found 2 fields, expected 3 as on line 1"},
        {"\n\na b\n\nd e f\n", 5, "found 3 fields, expected 2 as on line 3"},
        {"a\nb\n", 1, "found one field"},
        {"a b\r\n\r\nc\r\n", 3, "found 1 fields, expected 2 as on line 1"},
        {"1 nan x\n2 3 y\n", 1, "column 2 is nan"},
        {"1 2 x\n2 1e99 y\n", 2, "column 2 is 1e99"},
        {"1 2 x\n2 oops y\n3 4 x\n", 2, "found 'oops', expected a number"},
        {" \n\t\n", 0, "no rows"},
    };
    check_all_refused("columns", files, sizeof files / sizeof *files);
    check_refused("columns", "a b\nc \0 d\n", 10, 2, "NUL");
}

static void text_columns_cannot_be_chosen(void **state)
{
    (void)state;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    options.columns = "1";
    assert_int_equal(read_text(&dataset, WORDS, strlen(WORDS), &options, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "kept whole"));
    dataset = read_good("7 8 x\n9 10 y\n", 13, &options);
    assert_int_equal(medley_dataset_columns(dataset), 1);
    medley_dataset_free(dataset);
}

static void cut_off_files_never_crash(void **state)
{
    (void)state;
    static const char numbers[] = "1.5e-3 -2 x\n3 4 y\n";
    check_truncations("columns", WORDS, strlen(WORDS));
    check_truncations("columns", numbers, strlen(numbers));
}

static void files_are_written_as_they_were_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "He PRP B-NP\nreckons VBZ B-VP\n\nNow RB O\n",
        "one a\n",
        "1.5 -2 no\n300 0.001 yes\n",
    };
    for (size_t i = 0; i < 3; i++) {
        medley_dataset *dataset = read_good(texts[i], strlen(texts[i]), NULL);
        check_round_trip(dataset, "columns", texts[i], strlen(texts[i]));
        medley_dataset_free(dataset);
    }
}

static void texts_with_blanks_are_not_written(void **state)
{
    (void)state;
    const double values[] = {1, 2};
    const char *const labels[] = {"a b", "c"};
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    assert_int_equal(medley_dataset_from_dense(&dataset, values, 2, 1, labels, &error), MEDLEY_OK);
    char path[READING_PATH_SIZE];
    reading_write(path, "", "", 0);
    assert_int_equal(medley_dataset_write(dataset, path, "columns", &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "'a b'"));
    unlink(path);
    medley_dataset_free(dataset);
}

static void chunking_corpus_has_the_known_counts(void **state)
{
    (void)state;
    char path[READING_PATH_SIZE];
    if (!real_data(path, "conll2000/train.txt.gz"))
        skip();
    medley_dataset *dataset = read_real(path);
    assert_int_equal(medley_dataset_sequences(dataset), 8936);
    assert_int_equal(medley_dataset_rows(dataset), 211727);
    assert_int_equal(medley_dataset_label_count(dataset), 22);
    assert_int_equal(dataset->token_columns, 2);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_labels_and_sequences_are_read),
        cmocka_unit_test(blank_lines_and_line_ends_may_vary),
        cmocka_unit_test(numbers_without_blank_lines_are_a_table),
        cmocka_unit_test(numbers_are_tokens_where_tokens_are_expected),
        cmocka_unit_test(sequences_may_be_short_or_long),
        cmocka_unit_test(the_label_column_can_be_chosen),
        cmocka_unit_test(labels_may_be_missing_or_ignored),
        cmocka_unit_test(bad_files_are_refused_with_their_line),
        cmocka_unit_test(text_columns_cannot_be_chosen),
        cmocka_unit_test(cut_off_files_never_crash),
        cmocka_unit_test(files_are_written_as_they_were_read),
        cmocka_unit_test(texts_with_blanks_are_not_written),
        cmocka_unit_test(chunking_corpus_has_the_known_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
