/* SPDX-License-Identifier: BSD-3-Clause */
/* Heads of words read from CoNLL-U, and trees written into it. */
#include "data/dataset.h"
#include "data/projective.h"
#include "format_checks.h"

#define WORD(id, head, relation)                                                                   \
    id "\tform " id "\tlemma\tNOUN\t_\t_\t" head "\t" relation "\t0:root|1:x\tSpaceAfter=No\n"
#define OTHER(id) id "\tx\t_\t_\t_\t_\t_\t_\t1:y\t_\n"

static const char CORPUS[] = "# one\n" OTHER("1-2") WORD("1", "2", "a") WORD("2", "0", "b")
    OTHER("2.1") "\n"
                 "# two\n" WORD("1", "_", "_") "# inside\n" WORD("2", "03", "c")
                     WORD("3", "2", "d") "\n";

/* The file that write_trees makes; the caller frees it. */
static char *with_trees(const medley_dataset *dataset, const int32_t *head,
                        const char *const *relations)
{
    char path[READING_PATH_SIZE];
    medley_error error = {0};
    md_input input = {0};
    reading_write(path, "", "", 0);
    const medley_status status = medley_dataset_write_trees(dataset, head, relations, path, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, MEDLEY_OK);
    assert_int_equal(md_input_read(&input, path, &error), MEDLEY_OK);
    unlink(path);
    input.data[input.length] = '\0';
    return input.data;
}

static void heads_and_lines_are_read(void **state)
{
    (void)state;
    static const int32_t head[] = {2, 0, -1, 3, 2};
    static const uint32_t line[] = {3, 4, 8, 10, 11};
    medley_dataset *dataset = read_good(CORPUS, strlen(CORPUS), NULL);
    assert_int_equal(dataset->rows, 5);
    assert_memory_equal(dataset->head, head, sizeof head);
    assert_memory_equal(dataset->line, line, sizeof line);
    medley_dataset_free(dataset);
}

/* What is no tree is read, and told as none by its line when trees are asked for. */
static void odd_trees_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        long line;
    } cases[] = {
        {"# c\n" WORD("1", "2", "a") WORD("2", "1", "a"), "no word hangs", 2},
        {"# c\n" WORD("1", "0", "a") "\n# d\n" WORD("1", "0", "a") WORD("2", "0", "a"), "two", 6},
        {WORD("1", "0", "a") WORD("2", "2", "a"), "cycle: 2 -> 2", 2},
        {WORD("1", "0", "a") "\r\n\r\n" WORD("1", "_", "a"), "not given", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_error error = {0};
        medley_dataset *dataset = read_good(cases[i].text, strlen(cases[i].text), NULL);
        assert_int_equal(md_dataset_check_trees(dataset, false, &error), MEDLEY_BAD_INPUT);
        assert_non_null(strstr(error.message, cases[i].message));
        assert_int_equal(error.line, cases[i].line);
        medley_dataset_free(dataset);
    }
}

static void selections_keep_heads_and_lines(void **state)
{
    (void)state;
    static const size_t rows[] = {2, 3, 4, 0, 1};
    static const int32_t head[] = {-1, 3, 2, 2, 0};
    static const uint32_t line[] = {8, 10, 11, 3, 4};
    medley_error error = {0};
    medley_dataset *some = NULL;
    medley_dataset *whole = read_good(CORPUS, strlen(CORPUS), NULL);
    assert_int_equal(md_dataset_select(&some, whole, rows, 5, NULL, &error), MEDLEY_OK);
    medley_dataset_free(whole);
    assert_memory_equal(some->head, head, sizeof head);
    assert_memory_equal(some->line, line, sizeof line);
    medley_dataset_free(some);
}

static void trees_come_in_their_places(void **state)
{
    (void)state;
    static const int32_t head[] = {0, 1, 2, -1, 0};
    static const char *const relations[] = {"p", "q", NULL, "s:t", "u"};
    static const char both[] = "# one\n" OTHER("1-2") WORD("1", "0", "p") WORD("2", "1", "q")
        OTHER("2.1") "\n"
                     "# two\n" WORD("1", "2", "_") "# inside\n" WORD("2", "_", "s:t")
                         WORD("3", "0", "u") "\n";
    static const char heads_only[] = "# one\n" OTHER("1-2") WORD("1", "0", "a") WORD("2", "1", "b")
        OTHER("2.1") "\n"
                     "# two\n" WORD("1", "2", "_") "# inside\n" WORD("2", "_", "c")
                         WORD("3", "0", "d") "\n";
    static const char *const label_columns[] = {NULL, "DEPREL", "HEAD", "none"};
    for (size_t i = 0; i < sizeof label_columns / sizeof *label_columns; i++) {
        medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
        options.label = label_columns[i];
        medley_dataset *dataset = read_good(CORPUS, strlen(CORPUS), &options);
        char *found = with_trees(dataset, head, relations);
        assert_string_equal(found, both);
        free(found);
        found = with_trees(dataset, head, NULL);
        assert_string_equal(found, heads_only);
        free(found);
        medley_dataset_free(dataset);
    }
}

