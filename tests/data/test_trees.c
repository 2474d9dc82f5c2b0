/* SPDX-License-Identifier: BSD-3-Clause */
/* Heads of words: what is a tree, what is said of what is none, and what is projective, against
 * the definitions taken word by word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "data/dataset.h"
#include "data/projective.h"
#include <string.h>

enum { MOST_WORDS = 64 };

static char source_name[] = "trees.conllu";

/* Sentences of the given lengths, in lines 11, 12 ... where `line` is given. */
typedef struct small_corpus {
    medley_dataset dataset;
    size_t start[4];
    uint32_t line[MOST_WORDS];
} small_corpus;

static medley_dataset *corpus_of(small_corpus *corpus, int32_t *head, const size_t *length,
                                 size_t count)
{
    *corpus = (small_corpus){.dataset = {.source = source_name, .sequence_count = count}};
    for (size_t s = 0; s < count; s++)
        corpus->start[s + 1] = corpus->start[s] + length[s];
    for (size_t i = 0; i < MOST_WORDS; i++)
        corpus->line[i] = (uint32_t)(11 + i);
    corpus->dataset.rows = corpus->start[count];
    corpus->dataset.sequence_start = corpus->start;
    corpus->dataset.head = head;
    corpus->dataset.line = corpus->line;
    return &corpus->dataset;
}

typedef struct bad_tree {
    int32_t head[MOST_WORDS];
    size_t length;
    bool many_roots;
    long line;
    const char *message;
} bad_tree;

static const bad_tree BAD[] = {
    {{2, 0, -1}, 3, false, 13, "the HEAD is not given; training needs one for every word"},
    {{2, 0, 4}, 3, false, 13, "the HEAD is 4 but the sentence has 3 words"},
    {{2, 0, -7}, 3, true, 13, "the HEAD is -7 but"},
    {{2, 0, 5, 3, 4},
     5,
     false,
     13,
     "the heads form a cycle: 3 -> 5 -> 4 -> 3; a sentence must be a tree"},
    {{0, 5, 2, 1, 3}, 5, false, 12, "a cycle: 2 -> 5 -> 3 -> 2;"},
    {{3, 1, 3, 0}, 4, false, 13, "a cycle: 3 -> 3;"},
    {{0, 0, 4, 3}, 4, true, 13, "a cycle: 3 -> 4 -> 3;"},
    {{0, 3, 4, 5, 6, 7, 8, 9, 2}, 9, false, 12, "2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 -> 2;"},
    {{0, 3, 4, 5, 6, 7, 8, 9, 10, 2},
     10,
     false,
     12,
     "2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 -> ... -> 2;"},
    {{3, 0, 2, 3, 3, 3, 0, 0},
     8,
     false,
     17,
     "two words hang from the root (HEAD 0): 2 and 7; one is expected; use `roots=many`"},
    {{2, 1}, 2, false, 11, "no word hangs from the root"},
    {{1}, 1, true, 11, "no word hangs from the root"},
};

static void what_is_no_tree_is_told_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        bad_tree bad = BAD[i];
        small_corpus corpus;
        medley_error error = {0};
        const medley_dataset *dataset = corpus_of(&corpus, bad.head, &bad.length, 1);
        assert_int_equal(md_dataset_check_trees(dataset, bad.many_roots, &error), MEDLEY_BAD_INPUT);
        if (strstr(error.message, bad.message) == NULL)
            print_error("expected '%s' in: %s\n", bad.message, error.message);
        assert_non_null(strstr(error.message, bad.message));
        assert_int_equal(error.line, bad.line);
        assert_non_null(strstr(error.file, source_name));
    }
}

static void without_lines_the_word_is_named(void **state)
{
    (void)state;
    int32_t head[] = {2, 0, 0, 2, -1};
    const size_t length[] = {2, 3};
    small_corpus corpus;
    medley_error error = {0};
    medley_dataset *dataset = corpus_of(&corpus, head, length, 2);
    dataset->line = NULL;
    assert_int_equal(md_dataset_check_trees(dataset, false, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "sentence 2, word 3: the HEAD is not given"));
    assert_int_equal(error.line, 0);
    error = (medley_error){0};
    dataset->head = NULL;
    assert_int_equal(md_dataset_check_trees(dataset, false, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "no heads"));
}

