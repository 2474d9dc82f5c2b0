/* SPDX-License-Identifier: BSD-3-Clause */
/* Deferred scores on a card. It has the scores of all rows, and changes are flushed whenever rows
 * are left: that takes no time of the processor's, which waits only for the scores of the rows that
 * are opened next. Their values are computed beforehand, while changes are still being decided.
 * What the processor has of scores is true for open rows that are still to be visited, and for all
 * rows once they are closed. */
#include "gram/deferred_internal.h"

static size_t card_slot(const md_deferred *deferred, size_t m)
{
    return deferred->gram->mix != NULL ? 0 : md_card_place(deferred->gram->card, m);
}

static bool is_attached(const md_deferred *deferred, size_t m)
{
    return deferred->slots[m].score != NULL;
}

medley_status md_deferred_card_create(md_deferred *deferred, medley_error *error)
{
    const md_gram *gram = deferred->gram;
    const size_t slots = gram->mix != NULL ? 1 : md_card_kernels(gram->card);
    const size_t lines = slots * deferred->labels;
    MEDLEY_TRY(md_card_scores(&deferred->card, gram->card, deferred->labels, gram->mix,
                              deferred->open_most, &deferred->card_most, error));
    deferred->card_slots = slots;
    return md_pool_new(&deferred->pool, &deferred->card_change, lines * deferred->card_most,
                       sizeof(float), error);
}

/* Scores that their owner has filled, and that the card does not have yet. */
static medley_status write_stale(md_deferred *deferred, medley_error *error)
{
    for (size_t m = 0; m < deferred->count; m++) {
        md_slot *slot = &deferred->slots[m];
        if (!is_attached(deferred, m) || !slot->is_stale)
            continue;
        MEDLEY_TRY(md_device_write(deferred->card, card_slot(deferred, m), slot->score, error));
        slot->is_stale = false;
        slot->is_filled = true;
    }
    return MEDLEY_OK;
}

/* Due changes first .. first + count - 1, as the card takes them. */
static void pack_changes(const md_deferred *deferred, size_t first, size_t count)
{
    const size_t labels = deferred->labels;
    memset(deferred->card_change, 0,
           deferred->card_slots * labels * count * sizeof *deferred->card_change);
    for (size_t m = 0; m < deferred->count; m++) {
        md_slot *slot = &deferred->slots[m];
        if (!is_attached(deferred, m) || !slot->live)
            continue;
        float *change = deferred->card_change + card_slot(deferred, m) * labels * count;
        for (size_t l = 0; l < labels; l++)
            memcpy(change + l * count, slot->due + l * deferred->due_most + first,
                   count * sizeof *change);
        slot->is_filled = slot->is_unread = true;
    }
}

medley_status md_deferred_card_flush(md_deferred *deferred, medley_error *error)
{
    const size_t due = deferred->due_count;
    deferred->due_count = 0;
    if (due == 0 || !md_deferred_want(deferred, deferred->wanted, true))
        return MEDLEY_OK;
    MEDLEY_TRY(write_stale(deferred, error));
    for (size_t first = 0; first < due; first += deferred->card_most) {
        const size_t count = md_min(due - first, deferred->card_most);
        pack_changes(deferred, first, count);
        MEDLEY_TRY(md_device_add(deferred->card, deferred->due_row + first, count,
                                 deferred->card_change, deferred->precisely, error));
    }
    md_card_count(deferred->gram->card, &deferred->counts.computed, &deferred->counts.found);
    return MEDLEY_OK;
}

medley_status md_deferred_card_open(md_deferred *deferred, medley_error *error)
{
    const size_t most = deferred->open_most;
    const size_t labels = deferred->labels;
    const size_t count = deferred->open_count;
    md_device_opened opened = {0};
    MEDLEY_TRY(write_stale(deferred, error));
    MEDLEY_TRY(md_device_open_rows(deferred->card, deferred->open_row, count, &opened, error));
    for (size_t m = 0; m < deferred->count; m++) {
        md_slot *slot = &deferred->slots[m];
        if (!is_attached(deferred, m))
            continue;
        const size_t at = card_slot(deferred, m);
        slot->open_score = opened.scores + at * labels * most;
        slot->card_values = opened.values != NULL ? opened.values + at * most * most : NULL;
        slot->card_halves = opened.halves != NULL ? opened.halves + at * most * most : NULL;
        memset(slot->is_known, true, count);
    }
    return MEDLEY_OK;
}

/* Scores that are read once are read again, after each epoch. Small arrays share pages with others,
 * and are not worth it. */
static void pin(const md_deferred *deferred, md_slot *slot)
{
    enum { LEAST = 1 << 18 };
    const size_t bytes = deferred->labels * deferred->n * sizeof *slot->score;
    if (slot->was_read || bytes < LEAST)
        return;
    slot->was_read = true;
    slot->is_pinned = md_device_pin(deferred->card, slot->score, bytes);
}

medley_status md_deferred_card_read(md_deferred *deferred, medley_error *error)
{
    MEDLEY_TRY(write_stale(deferred, error));
    for (size_t m = 0; m < deferred->count; m++) {
        md_slot *slot = &deferred->slots[m];
        if (!is_attached(deferred, m) || !slot->is_unread)
            continue;
        pin(deferred, slot);
        MEDLEY_TRY(md_device_read(deferred->card, card_slot(deferred, m), slot->score, error));
        slot->is_unread = false;
    }
    return MEDLEY_OK;
}

void md_deferred_card_scale(md_deferred *deferred, size_t m, size_t first, size_t count,
                            float factor)
{
    md_slot *slot = md_deferred_slot(deferred, m);
    if (slot->is_filled)
        md_device_scale(deferred->card, card_slot(deferred, m), first, count, factor);
    if (factor == 0 && count == deferred->labels)
        slot->is_filled = slot->is_stale = slot->is_unread = false;
}
