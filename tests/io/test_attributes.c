/* SPDX-License-Identifier: BSD-3-Clause */
/* CRFsuite's attributes: items, values, sequences; recognised, written and read again. */
#include "format_checks.h"

static const char ITEMS[] = "B-NP\tw=He\tlen:2\t__BOS__\n"
                            "O\tw=runs\tlen:0.5\tw=He\n"
                            "\n"
                            "O\tw=:1\tbias\tw=He\t__EOS__\n";

static medley_dataset *read_items(const char *text)
{
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "attributes";
    return read_good(text, strlen(text), &options);
}

static void check_written(const medley_dataset *dataset, const char *text)
{
    check_round_trip(dataset, "attributes", text, strlen(text));
}

/* The value an item has for a named attribute; -1 if it has none. */
static float value_of(const medley_dataset *dataset, size_t row, const char *name)
{
    const md_table *table = &dataset->tables[0];
    const int32_t column = md_strings_find(&table->column_names, name, strlen(name));
    assert_true(md_matrix_is_sparse(&table->features));
    for (size_t e = table->features.start[row]; e < table->features.start[row + 1]; e++)
        if (table->features.index[e] == column)
            return table->features.value[e];
    return -1;
}

static void items_attributes_and_sequences_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {"w=He", "len",  "__BOS__", "w=runs",
                                        "w=",   "bias", "__EOS__"};
    medley_dataset *dataset = read_good(ITEMS, strlen(ITEMS), NULL); /* recognised by itself */
    assert_string_equal(dataset->format, "attributes");
    assert_int_equal(dataset->rows, 3);
    assert_int_equal(dataset->sequence_count, 2);
    assert_int_equal(dataset->sequence_start[1], 2);
    assert_int_equal(dataset->sequence_start[2], 3);
    assert_int_equal(medley_dataset_columns(dataset), 7);
    for (size_t c = 0; c < 7; c++)
        assert_string_equal(dataset->tables[0].column_names.items[c], names[c]);
    assert_int_equal(dataset->tables[0].features.start[3], 10);
    assert_true(value_of(dataset, 0, "len") == 2);
    assert_true(value_of(dataset, 1, "len") == 0.5F);
    assert_true(value_of(dataset, 1, "w=He") == 1);
    assert_true(value_of(dataset, 2, "w=") == 1);
    assert_true(value_of(dataset, 2, "w=runs") == -1);
    assert_string_equal(medley_dataset_label_name(dataset, 0), "B-NP");
    assert_int_equal(medley_dataset_label(dataset, 2), 1);
    medley_dataset_free(dataset);
}

static void escapes_stand_for_colons_and_backslashes(void **state)
{
    (void)state;
    static const char text[] = "a\\:b\tw=\\:\tx\\\\:2\t\\\\\\::3\tc\\d\t\\\n:\tu\\\n";
    medley_dataset *dataset = read_items(text);
    assert_true(value_of(dataset, 0, "w=:") == 1);
    assert_true(value_of(dataset, 0, "x\\") == 2);
    assert_true(value_of(dataset, 0, "\\:") == 3);
    assert_true(value_of(dataset, 0, "c\\d") == 1); /* no escape: the backslash itself */
    assert_true(value_of(dataset, 0, "\\") == 1);
    assert_true(value_of(dataset, 1, "u\\") == 1);
    assert_string_equal(medley_dataset_label_name(dataset, 0), ":");
    assert_string_equal(medley_dataset_label_name(dataset, 1), "a:b");
    check_written(dataset, "a\\:b\tw=\\:\tx\\\\:2\t\\\\\\::3\tc\\\\d\t\\\\\n\\:\tu\\\\\n\n");
    medley_dataset_free(dataset);
}

static void repeated_attributes_add_up_and_empty_fields_are_skipped(void **state)
{
    (void)state;
    medley_dataset *dataset =
        read_items("x\ta\t\tb:2\ta:0.25\t\n\r\n\r\n \ny\tb:-1\tb\tb:7\tz:0\r\n");
    assert_int_equal(dataset->rows, 2);
    assert_int_equal(dataset->sequence_count, 2);
    assert_int_equal(dataset->tables[0].features.start[1], 2);
    assert_int_equal(dataset->tables[0].features.start[2], 4);
    assert_true(value_of(dataset, 0, "a") == 1.25F);
    assert_true(value_of(dataset, 1, "b") == 7);
    assert_true(value_of(dataset, 1, "z") == 0);
    medley_dataset_free(dataset);
}

