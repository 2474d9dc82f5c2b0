/* SPDX-License-Identifier: BSD-3-Clause */
/* CoNLL-U: words, the lines between them, and files that come back byte for byte. */
#include "format_checks.h"

/* One line of a word: ID, FORM, UPOS, HEAD. */
#define WORD(id, form, upos, head)                                                                 \
    id "\t" form "\t_\t" upos "\tX\tA=b|C=d\t" head "\troot\t" head ":root\tSpaceAfter=No\n"
#define OTHER(id, form) id "\t" form "\t_\t_\t_\t_\t_\t_\t_\t_\n"

static const char TREE[] =
    "# sent_id = 1\n"
    "# text = I don't\n" WORD("1", "I", "PRON", "2") OTHER("2-3", "don't")
        WORD("2", "do", "AUX", "0") WORD("3", "n't", "PART", "2")
            OTHER("3.1", "_") "\n"
                              "# sent_id = 2\n" OTHER("0.1", "_") WORD("1", "Yes", "_", "_") "\n";

static void words_labels_and_other_lines_are_read(void **state)
{
    (void)state;
    medley_dataset *dataset = read_good(TREE, strlen(TREE), NULL);
    assert_int_equal(dataset->rows, 4);
    assert_int_equal(dataset->sequence_count, 2);
    assert_int_equal(dataset->sequence_start[1], 3);
    assert_int_equal(dataset->sequence_start[2], 4);
    assert_int_equal(dataset->token_columns, 10);
    assert_string_equal(dataset->token_values[1].items[dataset->token[2 * 10 + 1]], "n't");
    assert_string_equal(dataset->token_values[6].items[dataset->token[0 * 10 + 6]], "2");
    assert_int_equal(medley_dataset_label_count(dataset), 3);
    assert_string_equal(medley_dataset_label_name(dataset, 0), "AUX");
    assert_int_equal(medley_dataset_label(dataset, 1), 0);
    assert_int_equal(medley_dataset_label(dataset, 3), -1); /* _ is no label */
    assert_int_equal(dataset->verbatim[0].row, 0);
    assert_string_equal(dataset->verbatim[1].text, "# text = I don't");
    assert_int_equal(dataset->verbatim[2].row, 1);
    medley_dataset_free(dataset);
}

static void the_label_column_can_be_chosen(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        size_t count;
    } cases[] = {{"XPOS", 1}, {"FORM", 4}, {"7", 2}, {"DEPREL", 1}, {"last", 1}, {"none", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
        options.label = cases[i].label;
        medley_dataset *dataset = read_good(TREE, strlen(TREE), &options);
        assert_int_equal(medley_dataset_label_count(dataset), cases[i].count);
        assert_int_equal(dataset->token_columns, 10);
        medley_dataset_free(dataset);
    }
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.label = "POS";
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    assert_int_equal(read_text(&dataset, TREE, strlen(TREE), &options, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "UPOS"));
}

static void bad_files_are_refused_with_their_line(void **state)
{
    (void)state;
    static const bad_file files[] = {
        {"# c\n1\ta\tb\n", 2, "3 columns between tabs, expected 10"},
        {WORD("1", "a\tb", "X", "0"), 1, "11 columns"},
        {WORD("1", "", "X", "0"), 1, "column FORM is empty"},
        {WORD("2", "a", "X", "0"), 1, "the ID is 2, expected 1"},
        {WORD("1", "a", "X", "0") WORD("1", "a", "X", "0"), 2, "the ID is 1, expected 2"},
        {WORD("1", "a", "X", "0") "\n" WORD("2", "a", "X", "0"), 3, "the ID is 2, expected 1"},
        {WORD("x", "a", "X", "0"), 1, "the ID is 'x'"},
        {WORD("-1", "a", "X", "0"), 1, "the ID is '-1'"},
        {WORD("1-", "a", "X", "0"), 1, "the ID is '1-'"},
        {WORD("99999999999", "a", "X", "0"), 1, "the ID is '99999999999'"},
        {WORD("1", "a", "X", "two"), 1, "the HEAD is 'two'"},
        {WORD("1", "a", "X", "-1"), 1, "the HEAD is '-1'"},
        {"# c\n" WORD("1", "a", "X", "3") WORD("2", "a", "X", "0") "\n", 2,
         "the HEAD is 3 but the sentence has 2 words"},
        {OTHER("2-3", "ab") WORD("1", "a", "X", "0"), 1, "starts with the next word"},
        {OTHER("1-2", "ab") WORD("1", "a", "X", "0"), 1, "reaches word 2"},
        {WORD("1", "a", "X", "0") OTHER("2.1", "ab"), 2, "the empty node is '2.1'"},
        {"# only a comment\n\n", 0, "no rows"},
        {"\n   \n", 2, "1 columns"},
    };
    check_all_refused("conllu", files, sizeof files / sizeof *files);
    check_refused("conllu", "# \0\n", 4, 1, "NUL");
}

