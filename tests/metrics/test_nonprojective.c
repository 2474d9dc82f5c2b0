/* SPDX-License-Identifier: BSD-3-Clause */
/* Arcs that are not projective: by hand, and all heads of short sentences, cycles among them,
 * against walks from word to head. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/nonprojective.h"
#include <math.h>
#include <string.h>

enum { LONGEST = 12 };

/* Does the way up from the word meet the head? As many steps as there are words are enough. */
static bool hangs_from(const int32_t *head, size_t length, size_t word, size_t from)
{
    int32_t at = head[word - 1];
    for (size_t step = 0; step < length; step++) {
        if (at >= 0 && (size_t)at == from)
            return true;
        if (at <= 0 || (size_t)at > length)
            return false;
        at = head[at - 1];
    }
    return at >= 0 && (size_t)at == from;
}

static bool is_nonprojective(const int32_t *head, size_t length, size_t word)
{
    if (head[word - 1] < 0 || (size_t)head[word - 1] > length)
        return false;
    const size_t h = (size_t)head[word - 1];
    const size_t low = word < h ? word : h;
    const size_t high = word < h ? h : word;
    for (size_t between = low + 1; between < high; between++)
        if (!hangs_from(head, length, between, h))
            return true;
    return false;
}

static size_t marks_of(const int32_t *head, size_t length, bool *marked)
{
    uint32_t room[4 * (LONGEST + 1)];
    assert_true(md_nonprojective_room(length) <= sizeof room / sizeof *room);
    return md_nonprojective(head, length, marked, room);
}

static void arcs_are_marked_as_by_hand(void **state)
{
    (void)state;
    bool marked[LONGEST];
    /* A hearing is scheduled on the issue today */
    const int32_t hearing[] = {2, 3, 0, 3, 2, 7, 5, 4};
    assert_int_equal(marks_of(hearing, 8, marked), 2);
    assert_true(marked[4]); /* hearing - on, over the verb */
    assert_true(marked[7]); /* scheduled - today, over `on the issue` */
    const int32_t plain[] = {2, 3, 0, 3, 4};
    assert_int_equal(marks_of(plain, 5, marked), 0);
    const int32_t cycle[] = {0, 3, 2, 1}; /* 2 and 3 hang from each other alone */
    assert_int_equal(marks_of(cycle, 4, marked), 1);
    assert_true(marked[3]);
    const int32_t own[] = {1, 2, 0};
    assert_int_equal(marks_of(own, 3, marked), 1);
    assert_true(marked[2]); /* from the root over words that do not hang from it */
}

/* Every assignment of heads from -1 to one too many. */
static void all_heads_of_short_sentences_equal_walks(void **state)
{
    (void)state;
    size_t trees = 0;
    for (size_t length = 1; length <= 5; length++) {
        const size_t choices = length + 3;
        size_t all = 1;
        for (size_t i = 0; i < length; i++)
            all *= choices;
        for (size_t code = 0; code < all; code++) {
            int32_t head[LONGEST];
            bool marked[LONGEST];
            size_t rest = code;
            size_t expected = 0;
            for (size_t i = 0; i < length; i++, rest /= choices)
                head[i] = (int32_t)(rest % choices) - 1;
            const size_t count = marks_of(head, length, marked);
            for (size_t word = 1; word <= length; word++) {
                const bool right = is_nonprojective(head, length, word);
                assert_true(marked[word - 1] == right);
                expected += right;
            }
            assert_int_equal(count, expected);
            trees += expected > 0;
        }
    }
    assert_true(trees > 10000);
}

static void counts_add_up_over_sentences(void **state)
{
    (void)state;
    const int32_t gold[] = {2, 3, 0, 3, 2, 7, 5, 4};
    const int32_t said[] = {2, 3, 0, 3, 2, 7, 5, 1}; /* the last arc begins elsewhere */
    md_nonprojective_counts counts = {0};
    bool marked[LONGEST];
    uint32_t room[4 * (LONGEST + 1)];
    assert_true(isnan(md_nonprojective_precision(counts)));
    assert_true(isnan(md_nonprojective_recall(counts)));
    md_nonprojective_count(&counts, gold, said, 8, marked, room);
    assert_int_equal(counts.gold, 2);
    assert_int_equal(counts.predicted, 2);
    assert_int_equal(counts.found, 1);
    assert_int_equal(counts.right, 1);
    md_nonprojective_count(&counts, gold, gold, 8, marked, room);
    assert_int_equal(counts.gold, 4);
    assert_int_equal(counts.predicted, 4);
    assert_true(md_nonprojective_precision(counts) == 0.75);
    assert_true(md_nonprojective_recall(counts) == 0.75);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arcs_are_marked_as_by_hand),
        cmocka_unit_test(all_heads_of_short_sentences_equal_walks),
        cmocka_unit_test(counts_add_up_over_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
