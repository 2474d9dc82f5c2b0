/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows on the fly: when the matrices do not fit the budget, the rows of the next examples are
 * computed together (their values do not depend on what is being learnt) by matrix products against
 * all training rows, and thrown away afterwards. One more slot serves rows nobody announced. */
#include "gram/gram_internal.h"

#include "base/memory.h"
#include "base/parallel.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_MOST = 512 }; /* rows; more would not make the products faster */

void md_gram_window_clear(md_gram *gram)
{
    md_window *window = &gram->window;
    free(window->row);
    free(window->slot);
    free(window->values);
    free(window->place);
    free(window->streamed);
    free(window->chosen);
    *window = (md_window){0};
}

size_t md_gram_window(const md_gram *gram)
{
    return gram->streamed ? gram->window.capacity : SIZE_MAX;
}

bool md_gram_has_row(const md_gram *gram, size_t row)
{
    return !gram->streamed || gram->window.slot[row] != 0;
}

static float *slot_values(const md_gram *gram, size_t m, size_t slot)
{
    const md_window *window = &gram->window;
    return window->values + (window->place[m] * (window->capacity + 1) + slot) * gram->n;
}

/* ---- filling slots ---- */

/* Rows offset .. offset + rows - 1 of the job's left points go to slots first, first + 1, ... */
struct fill {
    md_gram *gram;
    md_tile_job job;
    size_t first, offset, rows;
    size_t across;       /* column tiles */
    const size_t *names; /* [rows] training row of each slot; NULL: offset, offset + 1, ... */
};

static float *place_in_window(void *context, size_t m, size_t row, size_t column, size_t *stride)
{
    const struct fill *fill = context;
    *stride = fill->gram->n;
    return slot_values(fill->gram, m, fill->first + row - fill->offset) + column;
}

static void fill_tile(void *context, size_t item, size_t worker)
{
    const struct fill *fill = context;
    const size_t n = fill->gram->n;
    const size_t down = item / fill->across * MD_TILE;
    md_tile_range range = {.row = fill->offset + down,
                           .column = item % fill->across * MD_TILE,
                           .symmetric = fill->job.left == fill->gram->points};
    range.rows = fill->rows - down < MD_TILE ? fill->rows - down : MD_TILE;
    range.columns = n - range.column < MD_TILE ? n - range.column : MD_TILE;
    md_tile_compute(&fill->job, range, &fill->gram->scratch[worker]);
}

/* Computes the slots, of kernels with job.wanted, without centring. */
static void fill_slots(struct fill *fill)
{
    const md_gram *gram = fill->gram;
    const md_tile_sink sink = {.context = fill, .place = place_in_window};
    fill->job.bank = gram->bank;
    fill->job.right = gram->points;
    fill->job.sink = &sink;
    fill->across = (gram->n + MD_TILE - 1) / MD_TILE;
    const size_t down = (fill->rows + MD_TILE - 1) / MD_TILE;
    const size_t work = MD_TERMS * gram->n * gram->window.kernels;
    md_parallel_for(md_gram_threads(gram, fill->rows, work), down * fill->across, fill_tile, fill);
}

static size_t row_of_slot(const struct fill *fill, size_t r)
{
    return fill->names != NULL ? fill->names[r] : fill->offset + r;
}

/* Centring, and the diagonal as exact as in a full matrix: K(i,i) by itself, not by products. */
static void finish_slot(void *context, size_t r, size_t worker)
{
    (void)worker;
    const struct fill *fill = context;
    const md_gram *gram = fill->gram;
    const size_t row = row_of_slot(fill, r);
    for (size_t m = 0; m < gram->count; m++) {
        const md_kernel *kernel = &gram->bank->kernels[m];
        if (!fill->job.wanted[m])
            continue;
        float *values = slot_values(gram, m, fill->first + r);
        if (kernel->norm == MD_NORM_CENTER)
            md_center_row(kernel, values, gram->n, (double)kernel->column_mean[row]);
        values[row] = (float)gram->stored[m].diagonal[row];
    }
}

/* Computes the slots as they are used, and notes what they hold. */
static void load_slots(struct fill *fill)
{
    const md_gram *gram = fill->gram;
    md_window *window = &fill->gram->window;
    fill_slots(fill);
    md_parallel_for(md_gram_threads(gram, fill->rows, gram->n * gram->window.kernels), fill->rows,
                    finish_slot, fill);
    for (size_t r = 0; r < fill->rows; r++) {
        window->row[fill->first + r] = row_of_slot(fill, r);
        window->slot[row_of_slot(fill, r)] = fill->first + r + 1;
    }
}

/* ---- rows ---- */

void md_gram_window_forget(md_gram *gram)
{
    md_window *window = &gram->window;
    for (size_t s = 0; s <= window->capacity; s++) {
        if (window->row[s] != SIZE_MAX)
            window->slot[window->row[s]] = 0;
        window->row[s] = SIZE_MAX;
    }
}

