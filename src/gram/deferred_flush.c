/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushing: kernel values of changed rows against all rows, or against the open ones,
 * multiplied with the changes as they are computed. Columns belong to one thread each and rows come
 * in order, so any number of threads gives the same bits. */
#include "gram/deferred_internal.h"

#include "base/parallel.h"

enum { NARROW = 16, WIDE = 64 }; /* open rows, as columns, that a thread takes at a time */
enum { LEAST_WIDTH = 64 };       /* the same of all rows */
enum { ITEMS_OF_A_THREAD = 4 };  /* so that threads end at about the same time */

typedef enum md_purpose { TO_FLUSH, TO_ENTER, TO_KNOW } md_purpose;

/* A pass over tiles. */
struct pass {
    const md_deferred *deferred;
    md_purpose purpose;
    md_tile_job job;
    const size_t *left_row;  /* training row of each left row */
    const size_t *right_row; /* of each column; NULL: the same number */
    const size_t *position;  /* [n] column + 1 of a training row, where there is right_row */
    size_t rows, columns;
    size_t width; /* columns of an item */

    /* to flush: some of the due changes, whose values are computed or were kept */
    size_t first_due, due_rows;
};

/* What one thread does at a time. */
struct piece {
    const struct pass *pass;
    size_t worker;
    float *values; /* of a tile, in scratch memory */
    bool started;  /* a sum of the mixture has been begun */
};

static size_t column_row(const struct pass *pass, size_t column)
{
    return pass->right_row ? pass->right_row[column] : column;
}

