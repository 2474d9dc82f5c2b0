/* SPDX-License-Identifier: BSD-3-Clause */
/* The many forms a CoNLL-U file may have: line ends, missing ends, blank lines, long lines and
 * sentences. Random files come back as they were, whole and in parts: each sentence with its own
 * comments, multiword tokens and empty nodes. */
#include "base/random.h"
#include "data/dataset.h"
#include "format_checks.h"

enum { MOST_SENTENCES = 8, LONG_SENTENCE = 2000, LONG_LINE = 1 << 20 };

#define WORD(id)  id "\ta\t_\tX\t_\t_\t0\troot\t_\t_\n"
#define EMPTY(id) id "\tx\t_\t_\t_\t_\t_\t_\t_\t_\n"

static medley_dataset *read_conllu(const char *text, size_t length)
{
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "conllu";
    return read_good(text, length, &options);
}

/* Into memory: a file would have to reach the disk each time. */
static void check_written(const medley_dataset *dataset, const char *expected, size_t length)
{
    char *bytes = NULL;
    size_t size = 0;
    medley_error error = {0};
    md_output output = {.file = open_memstream(&bytes, &size)};
    assert_non_null(output.file);
    assert_int_equal(md_format_find("conllu")->write(&output, dataset, &error), MEDLEY_OK);
    assert_int_equal(fclose(output.file), 0);
    if (size != length || memcmp(bytes, expected, length) != 0)
        print_error("expected:\n%s\nfound:\n%s\n", expected, bytes);
    assert_int_equal(size, length);
    assert_memory_equal(bytes, expected, length);
    free(bytes);
}

static void check_read_and_written(const char *text, const char *expected)
{
    medley_dataset *dataset = read_conllu(text, strlen(text));
    check_written(dataset, expected, strlen(expected));
    medley_dataset_free(dataset);
}

/* ---- random files ---- */

typedef struct random_sentence {
    md_text text; /* with extra blank lines in front and the one behind it */
    size_t words;
} random_sentence;

typedef struct random_corpus {
    random_sentence sentence[MOST_SENTENCES];
    size_t count;
    const char *trailer; /* behind the blank line of the last sentence */
} random_corpus;

static bool chance(md_random *random, size_t one_in)
{
    return md_random_below(random, one_in) == 0;
}

static const char *pick(md_random *random, const char *const *texts, size_t count)
{
    return texts[md_random_below(random, count)];
}

static void add_field(md_text *text, md_random *random)
{
    static const char *const fields[] = {
        "_",   "a",  "New York", " ", "#", "1", "0.1", "A=b|C=d", "\xc3\xa4\xe2\x82\xac",
        "1-2", "\"", "1 000"};
    md_text_addf(text, "\t%s", pick(random, fields, sizeof fields / sizeof *fields));
}

static void add_comments(md_text *text, md_random *random, size_t one_in)
{
    static const char *const comments[] = {"# text = a b", "#", "#\tx\t", "# newdoc", "#  "};
    while (chance(random, one_in))
        md_text_addf(text, "%s\n", pick(random, comments, sizeof comments / sizeof *comments));
}

static void add_fields(md_text *text, md_random *random, size_t words)
{
    for (size_t c = 1; c < 10; c++) {
        if (c != 6)
            add_field(text, random);
        else if (words == 0 || chance(random, 4))
            md_text_addf(text, "\t_");
        else
            md_text_addf(text, "\t%zu", md_random_below(random, words + 1));
    }
    md_text_addf(text, "\n");
}

static void add_empty_nodes(md_text *text, md_random *random, size_t word)
{
    for (size_t i = 1; chance(random, 4); i++) {
        md_text_addf(text, "%zu.%zu", word, i);
        add_fields(text, random, 0);
    }
}

static random_sentence make_sentence(md_random *random)
{
    random_sentence made = {.words = 1 + md_random_below(random, 4)};
    md_text *text = &made.text;
    while (chance(random, 5))
        md_text_addf(text, "\n");
    add_comments(text, random, 2);
    if (chance(random, 6)) /* comments with a blank line behind them */
        md_text_addf(text, "# alone\n\n");
    add_empty_nodes(text, random, 0);
    for (size_t word = 1; word <= made.words; word++) {
        if (chance(random, 4)) {
            md_text_addf(text, "%zu-%zu", word,
                         word + md_random_below(random, made.words - word + 1));
            add_fields(text, random, 0);
        }
        md_text_addf(text, "%zu", word);
        add_fields(text, random, made.words);
        add_empty_nodes(text, random, word);
        add_comments(text, random, 8);
    }
    md_text_addf(text, "\n");
    return made;
}

