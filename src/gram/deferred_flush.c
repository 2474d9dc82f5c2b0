/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushing: kernel values of changed rows against all rows, or against the open ones,
 * multiplied with the changes as they are computed. Columns belong to one thread each and rows come
 * in order, so any number of threads gives the same bits. */
#include "gram/deferred_internal.h"

#include "base/parallel.h"

enum { NARROW = 32 }; /* open rows, as columns, that a thread takes at a time */

typedef enum md_purpose { TO_FLUSH, TO_ENTER, TO_KNOW } md_purpose;

/* A pass over tiles. */
struct pass {
    md_deferred *deferred;
    md_purpose purpose;
    md_tile_job job;
    const size_t *left_row;  /* training row of each left row */
    const size_t *right_row; /* of each column; NULL: the same number */
    size_t rows, columns;
    size_t width;  /* columns of an item */
    size_t across; /* items of one range of kernels */

    /* to flush: some of the due changes, whose values are computed or were kept */
    size_t first_due, due_rows;
};

/* What one thread does at a time. */
struct piece {
    const struct pass *pass;
    size_t worker;
    bool started; /* a sum of the mixture has been begun */
};

static size_t column_row(const struct pass *pass, size_t column)
{
    return pass->right_row ? pass->right_row[column] : column;
}

/* The column of a training row; SIZE_MAX: it has none. */
static size_t column_of(const struct pass *pass, size_t row)
{
    return pass->right_row ? pass->deferred->position[row] - 1 : row;
}

/* Centring, and the diagonal as exact as it is elsewhere: K(i,i) by itself, not by products. */
static void finish_values(const struct pass *pass, size_t m, const md_tile_values *tile,
                          float *values)
{
    const md_gram *gram = pass->deferred->gram;
    const md_kernel *kernel = &gram->bank->kernels[m];
    for (size_t r = 0; r < tile->rows; r++) {
        const size_t row = pass->left_row[tile->row + r];
        const size_t own = column_of(pass, row);
        float *out = values + r * tile->stride;
        for (size_t j = 0; kernel->norm == MD_NORM_CENTER && j < tile->columns; j++)
            out[j] += (float)(kernel->grand_mean - (double)kernel->column_mean[row] -
                              (double)kernel->column_mean[column_row(pass, tile->column + j)]);
        if (own >= tile->column && own - tile->column < tile->columns)
            out[own - tile->column] = (float)gram->stored[m].diagonal[row];
    }
}

static void keep_values(const struct pass *pass, size_t m, const md_tile_values *tile)
{
    const md_deferred *deferred = pass->deferred;
    for (size_t r = 0; r < tile->rows; r++)
        if (deferred->keep[r] != NULL)
            memcpy(deferred->keep[r] + deferred->kept.place[m] * deferred->n + tile->column,
                   tile->values + r * tile->stride, tile->columns * sizeof(float));
}

/* Adds a row of a kernel, times change d, to scores, `stride` from label to label: a change is
 * about few labels. */
static void add_change(const md_deferred *deferred, const md_slot *slot, size_t d,
                       const float *values, size_t columns, float *scores, size_t stride)
{
    for (size_t l = 0; l < deferred->labels; l++) {
        const float change = slot->due[l * deferred->due_most + d];
        if (change != 0)
            md_add_multiple(scores + l * stride, change, values, columns);
    }
}

/* All changes of the pass, one after the other, whether their values were computed now or kept: so
 * the order of sums does not depend on what is kept. tile: those that were computed. */
static void flush_tile(struct piece *piece, size_t m, const md_tile_values *tile)
{
    const struct pass *pass = piece->pass;
    const md_deferred *deferred = pass->deferred;
    const md_slot *slot = md_deferred_slot(deferred, m);
    const double *mix = deferred->gram->mix;
    float *sums = mix != NULL ? deferred->sums[piece->worker] : NULL;
    const size_t at = deferred->kept.place[m] * deferred->n + tile->column;
    if (mix != NULL && !piece->started)
        memset(sums, 0, sizeof(float) * MD_TILE * MD_TILE);
    piece->started = m != deferred->last_wanted;
    for (size_t d = 0; d < pass->due_rows; d++) {
        const float *values = deferred->found[d] != NULL
                                  ? deferred->found[d] + at
                                  : tile->values + deferred->fresh[d] * tile->stride;
        if (mix != NULL) {
            md_add_multiple(sums + d * MD_TILE, (float)mix[m], values, tile->columns);
            values = sums + d * MD_TILE;
        }
        if (mix == NULL || m == deferred->last_wanted)
            add_change(deferred, slot, pass->first_due + d, values, tile->columns,
                       slot->score + tile->column, deferred->n);
    }
}