/* Against a naive sum, with items long enough for both ways of sorting. */
static void long_items_are_sorted(void **state)
{
    (void)state;
    enum { NAMES = 150, ITEM = 400 };
    float expected[NAMES] = {0};
    md_text text = {0};
    uint32_t random = 1;
    md_text_addf(&text, "l");
    for (size_t n = NAMES; n-- > 0;) /* the numbers run backwards in what follows */
        md_text_addf(&text, "\tn%zu:0", n);
    for (size_t i = 0; i < ITEM; i++) {
        random = random * 1664525u + 1013904223u;
        const size_t name = (random >> 16) % NAMES;
        md_text_addf(&text, "\tn%zu:%zu", name, i % 5);
        expected[name] += (float)(i % 5);
    }
    md_text_addf(&text, "\nl\tn1:5\tn3\tn2:4\n");
    medley_dataset *dataset = read_items(text.data);
    const md_matrix *features = &dataset->tables[0].features;
    for (size_t row = 0; row < 2; row++)
        for (size_t e = features->start[row] + 1; e < features->start[row + 1]; e++)
            assert_true(features->index[e - 1] < features->index[e]);
    for (size_t n = 0; n < NAMES; n++) {
        char name[16];
        snprintf(name, sizeof name, "n%zu", n);
        assert_true(value_of(dataset, 0, name) == expected[n]);
    }
    assert_true(value_of(dataset, 1, "n2") == 4);
    medley_dataset_free(dataset);
    md_text_clear(&text);
}

static void labels_may_be_missing(void **state)
{
    (void)state;
    medley_dataset *dataset = read_items("\ta\tb\nX\ta\n\n\t\n\tc\n");
    assert_int_equal(dataset->rows, 4);
    assert_int_equal(medley_dataset_label(dataset, 0), -1);
    assert_int_equal(medley_dataset_label(dataset, 1), 0);
    assert_int_equal(dataset->tables[0].features.start[2], 3);
    assert_int_equal(dataset->tables[0].features.start[3], 3); /* an item without attributes */
    check_written(dataset, "\ta\tb\nX\ta\n\n\t\n\tc\n\n");
    medley_dataset_free(dataset);
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "attributes";
    options.label = "none"; /* every field is an attribute */
    dataset = read_good("X\ta\nY\n", 6, &options);
    assert_null(dataset->label);
    assert_int_equal(medley_dataset_columns(dataset), 3);
    assert_true(value_of(dataset, 1, "Y") == 1);
    medley_dataset_free(dataset);
    options.label = "2";
    medley_error error = {0};
    assert_int_equal(read_text(&dataset, "X\ta\n", 4, &options, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "first field"));
}

static void columns_can_be_chosen(void **state)
{
    (void)state;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.columns = "len,w=He";
    medley_dataset *dataset = read_good(ITEMS, strlen(ITEMS), &options);
    assert_int_equal(medley_dataset_columns(dataset), 2);
    assert_true(value_of(dataset, 1, "len") == 0.5F);
    assert_true(value_of(dataset, 1, "w=He") == 1);
    medley_dataset_free(dataset);
}

static void only_weights_of_one_are_obeyed(void **state)
{
    (void)state;
    medley_dataset *dataset = read_items("@weight:1\nx\ta\n\n@weight\t1.0\nx\tb\n");
    assert_int_equal(dataset->rows, 2);
    assert_int_equal(dataset->sequence_count, 2);
    medley_dataset_free(dataset);
}

static void bad_files_are_refused_with_their_line(void **state)
{
    (void)state;
    static const bad_file files[] = {
        {"x\ta:\n", 1, "found 'a:', expected name:value"},
        {"x\ta\nx\tw=12:30:1\n", 2, "found 'w=12:30:1', expected name:value"},
        {"x\ta\n\nx\tb:c\ta\n", 3, "a colon within a name is written \\:"},
        {"x\ta:1 \n", 1, "expected name:value"},
        {"x\t:1\n", 1, "found ':1', expected a name"},
        {"x\ta:nan\n", 1, "finite"},
        {"x\ta:-inf\n", 1, "finite"},
        {"x\ta:1e39\n", 1, "finite"},
        {"x\ta:3e38\ta:3e38\n", 1, "'a' add up to more"},
        {"x\ta\n\n@weight:2\nx\ta\n", 3, "other weights of sequences are not supported"},
        {"@weight:x\nx\ta\n", 1, "a number behind @weight"},
        {"@weight\nx\ta\n", 1, "only @weight is known"},
        {"@weights:1\nx\ta\n", 1, "only @weight is known"},
        {"@label x\nx\ta\n", 1, "found '@label x'"},
        {"x\ny\n", 0, "no item has an attribute"},
        {"\n \r\n\n", 0, "no rows"},
        {"@weight:1\n", 0, "no rows"},
    };
    check_all_refused("attributes", files, sizeof files / sizeof *files);
    check_refused("attributes", "x\ta\nx\tb\0\n", 9, 2, "NUL");
}

static void cut_off_files_never_crash(void **state)
{
    (void)state;
    static const char more[] = "@weight:1\nx\\:\ta\\\\:-1.5e-3\t\\:\n\n\r\n\ty\n";
    check_truncations("attributes", ITEMS, strlen(ITEMS));
    check_truncations("attributes", more, strlen(more));
}

