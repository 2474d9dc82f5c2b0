/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunk scores: cases by hand, and the published rules of conlleval applied naively. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "metrics/chunk.h"
#include <math.h>
#include <string.h>

enum { MOST_LABELS = 32, LONGEST = 12 };

static void add_names(md_strings *names, const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        assert_true(md_strings_add(names, text, length) >= 0);
        text += length + strspn(text + length, " ");
    }
}

/* Label numbers of words between blanks; `?` is -1. */
static size_t numbers_of(const md_strings *names, const char *text, int32_t *labels)
{
    size_t count = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        const int32_t label = md_strings_find(names, text, length);
        assert_true(label >= 0 || *text == '?');
        labels[count++] = label;
        text += length + strspn(text + length, " ");
    }
    return count;
}

static bool are_chunks(const char *text)
{
    md_strings names = {0};
    add_names(&names, text);
    const bool result = md_chunk_labels(&names);
    md_strings_clear(&names);
    return result;
}

static void label_sets_are_recognised(void **state)
{
    (void)state;
    assert_true(are_chunks("B-NP I-NP O"));
    assert_true(are_chunks("B-NP"));
    assert_true(are_chunks("O B-x I-x E-x S-x L-y U-y"));
    assert_true(are_chunks("I-B-PER O"));
    assert_false(are_chunks("O"));
    assert_false(are_chunks(""));
    assert_false(are_chunks("B-NP I-NP O NN"));
    assert_false(are_chunks("B I O"));
    assert_false(are_chunks("B- O"));
    assert_false(are_chunks("b-NP O"));
    assert_false(are_chunks("X-NP O"));
    assert_false(are_chunks("BNP O"));
}

static void check_counts(const char *given, const char *found, md_chunk_counts expected)
{
    static const char all[] = "O B-N I-N E-N S-N L-N U-N B-V I-V E-V S-V B-N-a I-N-a";
    md_strings names = {0};
    md_chunk_scheme scheme;
    md_chunk_counts counts[MOST_LABELS] = {0};
    int32_t a[LONGEST];
    int32_t b[LONGEST];
    medley_error error = {0};
    add_names(&names, all);
    assert_int_equal(md_chunk_scheme_init(&scheme, &names, &error), MEDLEY_OK);
    const size_t length = numbers_of(&names, given, a);
    assert_int_equal(numbers_of(&names, found, b), length);
    md_chunk_count(&scheme, a, b, length, counts);
    const md_chunk_counts total = md_chunk_total(counts, scheme.types.count);
    if (total.given != expected.given || total.found != expected.found ||
        total.correct != expected.correct)
        print_error("%s / %s: %zu %zu %zu\n", given, found, total.given, total.found,
                    total.correct);
    assert_int_equal(total.given, expected.given);
    assert_int_equal(total.found, expected.found);
    assert_int_equal(total.correct, expected.correct);
    md_chunk_scheme_clear(&scheme);
    md_strings_clear(&names);
}

