/* SPDX-License-Identifier: BSD-3-Clause */
/* What fields see of words, as numbers: 32-bit hashes of strings, and the bit of a word's tag in
 * sets of tags. */
#ifndef MD_ARC_VALUES_H
#define MD_ARC_VALUES_H

#include "feature/arc_templates.h"

/* Sets of tags have 32 bits: one for each universal tag, and the rest shared by all others. */
enum {
    MD_ARC_TAG_BITS = 32,
    MD_ARC_TAG_CCONJ = 4,
    MD_ARC_TAG_PUNCT = 12,
    MD_ARC_TAG_SCONJ = 13,
    MD_ARC_TAG_VERB = 15,
    MD_ARC_TAGS_KNOWN = 17
};

/* Fields of words, followed by the bits of tags. */
enum { MD_ARC_TAG_BIT = MD_ARC_WORDS, MD_ARC_VALUES };

/* Numbers of a sentence's positions: the root, its words, what comes after them, and
 * MD_ARC_OFFSET_MOST positions outside at either end. */
enum { MD_ARC_OUTSIDE = 2 * MD_ARC_OFFSET_MOST + 1 };

typedef struct md_arc_values {
    const medley_dataset *dataset;
    size_t column[MD_ARC_VALUES];
    bool is_used[MD_ARC_VALUES];
    uint32_t *of_text[MD_ARC_VALUES]; /* by number of the text; NULL: computed as they come */
    bool lists_feats;                 /* single features are asked for */
    uint32_t *feats_of_text;          /* [texts][MD_ARC_FEATS] or NULL, too */
} md_arc_values;

/* words: how many will be looked at; where there are fewer of them than strings in a column,
 * strings are not looked at in advance. is_used and dataset are set before. What was made is
 * cleared by the caller in any case. */
medley_status md_arc_values_make(md_arc_values *values, size_t tags, size_t words, size_t threads,
                                 medley_error *error);
void md_arc_values_clear(md_arc_values *values);

/* out[-MD_ARC_OFFSET_MOST .. count + 1 + MD_ARC_OFFSET_MOST]: position 0 is the root, 1 .. count
 * are the words in rows first .. first + count - 1. */
void md_arc_values_fill(const md_arc_values *values, size_t value, size_t first, size_t count,
                        uint32_t *out);

/* Single features of FEATS: how many, then names and values, in order of names. */
void md_arc_feats_read(const char *text, uint32_t list[MD_ARC_FEATS]);
uint32_t md_arc_hash(const char *text, size_t length);

/* The same of all positions: out[count + 2][MD_ARC_FEATS]. */
void md_arc_values_fill_feats(const md_arc_values *values, size_t first, size_t count,
                              uint32_t *out);

/* Spreads a small number over all bits; different numbers stay different. */
static inline uint32_t md_arc_spread(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

#endif