/* Written and read again, the data are the same: numbers, names, labels and sequences. */
static void what_is_written_reads_back(void **state)
{
    (void)state;
    size_t length = 0;
    medley_dataset *first = read_good(ITEMS, strlen(ITEMS), NULL);
    char *text = written(first, "attributes", &length);
    assert_string_equal(text, "B-NP\tw=He\tlen:2\t__BOS__\nO\tw=He\tlen:0.5\tw=runs\n\n"
                              "O\tw=He\tw=\tbias\t__EOS__\n\n");
    medley_dataset *second = read_items(text);
    const md_matrix *a = &first->tables[0].features;
    const md_matrix *b = &second->tables[0].features;
    assert_int_equal(a->columns, b->columns);
    assert_memory_equal(a->start, b->start, 4 * sizeof *a->start);
    assert_memory_equal(a->index, b->index, a->start[3] * sizeof *a->index);
    assert_memory_equal(a->value, b->value, a->start[3] * sizeof *a->value);
    check_round_trip(second, "attributes", text, length);
    medley_dataset_free(second);
    medley_dataset_free(first);
    free(text);
}

static void other_tables_are_written_by_number_or_name(void **state)
{
    (void)state;
    medley_dataset *dataset = read_good("1 2:0.5 7:1\n-1 3:2\n", 19, NULL);
    assert_string_equal(dataset->format, "svmlight");
    check_written(dataset, "1\t2:0.5\t7\n\n-1\t3:2\n\n");
    medley_dataset_free(dataset);
    static const char table[] = "size,mood:high,label\n1,0,x\n2.5,1,y\n";
    dataset = read_good(table, strlen(table), NULL); /* dense: zeros are left out */
    check_written(dataset, "x\tsize\n\ny\tsize:2.5\tmood\\:high\n\n");
    medley_dataset_free(dataset);
}

static void what_would_not_read_back_is_not_written(void **state)
{
    (void)state;
    static const char *const labels[] = {"@x", " ", "a\tb"};
    const double value = 1;
    for (size_t i = 0; i < 3; i++) {
        medley_dataset *dataset = NULL;
        medley_error error = {0};
        char path[READING_PATH_SIZE];
        reading_write(path, "", "", 0);
        assert_int_equal(medley_dataset_from_dense(&dataset, &value, 1, 1, &labels[i], &error),
                         MEDLEY_OK);
        assert_int_equal(medley_dataset_write(dataset, path, "attributes", &error),
                         MEDLEY_BAD_INPUT);
        assert_non_null(strstr(error.message, labels[i]));
        unlink(path);
        medley_dataset_free(dataset);
    }
}

/* The formats that were there before keep their files, however attribute-like. */
static void other_formats_are_not_taken_for_attributes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *format;
    } cases[] = {
        {"1\t1:0.5\t3:1\n0\t2:1\n", "svmlight"},
        {"1\tqid:1\t1:1\n0\tqid:1\t1:2\n", "svmlight"},
        {"He\tPRP\tB-NP\nran\tVBD\tB-VP\n\n", "columns"},
        {"He\tCase=Nom\tB-NP\nran\tTense=Past\tB-VP\n\n", "columns"},
        {"He\tCase=Nom\nran\tTense=Past\n\n", "columns"},
        {"He Case=Nom a=b\nran Tense=Past a=c\n\n", "columns"},
        {"a\tb\tc\n1\t2\t3\n", "csv"},
        {"1\tI\tI\tPRON\tX\tCase=Nom|Person=1\t0\troot\t0:root\tSpaceAfter=No\n\n", "conllu"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_dataset *dataset = read_good(cases[i].text, strlen(cases[i].text), NULL);
        assert_string_equal(dataset->format, cases[i].format);
        medley_dataset_free(dataset);
    }
    static const char *const attributes[] = {
        "\tw=a\tb\tlen:3\n\tw=b\tlen:4\n", /* no labels */
        "0\tw=a\tw=b\tw=c\n1\tw=b\tw=c\tw=d\n",
        "@weight:1\n1\ta=1\tb=2\tc=3\td=4\te=5\tf=6\tg=7\th=8\ti=9\n", /* ten fields */
    };
    for (size_t i = 0; i < 3; i++) {
        medley_dataset *dataset = read_good(attributes[i], strlen(attributes[i]), NULL);
        assert_string_equal(dataset->format, "attributes");
        medley_dataset_free(dataset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_attributes_and_sequences_are_read),
        cmocka_unit_test(escapes_stand_for_colons_and_backslashes),
        cmocka_unit_test(repeated_attributes_add_up_and_empty_fields_are_skipped),
        cmocka_unit_test(long_items_are_sorted),
        cmocka_unit_test(labels_may_be_missing),
        cmocka_unit_test(columns_can_be_chosen),
        cmocka_unit_test(only_weights_of_one_are_obeyed),
        cmocka_unit_test(bad_files_are_refused_with_their_line),
        cmocka_unit_test(cut_off_files_never_crash),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(other_tables_are_written_by_number_or_name),
        cmocka_unit_test(what_would_not_read_back_is_not_written),
        cmocka_unit_test(other_formats_are_not_taken_for_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