static random_corpus make_corpus(md_random *random)
{
    static const char *const trailers[] = {"", "", "\n", "# end\n", "\n# end\n\n", "# end\n\n"};
    random_corpus corpus = {.count = 1 + md_random_below(random, MOST_SENTENCES)};
    for (size_t s = 0; s < corpus.count; s++)
        corpus.sentence[s] = make_sentence(random);
    corpus.trailer = pick(random, trailers, sizeof trailers / sizeof *trailers);
    return corpus;
}

static void clear_corpus(random_corpus *corpus)
{
    for (size_t s = 0; s < corpus->count; s++)
        md_text_clear(&corpus->sentence[s].text);
}

/* The named sentences; the trailer comes with the last where it ends the whole corpus. */
static md_text text_of(const random_corpus *corpus, const size_t *chosen, size_t count)
{
    md_text text = {0};
    for (size_t i = 0; i < count; i++)
        md_text_add(&text, corpus->sentence[chosen[i]].text.data,
                    corpus->sentence[chosen[i]].text.length);
    if (chosen[count - 1] == corpus->count - 1)
        md_text_add(&text, corpus->trailer, strlen(corpus->trailer));
    assert_false(text.failed);
    return text;
}

static md_text whole_text(const random_corpus *corpus)
{
    size_t all[MOST_SENTENCES];
    for (size_t s = 0; s < corpus->count; s++)
        all[s] = s;
    return text_of(corpus, all, corpus->count);
}

/* ---- the tests ---- */

static void random_files_come_back(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 1);
    for (int round = 0; round < 400; round++) {
        random_corpus corpus = make_corpus(&random);
        md_text text = whole_text(&corpus);
        check_read_and_written(text.data, text.data);
        md_text_clear(&text);
        clear_corpus(&corpus);
    }
}

/* Cut off behind the last word or empty node: the ends that are missing are added. */
static void missing_ends_are_added(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 2);
    for (int round = 0; round < 200; round++) {
        random_corpus corpus = make_corpus(&random);
        corpus.trailer = "";
        md_text text = whole_text(&corpus);
        char *cut = strdup(text.data);
        assert_non_null(cut);
        for (size_t less = 1; less <= 2; less++) {
            cut[text.length - less] = '\0';
            check_read_and_written(cut, text.data);
        }
        free(cut);
        md_text_clear(&text);
        clear_corpus(&corpus);
    }
    check_read_and_written(WORD("1") EMPTY("1.1"), WORD("1") EMPTY("1.1") "\n");
    check_read_and_written(WORD("1") "# late", WORD("1") "# late\n\n");
}

static void line_ends_of_other_systems_become_newlines(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 3);
    for (int round = 0; round < 200; round++) {
        random_corpus corpus = make_corpus(&random);
        md_text text = whole_text(&corpus);
        md_text other = {0};
        for (size_t i = 0; i < text.length; i++)
            md_text_add(&other, text.data[i] == '\n' ? "\r\n" : text.data + i,
                        text.data[i] == '\n' ? 2 : 1);
        assert_false(other.failed);
        check_read_and_written(other.data, text.data);
        md_text_clear(&other);
        md_text_clear(&text);
        clear_corpus(&corpus);
    }
}

static size_t choose_sentences(size_t *chosen, const random_corpus *corpus, md_random *random)
{
    for (size_t s = 0; s < corpus->count; s++)
        chosen[s] = s;
    md_random_shuffle(random, chosen, corpus->count);
    return 1 + md_random_below(random, corpus->count);
}

static void sentences_keep_the_lines_that_are_theirs(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 4);
    for (int round = 0; round < 400; round++) {
        random_corpus corpus = make_corpus(&random);
        size_t chosen[MOST_SENTENCES];
        size_t rows[4 * MOST_SENTENCES];
        size_t row_count = 0;
        const size_t count = choose_sentences(chosen, &corpus, &random);
        md_text text = whole_text(&corpus);
        md_text expected = text_of(&corpus, chosen, count);
        medley_dataset *whole = read_conllu(text.data, text.length);
        for (size_t i = 0; i < count; i++)
            for (size_t w = 0; w < corpus.sentence[chosen[i]].words; w++)
                rows[row_count++] = whole->sequence_start[chosen[i]] + w;
        medley_dataset *some = NULL;
        medley_error error = {0};
        assert_int_equal(md_dataset_select(&some, whole, rows, row_count, NULL, &error), MEDLEY_OK);
        check_written(some, expected.data, expected.length);
        medley_dataset_free(some);
        medley_dataset_free(whole);
        md_text_clear(&expected);
        md_text_clear(&text);
        clear_corpus(&corpus);
    }
}