/* The column of a training row; SIZE_MAX: it has none. */
static size_t column_of(const struct pass *pass, size_t row)
{
    return pass->right_row ? pass->position[row] - 1 : row;
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
    const struct pass *pass = piece->pass;
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
    finish_values(pass, m, &tile, piece->values);
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

/* All rows of the pass against the columns of the range. */
static void compute(const struct pass *pass, md_tile_range range, size_t worker)
{
    md_tile_scratch *scratch = &pass->deferred->gram->scratch[worker];
    struct piece piece = {.pass = pass, .worker = worker, .values = scratch->values};
    const md_tile_sink sink = {.context = &piece, .take = take_tile};
    md_tile_job job = pass->job;
    job.sink = &sink;
    range.symmetric = pass->purpose == TO_KNOW;
    if (pass->rows == 0 && pass->purpose == TO_FLUSH)
        flush_kept(&piece, range);
    for (range.row = 0; range.row < pass->rows; range.row += MD_TILE) {
        range.rows = md_min(pass->rows - range.row, MD_TILE);
        md_tile_compute(&job, range, scratch);
    }
}

static void flush_columns(void *context, size_t item, size_t worker)
{
    const struct pass *pass = context;
    const md_span own = pass->deferred->own;
    md_tile_range range = {.column = own.first + item * pass->width,
                           .end_kernel = pass->deferred->count};
    range.columns = md_min(own.end - range.column, pass->width);
    compute(pass, range, worker);
}

/* Kernel values do not depend on the width. */
static size_t width_for(size_t columns, size_t widest, size_t least, size_t items)
{
    size_t width = widest;
    while (width > least && md_pieces(columns, width) < items)
        width /= 2;
    return width;
}

/* Kernels of slots, or of the live ones only; false: there are none. */
static bool want(md_deferred *deferred, bool *wanted, bool live)
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

/* ---- flushing ---- */

/* So many values of every kernel were computed. */
static void note_work(const md_deferred *deferred, size_t values)
{
    size_t kernels = 0;
    for (size_t m = 0; m < deferred->count; m++)
        kernels += deferred->wanted[m];
    md_comm_note_work(deferred->gram->comm, (double)values * (double)kernels);
}

/* Rows of changes, to stand on the left. */
static medley_status gather_changed(md_deferred *deferred, const size_t *rows, size_t count,
                                    medley_error *error)
{
    const md_some_rows some = {.rows = rows,
                               .count = count,
                               .most = md_max(deferred->due_most, MD_TILE),
                               .threads = deferred->gram->threads};
    return md_prepared_gather_again(&deferred->left, deferred->gram->prepared, &some, error);
}

/* Changes first .. first + count - 1, at most MD_TILE. */
static medley_status flush_some(md_deferred *deferred, size_t first, size_t count,
                                medley_error *error)
{
    md_gram *gram = deferred->gram;
    const size_t fresh = md_kept_rows_list_fresh(deferred, first, count);
    if (fresh > 0)
        MEDLEY_TRY(gather_changed(deferred, deferred->fresh_row, fresh, error));
    md_kept_rows_find_room(deferred, fresh, count);
    struct pass pass = {.deferred = deferred,
                        .purpose = TO_FLUSH,
                        .job = {.bank = gram->bank,
                                .left = &deferred->left,
                                .right = gram->prepared,
                                .wanted = deferred->wanted},
                        .left_row = deferred->fresh_row,
                        .rows = fresh,
                        .columns = deferred->own.end - deferred->own.first,
                        .first_due = first,
                        .due_rows = count};
    pass.width = width_for(pass.columns, MD_TILE, LEAST_WIDTH, ITEMS_OF_A_THREAD * gram->threads);
    md_parallel_for(gram->threads, md_pieces(pass.columns, pass.width), flush_columns, &pass);
    note_work(deferred, fresh * pass.columns);
    deferred->is_partial = true;
    deferred->counts.computed += fresh;
    deferred->counts.found += count - fresh;
    return MEDLEY_OK;
}

medley_status md_deferred_flush(md_deferred *deferred, medley_error *error)
{
    const size_t due = deferred->due_count;
    deferred->entered = 0;
    deferred->due_count = 0; /* also where flushing fails: nothing is flushed twice */
    if (due == 0 || !want(deferred, deferred->wanted, true))
        return MEDLEY_OK;
    md_kept_rows_prepare(deferred);
    for (size_t d = 0; d < due; d += MD_TILE)
        MEDLEY_TRY(flush_some(deferred, d, md_min(due - d, MD_TILE), error));
    return MEDLEY_OK;
}

/* ---- open rows ---- */

/* Rows are opened in one pass: for some kernels and some of the open rows, as columns, scores are
 * taken over from what was flushed, get the changes that are due, and values are learnt. */
struct opening {
    struct pass know, enter;
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
        compute(&opening->enter, range, worker);
    if (opening->knows)
        compute(&opening->know, range, worker);
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

static struct pass pass_to_know(const md_deferred *deferred)
{
    return (struct pass){.deferred = deferred,
                         .purpose = TO_KNOW,
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
    float products[MD_TILE];
    float values[MD_TILE];
    md_tile_scratch scratch = {.products = products, .values = values};
    const struct pass pass = pass_to_know(deferred);
    struct piece piece = {.pass = &pass, .values = values};
    const md_tile_sink sink = {.context = &piece, .take = take_tile};
    md_tile_job job = pass.job;
    job.sink = &sink;
    const md_tile_range range = {
        .row = position, .rows = 1, .first_kernel = m, .end_kernel = m + 1, .symmetric = true};
    for (size_t column = 0; column < pass.columns; column += MD_TILE) {
        md_tile_range part = range;
        part.column = column;
        part.columns = md_min(pass.columns - column, MD_TILE);
        md_tile_compute(&job, part, &scratch);
    }
    deferred->slots[m].is_known[position] = true;
}

/* What is due is to be entered for the open rows. */
static medley_status prepare_to_enter(struct opening *opening, md_deferred *deferred,
                                      medley_error *error)
{
    opening->enters = deferred->due_count > 0 && want(deferred, deferred->wanted, true);
    if (!opening->enters)
        return MEDLEY_OK;
    opening->enter = opening->know;
    opening->enter.purpose = TO_ENTER;
    opening->enter.job.left = &deferred->left;
    opening->enter.job.wanted = deferred->wanted;
    opening->enter.left_row = deferred->due_row;
    opening->enter.rows = deferred->due_count;
    deferred->entered += deferred->due_count * deferred->open_count;
    return gather_changed(deferred, deferred->due_row, deferred->due_count, error);
}

/* ---- open rows of several ranks ---- */

static void enter_columns(void *context, size_t item, size_t worker)
{
    const struct pass *pass = context;
    const md_deferred *deferred = pass->deferred;
    const size_t across = md_pieces(pass->columns, pass->width);
    const size_t k = item / across;
    md_tile_range range = {.column = item % across * pass->width,
                           .first_kernel = deferred->range[k],
                           .end_kernel = deferred->range[k + 1]};
    range.columns = md_min(pass->columns - range.column, pass->width);
    compute(pass, range, worker);
}

static medley_status enter_own(md_deferred *deferred, medley_error *error)
{
    const md_some_rows some = {.rows = deferred->own_row,
                               .count = deferred->own_count,
                               .most = deferred->open_most,
                               .threads = deferred->gram->threads};
    struct pass pass = pass_to_know(deferred);
    MEDLEY_TRY(
        md_prepared_gather_again(&deferred->own_open, deferred->gram->prepared, &some, error));
    MEDLEY_TRY(md_prepared_index(&deferred->own_open, error));
    MEDLEY_TRY(gather_changed(deferred, deferred->due_row, deferred->due_count, error));
    for (size_t i = 0; i < deferred->own_count; i++)
        deferred->own_position[deferred->own_row[i]] = i + 1;
    pass.purpose = TO_ENTER;
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
    note_work(deferred, deferred->due_count * deferred->own_count);
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
    if (deferred->due_count > 0 && want(deferred, deferred->wanted, true)) {
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
    if (!want(deferred, deferred->known, false)) {
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
        width_for(deferred->open_count, WIDE, NARROW, md_pieces(threads, deferred->ranges));
    opening.across = md_pieces(deferred->open_count, opening.know.width);
    if (!together)
        MEDLEY_TRY(prepare_to_enter(&opening, deferred, error));
    md_parallel_for(opening.enters || opening.knows ? threads : 1,
                    opening.across * deferred->ranges, open_columns, &opening);
    return MEDLEY_OK;
}
