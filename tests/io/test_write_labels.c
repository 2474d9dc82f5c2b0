/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions in the format of their data. */
#include "data/dataset.h"
#include "format_checks.h"

/* The file that the predictions make; the caller frees it. */
static char *labelled(const medley_dataset *dataset, const char *const *labels)
{
    char path[READING_PATH_SIZE];
    medley_error error = {0};
    md_input input = {0};
    reading_write(path, "", "", 0);
    const medley_status status = medley_dataset_write_labels(dataset, labels, path, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, MEDLEY_OK);
    assert_int_equal(md_input_read(&input, path, &error), MEDLEY_OK);
    unlink(path);
    input.data[input.length] = '\0';
    return input.data;
}

static void check_labelled(const char *text, const medley_read_options *options,
                           const char *const *labels, const char *expected)
{
    medley_dataset *dataset = read_good(text, strlen(text), options);
    char *found = labelled(dataset, labels);
    assert_string_equal(found, expected);
    free(found);
    medley_dataset_free(dataset);
}

static const char *const THREE[] = {"P", "Q", "R"};

static medley_read_options for_prediction(const char *format, size_t columns)
{
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = format;
    options.feature_count = columns;
    options.ignore_labels = true;
    return options;
}

static void columns_come_back_with_the_prediction_last(void **state)
{
    (void)state;
    medley_read_options options = for_prediction(NULL, 2);
    /* with labels (seen in training or not), without, between tabs, without an end */
    check_labelled("He PRP B\nran  VB\t?\n\n\nNo UH 007", &options, THREE,
                   "He PRP B P\nran VB ? Q\n\nNo UH 007 R\n\n");
    check_labelled("He PRP\nran VB\n\nNo UH\n", &options, THREE,
                   "He PRP P\nran VB Q\n\nNo UH R\n\n");
    check_labelled("\r\n\r\nHe\tPRP\tB\r\nran\tVB\tI\r\n\r\nNo\tUH\tO\r\n", &options, THREE,
                   "He\tPRP\tB\tP\nran\tVB\tI\tQ\n\nNo\tUH\tO\tR\n\n");
    /* a label column that is not the last one */
    options.label = "1";
    check_labelled("B He PRP\nI ran VB\n\nO No UH\n", &options, THREE,
                   "B He PRP P\nI ran VB Q\n\nO No UH R\n\n");
    options.label = "2";
    check_labelled("He 1.0 PRP\nran 01 VB\n\nNo +1 UH\n", &options, THREE,
                   "He 1.0 PRP P\nran 01 VB Q\n\nNo +1 UH R\n\n");
    /* it is absent here */
    check_labelled("He PRP\nran VB\n\nNo UH\n", &options, THREE,
                   "He PRP P\nran VB Q\n\nNo UH R\n\n");
    options = for_prediction("columns", 1);
    options.text_columns = true;
    check_labelled("1\n2\n3\n", &options, THREE, "1 P\n2 Q\n3 R\n\n");
}

static void tables_get_one_label_a_line(void **state)
{
    (void)state;
    check_labelled("1 2 a\n3 4 b\n5 6 a\n", NULL, THREE, "P\nQ\nR\n");
    check_labelled("1,2,a\n3,4,b\n5,6,a\n", NULL, THREE, "P\nQ\nR\n");
    check_labelled("a 1:2\nb 1:3\na 2:1\n", NULL, THREE, "P\nQ\nR\n");
    const double values[] = {1, 2, 3};
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    assert_int_equal(medley_dataset_from_dense(&dataset, values, 3, 1, NULL, &error), MEDLEY_OK);
    char *found = labelled(dataset, THREE); /* from no file at all */
    assert_string_equal(found, "P\nQ\nR\n");
    free(found);
    medley_dataset_free(dataset);
}

#define BEFORE(id, form) id "\t" form "\tlemma\t"
#define BEHIND           "\tX\tA=b\t0\troot\t_\tSpaceAfter=No\n"
#define OTHER(id)        id "\tx\t_\t_\t_\t_\t_\t_\t_\t_\n"

static void treebanks_come_back_with_the_prediction_in_place(void **state)
{
    (void)state;
    static const char text[] = "# sent_id = 1\n" OTHER("1-2") BEFORE("1", "do") "AUX" BEHIND BEFORE(
        "2", "n't") "_" BEHIND OTHER("2.1") "\n# two\n" BEFORE("1", "Yes") "PART" BEHIND "\n";
    static const char upos[] = "# sent_id = 1\n" OTHER("1-2") BEFORE("1", "do") "P" BEHIND BEFORE(
        "2", "n't") "Q" BEHIND OTHER("2.1") "\n# two\n" BEFORE("1", "Yes") "R" BEHIND "\n";
    medley_read_options options = for_prediction(NULL, 0);
    check_labelled(text, &options, THREE, upos);
    check_labelled(text, NULL, THREE, upos);
    options.label = "FORM";
    check_labelled(text, &options, THREE,
                   "# sent_id = 1\n" OTHER("1-2") BEFORE("1", "P") "AUX" BEHIND BEFORE(
                       "2", "Q") "_" BEHIND OTHER("2.1") "\n# two\n" BEFORE("1", "R") "PART" BEHIND
                                                                                      "\n");
}

static void attributes_come_back_with_the_prediction_first(void **state)
{
    (void)state;
    const medley_read_options options = for_prediction("attributes", 0);
    static const char *const colon[] = {":", "Q", "R"};
    check_labelled("X\ta\tb:2\n\tb\n\nY\tc\\:\n", &options, THREE,
                   "P\ta\tb:2\nQ\tb\n\nR\tc\\:\n\n");
    check_labelled("X\ta\tb:2\n\tb\n\nY\tc\n", &options, colon, "\\:\ta\tb:2\nQ\tb\n\nR\tc\n\n");
}