static void chunks_are_counted_as_by_hand(void **state)
{
    (void)state;
    static const struct {
        const char *given, *found;
        md_chunk_counts counts;
    } cases[] = {
        {"", "", {0, 0, 0}},
        {"O O", "O O", {0, 0, 0}},
        {"B-N I-N O B-V", "B-N I-N O B-V", {2, 2, 2}},
        /* an inside label begins a chunk behind O, at the start, and where the type changes */
        {"I-N I-N O I-N", "B-N I-N O B-N", {2, 2, 2}},
        {"B-N I-V O", "B-N B-V O", {2, 2, 2}},
        {"B-N I-N I-V", "B-N I-N O", {2, 1, 1}},
        {"B-N B-N", "B-N I-N", {2, 1, 0}},
        {"I-N I-N", "I-N B-N", {1, 2, 0}},
        /* ends or types that differ are wrong */
        {"B-N I-N I-N", "B-N I-N O", {1, 1, 0}},
        {"B-N I-N O", "B-N I-N I-N", {1, 1, 0}},
        {"O B-N I-N", "B-N I-N I-N", {1, 1, 0}},
        {"B-N I-N", "B-V I-V", {1, 1, 0}},
        {"B-N I-N", "B-N I-V", {1, 2, 0}},
        {"B-N I-N-a", "B-N I-N-a", {2, 2, 2}}, /* the type is all that follows the first dash */
        /* a chunk that ends beside one that goes on, then one that is right */
        {"B-N I-N B-V I-V", "B-N B-N B-V I-V", {2, 3, 1}},
        /* other schemes */
        {"B-N I-N E-N S-N S-N", "B-N I-N I-N B-N B-N", {3, 3, 3}},
        {"B-N I-N L-N U-N O", "B-N I-N E-N S-N O", {2, 2, 2}},
        {"B-N E-N B-N E-N", "B-N I-N B-N I-N", {2, 2, 2}},
        {"E-N E-N", "S-N S-N", {2, 2, 2}},
        {"E-N I-N", "B-N B-N", {2, 2, 2}},
        {"S-N I-N", "B-N I-N", {2, 1, 0}},
        {"O E-N O", "O S-N O", {1, 1, 1}},
        {"I-N E-N", "B-N L-N", {1, 1, 1}},
        /* a label that is not known is outside */
        {"? I-N", "O I-N", {1, 1, 1}},
        {"B-N ?", "B-N I-N", {1, 1, 0}},
        {"? ?", "B-N O", {0, 1, 0}},
        {"B-N ? I-N", "B-N O B-N", {2, 2, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_counts(cases[i].given, cases[i].found, cases[i].counts);
}

static void sequences_do_not_run_into_each_other(void **state)
{
    (void)state;
    md_strings names = {0};
    md_chunk_scheme scheme;
    md_chunk_counts counts[2] = {0};
    medley_error error = {0};
    add_names(&names, "I-V I-N");
    assert_int_equal(md_chunk_scheme_init(&scheme, &names, &error), MEDLEY_OK);
    const int32_t labels[] = {1, 1, 1, 0};
    md_chunk_count(&scheme, labels, labels, 2, counts);
    md_chunk_count(&scheme, labels + 2, labels + 2, 2, counts);
    const int32_t v = md_strings_find(&scheme.types, "V", 1);
    const int32_t n = md_strings_find(&scheme.types, "N", 1);
    assert_int_equal(counts[v].correct, 1);
    assert_int_equal(counts[n].given, 2);
    assert_int_equal(counts[n].found, 2);
    assert_int_equal(counts[n].correct, 2);
    md_chunk_scheme_clear(&scheme);
    md_strings_clear(&names);
}

static void scores_follow_from_counts(void **state)
{
    (void)state;
    const md_chunk_counts counts = {.given = 8, .found = 5, .correct = 4};
    const md_chunk_counts none = {0};
    const double p = 4.0 / 5;
    const double r = 4.0 / 8;
    assert_true(md_chunk_precision(counts) == p);
    assert_true(md_chunk_recall(counts) == r);
    assert_true(fabs(md_chunk_f1(counts) - 2 * p * r / (p + r)) < 1e-15);
    assert_true(md_chunk_precision(none) == 0 && md_chunk_recall(none) == 0);
    assert_true(md_chunk_f1(none) == 0);
}

/* ---- the rules as published, on texts ---- */

typedef struct tag {
    char prefix;
    const char *type;
} tag;

static tag tag_of(const char *name)
{
    return strcmp(name, "O") == 0 ? (tag){'O', ""} : (tag){name[0], name + 2};
}

static bool is_one_of(char before, char here, const char *pairs)
{
    for (; *pairs != '\0'; pairs += 2 + (pairs[2] == ' '))
        if (pairs[0] == before && pairs[1] == here)
            return true;
    return false;
}

/* The original knows B, I, O and E; those who added S have it end and begin always, and B behind E
 * begin a chunk. */
static bool end_of_chunk(tag before, tag here)
{
    return is_one_of(before.prefix, here.prefix,
                     "BB BO IB IO EE EI EO EB ES BS IS SB SI SE SS SO") ||
           (before.prefix != 'O' && strcmp(before.type, here.type) != 0);
}

static bool start_of_chunk(tag before, tag here)
{
    return is_one_of(before.prefix, here.prefix,
                     "BB IB OB OI EE EI OE EB SB SI SE SS BS IS OS ES") ||
           (here.prefix != 'O' && strcmp(before.type, here.type) != 0);
}

/* One sentence, with an O behind it that ends what is open. */
static md_chunk_counts count_naively(const tag *given, const tag *found, size_t length)
{
    const tag outside = {'O', ""};
    md_chunk_counts counts = {0};
    tag last_given = outside;
    tag last_found = outside;
    bool in_correct = false;
    for (size_t i = 0; i <= length; i++) {
        const tag g = i < length ? given[i] : outside;
        const tag f = i < length ? found[i] : outside;
        const bool given_ends = end_of_chunk(last_given, g);
        const bool found_ends = end_of_chunk(last_found, f);
        const bool given_starts = start_of_chunk(last_given, g);
        const bool found_starts = start_of_chunk(last_found, f);
        if (in_correct) {
            if (given_ends && found_ends && strcmp(last_given.type, last_found.type) == 0) {
                in_correct = false;
                counts.correct++;
            } else if (given_ends != found_ends || strcmp(g.type, f.type) != 0) {
                in_correct = false;
            }
        }
        if (given_starts && found_starts && strcmp(g.type, f.type) == 0)
            in_correct = true;
        counts.given += given_starts;
        counts.found += found_starts;
        last_given = g;
        last_found = f;
    }
    return counts;
}

static void counts_equal_the_published_rules(void **state)
{
    (void)state;
    static const char *const schemes[] = {"O B-a I-a", "O B-a I-a B-b I-b", "I-a I-b O",
                                          "O I-a E-a I-b E-b", "O B-a I-a E-a S-a B-b I-b E-b S-b"};
    md_random random;
    md_random_seed(&random, 20000);
    size_t correct = 0;
    for (size_t k = 0; k < 20000; k++) {
        md_strings names = {0};
        md_chunk_scheme scheme;
        medley_error error = {0};
        md_chunk_counts counts[MOST_LABELS] = {0};
        int32_t given[LONGEST];
        int32_t found[LONGEST];
        tag given_tag[LONGEST];
        tag found_tag[LONGEST];
        add_names(&names, schemes[k % 5]);
        const size_t length = md_random_below(&random, LONGEST + 1);
        for (size_t i = 0; i < length; i++) {
            given[i] = (int32_t)md_random_below(&random, names.count);
            const bool same = md_random_below(&random, 10) < 8;
            found[i] = same ? given[i] : (int32_t)md_random_below(&random, names.count);
            given_tag[i] = tag_of(names.items[given[i]]);
            found_tag[i] = tag_of(names.items[found[i]]);
        }
        assert_int_equal(md_chunk_scheme_init(&scheme, &names, &error), MEDLEY_OK);
        md_chunk_count(&scheme, given, found, length, counts);
        const md_chunk_counts total = md_chunk_total(counts, scheme.types.count);
        const md_chunk_counts naive = count_naively(given_tag, found_tag, length);
        assert_int_equal(total.given, naive.given);
        assert_int_equal(total.found, naive.found);
        assert_int_equal(total.correct, naive.correct);
        correct += total.correct;
        md_chunk_scheme_clear(&scheme);
        md_strings_clear(&names);
    }
    assert_true(correct > 10000); /* there was something to count */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(label_sets_are_recognised),
        cmocka_unit_test(chunks_are_counted_as_by_hand),
        cmocka_unit_test(sequences_do_not_run_into_each_other),
        cmocka_unit_test(scores_follow_from_counts),
        cmocka_unit_test(counts_equal_the_published_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
