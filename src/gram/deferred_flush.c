/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushing what is due to the scores of all rows. */
#include "gram/deferred_internal.h"

#include "base/parallel.h"

enum { LEAST_WIDTH = 64 };      /* columns that a thread takes at a time */
enum { ITEMS_OF_A_THREAD = 4 }; /* so that threads end at about the same time */

static void flush_columns(void *context, size_t item, size_t worker)
{
    const md_pass *pass = context;
    const md_span own = pass->deferred->own;
    md_tile_range range = {.column = own.first + item * pass->width,
                           .end_kernel = pass->deferred->count};
    range.columns = md_min(own.end - range.column, pass->width);
    md_pass_compute(pass, range, worker);
}

/* Changes first .. first + count - 1, at most MD_TILE. */
static medley_status flush_some(md_deferred *deferred, size_t first, size_t count,
                                medley_error *error)
{
    md_gram *gram = deferred->gram;
    const size_t fresh = md_kept_rows_list_fresh(deferred, first, count);
    if (fresh > 0)
        MEDLEY_TRY(md_deferred_gather_changed(deferred, deferred->fresh_row, fresh, error));
    md_kept_rows_find_room(deferred, fresh, count);
    md_pass pass = {.deferred = deferred,
                    .purpose = MD_TO_FLUSH,
                    .job = {.bank = gram->bank,
                            .left = &deferred->left,
                            .right = gram->prepared,
                            .wanted = deferred->wanted},
                    .left_row = deferred->fresh_row,
                    .rows = fresh,
                    .columns = deferred->own.end - deferred->own.first,
                    .first_due = first,
                    .due_rows = count};
    pass.width =
        md_pass_width(pass.columns, MD_TILE, LEAST_WIDTH, ITEMS_OF_A_THREAD * gram->threads);
    md_parallel_for(gram->threads, md_pieces(pass.columns, pass.width), flush_columns, &pass);
    md_deferred_note_work(deferred, fresh * pass.columns);
    deferred->is_partial = true;
    deferred->counts.computed += fresh;
    deferred->counts.found += count - fresh;
    return MEDLEY_OK;
}

medley_status md_deferred_flush(md_deferred *deferred, medley_error *error)
{
    const size_t due = deferred->due_count;
    if (deferred->card != NULL)
        return md_deferred_card_flush(deferred, error);
    deferred->entered = 0;
    deferred->due_count = 0; /* also where flushing fails: nothing is flushed twice */
    if (due == 0 || !md_deferred_want(deferred, deferred->wanted, true))
        return MEDLEY_OK;
    md_kept_rows_prepare(deferred);
    for (size_t d = 0; d < due; d += MD_TILE)
        MEDLEY_TRY(flush_some(deferred, d, md_min(due - d, MD_TILE), error));
    return MEDLEY_OK;
}
