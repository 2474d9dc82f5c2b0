/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of weights that arcs look up: 2^bits slots for each template (feature/arc.h). */
#ifndef MD_ARC_WEIGHTS_H
#define MD_ARC_WEIGHTS_H

#include "feature/arc.h"
#include "structure/heads.h"

/* The words whose arcs are scored: first .. end - 1, counted from 1. */
typedef struct md_arc_words {
    size_t first, end;
} md_arc_words;

static inline md_arc_words md_arc_all_words(const md_arc_key *key)
{
    return (md_arc_words){1, key->length + 1};
}

/* score[(m - 1) * (n + 1) + h] += factor * (sum of the weights of the features of h -> m). The
 * parts that are no arcs get something too. */
void md_arc_add_weights(float *score, const md_arc_key *key, md_arc_words words,
                        const float *weight, size_t bits, float factor);

/* The same for all words, with the upper halves of floats: half of the bytes, and more digits than
 * matter. */
void md_arc_add_halves(float *score, const md_arc_key *key, const uint16_t *weight, size_t bits);

/* Weights of a template: floats, or the upper halves of them. */
typedef struct md_arc_table {
    const float *weight;  /* NULL: halves */
    const uint16_t *half; /* else */
    size_t bits;
    float factor; /* of weights; of halves it is 1 */
} md_arc_table;

/* The same for arcs that words may have only, at the same places; and for parts of second order,
 * score[0 .. count - 1] of these. */
void md_arc_add_heads(float *score, const md_arc_key *key, md_arc_words words,
                      const md_sentence *sentence, const md_arc_table *table);
void md_arc_add_triples(float *score, const md_arc_key *key, const md_triple *parts, size_t count,
                        md_arc_parts kind, const md_arc_table *table);

/* The slot of a part of second order. Siblings that are no words are no distance away. */
static inline uint32_t md_arc_triple_slot(const md_arc_key *key, md_triple part, md_arc_parts kind,
                                          uint32_t shift)
{
    const ptrdiff_t h = part.head;
    const ptrdiff_t m = part.word;
    const ptrdiff_t t = part.third;
    ptrdiff_t away = h - t;
    if (kind == MD_ARC_SIBLINGS)
        away = t == MD_NO_SIBLING || t > (ptrdiff_t)key->length ? 0 : t - m;
    const uint32_t sum = key->head[h] + key->distance[h - m] + key->modifier[m] + key->third[t] +
                         key->far[away] + md_arc_turn(part.turn);
    return md_arc_mix(key->arc != NULL ? sum + key->arc[(m - 1) * (ptrdiff_t)(key->length + 1) + h]
                                       : sum) >>
           shift;
}

static inline float md_float_of_half(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounded to the nearest; finite numbers stay finite. */
static inline uint16_t md_half_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t rounded = bits + 0x7fffu + (bits >> 16 & 1);
    return (uint16_t)((rounded & 0x7f800000u) == 0x7f800000u ? bits >> 16 : rounded >> 16);
}

/* The slots of the features of h -> m into slots; returns how many, at most MD_ARC_MOST. */
static inline size_t md_arc_slots(uint32_t slots[MD_ARC_MOST], const md_arc_key *key, size_t m,
                                  size_t h, size_t bits)
{
    const uint32_t shift = 32 - (uint32_t)bits;
    const size_t part = (m - 1) * (key->length + 1) + h;
    const uint32_t base =
        key->head[h] + (key->distance - m)[h] + key->modifier[m] + (key->arc ? key->arc[part] : 0);
    if (key->bag == MD_ARC_NO_BAG) {
        slots[0] = md_arc_mix(base) >> shift;
        return 1;
    }
    const size_t count = md_arc_bag_of(key, m, h, slots);
    for (size_t i = 0; i < count; i++)
        slots[i] = md_arc_mix(base + slots[i]) >> shift;
    return count;
}

#endif
