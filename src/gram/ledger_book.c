/* SPDX-License-Identifier: BSD-3-Clause */
/* Booking: kernel values of changed rows against all rows, or against those of a window, multiplied
 * with the changes as they are computed. Columns belong to one thread each and rows come in order,
 * so any number of threads gives the same bits. */
#include "gram/ledger_internal.h"

#include "base/memory.h"
#include "base/parallel.h"
#include <string.h>

enum { NARROW = 32 }; /* columns of the window that a thread takes at a time */

typedef enum md_purpose { TO_BOOK, TO_ENTER, TO_KNOW } md_purpose;

/* A pass over tiles. */
struct pass {
    md_ledger *ledger;
    md_purpose purpose;
    md_tile_job job;
    const size_t *left_row;  /* training row of each left row */
    const size_t *right_row; /* of each column; NULL: the same number */
    size_t rows, columns;
    size_t width;  /* columns of an item */
    size_t across; /* items of one range of kernels */

    /* to book: some of the due changes, whose values are computed or were kept */
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
    return pass->right_row ? pass->ledger->slot[row] - 1 : row;
}

/* Centring, and the diagonal as exact as it is elsewhere: K(i,i) by itself, not by products. */
static void finish_values(const struct pass *pass, size_t m, const md_tile_values *tile,
                          float *values)
{
    const md_gram *gram = pass->ledger->gram;
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
    const md_ledger *ledger = pass->ledger;
    for (size_t r = 0; r < tile->rows; r++)
        if (ledger->keep[r] != NULL)
            memcpy(ledger->keep[r] + ledger->kept.place[m] * ledger->n + tile->column,
                   tile->values + r * tile->stride, tile->columns * sizeof(float));
}

/* Adds a row of a kernel, times change d, to scores, `stride` from label to label: a change is
 * about few labels. */
static void add_change(const md_ledger *ledger, const md_account *account, size_t d,
                       const float *values, size_t columns, float *scores, size_t stride)
{
    for (size_t l = 0; l < ledger->labels; l++) {
        const float change = account->due[l * ledger->due_most + d];
        if (change != 0)
            md_add_multiple(scores + l * stride, change, values, columns);
    }
}

/* All changes of the pass, one after the other, whether their values were computed now or kept: so
 * the order of sums does not depend on what is kept. tile: those that were computed. */
static void book_tile(struct piece *piece, size_t m, const md_tile_values *tile)
{
    const struct pass *pass = piece->pass;
    const md_ledger *ledger = pass->ledger;
    const md_account *account = md_ledger_account(ledger, m);
    const double *mix = ledger->gram->mix;
    float *sums = mix != NULL ? ledger->sums[piece->worker] : NULL;
    const size_t at = ledger->kept.place[m] * ledger->n + tile->column;
    if (mix != NULL && !piece->started)
        memset(sums, 0, sizeof(float) * MD_TILE * MD_TILE);
    piece->started = m != ledger->last_wanted;
    for (size_t d = 0; d < pass->due_rows; d++) {
        const float *values = ledger->found[d] != NULL
                                  ? ledger->found[d] + at
                                  : tile->values + ledger->fresh[d] * tile->stride;
        if (mix != NULL) {
            md_add_multiple(sums + d * MD_TILE, (float)mix[m], values, tile->columns);
            values = sums + d * MD_TILE;
        }
        if (mix == NULL || m == ledger->last_wanted)
            add_change(ledger, account, pass->first_due + d, values, tile->columns,
                       account->score + tile->column, ledger->n);
    }
}

/* Of the window: its scores get the changes that are due, or its kernel values are learnt. */
static void use_in_window(const struct pass *pass, const md_account *account,
                          const md_tile_values *tile)
{
    const md_ledger *ledger = pass->ledger;
    const size_t window = ledger->window_most;
    for (size_t r = 0; r < tile->rows; r++) {
        const float *values = tile->values + r * tile->stride;
        if (pass->purpose == TO_ENTER)
            add_change(ledger, account, tile->row + r, values, tile->columns,
                       account->window + tile->column, window);
        else
            memcpy(account->values + (tile->row + r) * window + tile->column, values,
                   tile->columns * sizeof(float));
    }
}

