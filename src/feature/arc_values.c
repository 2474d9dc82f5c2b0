/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of words to numbers. Model files hold weights by these numbers, so they must never change:
 * neither the hash nor the order of the universal tags. */
#include "feature/arc_values.h"

#include "base/parallel.h"
#include "feature/values.h"

enum { FORM = 1, LEMMA = 2, XPOS = 4, FEATS = 5, AFFIX = 3 /* characters */ };

/* Values of positions that are no words. */
static const uint32_t ROOT = 0x8f1bbcdcu, BEFORE = 0x5be0cd19u, AFTER = 0xca62c1d6u,
                      ABSENT = 0x3c6ef372u;

/* universaldependencies.org/u/pos, in the order of the alphabet. */
static const char *const universal_tags[MD_ARC_TAGS_KNOWN + 1] = {
    "ADJ",  "ADP",  "ADV",   "AUX",   "CCONJ", "DET", "INTJ", "NOUN", "NUM",
    "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X",    NULL};

static uint32_t hash_text(const char *text, size_t length, bool folds_case)
{
    return (uint32_t)md_value_hash(text, length, folds_case);
}

uint32_t md_arc_hash(const char *text, size_t length)
{
    return hash_text(text, length, false);
}

/* Inside a character of UTF-8, not its first byte. */
static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static size_t prefix_length(const char *text, size_t length)
{
    size_t end = 0;
    for (size_t i = 0; i < AFFIX && end < length; i++)
        for (end++; end < length && continues(text[end]);)
            end++;
    return end;
}

static size_t suffix_start(const char *text, size_t length)
{
    size_t start = length;
    for (size_t i = 0; i < AFFIX && start > 0; i++)
        for (start--; start > 0 && continues(text[start]);)
            start--;
    return start;
}

static uint32_t tag_bit(const char *text)
{
    const int known = md_text_index(text, universal_tags);
    return known >= 0 ? (uint32_t)known
                      : MD_ARC_TAGS_KNOWN + hash_text(text, strlen(text), false) %
                                                (MD_ARC_TAG_BITS - MD_ARC_TAGS_KNOWN);
}

static uint32_t value_of(const char *text, size_t value)
{
    const size_t length = strlen(text);
    switch (value) {
    case MD_ARC_TAG_BIT:
        return tag_bit(text);
    case MD_ARC_WORD_LOWER:
        return hash_text(text, length, true);
    case MD_ARC_WORD_PREFIX:
        return hash_text(text, prefix_length(text, length), true);
    case MD_ARC_WORD_SUFFIX: {
        const size_t start = suffix_start(text, length);
        return hash_text(text + start, length - start, true);
    }
    default:
        return hash_text(text, length, false);
    }
}

static void make_table(void *context, size_t value, size_t worker)
{
    const md_arc_values *values = context;
    (void)worker;
    if (values->of_text[value] == NULL)
        return;
    const md_strings *texts = &values->dataset->token_values[values->column[value]];
    for (size_t i = 0; i < texts->count; i++)
        values->of_text[value][i] = value_of(texts->items[i], value);
}

medley_status md_arc_values_make(md_arc_values *values, size_t tags, size_t words, size_t threads,
                                 medley_error *error)
{
    const size_t column[MD_ARC_VALUES] = {
        [MD_ARC_WORD_FORM] = FORM,   [MD_ARC_WORD_LOWER] = FORM,  [MD_ARC_WORD_LEMMA] = LEMMA,
        [MD_ARC_WORD_UPOS] = tags,   [MD_ARC_WORD_XPOS] = XPOS,   [MD_ARC_WORD_FEATS] = FEATS,
        [MD_ARC_WORD_PREFIX] = FORM, [MD_ARC_WORD_SUFFIX] = FORM, [MD_ARC_TAG_BIT] = tags};
    memcpy(values->column, column, sizeof column);
    for (size_t v = 0; v < MD_ARC_VALUES; v++) {
        const size_t texts = values->dataset->token_values[column[v]].count;
        if (!values->is_used[v] || texts > words)
            continue;
        MEDLEY_TRY(md_new(&values->of_text[v], texts, sizeof *values->of_text[v], error));
    }
    md_parallel_for(threads, MD_ARC_VALUES, make_table, values);
    const md_strings *feats = &values->dataset->token_values[FEATS];
    if (!values->lists_feats || feats->count > words)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&values->feats_of_text, feats->count * MD_ARC_FEATS,
                      sizeof *values->feats_of_text, error));
    for (size_t i = 0; i < feats->count; i++)
        md_arc_feats_read(feats->items[i], values->feats_of_text + i * MD_ARC_FEATS);
    return MEDLEY_OK;
}

void md_arc_values_clear(md_arc_values *values)
{
    for (size_t v = 0; v < MD_ARC_VALUES; v++) {
        free(values->of_text[v]);
        values->of_text[v] = NULL;
    }
    free(values->feats_of_text);
    values->feats_of_text = NULL;
}

void md_arc_values_fill_feats(const md_arc_values *values, size_t first, size_t count,
                              uint32_t *out)
{
    const medley_dataset *dataset = values->dataset;
    const md_strings *texts = &dataset->token_values[FEATS];
    out[0] = out[(count + 1) * MD_ARC_FEATS] = 0; /* the root, and what comes after all words */
    for (size_t i = 0; i < count; i++) {
        const int32_t id = dataset->token[(first + i) * dataset->token_columns + FEATS];
        uint32_t *list = out + (i + 1) * MD_ARC_FEATS;
        if (id < 0 || (size_t)id >= texts->count)
            list[0] = 0;
        else if (values->feats_of_text != NULL)
            memcpy(list, values->feats_of_text + (size_t)id * MD_ARC_FEATS,
                   MD_ARC_FEATS * sizeof *list);
        else
            md_arc_feats_read(texts->items[id], list);
    }
}

void md_arc_values_fill(const md_arc_values *values, size_t value, size_t first, size_t count,
                        uint32_t *out)
{
    const medley_dataset *dataset = values->dataset;
    const md_strings *texts = &dataset->token_values[values->column[value]];
    const uint32_t *of_text = values->of_text[value];
    for (ptrdiff_t i = 1; i <= MD_ARC_OFFSET_MOST; i++)
        out[-i] = BEFORE;
    for (size_t i = 1; i <= MD_ARC_OFFSET_MOST + 1; i++)
        out[count + i] = AFTER;
    out[0] = ROOT;
    for (size_t i = 0; i < count; i++) {
        const int32_t id =
            dataset->token[(first + i) * dataset->token_columns + values->column[value]];
        if (id < 0 || (size_t)id >= texts->count)
            out[i + 1] = ABSENT;
        else
            out[i + 1] = of_text != NULL ? of_text[id] : value_of(texts->items[id], value);
    }
}
