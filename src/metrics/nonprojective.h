/* SPDX-License-Identifier: BSD-3-Clause */
/* Arcs that are not projective: between head and word stands a word that does not hang, directly or
 * by way of others, from this head. Heads need not make a tree: words of a cycle hang from each
 * other and not from the root. */
#ifndef MD_NONPROJECTIVE_H
#define MD_NONPROJECTIVE_H

#include "base/base.h"

/* Arcs of the data and of a prediction, and how many of each the other side has as well (where they
 * may be projective, since other arcs differ). */
typedef struct md_nonprojective_counts {
    size_t gold, predicted;
    size_t found; /* of gold */
    size_t right; /* of predicted */
} md_nonprojective_counts;

/* Numbers of room that a sentence of this length needs. */
static inline size_t md_nonprojective_room(size_t length)
{
    return 4 * (length + 1);
}

/* Sets marked[i] where the arc to word i is not projective; returns how many are not. head[length]:
 * from 1, 0 the root; others are no arcs. Time is at most the square of the length. */
size_t md_nonprojective(const int32_t *head, size_t length, bool *marked, uint32_t *room);

/* Adds a sentence; marked[length]. */
void md_nonprojective_count(md_nonprojective_counts *counts, const int32_t *gold,
                            const int32_t *predicted, size_t length, bool *marked, uint32_t *room);

/* Right ones of the predicted, found ones of the gold; NaN where there are none. */
double md_nonprojective_precision(md_nonprojective_counts counts);
double md_nonprojective_recall(md_nonprojective_counts counts);

#endif