/* The scores of the open rows get the changes that are due, or their kernel values are learnt. */
static void use_for_open_rows(const struct pass *pass, const md_slot *slot,
                              const md_tile_values *tile)
{
    const md_deferred *deferred = pass->deferred;
    const size_t most = deferred->open_most;
    for (size_t r = 0; r < tile->rows; r++) {
        const float *values = tile->values + r * tile->stride;
        if (pass->purpose == TO_ENTER)
            add_change(deferred, slot, tile->row + r, values, tile->columns,
                       slot->open_score + tile->column, most);
        else
            memcpy(slot->values + (tile->row + r) * most + tile->column, values,
                   tile->columns * sizeof(float));
    }
}

/* Adds a kernel to the sum of a mixture; true once the sum is complete. */
static bool add_to_mixture(struct piece *piece, size_t m, md_tile_values *tile)
{
    const md_deferred *deferred = piece->pass->deferred;
    float *sum = deferred->sums[piece->worker];
    if (!piece->started)
        memset(sum, 0, sizeof(float) * MD_TILE * MD_TILE);
    piece->started = m != deferred->last_wanted;
    for (size_t r = 0; r < tile->rows; r++)
        md_add_multiple(sum + r * MD_TILE, (float)deferred->gram->mix[m],
                        tile->values + r * tile->stride, tile->columns);
    tile->values = sum;
    tile->stride = MD_TILE;
    return m == deferred->last_wanted;
}

/* A tile of kernel m is complete in the scratch memory of this thread. */
static void take_tile(void *context, size_t m, const md_tile_values *values)
{
    struct piece *piece = context;
    const struct pass *pass = piece->pass;
    const md_deferred *deferred = pass->deferred;
    md_tile_values tile = *values;
    finish_values(pass, m, &tile, deferred->gram->scratch[piece->worker].values);
    if (pass->purpose == TO_FLUSH) {
        keep_values(pass, m, &tile);
        flush_tile(piece, m, &tile);
    } else if (deferred->gram->mix == NULL || add_to_mixture(piece, m, &tile)) {
        use_for_open_rows(pass, md_deferred_slot(deferred, m), &tile);
    }
}

/* Everything was kept: there is nothing to compute. */
static void flush_kept(struct piece *piece, md_tile_range range)
{
    const md_deferred *deferred = piece->pass->deferred;
    const md_tile_values nothing = {.column = range.column, .columns = range.columns};
    for (size_t m = 0; m < deferred->count; m++)
        if (deferred->wanted[m])
            flush_tile(piece, m, &nothing);
}

static void run_item(void *context, size_t item, size_t worker)
{
    const struct pass *pass = context;
    const md_deferred *deferred = pass->deferred;
    struct piece piece = {.pass = pass, .worker = worker};
    const md_tile_sink sink = {.context = &piece, .take = take_tile};
    md_tile_job job = pass->job;
    job.sink = &sink;
    const size_t k = item / pass->across;
    const bool all = pass->purpose == TO_FLUSH;
    md_tile_range range = {.column = item % pass->across * pass->width,
                           .first_kernel = all ? 0 : deferred->range[k],
                           .end_kernel = all ? deferred->count : deferred->range[k + 1],
                           .symmetric = pass->purpose == TO_KNOW};
    range.columns = md_min(pass->columns - range.column, pass->width);
    if (pass->rows == 0)
        flush_kept(&piece, range);
    for (range.row = 0; range.row < pass->rows; range.row += MD_TILE) {
        range.rows = md_min(pass->rows - range.row, MD_TILE);
        md_tile_compute(&job, range, &deferred->gram->scratch[worker]);
    }
}

static void run_pass(struct pass *pass, size_t threads)
{
    const size_t ranges = pass->purpose == TO_FLUSH ? 1 : pass->deferred->ranges;
    pass->width = pass->purpose == TO_FLUSH ? (size_t)MD_TILE : (size_t)NARROW;
    pass->across = md_pieces(pass->columns, pass->width);
    md_parallel_for(threads, pass->across * ranges, run_item, pass);
}

/* Kernels of slots, or of the live ones only; false: there are none. */
static bool want(md_deferred *deferred, bool live)
{
    bool any = false;
    for (size_t m = 0; m < deferred->count; m++) {
        const md_slot *slot = md_deferred_slot(deferred, m);
        deferred->wanted[m] = slot->score != NULL && (slot->live || !live) &&
                              (deferred->gram->mix == NULL || deferred->gram->mix[m] != 0);
        if (deferred->wanted[m])
            deferred->last_wanted = m;
        any = any || deferred->wanted[m];
    }
    return any;
}

/* ---- flushing ---- */

/* Which of the changes have values that were kept; the others are numbered, and their rows listed.
 */
