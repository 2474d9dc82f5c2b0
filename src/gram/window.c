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
    free(window->wanted);
    *window = (md_window){0};
}

size_t md_gram_window(const md_gram *gram)
{
    return gram->streamed ? gram->window.capacity : SIZE_MAX;
}

static float *slot_values(const md_gram *gram, size_t m, size_t slot)
{
    const md_window *window = &gram->window;
    return window->values +
           (window->place[m] * (window->capacity + 1) + slot) * gram->n;
}

/* ---- filling slots ---- */

struct fill {
    md_gram *gram;
    md_tile_job job;
    size_t first;     /* slot of the job's row `offset` */
    size_t offset;    /* row of the left points that goes to slot `first` */
    size_t rows;      /* rows to compute */
    size_t across;    /* column tiles */
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
    md_tile_range range = {.row = fill->offset + down, .column = item % fill->across * MD_TILE};
    range.rows = fill->rows - down < MD_TILE ? fill->rows - down : MD_TILE;
    range.columns = n - range.column < MD_TILE ? n - range.column : MD_TILE;
    md_tile_compute(&fill->job, range, &fill->gram->scratch[worker]);
}

/* Centring, and the diagonal as exact as in a full matrix: K(i,i) by itself, not by products. */
static void finish_slot(const md_gram *gram, size_t slot, size_t row)
{
    for (size_t m = 0; m < gram->count; m++) {
        const md_kernel *kernel = &gram->bank->kernels[m];
        if (!gram->window.wanted[m])
            continue;
        float *values = slot_values(gram, m, slot);
        if (kernel->norm == MD_NORM_CENTER && kernel->column_mean != NULL)
            md_center_row(kernel, values, gram->n, (double)kernel->column_mean[row]);
        if (gram->stored[m].diagonal != NULL)
            values[row] = (float)gram->stored[m].diagonal[row];
    }
}

/* Computes rows offset .. offset+count-1 of left into slots first, first+1, ... */
static void fill_slots(md_gram *gram, const md_points *left, size_t offset, size_t count,
                       size_t first)
{
    struct fill fill = {.gram = gram,
                        .first = first,
                        .offset = offset,
                        .rows = count,
                        .across = (gram->n + MD_TILE - 1) / MD_TILE};
    const md_tile_sink sink = {.context = &fill, .place = place_in_window};
    fill.job = (md_tile_job){.bank = gram->bank,
                             .left = left,
                             .right = gram->points,
                             .wanted = gram->window.wanted,
                             .sink = &sink};
    const size_t down = (count + MD_TILE - 1) / MD_TILE;
    md_parallel_for(gram->threads, down * fill.across, fill_tile, &fill);
}

static void forget_slots(md_window *window)
{
    for (size_t s = 0; s <= window->capacity; s++)
        if (window->row[s] != SIZE_MAX)
            window->slot[window->row[s]] = 0;
    for (size_t s = 0; s <= window->capacity; s++)
        window->row[s] = SIZE_MAX;
}

static void note_slot(md_window *window, size_t slot, size_t row)
{
    window->row[slot] = row;
    window->slot[row] = slot + 1;
}

medley_status md_gram_prefetch(md_gram *gram, const size_t *rows, size_t count,
                               medley_error *error)
{
    md_window *window = &gram->window;
    if (!gram->streamed || count == 0)
        return MEDLEY_OK;
    count = count < window->capacity ? count : window->capacity;
    forget_slots(window);
    bool contiguous = true;
    for (size_t r = 1; r < count; r++)
        contiguous = contiguous && rows[r] == rows[0] + r;
    if (contiguous) {
        fill_slots(gram, gram->points, rows[0], count, 0);
    } else {
        md_points left = {0};
        const medley_status status = md_points_gather(&left, gram->points, rows, count, error);
        if (status < 0)
            return status;
        fill_slots(gram, &left, 0, count, 0);
        md_points_clear(&left);
    }
    for (size_t r = 0; r < count; r++) {
        finish_slot(gram, r, rows[r]);
        note_slot(window, r, rows[r]);
    }
    return MEDLEY_OK;
}

const float *md_gram_window_row(md_gram *gram, size_t m, size_t row)
{
    md_window *window = &gram->window;
    if (window->slot[row] == 0) { /* not announced: into the spare slot */
        const size_t spare = window->capacity;
        if (window->row[spare] != SIZE_MAX)
            window->slot[window->row[spare]] = 0;
        fill_slots(gram, gram->points, row, 1, spare);
        finish_slot(gram, spare, row);
        note_slot(window, spare, row);
    }
    return slot_values(gram, m, window->slot[row] - 1);
}

/* ---- creation ---- */

static medley_status learn_streamed_means(md_gram *gram, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    bool centred = false;
    for (size_t m = 0; m < gram->count; m++)
        centred = centred ||
                  (gram->window.wanted[m] && gram->bank->kernels[m].norm == MD_NORM_CENTER);
    if (!centred)
        return MEDLEY_OK;
    const size_t n = gram->n;
    double *sums = md_calloc(n * gram->window.kernels, sizeof *sums);
    if (sums == NULL)
        return md_fail_memory(error, n * gram->window.kernels * sizeof *sums);
    for (size_t i = 0; i < n; i += gram->window.capacity) {
        const size_t count = n - i < gram->window.capacity ? n - i : gram->window.capacity;
        fill_slots(gram, gram->points, i, count, 0);
        for (size_t m = 0; m < gram->count; m++)
            for (size_t r = 0; gram->window.wanted[m] && r < count; r++)
                for (size_t j = 0; j < n; j++)
                    sums[gram->window.place[m] * n + i + r] += (double)slot_values(gram, m, r)[j];
    }
    for (size_t m = 0; m < gram->count; m++)
        if (gram->window.wanted[m] && gram->bank->kernels[m].norm == MD_NORM_CENTER)
            MEDLEY_TRY(md_gram_learn_means(&gram->bank->kernels[m],
                                           sums + gram->window.place[m] * n, n, error));
done:
    free(sums);
    return status;
}

medley_status md_gram_window_init(md_gram *gram, const bool *streamed, size_t memory,
                                  medley_error *error)
{
    md_window *window = &gram->window;
    window->place = md_calloc(gram->count, sizeof *window->place);
    window->wanted = md_calloc(gram->count, sizeof *window->wanted);
    window->slot = md_calloc(gram->n, sizeof *window->slot);
    if (window->place == NULL || window->wanted == NULL || window->slot == NULL)
        return md_fail_memory(error, gram->n * sizeof *window->slot);
    for (size_t m = 0; m < gram->count; m++) {
        window->wanted[m] = streamed[m];
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
    window->values = md_alloc_aligned((window->capacity + 1) * window->kernels * gram->n,
                                      sizeof(float));
    window->row = md_calloc(window->capacity + 1, sizeof *window->row);
    if (window->values == NULL || window->row == NULL)
        return md_fail_memory(error, (window->capacity + 1) * row_bytes);
    for (size_t s = 0; s <= window->capacity; s++)
        window->row[s] = SIZE_MAX;
    gram->bytes += (window->capacity + 1) * row_bytes;
    return learn_streamed_means(gram, error);
}
