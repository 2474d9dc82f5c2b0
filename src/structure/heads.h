/* SPDX-License-Identifier: BSD-3-Clause */
/* The heads that the words of some sentences may have, where not all are looked at, and the parts
 * of second order between them:
 *
 *   siblings      h -> m with the next word s on its side of h, nearer to h, that hangs from h too;
 *                 with none, if m is the first there; and with the end, if it is the last
 *   grandparents  h -> m with the head g of h, which is not the root
 *
 * An arc is a word and one of its heads. Those of a word stand together, in the order of the
 * sentence, and so do the parts of an arc: a part is found from its words by adding up. */
#ifndef MD_HEADS_H
#define MD_HEADS_H

#include "base/base.h"

/* A part of second order. turn tells on which sides of each other the words stand. */
typedef struct md_triple {
    uint16_t head, word, third, turn;
} md_triple;

/* A third that is no word: none before the first sibling, as the root is no sibling; the end, which
 * comes after all words. */
enum { MD_NO_SIBLING = 0 };

enum { MD_TURNS = 8 };

typedef struct md_heads {
    size_t rows;
    size_t *first;     /* [rows + 1] arcs of each row */
    uint16_t *head;    /* [arcs] 0: the root */
    uint16_t *rank;    /* [arcs] possible siblings that are nearer to the head */
    uint32_t *sibling; /* [arcs + 1] first part: none, the nearest sibling, .., the end */
    uint32_t *grand;   /* [arcs + 1] first part: one for each head of the head, even m itself */
    md_triple *siblings;
    md_triple *grands;
    size_t most_siblings, most_grands; /* of a sentence */
} md_heads;

/* Sentences are rows start[s] .. start[s + 1] - 1, counted from start[0]; words have the heads
 * head[first[row]] .. head[first[row + 1] - 1], in order, which are copied. second: with parts of
 * second order. */
medley_status md_heads_create(md_heads **heads, const size_t *start, size_t sentences,
                              const size_t *first, const uint16_t *head, bool second,
                              medley_error *error);
void md_heads_free(md_heads *heads);
MD_OWNER(md_heads_free, md_heads)

/* Parts of second order that a sentence of these arcs would have, or more. */
size_t md_heads_count_parts(size_t words, const size_t *first, const uint16_t *head,
                            uint32_t *scratch /* [2 * (words + 1)] */);

/* ---- one sentence ---- */

typedef struct md_sentence {
    const md_heads *heads;
    size_t row, words;
    size_t siblings, grands; /* the number of each */
    const md_triple *sibling, *grand;
} md_sentence;

static inline md_sentence md_heads_sentence(const md_heads *heads, size_t row, size_t words)
{
    const size_t from = heads->first[row];
    const size_t to = heads->first[row + words];
    md_sentence sentence = {.heads = heads, .row = row, .words = words};
    if (heads->sibling != NULL) {
        sentence.siblings = heads->sibling[to] - heads->sibling[from];
        sentence.grands = heads->grand[to] - heads->grand[from];
        sentence.sibling = heads->siblings + heads->sibling[from];
        sentence.grand = heads->grands + heads->grand[from];
    }
    return sentence;
}

/* Arcs of word m = 1 .. */
static inline size_t md_sentence_first(const md_sentence *sentence, size_t m)
{
    return sentence->heads->first[sentence->row + m - 1];
}

/* The arc from h to m; SIZE_MAX: it is none of the heads. */
static inline size_t md_sentence_arc(const md_sentence *sentence, size_t m, size_t h)
{
    const md_heads *heads = sentence->heads;
    for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1); a++)
        if (heads->head[a] == h)
            return a;
    return SIZE_MAX;
}

/* Parts of an arc among those of the sentence. inner: the arc of the next sibling that is nearer,
 * SIZE_MAX: none; above: the arc of the head. */
static inline size_t md_sentence_sibling(const md_sentence *sentence, size_t arc, size_t inner)
{
    const md_heads *heads = sentence->heads;
    const uint32_t base = heads->sibling[heads->first[sentence->row]];
    return heads->sibling[arc] - base + (inner == SIZE_MAX ? 0 : 1 + (size_t)heads->rank[inner]);
}

static inline size_t md_sentence_end(const md_sentence *sentence, size_t arc)
{
    const md_heads *heads = sentence->heads;
    return heads->sibling[arc + 1] - 1 - heads->sibling[heads->first[sentence->row]];
}

static inline size_t md_sentence_grand(const md_sentence *sentence, size_t arc, size_t above)
{
    const md_heads *heads = sentence->heads;
    const size_t h = heads->head[arc];
    return heads->grand[arc] - heads->grand[heads->first[sentence->row]] + above -
           md_sentence_first(sentence, h);
}

#endif