static size_t list_fresh(md_deferred *deferred, size_t first, size_t count)
{
    size_t fresh = 0;
    for (size_t d = 0; d < count; d++) {
        const size_t row = deferred->due_row[first + d];
        deferred->found[d] = md_kept_rows_find(deferred, row);
        deferred->fresh[d] = fresh;
        if (deferred->found[d] == NULL)
            deferred->fresh_row[fresh++] = row;
        deferred->kept.uses[row]++;
    }
    return fresh;
}

/* Where the values of fresh rows are to be kept. One that others need now stays where it is. */
static void find_room(md_deferred *deferred, size_t fresh, size_t count)
{
    for (size_t i = 0; i < fresh; i++)
        deferred->keep[i] =
            md_kept_rows_take(deferred, deferred->fresh_row[i], deferred->found, count);
    for (size_t i = 0; i < fresh; i++)
        if (md_kept_rows_find(deferred, deferred->fresh_row[i]) != deferred->keep[i])
            deferred->keep[i] = NULL; /* a later one has taken its place */
}

/* Changes first .. first + count - 1, at most MD_TILE. */
static medley_status flush_some(md_deferred *deferred, size_t first, size_t count,
                                medley_error *error)
{
    md_gram *gram = deferred->gram;
    MD_CLEARED(md_prepared_clear) md_prepared left = {0};
    const size_t fresh = list_fresh(deferred, first, count);
    if (fresh > 0)
        MEDLEY_TRY(md_prepared_gather(&left, gram->prepared, deferred->fresh_row, fresh, error));
    find_room(deferred, fresh, count);
    struct pass pass = {.deferred = deferred,
                        .purpose = TO_FLUSH,
                        .job = {.bank = gram->bank,
                                .left = &left,
                                .right = gram->prepared,
                                .wanted = deferred->wanted},
                        .left_row = deferred->fresh_row,
                        .rows = fresh,
                        .columns = deferred->n,
                        .first_due = first,
                        .due_rows = count};
    run_pass(&pass, gram->threads);
    deferred->counts.computed += fresh;
    deferred->counts.found += count - fresh;
    return MEDLEY_OK;
}

medley_status md_deferred_flush(md_deferred *deferred, medley_error *error)
{
    const size_t due = deferred->due_count;
    deferred->due_count = 0; /* also where flushing fails: nothing is flushed twice */
    if (due == 0 || !want(deferred, true))
        return MEDLEY_OK;
    md_kept_rows_prepare(deferred);
    for (size_t d = 0; d < due; d += MD_TILE)
        MEDLEY_TRY(flush_some(deferred, d, md_min(due - d, MD_TILE), error));
    return MEDLEY_OK;
}

/* ---- open rows ---- */

/* What was flushed, as it is found by row. Also for slots without an entry so far: their owner
 * may have read the scores from a file. */
static void copy_scores(md_deferred *deferred)
{
    for (size_t m = 0; m < deferred->count; m++) {
        const md_slot *slot = &deferred->slots[m];
        for (size_t l = 0; slot->score != NULL && l < deferred->labels; l++)
            for (size_t s = 0; s < deferred->open_count; s++)
                slot->open_score[l * deferred->open_most + s] =
                    slot->score[l * deferred->n + deferred->open_row[s]];
    }
}

medley_status md_deferred_fill_open(md_deferred *deferred, medley_error *error)
{
    md_gram *gram = deferred->gram;
    MD_CLEARED(md_prepared_clear) md_prepared right = {0};
    MD_CLEARED(md_prepared_clear) md_prepared left = {0};
    copy_scores(deferred);
    if (deferred->open_count == 0 || !want(deferred, false))
        return MEDLEY_OK;
    MEDLEY_TRY(md_prepared_gather(&right, gram->prepared, deferred->open_row, deferred->open_count,
                                  error));
    MEDLEY_TRY(md_prepared_index(&right, error));
    struct pass pass = {.deferred = deferred,
                        .purpose = TO_KNOW,
                        .job = {.bank = gram->bank,
                                .left = &right,
                                .right = &right,
                                .columns_of = deferred->open_row,
                                .wanted = deferred->wanted},
                        .left_row = deferred->open_row,
                        .right_row = deferred->open_row,
                        .rows = deferred->open_count,
                        .columns = deferred->open_count};
    run_pass(&pass, gram->threads);
    if (deferred->due_count == 0 || !want(deferred, true))
        return MEDLEY_OK;
    MEDLEY_TRY(
        md_prepared_gather(&left, gram->prepared, deferred->due_row, deferred->due_count, error));
    pass.purpose = TO_ENTER;
    pass.job.left = &left;
    pass.left_row = deferred->due_row;
    pass.rows = deferred->due_count;
    run_pass(&pass, gram->threads);
    return MEDLEY_OK;
}