/* Adds a kernel to the sum of a mixture; true once the sum is complete. */
static bool add_to_mixture(struct piece *piece, size_t m, md_tile_values *tile)
{
    const md_ledger *ledger = piece->pass->ledger;
    float *sum = ledger->sums[piece->worker];
    if (!piece->started)
        memset(sum, 0, sizeof(float) * MD_TILE * MD_TILE);
    piece->started = m != ledger->last_wanted;
    for (size_t r = 0; r < tile->rows; r++)
        md_add_multiple(sum + r * MD_TILE, (float)ledger->gram->mix[m],
                        tile->values + r * tile->stride, tile->columns);
    tile->values = sum;
    tile->stride = MD_TILE;
    return m == ledger->last_wanted;
}

/* A tile of kernel m is complete in the scratch memory of this thread. */
static void take_tile(void *context, size_t m, const md_tile_values *values)
{
    struct piece *piece = context;
    const struct pass *pass = piece->pass;
    const md_ledger *ledger = pass->ledger;
    md_tile_values tile = *values;
    finish_values(pass, m, &tile, ledger->gram->scratch[piece->worker].values);
    if (pass->purpose == TO_BOOK) {
        keep_values(pass, m, &tile);
        book_tile(piece, m, &tile);
    } else if (ledger->gram->mix == NULL || add_to_mixture(piece, m, &tile)) {
        use_in_window(pass, md_ledger_account(ledger, m), &tile);
    }
}

/* Everything was kept: there is nothing to compute. */
static void book_kept(struct piece *piece, md_tile_range range)
{
    const md_ledger *ledger = piece->pass->ledger;
    const md_tile_values nothing = {.column = range.column, .columns = range.columns};
    for (size_t m = 0; m < ledger->count; m++)
        if (ledger->wanted[m])
            book_tile(piece, m, &nothing);
}

static void run_item(void *context, size_t item, size_t worker)
{
    const struct pass *pass = context;
    const md_ledger *ledger = pass->ledger;
    struct piece piece = {.pass = pass, .worker = worker};
    const md_tile_sink sink = {.context = &piece, .take = take_tile};
    md_tile_job job = pass->job;
    job.sink = &sink;
    const size_t k = item / pass->across;
    const bool all = pass->purpose == TO_BOOK;
    md_tile_range range = {.column = item % pass->across * pass->width,
                           .first_kernel = all ? 0 : ledger->range[k],
                           .end_kernel = all ? ledger->count : ledger->range[k + 1],
                           .symmetric = pass->purpose == TO_KNOW};
    const size_t left = pass->columns - range.column;
    range.columns = left < pass->width ? left : pass->width;
    if (pass->rows == 0)
        book_kept(&piece, range);
    for (range.row = 0; range.row < pass->rows; range.row += MD_TILE) {
        range.rows = pass->rows - range.row < MD_TILE ? pass->rows - range.row : MD_TILE;
        md_tile_compute(&job, range, &ledger->gram->scratch[worker]);
    }
}

static void run_pass(struct pass *pass, size_t threads)
{
    const size_t ranges = pass->purpose == TO_BOOK ? 1 : pass->ledger->ranges;
    pass->width = pass->purpose == TO_BOOK ? (size_t)MD_TILE : (size_t)NARROW;
    pass->across = (pass->columns + pass->width - 1) / pass->width;
    md_parallel_for(threads, pass->across * ranges, run_item, pass);
}

/* Kernels of accounts, or of the live ones only; false: there are none. */
static bool want(md_ledger *ledger, bool live)
{
    bool any = false;
    for (size_t m = 0; m < ledger->count; m++) {
        const md_account *account = md_ledger_account(ledger, m);
        ledger->wanted[m] = account->score != NULL && (account->live || !live) &&
                            (ledger->gram->mix == NULL || ledger->gram->mix[m] != 0);
        if (ledger->wanted[m])
            ledger->last_wanted = m;
        any = any || ledger->wanted[m];
    }
    return any;
}

/* ---- booking ---- */

/* Which of the changes have values that were kept; the others are numbered, and their rows listed.
 */
static size_t list_fresh(md_ledger *ledger, size_t first, size_t count)
{
    size_t fresh = 0;
    for (size_t d = 0; d < count; d++) {
        const size_t row = ledger->due_row[first + d];
        ledger->found[d] = md_kept_rows_find(ledger, row);
        ledger->fresh[d] = fresh;
        if (ledger->found[d] == NULL)
            ledger->fresh_row[fresh++] = row;
        ledger->kept.uses[row]++;
    }
    return fresh;
}