static void cut_off_files_never_crash(void **state)
{
    (void)state;
    check_truncations("conllu", TREE, strlen(TREE));
}

static void files_come_back_byte_for_byte(void **state)
{
    (void)state;
    static const char *const texts[] = {
        TREE,
        WORD("1", "a", "X", "0") "\n",
        /* blank lines where they should not be */
        "\n\n# c\n" WORD("1", "a", "X", "0") "\n\n# d\n" WORD("1", "a", "X", "0") "\n",
        WORD("1", "a", "X", "0") "\n# alone\n\n# d\n" WORD("1", "a", "X", "0") "\n\n# end\n",
        /* a comment behind the last word, and within the sentence */
        WORD("1", "a", "X", "0") "# c\n" WORD("2", "b", "X", "1") "# late\n\n# d\n" WORD(
            "1", "a", "X", "0") "# late\n\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        medley_dataset *dataset = read_good(texts[i], strlen(texts[i]), NULL);
        check_round_trip(dataset, "conllu", texts[i], strlen(texts[i]));
        medley_dataset_free(dataset);
    }
}

static void a_missing_last_blank_line_is_added(void **state)
{
    (void)state;
    medley_dataset *dataset =
        read_good(WORD("1", "a", "X", "0"), strlen(WORD("1", "a", "X", "0")), NULL);
    check_round_trip(dataset, "conllu", WORD("1", "a", "X", "0") "\n",
                     strlen(WORD("1", "a", "X", "0")) + 1);
    medley_dataset_free(dataset);
}

static void other_data_are_not_written(void **state)
{
    (void)state;
    const double value = 1;
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    assert_int_equal(medley_dataset_from_dense(&dataset, &value, 1, 1, NULL, &error), MEDLEY_OK);
    char path[READING_PATH_SIZE];
    reading_write(path, "", "", 0);
    assert_int_equal(medley_dataset_write(dataset, path, "conllu", &error), MEDLEY_USAGE);
    unlink(path);
    medley_dataset_free(dataset);
}

static void english_treebank_comes_back_byte_for_byte(void **state)
{
    (void)state;
    char path[READING_PATH_SIZE];
    if (!real_data(path, "ud-english-ewt/en_ewt-ud-dev.conllu.gz"))
        skip();
    medley_error error = {0};
    md_input input = {0};
    medley_dataset *dataset = read_real(path);
    assert_int_equal(medley_dataset_sequences(dataset), 2001);
    assert_int_equal(medley_dataset_rows(dataset), 25147);
    assert_int_equal(medley_dataset_label_count(dataset), 17);
    assert_int_equal(md_input_read(&input, path, &error), MEDLEY_OK);
    check_round_trip(dataset, "conllu", input.data, input.length);
    md_input_clear(&input);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_labels_and_other_lines_are_read),
        cmocka_unit_test(the_label_column_can_be_chosen),
        cmocka_unit_test(bad_files_are_refused_with_their_line),
        cmocka_unit_test(cut_off_files_never_crash),
        cmocka_unit_test(files_come_back_byte_for_byte),
        cmocka_unit_test(a_missing_last_blank_line_is_added),
        cmocka_unit_test(other_data_are_not_written),
        cmocka_unit_test(english_treebank_comes_back_byte_for_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