static void selections_keep_the_format(void **state)
{
    (void)state;
    static const char text[] = "B\tHe\nI\tran\n\nO\tNo\n\nI\tnow\n";
    static const size_t rows[] = {3, 0, 1};
    medley_read_options options = for_prediction(NULL, 1);
    options.label = "1";
    medley_dataset *whole = read_good(text, strlen(text), &options);
    medley_dataset *some = NULL;
    medley_error error = {0};
    assert_int_equal(md_dataset_select(&some, whole, rows, 3, NULL, &error), MEDLEY_OK);
    medley_dataset_free(whole);
    char *found = labelled(some, THREE);
    assert_string_equal(found, "I\tnow\tP\n\nB\tHe\tQ\nI\tran\tR\n\n");
    free(found);
    medley_dataset_free(some);
}

static void labels_that_would_spoil_a_file_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *format, *label;
    } cases[] = {
        {"a b\n\nc d\n", "columns", "x y"},
        {"a b\n\nc d\n", "columns", ""},
        {BEFORE("1", "a") "_" BEHIND, "conllu", "x\ty"},
        {"x\ta=1\n", "attributes", "@x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const medley_read_options options = for_prediction(cases[i].format, 0);
        const char *const labels[] = {cases[i].label, cases[i].label};
        char path[READING_PATH_SIZE];
        medley_error error = {0};
        medley_dataset *dataset = read_good(cases[i].text, strlen(cases[i].text), &options);
        reading_write(path, "", "as it was", 9);
        assert_int_equal(medley_dataset_write_labels(dataset, labels, path, &error),
                         MEDLEY_BAD_INPUT);
        assert_true(error.message[0] != '\0');
        char left[16] = {0};
        FILE *file = fopen(path, "rb"); /* written whole or not at all */
        assert_non_null(file);
        assert_int_equal(fread(left, 1, sizeof left - 1, file), 9);
        assert_string_equal(left, "as it was");
        fclose(file);
        unlink(path);
        medley_dataset_free(dataset);
    }
}

static void unwritable_places_are_reported(void **state)
{
    (void)state;
    medley_error error = {0};
    medley_dataset *dataset = read_good("a b\n\nc d\n\ne f\n", 14, NULL);
    assert_int_equal(
        medley_dataset_write_labels(dataset, THREE, "/nonexistent/folder/file", &error),
        MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "cannot write"));
    medley_dataset_free(dataset);
}

/* Both ways to say standard output, which is a file for a while. */
static void standard_output_is_the_default(void **state)
{
    (void)state;
    char path[READING_PATH_SIZE];
    medley_error error = {0};
    medley_dataset *dataset = read_good("a b\n\nc d\n\ne f\n", 14, NULL);
    const int file = reading_temporary(path, "");
    fflush(stdout);
    const int screen = dup(STDOUT_FILENO);
    assert_true(screen >= 0 && dup2(file, STDOUT_FILENO) >= 0);
    const medley_status first = medley_dataset_write_labels(dataset, THREE, NULL, &error);
    const medley_status second = medley_dataset_write_labels(dataset, THREE, "-", &error);
    fflush(stdout);
    dup2(screen, STDOUT_FILENO);
    close(screen);
    char found[64] = {0};
    assert_int_equal(first, MEDLEY_OK);
    assert_int_equal(second, MEDLEY_OK);
    assert_true(pread(file, found, sizeof found - 1, 0) > 0);
    assert_string_equal(found, "a b P\n\nc d Q\n\ne f R\n\na b P\n\nc d Q\n\ne f R\n\n");
    close(file);
    unlink(path);
    medley_dataset_free(dataset);
}

static void the_chunking_corpus_comes_back(void **state)
{
    (void)state;
    char path[READING_PATH_SIZE];
    if (!real_data(path, "conll2000/test.txt.gz"))
        skip();
    medley_error error = {0};
    md_input input = {0};
    medley_dataset *dataset = read_real(path);
    const char **labels = calloc(dataset->rows, sizeof *labels);
    assert_non_null(labels);
    for (size_t row = 0; row < dataset->rows; row++)
        labels[row] = "x";
    char *found = labelled(dataset, labels);
    assert_int_equal(md_input_read(&input, path, &error), MEDLEY_OK);
    /* each line of the corpus, and " x" behind it unless it is blank */
    const char *p = found;
    for (const char *line = input.data; line < input.data + input.length;) {
        const char *end = memchr(line, '\n', (size_t)(input.data + input.length + 1 - line));
        assert_memory_equal(p, line, (size_t)(end - line));
        p += end - line;
        if (end > line) {
            assert_memory_equal(p, " x", 2);
            p += 2;
        }
        assert_true(*p++ == '\n');
        line = end + 1;
    }
    assert_true(strspn(p, "\n") == strlen(p));
    md_input_clear(&input);
    free(found);
    free(labels);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_come_back_with_the_prediction_last),
        cmocka_unit_test(tables_get_one_label_a_line),
        cmocka_unit_test(treebanks_come_back_with_the_prediction_in_place),
        cmocka_unit_test(attributes_come_back_with_the_prediction_first),
        cmocka_unit_test(selections_keep_the_format),
        cmocka_unit_test(labels_that_would_spoil_a_file_are_refused),
        cmocka_unit_test(unwritable_places_are_reported),
        cmocka_unit_test(standard_output_is_the_default),
        cmocka_unit_test(the_chunking_corpus_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