/* Where the values of fresh rows are to be kept. One that others need now stays where it is. */
static void find_room(md_ledger *ledger, size_t fresh, size_t count)
{
    for (size_t i = 0; i < fresh; i++)
        ledger->keep[i] = md_kept_rows_take(ledger, ledger->fresh_row[i], ledger->found, count);
    for (size_t i = 0; i < fresh; i++)
        if (md_kept_rows_find(ledger, ledger->fresh_row[i]) != ledger->keep[i])
            ledger->keep[i] = NULL; /* a later one has taken its place */
}

/* Changes first .. first + count - 1, at most MD_TILE. */
static medley_status book_some(md_ledger *ledger, size_t first, size_t count, medley_error *error)
{
    md_gram *gram = ledger->gram;
    md_points left = {0};
    const size_t fresh = list_fresh(ledger, first, count);
    medley_status status = MEDLEY_OK;
    if (fresh > 0)
        status = md_points_gather(&left, gram->points, ledger->fresh_row, fresh, error);
    if (status < 0)
        return status;
    find_room(ledger, fresh, count);
    struct pass pass = {
        .ledger = ledger,
        .purpose = TO_BOOK,
        .job = {.bank = gram->bank, .left = &left, .right = gram->points, .wanted = ledger->wanted},
        .left_row = ledger->fresh_row,
        .rows = fresh,
        .columns = ledger->n,
        .first_due = first,
        .due_rows = count};
    run_pass(&pass, gram->threads);
    md_points_clear(&left);
    ledger->counts.computed += fresh;
    ledger->counts.found += count - fresh;
    return MEDLEY_OK;
}

medley_status md_ledger_book(md_ledger *ledger, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    if (ledger->due_count > 0 && want(ledger, true)) {
        md_kept_rows_prepare(ledger);
        for (size_t d = 0; d < ledger->due_count && status == MEDLEY_OK; d += MD_TILE) {
            const size_t left = ledger->due_count - d;
            status = book_some(ledger, d, left < MD_TILE ? left : MD_TILE, error);
        }
    }
    ledger->due_count = 0;
    return status;
}

/* ---- windows ---- */

/* What was booked, as it is found by row. Also for accounts without an entry so far: their owner
 * may have read the scores from a file. */
static void copy_scores(md_ledger *ledger)
{
    for (size_t m = 0; m < ledger->count; m++) {
        const md_account *account = &ledger->accounts[m];
        for (size_t l = 0; account->score != NULL && l < ledger->labels; l++)
            for (size_t s = 0; s < ledger->window_count; s++)
                account->window[l * ledger->window_most + s] =
                    account->score[l * ledger->n + ledger->window_row[s]];
    }
}

medley_status md_ledger_fill_window(md_ledger *ledger, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_gram *gram = ledger->gram;
    md_points right = {0};
    md_points left = {0};
    copy_scores(ledger);
    if (ledger->window_count == 0 || !want(ledger, false))
        return MEDLEY_OK;
    MEDLEY_TRY(
        md_points_gather(&right, gram->points, ledger->window_row, ledger->window_count, error));
    MEDLEY_TRY(md_points_index(&right, error));
    struct pass pass = {.ledger = ledger,
                        .purpose = TO_KNOW,
                        .job = {.bank = gram->bank,
                                .left = &right,
                                .right = &right,
                                .columns_of = ledger->window_row,
                                .wanted = ledger->wanted},
                        .left_row = ledger->window_row,
                        .right_row = ledger->window_row,
                        .rows = ledger->window_count,
                        .columns = ledger->window_count};
    run_pass(&pass, gram->threads);
    if (ledger->due_count == 0 || !want(ledger, true))
        goto done;
    MEDLEY_TRY(md_points_gather(&left, gram->points, ledger->due_row, ledger->due_count, error));
    pass.purpose = TO_ENTER;
    pass.job.left = &left;
    pass.left_row = ledger->due_row;
    pass.rows = ledger->due_count;
    run_pass(&pass, gram->threads);
done:
    md_points_clear(&left);
    md_points_clear(&right);
    return status;
}
