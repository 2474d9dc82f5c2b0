/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles on and above the diagonal are computed and mirrored, as for the matrices of a learner; but
 * nothing is centred, and what comes out belongs to the caller. */
#include "select/share.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "gram/tile.h"
#include <math.h>
#include <stdlib.h>

struct values {
    const md_bank *bank;
    float **full; /* [bank->count] each [n][n], or NULL */
    size_t n;
    md_tile_job job;
    size_t *view_start; /* [views + 1] first kernel of each run of kernels with one view */
    size_t views, tiles, triangle, first;
    md_tile_scratch *scratch; /* [threads] */
};

static float *place_value(void *context, size_t m, size_t row, size_t column, size_t *stride)
{
    const struct values *values = context;
    *stride = values->n;
    return values->full[m] + row * values->n + column;
}

static void mirror_value(void *context, size_t m, const md_tile_values *tile)
{
    const struct values *values = context;
    md_tile_mirror(values->full[m], values->n, tile);
}

/* Items are the tiles on and above the diagonal, for the kernels of each view. */
static void compute_tile(void *context, size_t item, size_t worker)
{
    const struct values *values = context;
    const size_t n = values->n;
    const size_t view = (values->first + item) / values->triangle;
    size_t place = (values->first + item) % values->triangle;
    size_t row = 0;
    while (place >= values->tiles - row)
        place -= values->tiles - row++;
    md_tile_range range = {.row = row * MD_TILE,
                           .column = (row + place) * MD_TILE,
                           .first_kernel = values->view_start[view],
                           .end_kernel = values->view_start[view + 1],
                           .symmetric = true};
    range.rows = n - range.row < MD_TILE ? n - range.row : MD_TILE;
    range.columns = n - range.column < MD_TILE ? n - range.column : MD_TILE;
    md_tile_compute(&values->job, range, &values->scratch[worker]);
}

static bool report(const md_share_limits *limits, size_t done, size_t total, double began)
{
    const medley_observer *observer = limits->observer;
    const medley_progress progress = {.stage = "kernels",
                                      .done = done,
                                      .total = total,
                                      .objective = NAN,
                                      .dev_accuracy = NAN,
                                      .seconds = md_clock_seconds() - began};
    return observer == NULL || observer->progress == NULL ||
           observer->progress(observer->context, &progress);
}

static medley_status compute_tiles(struct values *values, const md_share_limits *limits,
                                   double began)
{
    enum { REPORTS = 16 };
    const size_t total = values->triangle * values->views;
    const size_t batch = total / REPORTS + limits->threads;
    for (values->first = 0; values->first < total;) {
        const size_t items = total - values->first < batch ? total - values->first : batch;
        md_parallel_for(limits->threads, items, compute_tile, values);
        values->first += items;
        if (!report(limits, values->first, total, began))
            return MEDLEY_STOPPED;
    }
    return MEDLEY_OK;
}

medley_status md_share_values(const md_kernel_set *set, float **full, const md_share_limits *limits,
                              double began, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const md_bank *bank = &set->bank;
    struct values values = {.bank = bank, .full = full, .n = set->data->rows};
    const md_tile_sink sink = {.context = &values, .place = place_value, .take = mirror_value};
    values.tiles = (values.n + MD_TILE - 1) / MD_TILE;
    values.triangle = values.tiles * (values.tiles + 1) / 2;
    values.view_start = md_calloc(bank->count + 1, sizeof *values.view_start);
    values.scratch = md_calloc(limits->threads, sizeof *values.scratch);
    bool *wanted = md_calloc(bank->count, sizeof *wanted);
    if (values.view_start == NULL || values.scratch == NULL || wanted == NULL) {
        status = md_fail_memory(error, bank->count * sizeof *values.view_start);
        goto done;
    }
    for (size_t m = 0; m < bank->count; m++) {
        wanted[m] = full[m] != NULL;
        if (m == 0 || bank->kernels[m].view != bank->kernels[m - 1].view)
            values.view_start[values.views++] = m;
    }
    values.view_start[values.views] = bank->count;
    for (size_t t = 0; t < limits->threads; t++)
        MEDLEY_TRY(md_tile_scratch_init(&values.scratch[t], &set->points, error));
    values.job = (md_tile_job){
        .bank = bank, .left = &set->points, .right = &set->points, .wanted = wanted, .sink = &sink};
    status = compute_tiles(&values, limits, began);
done:
    for (size_t t = 0; values.scratch != NULL && t < limits->threads; t++)
        md_tile_scratch_clear(&values.scratch[t]);
    free(values.scratch);
    free(values.view_start);
    free(wanted);
    return status;
}
