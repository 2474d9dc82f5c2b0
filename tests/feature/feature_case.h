/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of features: small random data sets and templates, and the plain way to
 * expand them, by putting strings together. */
#ifndef TESTS_FEATURE_CASE_H
#define TESTS_FEATURE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "feature/feature.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- patterns, by trying everything ---- */

static inline bool plain_in_class(char name, char c)
{
    bool is_in = false;
    switch (tolower(name)) {
    case 'a':
        is_in = isalpha((unsigned char)c) != 0;
        break;
    case 'd':
        is_in = isdigit((unsigned char)c) != 0;
        break;
    case 'l':
        is_in = islower((unsigned char)c) != 0;
        break;
    case 'p':
        is_in = ispunct((unsigned char)c) != 0;
        break;
    case 's':
        is_in = isspace((unsigned char)c) != 0;
        break;
    case 'u':
        is_in = isupper((unsigned char)c) != 0;
        break;
    case 'w':
        is_in = isalnum((unsigned char)c) != 0;
        break;
    default:
        return name == c; /* an escaped character */
    }
    return isupper((unsigned char)name) ? !is_in : is_in;
}

static inline bool plain_takes(const char *item, char c)
{
    if (item[0] == '\\')
        return plain_in_class(item[1], c);
    return item[0] == '.' || item[0] == c;
}

/* The longest length of text that pattern matches from its first character, -1: none. ASCII. */
static inline int plain_longest(const char *pattern, const char *text)
{
    if (*pattern == '\0')
        return 0;
    if (*pattern == '$' && pattern[1] == '\0')
        return *text == '\0' ? 0 : -1;
    const char *next = pattern + (*pattern == '\\' ? 2 : 1);
    const bool may_repeat = *next == '*';
    const bool is_optional = may_repeat || *next == '?';
    int best = is_optional ? plain_longest(next + 1, text) : -1;
    if (*text != '\0' && plain_takes(pattern, *text)) {
        const int rest = plain_longest(may_repeat ? pattern : next + is_optional, text + 1);
        if (rest >= 0 && rest + 1 > best)
            best = rest + 1;
    }
    return best;
}

static inline bool plain_find(const char *pattern, const char *text, size_t *start, size_t *size)
{
    const bool is_anchored = *pattern == '^';
    for (size_t s = 0; s <= strlen(text) && (s == 0 || !is_anchored); s++) {
        const int length = plain_longest(pattern + is_anchored, text + s);
        if (length >= 0) {
            *start = s;
            *size = (size_t)length;
            return true;
        }
    }
    return false;
}

/* ---- data ---- */

static const char *const case_texts[] = {
    "a",    "b",    "B",    "Dog",  "dog", "the",  "The",  "3",  "3.5", "a/b", "/b", "c",
    "_B-1", "_B+1", "_b-1", "NASA", ".",   "x-1y", "true", "Q#", "%x",  "aab", "\"", "zz"};
enum { CASE_TEXTS = sizeof case_texts / sizeof *case_texts };

/* An empty data set of words for rows rows. */
static inline medley_dataset *case_empty(size_t rows, size_t columns)
{
    medley_dataset *dataset = NULL;
    assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
    dataset->rows = rows;
    dataset->token_columns = columns;
    dataset->token = md_calloc(rows * columns, sizeof *dataset->token);
    dataset->token_values = md_calloc(columns, sizeof *dataset->token_values);
    assert_non_null(dataset->token);
    assert_non_null(dataset->token_values);
    return dataset;
}

static inline void case_set(medley_dataset *dataset, size_t row, size_t column, const char *text)
{
    dataset->token[row * dataset->token_columns + column] =
        md_strings_add(&dataset->token_values[column], text, strlen(text));
}

static inline void case_sequences(medley_dataset *dataset, const size_t *lengths, size_t count)
{
    dataset->sequence_count = count;
    dataset->sequence_start = md_calloc(count + 1, sizeof *dataset->sequence_start);
    assert_non_null(dataset->sequence_start);
    for (size_t s = 0; s < count; s++)
        dataset->sequence_start[s + 1] = dataset->sequence_start[s] + lengths[s];
    assert_int_equal(dataset->sequence_start[count], dataset->rows);
}

/* texts: how many of case_texts occur, from the one at first on. longest 0: no sequences. */
static inline medley_dataset *case_dataset(md_random *random, size_t rows, size_t columns,
                                           size_t longest, size_t first, size_t texts)
{
    medley_dataset *dataset = case_empty(rows, columns);
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < columns; c++)
            case_set(dataset, row, c,
                     case_texts[(first + md_random_below(random, texts)) % CASE_TEXTS]);
    if (longest == 0)
        return dataset;
    size_t *lengths = md_calloc(2 * rows + 1, sizeof *lengths), count = 0;
    assert_non_null(lengths);
    for (size_t left = rows; left > 0; count++) {
        lengths[count] = md_random_below(random, longest + 1); /* 0: an empty sequence */
        lengths[count] = lengths[count] < left ? lengths[count] : left;
        if (count >= rows)
            lengths[count] = left;
        left -= lengths[count];
    }
    case_sequences(dataset, lengths, count);
    free(lengths);
    return dataset;
}

/* ---- templates ---- */

enum { CASE_MACROS = 4, CASE_BLOCKS = 6 };

typedef struct case_macro {
    char letter; /* x X t T m M */
    bool is_absolute;
    int row;
    size_t column;
    const char *pattern;
} case_macro;

