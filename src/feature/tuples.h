/* SPDX-License-Identifier: BSD-3-Clause */
/* The dictionary of one block: tuples of value numbers, one number for each macro of its template,
 * themselves numbered in order of arrival. Exact: what is found is compared, not only its hash. */
#ifndef MD_TUPLES_H
#define MD_TUPLES_H

#include "base/base.h"

/* Open addressing, at most half full. A slot keeps the whole hash that placed it, so that growing
 * does not look at the tuples. */
typedef struct md_tuple_slot {
    uint32_t hash;
    int32_t id; /* + 1; 0: free */
} md_tuple_slot;

typedef struct md_tuples {
    size_t width;
    size_t count, capacity;
    int32_t *value;       /* [count][width] */
    int32_t *direct;      /* width 1: [direct_count] the id of each value, -1 none */
    md_tuple_slot *slots; /* width 2 and more: [slot_count], a power of two */
    size_t direct_count, slot_count;
} md_tuples;

enum { MD_BATCH = 128 }; /* rows looked up at a time: enough to keep many memory reads going */

/* values: how many there are of the only macro, where width is 1. */
bool md_tuples_start(md_tuples *tuples, size_t width, size_t values);
void md_tuples_clear(md_tuples *tuples);

/* Room for count tuples in all, so that adding them need not grow it; false: no memory. */
bool md_tuples_reserve(md_tuples *tuples, size_t count);

/* The id of a tuple (of values that are none of them -1), added if it is new; -1: no memory. */
int32_t md_tuples_add(md_tuples *tuples, const int32_t *tuple);

/* For rows i in 0..count-1 (at most MD_BATCH) with the tuples column[0..width-1][i]: their ids, -1
 * where one of the values is -1 or there is no such tuple. */
void md_tuples_find(const md_tuples *tuples, const int32_t (*column)[MD_BATCH], size_t count,
                    int32_t *ids);

/* The same, but new tuples are added. False: no memory. */
bool md_tuples_number(md_tuples *tuples, const int32_t (*column)[MD_BATCH], size_t count,
                      int32_t *ids);

#endif
