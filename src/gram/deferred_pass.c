/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes over tiles: kernel values of changed rows against all rows, or against the open ones,
 * multiplied with the changes as they are computed. Columns belong to one thread each and rows come
 * in order, so any number of threads gives the same bits. */
#include "gram/deferred_internal.h"

/* What one thread does at a time. */
struct piece {
    const md_pass *pass;
    size_t worker;
    float *values; /* of a tile, in scratch memory */
    bool started;  /* a sum of the mixture has been begun */
};

static size_t column_row(const md_pass *pass, size_t column)
{
    return pass->right_row ? pass->right_row[column] : column;
}

/* The column of a training row; SIZE_MAX: it has none. */
static size_t column_of(const md_pass *pass, size_t row)
{
    return pass->right_row ? pass->position[row] - 1 : row;
}

/* Centring, and the diagonal as exact as it is elsewhere: K(i,i) by itself, not by products. */
static void finish_values(const md_pass *pass, size_t m, const md_tile_values *tile, float *values)
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

static void keep_values(const md_pass *pass, size_t m, const md_tile_values *tile)
{
    const md_deferred *deferred = pass->deferred;
    for (size_t r = 0; r < tile->rows; r++)
        if (deferred->keep[r] != NULL)
            memcpy(deferred->keep[r] + deferred->kept.place[m] * deferred->kept.width +
                       tile->column - deferred->own.first,
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
    const md_pass *pass = piece->pass;
    const md_deferred *deferred = pass->deferred;
    const md_slot *slot = md_deferred_slot(deferred, m);
    const double *mix = deferred->gram->mix;
    float *sums = mix != NULL ? deferred->sums[piece->worker] : NULL;
    const size_t at =
        deferred->kept.place[m] * deferred->kept.width + tile->column - deferred->own.first;
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
static void use_for_open_rows(const md_pass *pass, const md_slot *slot, const md_tile_values *tile)
{
    const md_deferred *deferred = pass->deferred;
    const size_t most = deferred->open_most;
    for (size_t r = 0; r < tile->rows; r++) {
        const float *values = tile->values + r * tile->stride;
        if (pass->purpose == MD_TO_ENTER)
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
    const md_pass *pass = piece->pass;
    const md_deferred *deferred = pass->deferred;
    md_tile_values tile = *values;
    finish_values(pass, m, &tile, piece->values);
    if (pass->purpose == MD_TO_FLUSH) {
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

void md_pass_compute(const md_pass *pass, md_tile_range range, size_t worker)
{
    md_tile_scratch *scratch = &pass->deferred->gram->scratch[worker];
    struct piece piece = {.pass = pass, .worker = worker, .values = scratch->values};
    const md_tile_sink sink = {.context = &piece, .take = take_tile};
    md_tile_job job = pass->job;
    job.sink = &sink;
    range.symmetric = pass->purpose == MD_TO_KNOW;
    if (pass->rows == 0 && pass->purpose == MD_TO_FLUSH)
        flush_kept(&piece, range);
    for (range.row = 0; range.row < pass->rows; range.row += MD_TILE) {
        range.rows = md_min(pass->rows - range.row, MD_TILE);
        md_tile_compute(&job, range, scratch);
    }
}

void md_pass_compute_row(const md_pass *pass, size_t m, size_t position)
{
    float products[MD_TILE];
    float values[MD_TILE];
    md_tile_scratch scratch = {.products = products, .values = values};
    struct piece piece = {.pass = pass, .values = values};
    const md_tile_sink sink = {.context = &piece, .take = take_tile};
    md_tile_job job = pass->job;
    job.sink = &sink;
    md_tile_range range = {
        .row = position, .rows = 1, .first_kernel = m, .end_kernel = m + 1, .symmetric = true};
    for (; range.column < pass->columns; range.column += MD_TILE) {
        range.columns = md_min(pass->columns - range.column, MD_TILE);
        md_tile_compute(&job, range, &scratch);
    }
}

size_t md_pass_width(size_t columns, size_t widest, size_t least, size_t items)
{
    size_t width = widest;
    while (width > least && md_pieces(columns, width) < items)
        width /= 2;
    return width;
}

bool md_deferred_want(md_deferred *deferred, bool *wanted, bool live)
{
    bool any = false;
    for (size_t m = 0; m < deferred->count; m++) {
        const md_slot *slot = md_deferred_slot(deferred, m);
        wanted[m] = slot->score != NULL && (slot->live || !live) &&
                    (deferred->gram->mix == NULL || deferred->gram->mix[m] != 0);
        if (wanted[m])
            deferred->last_wanted = m; /* of a mixture, which is live or not as a whole */
        any = any || wanted[m];
    }
    return any;
}

void md_deferred_note_work(const md_deferred *deferred, size_t values)
{
    size_t kernels = 0;
    for (size_t m = 0; m < deferred->count; m++)
        kernels += deferred->wanted[m];
    md_comm_note_work(deferred->gram->comm, (double)values * (double)kernels);
}

medley_status md_deferred_gather_changed(md_deferred *deferred, const size_t *rows, size_t count,
                                         medley_error *error)
{
    const md_some_rows some = {.rows = rows,
                               .count = count,
                               .most = md_max(deferred->due_most, MD_TILE),
                               .threads = deferred->gram->threads};
    return md_prepared_gather_again(&deferred->left, deferred->gram->prepared, &some, error);
}
