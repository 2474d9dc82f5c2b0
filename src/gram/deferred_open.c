/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening rows: their scores get what is due, and kernel values among them are computed. */
#include "gram/deferred_internal.h"

#include "base/parallel.h"

enum { NARROW = 16, WIDE = 64 }; /* open rows, as columns, that a thread takes at a time */

/* Rows are opened in one pass: for some kernels and some of the open rows, as columns, scores are
 * taken over from what was flushed, get the changes that are due, and values are learnt. */
struct opening {
    md_pass know, enter;
    bool enters; /* something is due */
    bool knows;  /* values are learnt now, not one by one */
    size_t across;
};

/* What was flushed, as it is found by row. Also for slots without an entry so far: their owner
 * may have read the scores from a file. */
static void copy_scores(const md_deferred *deferred, md_tile_range range)
{
    const float *flushed = deferred->open_flushed;
    for (size_t m = range.first_kernel; m < range.end_kernel; m++) {
        const md_slot *slot = &deferred->slots[m];
        for (size_t l = 0; slot->score != NULL && l < deferred->labels; l++)
            for (size_t s = range.column; s < range.column + range.columns; s++)
                slot->open_score[l * deferred->open_most + s] =
                    flushed != NULL ? flushed[(deferred->open_place[s] * deferred->count + m) *
                                                  deferred->labels +
                                              l]
                                    : slot->score[l * deferred->n + deferred->open_row[s]];
    }
}

static void open_columns(void *context, size_t item, size_t worker)
{
    const struct opening *opening = context;
    const md_deferred *deferred = opening->know.deferred;
    const size_t k = item / opening->across;
    md_tile_range range = {.column = item % opening->across * opening->know.width,
                           .first_kernel = deferred->range[k],
                           .end_kernel = deferred->range[k + 1]};
    range.columns = md_min(opening->know.columns - range.column, opening->know.width);
    copy_scores(deferred, range);
    if (opening->enters)
        md_pass_compute(&opening->enter, range, worker);
    if (opening->knows)
        md_pass_compute(&opening->know, range, worker);
}

static medley_status gather_open(md_deferred *deferred, medley_error *error)
{
    const md_some_rows some = {.rows = deferred->open_row,
                               .count = deferred->open_count,
                               .most = deferred->open_most,
                               .threads = deferred->gram->threads};
    MEDLEY_TRY(md_prepared_gather_again(&deferred->open, deferred->gram->prepared, &some, error));
    return md_prepared_index(&deferred->open, error);
}

static md_pass pass_to_know(const md_deferred *deferred)
{
    return (md_pass){.deferred = deferred,
                     .purpose = MD_TO_KNOW,
                     .job = {.bank = deferred->gram->bank,
                             .left = &deferred->open,
                             .right = &deferred->open,
                             .columns_of = deferred->open_row,
                             .wanted = deferred->known},
                     .left_row = deferred->open_row,
                     .right_row = deferred->open_row,
                     .position = deferred->position,
                     .rows = deferred->open_count,
                     .columns = deferred->open_count};
}

/* Are values computed beforehand? Where few rows change, only those of these are needed, and
 * computed one by one. Sums of kernels and pairs of sparse rows need more memory than is at hand
 * then. */
static bool is_known_beforehand(const md_deferred *deferred)
{
    return deferred->knows_all || deferred->gram->mix != NULL ||
           deferred->gram->scratch[0].pairs_length > 0;
}

void md_deferred_learn_row(const md_deferred *deferred, size_t m, size_t position)
{
    const md_pass pass = pass_to_know(deferred);
    md_pass_compute_row(&pass, m, position);
    deferred->slots[m].is_known[position] = true;
}

/* What is due is to be entered for the open rows. */
static medley_status prepare_to_enter(struct opening *opening, md_deferred *deferred,
                                      medley_error *error)
{
    opening->enters = deferred->due_count > 0 && md_deferred_want(deferred, deferred->wanted, true);
    if (!opening->enters)
        return MEDLEY_OK;
    opening->enter = opening->know;
    opening->enter.purpose = MD_TO_ENTER;
    opening->enter.job.left = &deferred->left;
    opening->enter.job.wanted = deferred->wanted;
    opening->enter.left_row = deferred->due_row;
    opening->enter.rows = deferred->due_count;
    deferred->entered += deferred->due_count * deferred->open_count;
    return md_deferred_gather_changed(deferred, deferred->due_row, deferred->due_count, error);
}

