/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables are larger than the cache and rows touch them at random, so lookups go in batches: all
 * hashes first, then all slots, then all tuples, each asked for before it is needed. */
#include "feature/tuples.h"

#include "feature/templates.h"

enum { FIRST_SLOTS = 64 };

bool md_tuples_start(md_tuples *tuples, size_t width, size_t values)
{
    *tuples = (md_tuples){.width = width};
    if (width == 1) {
        tuples->direct_count = values;
        tuples->direct = md_calloc(values, sizeof *tuples->direct);
        for (size_t v = 0; tuples->direct != NULL && v < values; v++)
            tuples->direct[v] = -1;
        return tuples->direct != NULL;
    }
    tuples->slot_count = width > 1 ? FIRST_SLOTS : 0;
    tuples->slots = md_calloc(tuples->slot_count, sizeof *tuples->slots);
    return tuples->slots != NULL;
}

void md_tuples_clear(md_tuples *tuples)
{
    free(tuples->value);
    free(tuples->direct);
    free(tuples->slots);
    *tuples = (md_tuples){0};
}

static inline uint64_t hash_step(uint64_t hash, int32_t value)
{
    hash = (hash ^ (uint32_t)value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static inline uint32_t hash_end(uint64_t hash)
{
    return (uint32_t)((hash * UINT64_C(0xbf58476d1ce4e5b9)) >> 32);
}

/* count: a power of two. */
static bool resize(md_tuples *tuples, size_t count)
{
    md_tuple_slot *slots = md_calloc(count, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < tuples->slot_count; i++) {
        if (tuples->slots[i].id == 0)
            continue;
        size_t to = tuples->slots[i].hash & (count - 1);
        while (slots[to].id != 0)
            to = (to + 1) & (count - 1);
        slots[to] = tuples->slots[i];
    }
    free(tuples->slots);
    tuples->slots = slots;
    tuples->slot_count = count;
    return true;
}

bool md_tuples_reserve(md_tuples *tuples, size_t count)
{
    size_t slots = tuples->slot_count;
    while (slots > 0 && slots / 2 < count)
        slots *= 2;
    return (slots == tuples->slot_count || resize(tuples, slots)) &&
           md_reserve((void **)&tuples->value, &tuples->capacity, count * tuples->width,
                      sizeof *tuples->value) == 0;
}

static bool is_at(const md_tuples *tuples, int32_t id, const int32_t *tuple)
{
    const int32_t *stored = tuples->value + (size_t)id * tuples->width;
    for (size_t i = 0; i < tuples->width; i++)
        if (stored[i] != tuple[i])
            return false;
    return true;
}

/* The slot that holds tuple, or the free one where it would go. */
static size_t find_slot(const md_tuples *tuples, const int32_t *tuple, uint32_t hash)
{
    const size_t mask = tuples->slot_count - 1;
    size_t at = hash & mask;
    while (tuples->slots[at].id != 0 &&
           (tuples->slots[at].hash != hash || !is_at(tuples, tuples->slots[at].id - 1, tuple)))
        at = (at + 1) & mask;
    return at;
}

/* Appends a tuple that is not there yet; -1: no memory or no numbers left. */
static int32_t append(md_tuples *tuples, const int32_t *tuple)
{
    const size_t width = tuples->width;
    if (tuples->count >= INT32_MAX - 1 ||
        md_reserve((void **)&tuples->value, &tuples->capacity, (tuples->count + 1) * width,
                   sizeof *tuples->value) != 0)
        return -1;
    for (size_t i = 0; i < width; i++)
        tuples->value[tuples->count * width + i] = tuple[i];
    return (int32_t)tuples->count++;
}

static int32_t add_hashed(md_tuples *tuples, const int32_t *tuple, uint32_t hash)
{
    if (tuples->count * 2 >= tuples->slot_count && !resize(tuples, tuples->slot_count * 2))
        return -1;
    md_tuple_slot *slot = &tuples->slots[find_slot(tuples, tuple, hash)];
    if (slot->id != 0)
        return slot->id - 1;
    const int32_t id = append(tuples, tuple);
    if (id >= 0)
        *slot = (md_tuple_slot){.hash = hash, .id = id + 1};
    return id;
}

int32_t md_tuples_add(md_tuples *tuples, const int32_t *tuple)
{
    if (tuples->width == 0) {
        tuples->count = 1;
        return 0;
    }
    if (tuples->width == 1) {
        int32_t *id = &tuples->direct[tuple[0]];
        return *id >= 0 ? *id : (*id = append(tuples, tuple));
    }
    uint64_t hash = 0;
    for (size_t i = 0; i < tuples->width; i++)
        hash = hash_step(hash, tuple[i]);
    return add_hashed(tuples, tuple, hash_end(hash));
}

/* hash[i] of each row, and whether all its values are known. Asks for the slots. */
static void hash_rows(const md_tuples *tuples, const int32_t (*column)[MD_BATCH], size_t count,
                      uint32_t *hash, bool *is_known)
{
    uint64_t mixed[MD_BATCH] = {0};
    int32_t worst[MD_BATCH] = {0};
    for (size_t m = 0; m < tuples->width; m++)
        for (size_t i = 0; i < count; i++) {
            mixed[i] = hash_step(mixed[i], column[m][i]);
            worst[i] |= column[m][i];
        }
    for (size_t i = 0; i < count; i++) {
        hash[i] = hash_end(mixed[i]);
        is_known[i] = worst[i] >= 0;
        __builtin_prefetch(&tuples->slots[hash[i] & (tuples->slot_count - 1)]);
    }
}

static void gather(int32_t *tuple, const int32_t (*column)[MD_BATCH], size_t width, size_t row)
{
    for (size_t m = 0; m < width; m++)
        tuple[m] = column[m][row];
}

static bool is_row_at(const md_tuples *tuples, int32_t id, const int32_t (*column)[MD_BATCH],
                      size_t row)
{
    const int32_t *stored = tuples->value + (size_t)id * tuples->width;
    for (size_t m = 0; m < tuples->width; m++)
        if (stored[m] != column[m][row])
            return false;
    return true;
}

void md_tuples_find(const md_tuples *tuples, const int32_t (*column)[MD_BATCH], size_t count,
                    int32_t *ids)
{
    for (size_t i = 0; i < count && tuples->width == 0; i++)
        ids[i] = tuples->count > 0 ? 0 : -1;
    for (size_t i = 0; i < count && tuples->width == 1; i++)
        ids[i] = column[0][i] >= 0 ? tuples->direct[column[0][i]] : -1;
    if (tuples->width < 2)
        return;
    uint32_t hash[MD_BATCH];
    bool is_known[MD_BATCH];
    const size_t mask = tuples->slot_count - 1;
    hash_rows(tuples, column, count, hash, is_known);
    for (size_t i = 0; i < count; i++) { /* the first tuple with this hash, if any */
        size_t at = hash[i] & mask;
        while (tuples->slots[at].id != 0 && tuples->slots[at].hash != hash[i])
            at = (at + 1) & mask;
        ids[i] = is_known[i] ? tuples->slots[at].id - 1 : -1;
        if (ids[i] >= 0)
            __builtin_prefetch(&tuples->value[(size_t)ids[i] * tuples->width]);
    }
    for (size_t i = 0; i < count; i++) {
        if (ids[i] < 0 || is_row_at(tuples, ids[i], column, i))
            continue;
        int32_t tuple[MD_MACROS_MOST] = {0}; /* another tuple has the same hash: rare */
        gather(tuple, column, tuples->width, i);
        ids[i] = tuples->slots[find_slot(tuples, tuple, hash[i])].id - 1;
    }
}

bool md_tuples_number(md_tuples *tuples, const int32_t (*column)[MD_BATCH], size_t count,
                      int32_t *ids)
{
    uint32_t hash[MD_BATCH] = {0};
    bool is_known[MD_BATCH];
    int32_t tuple[MD_MACROS_MOST] = {0};
    memset(is_known, 1, sizeof is_known);
    if (tuples->width > 1)
        hash_rows(tuples, column, count, hash, is_known);
    for (size_t i = 0; i < count; i++) {
        gather(tuple, column, tuples->width, i);
        if (tuples->width == 1)
            is_known[i] = tuple[0] >= 0;
        ids[i] = -1;
        if (!is_known[i])
            continue;
        ids[i] =
            tuples->width > 1 ? add_hashed(tuples, tuple, hash[i]) : md_tuples_add(tuples, tuple);
        if (ids[i] < 0)
            return false;
    }
    return true;
}