medley_status md_gram_prefetch(md_gram *gram, const size_t *rows, size_t count, medley_error *error)
{
    md_window *window = &gram->window;
    if (!gram->streamed || count == 0)
        return MEDLEY_OK;
    md_points gathered = {0};
    struct fill fill = {.gram = gram,
                        .job = {.left = gram->points, .wanted = window->streamed},
                        .offset = rows[0],
                        .rows = count < window->capacity ? count : window->capacity};
    bool contiguous = true;
    for (size_t r = 1; r < fill.rows; r++)
        contiguous = contiguous && rows[r] == rows[0] + r;
    if (!contiguous) {
        const medley_status status =
            md_points_gather(&gathered, gram->points, rows, fill.rows, error);
        if (status < 0)
            return status;
        fill.job.left = &gathered;
        fill.offset = 0;
        fill.names = rows;
    }
    md_gram_window_forget(gram);
    load_slots(&fill);
    md_points_clear(&gathered);
    return MEDLEY_OK;
}

const float *md_gram_window_row(md_gram *gram, size_t m, size_t row)
{
    md_window *window = &gram->window;
    if (window->slot[row] == 0) { /* not announced: into the spare slot */
        const size_t spare = window->capacity;
        if (window->row[spare] != SIZE_MAX)
            window->slot[window->row[spare]] = 0;
        struct fill fill = {.gram = gram,
                            .job = {.left = gram->points, .wanted = window->streamed},
                            .first = spare,
                            .offset = row,
                            .rows = 1};
        load_slots(&fill);
    }
    return slot_values(gram, m, window->slot[row] - 1);
}

void md_gram_window_load(md_gram *gram, size_t kernel, size_t kernels, size_t row, size_t rows)
{
    md_window *window = &gram->window;
    for (size_t m = 0; m < gram->count; m++)
        window->chosen[m] = window->streamed[m] && m >= kernel && m < kernel + kernels;
    struct fill fill = {.gram = gram,
                        .job = {.left = gram->points, .wanted = window->chosen},
                        .offset = row,
                        .rows = rows};
    md_gram_window_forget(gram);
    load_slots(&fill);
}

/* ---- creation ---- */

/* Sums of the rows in the window, for centred kernels. */
struct row_sums {
    const struct fill *fill;
    double *sums; /* [streamed kernels][n] */
};

static void sum_slot(void *context, size_t r, size_t worker)
{
    (void)worker;
    const struct row_sums *work = context;
    const md_gram *gram = work->fill->gram;
    for (size_t m = 0; m < gram->count; m++)
        if (work->fill->job.wanted[m])
            work->sums[gram->window.place[m] * gram->n + work->fill->offset + r] =
                md_sum_row(slot_values(gram, m, r), gram->n);
}

static medley_status learn_streamed_means(md_gram *gram, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const md_window *window = &gram->window;
    const size_t n = gram->n;
    bool any = false;
    for (size_t m = 0; m < gram->count; m++) {
        window->chosen[m] = window->streamed[m] && gram->bank->kernels[m].norm == MD_NORM_CENTER;
        any = any || window->chosen[m];
    }
    if (!any)
        return MEDLEY_OK;
    double *sums = md_calloc(n * window->kernels, sizeof *sums);
    if (sums == NULL)
        return md_fail_memory(error, n * window->kernels * sizeof *sums);
    struct fill fill = {.gram = gram, .job = {.left = gram->points, .wanted = window->chosen}};
    struct row_sums work = {.fill = &fill, .sums = sums};
    for (; fill.offset < n; fill.offset += fill.rows) {
        fill.rows = n - fill.offset < window->capacity ? n - fill.offset : window->capacity;
        fill_slots(&fill);
        md_parallel_for(gram->threads, fill.rows, sum_slot, &work);
    }
    for (size_t m = 0; m < gram->count; m++)
        if (window->chosen[m])
            MEDLEY_TRY(md_gram_learn_means(&gram->bank->kernels[m], sums + window->place[m] * n, n,
                                           error));
done:
    free(sums);
    return status;
}

medley_status md_gram_window_init(md_gram *gram, const bool *streamed, size_t memory,
                                  medley_error *error)
{
    md_window *window = &gram->window;
    window->place = md_calloc(gram->count, sizeof *window->place);
    window->streamed = md_calloc(gram->count, sizeof *window->streamed);
    window->chosen = md_calloc(gram->count, sizeof *window->chosen);
    window->slot = md_calloc(gram->n, sizeof *window->slot);
    if (!window->place || !window->streamed || !window->chosen || !window->slot)
        return md_fail_memory(error, gram->n * sizeof *window->slot);
    for (size_t m = 0; m < gram->count; m++) {
        window->streamed[m] = streamed[m];
        window->place[m] = window->kernels;
        window->kernels += streamed[m];
    }
    const size_t row_bytes = window->kernels * gram->n * sizeof(float);
    const size_t fits = memory / row_bytes;
    if (fits < 2)
        return md_fail(error, MEDLEY_USAGE,
                       "--memory is too small: one row of the %zu kernels takes %.1f MB and at "
                       "least two must fit",
                       window->kernels, (double)row_bytes / 1e6);
    window->capacity = fits - 1 < WINDOW_MOST ? fits - 1 : WINDOW_MOST;
    window->values =
        md_alloc_aligned((window->capacity + 1) * window->kernels * gram->n, sizeof(float));
    window->row = md_calloc(window->capacity + 1, sizeof *window->row);
    if (window->values == NULL || window->row == NULL)
        return md_fail_memory(error, (window->capacity + 1) * row_bytes);
    for (size_t s = 0; s <= window->capacity; s++)
        window->row[s] = SIZE_MAX;
    gram->bytes += (window->capacity + 1) * row_bytes;
    return learn_streamed_means(gram, error);
}