static void files_without_words_have_no_rows(void **state)
{
    (void)state;
    static const char *const texts[] = {"\n", "\n\n\r\n", "# a\n# b", EMPTY("0.1"), "\r\n#\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_refused("conllu", texts[i], strlen(texts[i]), 0, "no rows");
    check_refused("conllu", "", 0, 0, "empty");
}

static void malformed_words_are_refused(void **state)
{
    (void)state;
    static const bad_file files[] = {
        {WORD("1") "2\ta\t_\tX\t_\t_\t0\troot\t_\n", 2, "9 columns between tabs, expected 10"},
        {"1\ta\t_\tX\t_\t_\t0\troot\t_\t_\t_\r\n", 1, "11 columns"},
        {"1\ta\t_\tX\t_\t_\t0\troot\t_\t\r\n", 1, "column MISC is empty"},
        {"1 a _ X _ _ 0 root _ _\n", 1, "1 columns"},
        {"# c\r\n" WORD("1") WORD("3"), 3, "the ID is 3, expected 2"},
        {WORD("1") EMPTY("1.1") WORD("3"), 3, "the ID is 3, expected 2"},
        {WORD("1") WORD("0"), 2, "the ID is 0, expected 2"},
        {"\n\n1\ta\t_\tX\t_\t_\t2\troot\t_\t_", 3, "the HEAD is 2 but the sentence has 1 words"},
        {"1\ta\t_\tX\t_\t_\t9999999999\troot\t_\t_\n", 1, "the HEAD is '9999999999'"},
        {"1\ta\t_\tX\t_\t_\t0 \troot\t_\t_\n", 1, "the HEAD is '0 '"},
    };
    check_all_refused("conllu", files, sizeof files / sizeof *files);
}

/* Every word hangs from the last one, whose number is known only at the end. */
static void long_sentences_are_read(void **state)
{
    (void)state;
    md_text text = {0};
    for (size_t word = 1; word <= LONG_SENTENCE; word++)
        md_text_addf(&text, "%zu\tw%zu\t_\tX\t_\t_\t%d\tdep\t_\t_\n", word, word,
                     word < LONG_SENTENCE ? LONG_SENTENCE : 0);
    md_text_addf(&text, "\n");
    assert_false(text.failed);
    medley_dataset *dataset = read_conllu(text.data, text.length);
    assert_int_equal(dataset->rows, LONG_SENTENCE);
    assert_int_equal(dataset->sequence_count, 1);
    assert_int_equal(dataset->head[0], LONG_SENTENCE);
    assert_int_equal(dataset->head[LONG_SENTENCE - 1], 0);
    assert_int_equal(dataset->line[LONG_SENTENCE - 1], LONG_SENTENCE);
    check_written(dataset, text.data, text.length);
    medley_dataset_free(dataset);
    md_text_clear(&text);
}

/* A comment, a word and a multiword token of a megabyte each. */
static void long_lines_are_read(void **state)
{
    (void)state;
    char *filler = malloc(LONG_LINE + 1);
    assert_non_null(filler);
    memset(filler, 'x', LONG_LINE);
    filler[LONG_LINE] = '\0';
    md_text text = {0};
    md_text_addf(&text, "# %s\n1-1\t%s\t_\t_\t_\t_\t_\t_\t_\t_\n", filler, filler);
    md_text_addf(&text, "1\ta\t_\tX\t_\t_\t0\troot\t_\t%s\n\n", filler);
    assert_false(text.failed);
    medley_dataset *dataset = read_conllu(text.data, text.length);
    assert_int_equal(dataset->rows, 1);
    check_written(dataset, text.data, text.length);
    medley_dataset_free(dataset);
    md_text_addf(&text, "1\t%s\t_\tX\t_\t_\t%s\troot\t_\t_\n", filler, filler);
    check_refused("conllu", text.data, text.length, 5, "the HEAD is 'xxxx");
    md_text_clear(&text);
    free(filler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_files_come_back),
        cmocka_unit_test(missing_ends_are_added),
        cmocka_unit_test(line_ends_of_other_systems_become_newlines),
        cmocka_unit_test(sentences_keep_the_lines_that_are_theirs),
        cmocka_unit_test(files_without_words_have_no_rows),
        cmocka_unit_test(malformed_words_are_refused),
        cmocka_unit_test(long_sentences_are_read),
        cmocka_unit_test(long_lines_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