static void check_not_written(const medley_dataset *dataset, const int32_t *head,
                              const char *const *relations, medley_status code, const char *phrase)
{
    char path[READING_PATH_SIZE];
    char left[16] = {0};
    medley_error error = {0};
    reading_write(path, "", "as it was", 9);
    assert_int_equal(medley_dataset_write_trees(dataset, head, relations, path, &error), code);
    assert_non_null(strstr(error.message, phrase));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(left, 1, sizeof left - 1, file), 9);
    fclose(file);
    unlink(path);
    assert_string_equal(left, "as it was");
}

static void what_would_spoil_a_file_is_refused(void **state)
{
    (void)state;
    static const int32_t good[] = {0, 1, 2, -1, 0};
    static const int32_t beyond[] = {0, 3, 2, 1, 0}; /* the first sentence has two words */
    static const int32_t negative[] = {0, 1, 2, 1, -2};
    static const char *const tabs[] = {"p", "q", "r", "s\tt", "u"};
    medley_dataset *dataset = read_good(CORPUS, strlen(CORPUS), NULL);
    check_not_written(dataset, beyond, NULL, MEDLEY_BAD_INPUT, "the head of row 2 is 3");
    check_not_written(dataset, negative, NULL, MEDLEY_BAD_INPUT, "the head of row 5 is -2");
    check_not_written(dataset, good, tabs, MEDLEY_BAD_INPUT, "between tabs");
    medley_dataset_free(dataset);
    dataset = read_good("a b\n\nc d\n\ne f\n", 14, NULL);
    assert_null(dataset->head);
    check_not_written(dataset, good, NULL, MEDLEY_NOT_SUPPORTED, "CoNLL-U");
    medley_dataset_free(dataset);
    const double value = 1;
    medley_error error = {0};
    assert_int_equal(medley_dataset_from_dense(&dataset, &value, 1, 1, NULL, &error), MEDLEY_OK);
    check_not_written(dataset, good, NULL, MEDLEY_NOT_SUPPORTED, "CoNLL-U");
    medley_dataset_free(dataset);
}

static size_t count_projective(const medley_dataset *dataset)
{
    size_t count = 0;
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t first = dataset->sequence_start[s];
        count += tree_is_projective(dataset->head + first, dataset->sequence_start[s + 1] - first);
    }
    return count;
}

/* Its own trees written into the test part of the English treebank change no byte; chosen as the
 * label, relations are those of the column. */
static void english_trees_come_back_byte_for_byte(void **state)
{
    (void)state;
    char path[READING_PATH_SIZE];
    if (!real_data(path, "ud-english-ewt/en_ewt-ud-test.conllu.gz"))
        skip();
    medley_error error = {0};
    md_input input = {0};
    medley_dataset *dataset = NULL;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.label = "DEPREL";
    assert_int_equal(medley_dataset_read(&dataset, path, &options, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_sequences(dataset), 2077);
    assert_int_equal(md_dataset_check_trees(dataset, false, &error), MEDLEY_OK);
    assert_in_range(count_projective(dataset), 2000, 2076);
    const char **relations = calloc(dataset->rows, sizeof *relations);
    assert_non_null(relations);
    for (size_t row = 0; row < dataset->rows; row++)
        relations[row] = dataset->label_names.items[dataset->label[row]];
    char *found = with_trees(dataset, dataset->head, relations);
    assert_int_equal(md_input_read(&input, path, &error), MEDLEY_OK);
    assert_int_equal(strlen(found), input.length);
    assert_memory_equal(found, input.data, input.length);
    check_round_trip(dataset, "conllu", input.data, input.length);
    md_input_clear(&input);
    free(found);
    free(relations);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_and_lines_are_read),
        cmocka_unit_test(odd_trees_are_read),
        cmocka_unit_test(selections_keep_heads_and_lines),
        cmocka_unit_test(trees_come_in_their_places),
        cmocka_unit_test(what_would_spoil_a_file_is_refused),
        cmocka_unit_test(english_trees_come_back_byte_for_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