typedef struct case_block {
    size_t count;
    case_macro macro[CASE_MACROS];
} case_block;

typedef struct case_templates {
    case_block block[CASE_BLOCKS];
    size_t count;
    md_templates *parsed;
} case_templates;

static inline case_macro case_draw_macro(md_random *random, size_t columns)
{
    static const char *const patterns[] = {
        "\\u",   "^\\u", "\\d\\d*",  "^.?.?", ".?.?$", "^\\w*$", "\\p", "\\\"",
        "[ab]*", "a*ab", "^\\l\\l*", "\\D*",  "\\S$",  "b?/?b",  ".",   "^$"};
    case_macro macro = {.letter = "xxxxXtTmM"[md_random_below(random, 9)],
                        .is_absolute = md_random_below(random, 5) == 0,
                        .row = (int)md_random_below(random, 7) - 3,
                        .column = md_random_below(random, columns)};
    if (macro.is_absolute && macro.row == 0)
        macro.row = 1;
    if (strchr("tTmM", macro.letter) != NULL)
        macro.pattern = patterns[md_random_below(random, sizeof patterns / sizeof *patterns)];
    return macro;
}

static inline void case_write_macro(md_text *text, const case_macro *macro)
{
    md_text_addf(text, "%%%c[%s%d,%zu", macro->letter, macro->is_absolute ? "@" : "", macro->row,
                 macro->column);
    if (macro->pattern != NULL)
        md_text_addf(text, ",\"%s\"", macro->pattern);
    md_text_addf(text, "]");
}

static inline void case_draw_templates(case_templates *made, md_random *random, size_t columns)
{
    md_text text = {0};
    medley_error error = {0};
    made->count = 1 + md_random_below(random, CASE_BLOCKS);
    for (size_t b = 0; b < made->count; b++) {
        case_block *block = &made->block[b];
        block->count = md_random_below(random, CASE_MACROS + 1);
        md_text_addf(&text, "%cb%zu:", "UB"[md_random_below(random, 2)], b);
        for (size_t m = 0; m < block->count; m++) {
            block->macro[m] = case_draw_macro(random, columns);
            md_text_add(&text, "/", m > 0);
            case_write_macro(&text, &block->macro[m]);
        }
        md_text_addf(&text, "\n");
    }
    if (md_templates_parse(&made->parsed, text.data, text.length, "random", &error) < 0)
        fail_msg("%s in\n%s", error.message, text.data);
    assert_int_equal(md_templates_count(made->parsed), made->count);
    md_text_clear(&text);
}

/* ---- expansion, by putting strings together ---- */

static inline void plain_value(const medley_dataset *dataset, const case_macro *macro, size_t row,
                               char value[64])
{
    long start = (long)row, end = (long)row + 1;
    for (size_t s = 0; s < dataset->sequence_count; s++)
        if (dataset->sequence_start[s] <= row && row < dataset->sequence_start[s + 1]) {
            start = (long)dataset->sequence_start[s];
            end = (long)dataset->sequence_start[s + 1];
        }
    long place = (long)row + macro->row;
    if (macro->is_absolute)
        place = macro->row > 0 ? start + macro->row - 1 : end + macro->row;
    char text[64];
    if (place < start)
        snprintf(text, sizeof text, "_B-%ld", start - place);
    else if (place >= end)
        snprintf(text, sizeof text, "_B+%ld", place - end + 1);
    else
        snprintf(
            text, sizeof text, "%s",
            dataset->token_values[macro->column]
                .items[dataset->token[(size_t)place * dataset->token_columns + macro->column]]);
    size_t at = 0, size = strlen(text);
    const bool is_found = macro->pattern == NULL || plain_find(macro->pattern, text, &at, &size);
    if (macro->letter == 't' || macro->letter == 'T')
        snprintf(value, 64, "%s", is_found ? "true" : "false");
    else
        snprintf(value, 64, "%.*s", is_found ? (int)size : 0, text + at);
    if (isupper((unsigned char)macro->letter))
        for (char *c = value; *c != '\0'; c++)
            *c = (char)tolower((unsigned char)*c);
}

/* The values with separator between them. */
static inline void plain_expand(const medley_dataset *dataset, const case_block *block, size_t row,
                                char separator, md_text *text)
{
    text->length = 0;
    md_text_add(text, "", 0);
    for (size_t m = 0; m < block->count; m++) {
        char value[64];
        plain_value(dataset, &block->macro[m], row, value);
        if (m > 0)
            md_text_add(text, &separator, 1);
        md_text_addf(text, "%s", value);
    }
}

static inline void case_create(md_features **features, md_feature_ids *ids,
                               const md_templates *templates, const medley_dataset *train,
                               md_features_options options)
{
    medley_error error = {0};
    if (md_features_create(features, ids, templates, train, &options, &error) < 0)
        fail_msg("%s", error.message);
}

static inline void case_apply(const md_features *features, md_feature_ids *ids,
                              const medley_dataset *dataset, size_t threads)
{
    medley_error error = {0};
    if (md_features_apply(features, ids, dataset, threads, &error) < 0)
        fail_msg("%s", error.message);
}

static inline void assert_same_ids(const md_feature_ids *a, const md_feature_ids *b)
{
    assert_int_equal(a->block_count, b->block_count);
    assert_int_equal(a->rows, b->rows);
    for (size_t m = 0; m < a->block_count; m++)
        assert_memory_equal(a->ids[m], b->ids[m], a->rows * sizeof **a->ids);
}

#endif
