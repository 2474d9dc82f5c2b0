/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns made of random trees, crossing arcs and several roots included, against plain searches.
 */
#include "tree_case.h"

#include "base/random.h"
#include <stdio.h>

enum { MOST_WORDS = 12, SENTENCES = 6, TAGS = 17 };
static const char *const tags[TAGS] = {"ADJ",   "ADP",   "ADV", "AUX",  "CCONJ", "DET",
                                       "INTJ",  "NOUN",  "NUM", "PART", "PRON",  "PROPN",
                                       "PUNCT", "SCONJ", "SYM", "VERB", "X"};

/* Words join the tree in random order, each under one that is there or under the root. */
static void random_heads(case_word *words, size_t count, md_random *random)
{
    size_t order[MOST_WORDS];
    for (size_t i = 0; i < count; i++) {
        const size_t other = md_random_below(random, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t above = md_random_below(random, i + 1);
        words[order[i]].head = above == i ? 0 : (int32_t)order[above] + 1;
    }
}

static const char *lemma_or(const case_word *words, int word)
{
    return word < 0 ? "<none>" : word == 0 ? "<root>" : words[word - 1].lemma;
}

static const char *tag_or(const case_word *words, int word)
{
    return word < 0 ? "<none>" : word == 0 ? "<root>" : words[word - 1].upos;
}

/* The first word from `from` to `to`, both included, with this head, -1: none. */
static int find_child(const case_word *words, int head, int from, int to)
{
    const int step = from <= to ? 1 : -1;
    for (int w = from; w != to + step; w += step)
        if (w >= 1 && words[w - 1].head == head)
            return w;
    return -1;
}

static int find_marker(const case_word *words, int count, int head)
{
    static const char *const markers[] = {"ADP", "AUX", "PART", "SCONJ", NULL};
    for (int w = 1; w <= count && head > 0; w++)
        if (words[w - 1].head == head && md_text_index(words[w - 1].upos, markers) >= 0)
            return w;
    return -1;
}

static void plain_set(char text[256], const case_word *words, int count, int head)
{
    text[0] = '\0';
    for (size_t t = 0; t < TAGS; t++)
        for (int w = 1; w <= count; w++)
            if (words[w - 1].head == head && strcmp(words[w - 1].upos, tags[t]) == 0) {
                snprintf(text + strlen(text), 256 - strlen(text), "%s%s", *text ? "+" : "",
                         tags[t]);
                break;
            }
    if (text[0] == '\0')
        snprintf(text, 256, "<none>");
}

static void check_word(const medley_dataset *derived, size_t row, const case_word *words, int count,
                       int word)
{
    const int head = words[word - 1].head;
    const int grand = head > 0 ? words[head - 1].head : -1;
    const int left = word > 1 ? find_child(words, head, word - 1, 1) : -1;
    const int right = word < count ? find_child(words, head, word + 1, count) : -1;
    const int first = find_child(words, word, 1, count);
    const int last = find_child(words, word, count, 1);
    const bool same_left = left > 0 && (left < head) == (word < head);
    const bool same_right = right > 0 && (right < head) == (word < head);
    char text[256];
    snprintf(text, sizeof text, "%s%s%s%s", left < 0 ? "F" : "", right < 0 ? "L" : "",
             same_left ? "" : "f", same_right ? "" : "l");
    check_text(derived, row, MD_TREE_PLACE, *text ? text : "-");
    check_text(derived, row, MD_TREE_HEAD_LEMMA, lemma_or(words, head));
    check_text(derived, row, MD_TREE_HEAD_TAG, tag_or(words, head));
    check_text(derived, row, MD_TREE_BEFORE_HEAD_TAG, tag_or(words, head > 1 ? head - 1 : -1));
    check_text(derived, row, MD_TREE_BEHIND_HEAD_TAG,
               tag_or(words, head > 0 && head < count ? head + 1 : -1));
    check_text(derived, row, MD_TREE_GRAND_TAG, tag_or(words, grand));
    check_text(derived, row, MD_TREE_LEFT_TAG, tag_or(words, left));
    check_text(derived, row, MD_TREE_RIGHT_TAG, tag_or(words, right));
    check_text(derived, row, MD_TREE_FIRST_TAG, tag_or(words, first));
    check_text(derived, row, MD_TREE_FIRST_LEMMA, lemma_or(words, first));
    check_text(derived, row, MD_TREE_LAST_TAG, tag_or(words, last));
    check_text(derived, row, MD_TREE_LAST_LEMMA, lemma_or(words, last));
    check_text(derived, row, MD_TREE_MARKER_LEMMA,
               lemma_or(words, find_marker(words, count, word)));
    check_text(derived, row, MD_TREE_HEAD_MARKER_LEMMA,
               lemma_or(words, find_marker(words, count, head)));
    plain_set(text, words, count, word);
    check_text(derived, row, MD_TREE_CHILD_TAGS, text);
}

static void random_trees_agree_with_plain_searches(void **state)
{
    (void)state;
    static const char *const lemmas[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    for (uint64_t seed = 0; seed < 60; seed++) {
        case_word words[SENTENCES * (MOST_WORDS + 1)];
        size_t length[SENTENCES];
        size_t count = 0;
        md_random random;
        md_random_seed(&random, seed);
        for (size_t s = 0; s < SENTENCES; s++) {
            length[s] = 1 + md_random_below(&random, MOST_WORDS);
            for (size_t i = 0; i < length[s]; i++)
                words[count + i] = (case_word){"form",
                                               lemmas[md_random_below(&random, LENGTH(lemmas))],
                                               tags[md_random_below(&random, TAGS)],
                                               "_",
                                               "_",
                                               0,
                                               "x"};
            random_heads(words + count, length[s], &random);
            count += length[s];
            words[count++] = (case_word)END;
        }
        medley_dataset *derived = derive_words(words, count, CASE_UPOS);
        size_t row = 0;
        const case_word *sentence = words;
        for (size_t s = 0; s < SENTENCES; sentence += length[s++] + 1)
            for (size_t i = 0; i < length[s]; i++)
                check_word(derived, row++, sentence, (int)length[s], (int)i + 1);
        assert_int_equal(row, derived->rows);
        medley_dataset_free(derived);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees_agree_with_plain_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
