/* SPDX-License-Identifier: BSD-3-Clause */
/* Deferred scores of several ranks. Each keeps those of its share of the rows up to date: flushing,
 * which is nearly all of the work, is divided evenly, and takes 1/ranks of the memory for kept
 * rows. Changes are the same on all ranks, and need not be told. What a rank lacks is the scores
 * of open rows that belong to others: each enters what is due for those that are its own, and they
 * are gathered when rows are opened; all scores when everything is flushed.
 *
 * Bytes from every rank to every other: 4 labels kernels for each of its rows that is opened; the
 * same for each of its rows when all is flushed. */
#include "gram/deferred_internal.h"

static size_t owner_of(const md_deferred *deferred, size_t row, size_t ranks)
{
    size_t low = 0;
    size_t high = ranks; /* the owner is in low .. high - 1 */
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (row < md_share_of(deferred->n, MD_OWN_UNIT, middle, ranks).first)
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* Numbers the open rows, those of each rank together; offset[r]: the first one of rank r. */
static void place_rows(md_deferred *deferred, size_t *offset, size_t ranks)
{
    memset(offset, 0, (ranks + 1) * sizeof *offset);
    for (size_t s = 0; s < deferred->open_count; s++)
        offset[owner_of(deferred, deferred->open_row[s], ranks) + 1]++;
    for (size_t r = 0; r < ranks; r++)
        offset[r + 1] += offset[r];
    for (size_t s = 0; s < deferred->open_count; s++)
        deferred->open_place[s] = offset[owner_of(deferred, deferred->open_row[s], ranks)]++;
    for (size_t r = ranks; r > 0; r--) /* back to where they were */
        offset[r] = offset[r - 1];
    offset[0] = 0;
}

static bool is_own(const md_deferred *deferred, size_t row)
{
    return row >= deferred->own.first && row < deferred->own.end;
}

void md_deferred_list_own(md_deferred *deferred)
{
    deferred->own_count = 0;
    for (size_t s = 0; s < deferred->open_count; s++)
        if (is_own(deferred, deferred->open_row[s]))
            deferred->own_row[deferred->own_count++] = deferred->open_row[s];
}

static void fill_own(md_deferred *deferred)
{
    const size_t labels = deferred->labels;
    size_t i = 0;
    for (size_t s = 0; s < deferred->open_count; s++) {
        float *place = deferred->open_flushed + deferred->open_place[s] * deferred->count * labels;
        if (!is_own(deferred, deferred->open_row[s]))
            continue;
        for (size_t m = 0; m < deferred->count; m++) {
            const md_slot *slot = &deferred->slots[m];
            for (size_t l = 0; slot->score != NULL && l < labels; l++)
                place[m * labels + l] = slot->open_score[l * deferred->open_most + i];
        }
        i++;
    }
}

medley_status md_deferred_gather_open(md_deferred *deferred, medley_error *error)
{
    medley_comm *comm = deferred->gram->comm;
    const size_t ranks = medley_comm_size(comm);
    MD_OWNED(free) size_t *offset = NULL;
    if (ranks == 1)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&offset, ranks + 1, sizeof *offset, error));
    place_rows(deferred, offset, ranks);
    fill_own(deferred);
    return md_comm_gather_spans(comm, deferred->open_flushed, offset,
                                deferred->count * deferred->labels * sizeof(float), error);
}

medley_status md_deferred_gather_all(md_deferred *deferred, medley_error *error)
{
    medley_comm *comm = deferred->gram->comm;
    if (medley_comm_size(comm) == 1 || !deferred->is_partial)
        return MEDLEY_OK;
    deferred->is_partial = false;
    for (size_t m = 0; m < deferred->count; m++)
        if (deferred->slots[m].score != NULL)
            MEDLEY_TRY(md_comm_gather_columns(comm, deferred->slots[m].score, deferred->labels,
                                              deferred->n, deferred->n, MD_OWN_UNIT, error));
    return MEDLEY_OK;
}
