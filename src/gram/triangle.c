/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric matrices of many kernels by their tiles on and above the diagonal, row by row, for each
 * group of kernels. Work is cut the same way whatever the number of threads. */
#include "gram/tile.h"

#include "base/parallel.h"
#include "linalg/transpose.h"

enum { GROUP_KERNELS = 16 }; /* of one view that share its products */

static size_t tiles_per_side(const md_triangle *triangle)
{
    return md_pieces(triangle->job.left->rows, MD_TILE);
}

static size_t tile_count(const md_triangle *triangle)
{
    const size_t tiles = tiles_per_side(triangle);
    return tiles * (tiles + 1) / 2;
}

size_t md_triangle_items(const md_triangle *triangle)
{
    return tile_count(triangle) * triangle->groups;
}

void md_triangle_group(md_triangle *triangle, const bool *counted)
{
    const md_bank *bank = triangle->job.bank;
    const bool one_group = tile_count(triangle) >= MD_MANY_TILES;
    size_t inside = 0; /* kernels of the present group */
    const md_kernel *previous = NULL;
    triangle->groups = 0;
    for (size_t m = 0; m < bank->count; m++) {
        if (counted != NULL && !counted[m])
            continue;
        const md_kernel *kernel = &bank->kernels[m];
        const bool shares =
            previous != NULL && previous->view == kernel->view && kernel->class != NULL;
        if (previous == NULL || (!one_group && (!shares || inside >= GROUP_KERNELS))) {
            triangle->group_start[triangle->groups++] = m;
            inside = 0;
        }
        inside++;
        previous = kernel;
    }
    triangle->group_start[triangle->groups] = bank->count;
}

static void compute_tile(void *context, size_t item, size_t worker)
{
    const md_triangle *triangle = context;
    const size_t n = triangle->job.left->rows;
    const size_t tiles = tiles_per_side(triangle);
    const size_t group = (triangle->first + item) / tile_count(triangle);
    size_t place = (triangle->first + item) % tile_count(triangle);
    size_t row = 0;
    while (place >= tiles - row)
        place -= tiles - row++;
    md_tile_range range = {.row = row * MD_TILE,
                           .column = (row + place) * MD_TILE,
                           .first_kernel = triangle->group_start[group],
                           .end_kernel = triangle->group_start[group + 1],
                           .symmetric = true};
    range.rows = md_min(n - range.row, MD_TILE);
    range.columns = md_min(n - range.column, MD_TILE);
    md_tile_compute(&triangle->job, range, &triangle->scratch[worker]);
}

bool md_triangle_compute(md_triangle *triangle, size_t threads, size_t batch,
                         const medley_observer *observer, double began)
{
    const size_t total = md_triangle_items(triangle);
    for (triangle->first = 0; triangle->first < total;) {
        const size_t items = md_min(total - triangle->first, batch);
        md_parallel_for(threads, items, compute_tile, triangle);
        triangle->first += items;
        if (!md_report_kernels(observer, triangle->first, total, began))
            return false;
    }
    return true;
}

bool md_report_kernels(const medley_observer *observer, size_t done, size_t total, double began)
{
    const medley_progress progress = {.stage = "kernels",
                                      .done = done,
                                      .total = total,
                                      .objective = NAN,
                                      .dev_accuracy = NAN,
                                      .seconds = md_clock_seconds() - began};
    return observer == NULL || observer->progress == NULL ||
           observer->progress(observer->context, &progress);
}

/* ---- the other triangle ---- */

/* At most MD_SQUARE columns become rows. */
static void transpose_columns(float *to, size_t to_stride, const float *from, size_t from_stride,
                              size_t rows, size_t columns)
{
    size_t i = 0;
    for (; columns == MD_SQUARE && i + MD_SQUARE <= rows; i += MD_SQUARE) {
        const float *row = from + i * from_stride;
        const float *const square[] = {row, row + from_stride, row + 2 * from_stride,
                                       row + 3 * from_stride};
        md_transpose_square(to + i, to_stride, square, 0);
    }
    for (; i < rows; i++)
        for (size_t c = 0; c < columns; c++)
            to[c * to_stride + i] = from[i * from_stride + c];
}

void md_tile_mirror(float *values, size_t n, const md_tile_values *tile)
{
    if (tile->row == tile->column) {
        for (size_t i = 1; i < tile->rows; i++)
            for (size_t j = 0; j < i; j++)
                values[(tile->row + i) * n + tile->row + j] = tile->values[j * tile->stride + i];
        return;
    }
    for (size_t j = 0; j < tile->columns; j += MD_SQUARE)
        transpose_columns(values + (tile->column + j) * n + tile->row, n, tile->values + j,
                          tile->stride, tile->rows, md_min(tile->columns - j, MD_SQUARE));
}