static void trees_are_accepted(void **state)
{
    (void)state;
    int32_t head[] = {0, 2, 0, 2, 0, 3, 1, 0};
    const size_t length[] = {1, 3, 4};
    small_corpus corpus;
    medley_error error = {0};
    medley_dataset *dataset = corpus_of(&corpus, head, length, 3);
    assert_int_equal(md_dataset_check_trees(dataset, true, &error), MEDLEY_OK);
    assert_int_equal(md_dataset_check_trees(dataset, false, &error), MEDLEY_BAD_INPUT);
    assert_int_equal(error.line, 18);
    error = (medley_error){0};
    dataset->sequence_count = 2; /* without the last sentence, which has two roots */
    dataset->rows = 4;
    assert_int_equal(md_dataset_check_trees(dataset, false, &error), MEDLEY_OK);
}

/* ---- the definitions ---- */

/* Does `word` lie below `above` (or is it)? length steps suffice where there is no cycle. */
static bool is_below(const int32_t *head, size_t length, size_t word, size_t above)
{
    for (size_t step = 0; step <= length && word != 0; step++) {
        if (word == above)
            return true;
        word = (size_t)head[word - 1];
    }
    return word == above;
}

static bool is_tree(const int32_t *head, size_t length, bool many_roots)
{
    size_t roots = 0;
    for (size_t w = 1; w <= length; w++) {
        roots += head[w - 1] == 0;
        if (!is_below(head, length, w, 0))
            return false;
    }
    return roots == 1 || (many_roots && roots > 1);
}

/* Every word between the ends of an arc lies below its head. */
static bool is_projective(const int32_t *head, size_t length)
{
    for (size_t w = 1; w <= length; w++) {
        const size_t h = (size_t)head[w - 1];
        for (size_t k = (h < w ? h : w) + 1; k < (h < w ? w : h); k++)
            if (!is_below(head, length, k, h))
                return false;
    }
    return true;
}

static void trees_are_told_as_the_definition_tells_them(void **state)
{
    (void)state;
    size_t trees = 0;
    size_t projective = 0;
    md_random random;
    md_random_seed(&random, 3);
    for (int round = 0; round < 20000; round++) {
        int32_t head[6];
        const size_t length = 1 + md_random_below(&random, 6);
        for (size_t i = 0; i < length; i++)
            head[i] = (int32_t)md_random_below(&random, length + 1);
        small_corpus corpus;
        const medley_dataset *dataset = corpus_of(&corpus, head, &length, 1);
        for (int many = 0; many < 2; many++) {
            medley_error error = {0};
            const bool expected = is_tree(head, length, many == 1);
            const medley_status status = md_dataset_check_trees(dataset, many == 1, &error);
            assert_int_equal(status, expected ? MEDLEY_OK : MEDLEY_BAD_INPUT);
            assert_true(expected == (error.message[0] == '\0'));
        }
        if (!is_tree(head, length, true))
            continue;
        trees++;
        projective += is_projective(head, length);
        assert_int_equal(tree_is_projective(head, length), is_projective(head, length));
    }
    assert_in_range(projective, trees / 10, trees - trees / 10); /* both kinds were met */
}

static void heads_that_are_not_given_have_no_arcs(void **state)
{
    (void)state;
    static const int32_t crossing[] = {3, 4, -1, -1}; /* 1..3 and 2..4 */
    static const int32_t nested[] = {4, 3, -1, -1};
    static const int32_t under_root[] = {3, 0, -1}; /* the arc from 0 to 2 crosses 1..3 */
    static const int32_t to_right[] = {-1, -1, 1, 2};
    static const int32_t itself[] = {3, 2, 0};
    assert_false(tree_is_projective(crossing, 4));
    assert_true(tree_is_projective(crossing, 1));
    assert_true(tree_is_projective(nested, 4));
    assert_false(tree_is_projective(under_root, 3));
    assert_false(tree_is_projective(to_right, 4));
    assert_true(tree_is_projective(itself, 3));
    assert_true(tree_is_projective(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_tree_is_told_with_its_line),
        cmocka_unit_test(without_lines_the_word_is_named),
        cmocka_unit_test(trees_are_accepted),
        cmocka_unit_test(trees_are_told_as_the_definition_tells_them),
        cmocka_unit_test(heads_that_are_not_given_have_no_arcs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