/* ---- open rows of several ranks ---- */

static void enter_columns(void *context, size_t item, size_t worker)
{
    const md_pass *pass = context;
    const md_deferred *deferred = pass->deferred;
    const size_t across = md_pieces(pass->columns, pass->width);
    const size_t k = item / across;
    md_tile_range range = {.column = item % across * pass->width,
                           .first_kernel = deferred->range[k],
                           .end_kernel = deferred->range[k + 1]};
    range.columns = md_min(pass->columns - range.column, pass->width);
    md_pass_compute(pass, range, worker);
}

static medley_status enter_own(md_deferred *deferred, medley_error *error)
{
    const md_some_rows some = {.rows = deferred->own_row,
                               .count = deferred->own_count,
                               .most = deferred->open_most,
                               .threads = deferred->gram->threads};
    md_pass pass = pass_to_know(deferred);
    MEDLEY_TRY(
        md_prepared_gather_again(&deferred->own_open, deferred->gram->prepared, &some, error));
    MEDLEY_TRY(md_prepared_index(&deferred->own_open, error));
    MEDLEY_TRY(md_deferred_gather_changed(deferred, deferred->due_row, deferred->due_count, error));
    for (size_t i = 0; i < deferred->own_count; i++)
        deferred->own_position[deferred->own_row[i]] = i + 1;
    pass.purpose = MD_TO_ENTER;
    pass.job.left = &deferred->left;
    pass.job.right = &deferred->own_open;
    pass.job.columns_of = pass.right_row = deferred->own_row;
    pass.job.wanted = deferred->wanted;
    pass.position = deferred->own_position;
    pass.left_row = deferred->due_row;
    pass.rows = deferred->due_count;
    pass.columns = deferred->own_count;
    pass.width = WIDE;
    md_parallel_for(deferred->gram->threads, md_pieces(pass.columns, pass.width) * deferred->ranges,
                    enter_columns, &pass);
    md_deferred_note_work(deferred, deferred->due_count * deferred->own_count);
    for (size_t i = 0; i < deferred->own_count; i++)
        deferred->own_position[deferred->own_row[i]] = 0;
    return MEDLEY_OK;
}

/* What is due is entered by the ranks whose rows are open; then all have the scores of all of them.
 */
static medley_status open_together(md_deferred *deferred, medley_error *error)
{
    md_deferred_list_own(deferred);
    for (size_t m = 0; m < deferred->count; m++) {
        const md_slot *slot = &deferred->slots[m];
        for (size_t l = 0; slot->score != NULL && l < deferred->labels; l++)
            for (size_t i = 0; i < deferred->own_count; i++)
                slot->open_score[l * deferred->open_most + i] =
                    slot->score[l * deferred->n + deferred->own_row[i]];
    }
    if (deferred->due_count > 0 && md_deferred_want(deferred, deferred->wanted, true)) {
        deferred->entered += deferred->due_count * deferred->open_count;
        if (deferred->own_count > 0)
            MEDLEY_TRY(enter_own(deferred, error));
    }
    return md_deferred_gather_open(deferred, error);
}

medley_status md_deferred_fill_open(md_deferred *deferred, medley_error *error)
{
    const size_t threads = deferred->gram->threads;
    const bool together = medley_comm_size(deferred->gram->comm) > 1;
    if (deferred->open_count == 0)
        return MEDLEY_OK;
    if (together)
        MEDLEY_TRY(open_together(deferred, error));
    if (!md_deferred_want(deferred, deferred->known, false)) {
        copy_scores(deferred, (md_tile_range){.columns = deferred->open_count,
                                              .end_kernel = deferred->count});
        return MEDLEY_OK;
    }
    MEDLEY_TRY(gather_open(deferred, error));
    struct opening opening = {.know = pass_to_know(deferred),
                              .knows = is_known_beforehand(deferred)};
    for (size_t m = 0; m < deferred->count; m++)
        if (deferred->slots[m].score != NULL)
            memset(deferred->slots[m].is_known, opening.knows, deferred->open_count);
    opening.know.width =
        md_pass_width(deferred->open_count, WIDE, NARROW, md_pieces(threads, deferred->ranges));
    opening.across = md_pieces(deferred->open_count, opening.know.width);
    if (!together)
        MEDLEY_TRY(prepare_to_enter(&opening, deferred, error));
    md_parallel_for(opening.enters || opening.knows ? threads : 1,
                    opening.across * deferred->ranges, open_columns, &opening);
    return MEDLEY_OK;
}
