/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns: hand-made cases, random ones against a search that tries everything, and texts and
 * patterns made to take long. */
#include "feature/feature_case.h"

#include "feature/pattern.h"

/* The part of text that matches; NULL: none. */
static const char *match(const char *pattern, const char *text, char part[64])
{
    md_pattern compiled;
    size_t start = 0, size = 0;
    const char *wrong = md_pattern_compile(&compiled, pattern, strlen(pattern));
    if (wrong != NULL)
        fail_msg("%s %s", pattern, wrong);
    if (!md_pattern_find(&compiled, text, strlen(text), &start, &size))
        return NULL;
    snprintf(part, 64, "%.*s", (int)size, text + start);
    return part;
}

static void patterns_find_the_leftmost_longest_match(void **state)
{
    static const struct {
        const char *pattern, *text, *part;
    } cases[] = {{"^.?.?.?.?", "running", "runn"},
                 {"^.?.?.?.?", "ab", "ab"},
                 {".?.?.?$", "running", "ing"},
                 {"^\\u\\u*$", "NASA", "NASA"},
                 {"^\\u\\u*$", "NaSA", NULL},
                 {"\\d\\d*", "ab12c345", "12"},
                 {"\\d*", "ab12", ""},
                 {"a*", "aaab", "aaa"},
                 {"\\*", "2*3", "*"},
                 {"a$b", "xa$b", "a$b"},
                 {"a^b", "a^b", "a^b"},
                 {"$", "abc", ""},
                 {"^$", "", ""},
                 {"^$", "a", NULL},
                 {"\\\"", "say\"", "\""},
                 {"\\\\", "a\\b", "\\"},
                 {"\\s", "a b", " "},
                 {"\\p\\p*", "a-.b", "-."},
                 {"^.?", "\xc3\xa9t\xc3\xa9", "\xc3\xa9"},
                 {"\xc3\xa9$", "\xc3\xa9t\xc3\xa9", "\xc3\xa9"},
                 {"\\A", "a\xe2\x82\xac", "\xe2\x82\xac"},
                 {"\\a*", "\xc3\xa9", ""},
                 {".", "\xff\xfe", "\xff"},
                 {"\xc3\xa9", "\xc3\xa8", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char part[64];
        const char *found = match(cases[i].pattern, cases[i].text, part);
        if ((found == NULL) != (cases[i].part == NULL) ||
            (found != NULL && strcmp(found, cases[i].part) != 0))
            fail_msg("%s in %s: found %s, expected %s", cases[i].pattern, cases[i].text,
                     found ? found : "nothing", cases[i].part ? cases[i].part : "nothing");
    }
}

static void random_patterns_equal_trying_everything(void **state)
{
    static const char *const pieces[] = {"a",    "b",    ".",    "\\a", "\\d", "\\u", "\\W",
                                         "\\D",  "a*",   "b*",   ".*",  ".?",  "a?",  "b?",
                                         "\\l*", "\\d?", "\\S*", "\\.", "^",   "$"};
    md_random random;
    size_t hits = 0;
    (void)state;
    md_random_seed(&random, 11);
    for (int round = 0; round < 60000; round++) {
        char pattern[64] = "", text[16] = "", part[64];
        if (md_random_below(&random, 3) == 0)
            strcat(pattern, "^");
        for (size_t left = 1 + md_random_below(&random, 6); left > 0; left--)
            strcat(pattern, pieces[md_random_below(&random, sizeof pieces / sizeof *pieces)]);
        if (md_random_below(&random, 3) == 0)
            strcat(pattern, "$");
        for (size_t length = md_random_below(&random, 9), i = 0; i < length; i++)
            text[i] = "abB1.ab$^"[md_random_below(&random, 9)];
        size_t start = 0, size = 0;
        const bool is_expected = plain_find(pattern, text, &start, &size);
        const char *found = match(pattern, text, part);
        if ((found != NULL) != is_expected ||
            (found != NULL && (strlen(part) != size || strncmp(part, text + start, size) != 0)))
            fail_msg("%s in %s: found %s, expected %s%.*s", pattern, text,
                     found ? found : "nothing", is_expected ? "" : "nothing", (int)size,
                     text + start);
        hits += is_expected;
    }
    assert_in_range(hits, 10000, 55000);
}

static void malformed_patterns_are_refused(void **state)
{
    static const char *const bad[] = {"",    "*",  "?a",  "^*",  "a**",  "a*?",
                                      "a\\", "\\", "\\q", "\\1", "\\b*", "\\Z"};
    md_pattern pattern;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (md_pattern_compile(&pattern, bad[i], strlen(bad[i])) == NULL)
            fail_msg("the pattern \"%s\" was accepted", bad[i]);
    char longest[MD_PATTERN_MOST + 2];
    memset(longest, 'a', sizeof longest);
    assert_null(md_pattern_compile(&pattern, longest, MD_PATTERN_MOST));
    assert_non_null(md_pattern_compile(&pattern, longest, MD_PATTERN_MOST + 1));
}

/* Exponential or cubic ways to match would take hours for these. */
static void no_pattern_takes_long(void **state)
{
    enum { LENGTH = 20000 };
    char *text = malloc(LENGTH + 1), pattern[2 * 60 + 3] = "";
    md_pattern compiled;
    size_t start = 0, size = 0;
    (void)state;
    assert_non_null(text);
    memset(text, 'a', LENGTH);
    text[LENGTH] = '\0';
    for (int i = 0; i < 60; i++)
        strcat(pattern, "a*");
    strcat(pattern, "b");
    const double begin = md_clock_seconds();
    assert_null(md_pattern_compile(&compiled, pattern, strlen(pattern)));
    assert_false(md_pattern_find(&compiled, text, LENGTH, &start, &size));
    assert_true(md_clock_seconds() - begin < 5);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_find_the_leftmost_longest_match),
        cmocka_unit_test(random_patterns_equal_trying_everything),
        cmocka_unit_test(malformed_patterns_are_refused),
        cmocka_unit_test(no_pattern_takes_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
