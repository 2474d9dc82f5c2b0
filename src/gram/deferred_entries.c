/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of open rows, entered at once for all open rows, by values that are the processor's or
 * the card's. */
#include "gram/deferred_internal.h"

#include "linalg/vectors.h"

/* Where the values of an open row with those from `next` on are: one of the two. */
typedef struct values_of_row {
    const float *values;
    const uint16_t *halves;
} values_of_row;

static values_of_row find_values(const md_deferred *deferred, const md_slot *slot, size_t position,
                                 size_t next)
{
    const size_t at = position * deferred->open_most + next;
    if (slot->card_halves != NULL)
        return (values_of_row){.halves = slot->card_halves + at};
    const float *values = deferred->card != NULL ? slot->card_values : slot->values;
    return (values_of_row){.values = values + at};
}

/* Of one or two labels, so that values are read once. */
static void add_values(const md_deferred *deferred, const md_slot *slot, values_of_row of,
                       const md_label_change *changes, bool two)
{
    const size_t next = deferred->first_needed;
    const size_t rows = deferred->open_count - next;
    float *scores = slot->open_score + next;
    float *first = scores + changes[0].label * deferred->open_most;
    float *second = two ? scores + changes[1].label * deferred->open_most : NULL;
    if (of.halves != NULL && two)
        md_add_two_half_multiples(first, changes[0].change, second, changes[1].change, of.halves,
                                  rows);
    else if (of.halves != NULL)
        md_add_half_multiple(first, changes[0].change, of.halves, rows);
    else if (two)
        md_add_two_multiples(first, changes[0].change, second, changes[1].change, of.values, rows);
    else
        md_add_multiple(first, changes[0].change, of.values, rows);
}

void md_deferred_add(md_deferred *deferred, size_t m, size_t row, const md_label_change *changes,
                     size_t count)
{
    md_slot *slot = md_deferred_slot(deferred, m);
    const size_t position = md_deferred_place(deferred, row);
    slot->live = true;
    if (!slot->is_known[position])
        md_deferred_learn_row(deferred, m, position);
    for (size_t c = 0; c < count; c++)
        slot->entered[changes[c].label * deferred->open_most + position] += changes[c].change;
    atomic_store_explicit(&deferred->changed[position], true, memory_order_relaxed);
    md_deferred_note_change(deferred);
    const values_of_row of = find_values(deferred, slot, position, deferred->first_needed);
    for (size_t c = 0; c < count; c += 2)
        add_values(deferred, slot, of, changes + c, c + 1 < count);
}

void md_deferred_prefetch(const md_deferred *deferred, size_t m, size_t row)
{
    enum { LINE = 64, LINES = 6 }; /* the processor sees by itself what comes then */
    const md_slot *slot = md_deferred_slot(deferred, m);
    const size_t place = md_deferred_place(deferred, row);
    const size_t next = deferred->first_needed;
    if (place == SIZE_MAX || deferred->card == NULL || !slot->is_known[place])
        return; /* the processor's own are few, and near */
    const values_of_row of = find_values(deferred, slot, place, next);
    const size_t size = of.halves != NULL ? sizeof *of.halves : sizeof *of.values;
    const char *start = of.halves != NULL ? (const char *)of.halves : (const char *)of.values;
    const size_t bytes = (deferred->open_count - next) * size;
    for (size_t at = 0; at < LINES * LINE && at < bytes; at += LINE)
        __builtin_prefetch(start + at);
}

float md_deferred_entry(const md_deferred *deferred, size_t m, size_t row, size_t other)
{
    const md_slot *slot = md_deferred_slot(deferred, m);
    const size_t position = deferred->position[row] - 1;
    if (!slot->is_known[position])
        md_deferred_learn_row(deferred, m, position);
    const values_of_row of = find_values(deferred, slot, position, deferred->position[other] - 1);
    return of.halves != NULL ? md_half_value(*of.halves) : *of.values;
}
