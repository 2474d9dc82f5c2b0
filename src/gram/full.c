/* SPDX-License-Identifier: BSD-3-Clause */
/* Full matrices: tiles on and above the diagonal are computed and mirrored, then kernels that ask
 * for it are centred, K - 1 mean' - mean 1' + grand mean. */
#include "gram/gram_internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/vector.h"
#include <math.h>
#include <stdlib.h>

/* Work is cut the same way whatever the number of threads. */
enum {
    MANY_TILES = 64,    /* enough to keep every thread busy: kernels need not be divided as well */
    GROUP_KERNELS = 16, /* of one view that share its products, otherwise */
    REPORTS = 16        /* of progress */
};

struct build {
    md_gram *gram;
    md_tile_job job;
    size_t tiles;        /* per side */
    size_t triangle;     /* tiles on and above the diagonal */
    size_t *group_start; /* [groups + 1] first kernel of each group */
    size_t groups;
    size_t first; /* item of this batch */
};

static float *place_in_full(void *context, size_t m, size_t row, size_t column, size_t *stride)
{
    md_gram *gram = context;
    *stride = gram->n;
    return gram->stored[m].full + row * gram->n + column;
}

static void mirror_full(void *context, size_t m, const md_tile_values *tile)
{
    md_gram *gram = context;
    md_tile_mirror(gram->stored[m].full, gram->n, tile);
}

/* Items are the tiles of the triangle, row by row, for each group of kernels. */
static void build_tile(void *context, size_t item, size_t worker)
{
    const struct build *build = context;
    const size_t n = build->gram->n;
    const size_t group = (build->first + item) / build->triangle;
    size_t place = (build->first + item) % build->triangle;
    size_t row = 0;
    while (place >= build->tiles - row)
        place -= build->tiles - row++;
    md_tile_range range = {.row = row * MD_TILE,
                           .column = (row + place) * MD_TILE,
                           .first_kernel = build->group_start[group],
                           .end_kernel = build->group_start[group + 1],
                           .symmetric = true};
    range.rows = n - range.row < MD_TILE ? n - range.row : MD_TILE;
    range.columns = n - range.column < MD_TILE ? n - range.column : MD_TILE;
    md_tile_compute(&build->job, range, &build->gram->scratch[worker]);
}

/* Few rows and many kernels: groups of kernels are computed apart, as a rule those of one view. */
static void group_kernels(struct build *build)
{
    const md_bank *bank = build->gram->bank;
    for (size_t m = 1; m < bank->count && build->triangle < MANY_TILES; m++) {
        const md_kernel *previous = &bank->kernels[m - 1];
        const md_kernel *kernel = &bank->kernels[m];
        const bool shares = previous->view == kernel->view && kernel->class != NULL;
        if (!shares || m - build->group_start[build->groups] >= GROUP_KERNELS)
            build->group_start[++build->groups] = m;
    }
    build->group_start[++build->groups] = bank->count;
}

static bool report(const md_gram *gram, size_t done, size_t total)
{
    const medley_progress progress = {.stage = "kernels",
                                      .done = done,
                                      .total = total,
                                      .objective = NAN,
                                      .dev_accuracy = NAN,
                                      .seconds = md_clock_seconds() - gram->began};
    return gram->observer == NULL || gram->observer->progress == NULL ||
           gram->observer->progress(gram->observer->context, &progress);
}

medley_status md_gram_build_full(md_gram *gram, const bool *wanted, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const md_tile_sink sink = {.context = gram, .place = place_in_full, .take = mirror_full};
    const size_t tiles = (gram->n + MD_TILE - 1) / MD_TILE;
    struct build build = {.gram = gram,
                          .tiles = tiles,
                          .triangle = tiles * (tiles + 1) / 2,
                          .job = {.bank = gram->bank,
                                  .left = gram->points,
                                  .right = gram->points,
                                  .wanted = wanted,
                                  .sink = &sink}};
    build.group_start = md_calloc(gram->count + 2, sizeof *build.group_start);
    if (build.group_start == NULL)
        return md_fail_memory(error, gram->count * sizeof *build.group_start);
    group_kernels(&build);
    const size_t total = build.triangle * build.groups;
    const size_t batch = total / REPORTS > MANY_TILES ? total / REPORTS : MANY_TILES;
    for (build.first = 0; build.first < total && status == MEDLEY_OK;) {
        const size_t items = total - build.first < batch ? total - build.first : batch;
        md_parallel_for(gram->threads, items, build_tile, &build);
        build.first += items;
        if (!report(gram, build.first, total))
            status = md_fail(error, MEDLEY_FAILED,
                             "stopped while kernels were computed; nothing was learnt");
    }
    free(build.group_start);
    return status;
}

/* ---- centring ---- */

MD_VECTOR
static double sum_floats(const float *values, size_t count)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++)
        sum += (double)values[j];
    return sum;
}

double md_sum_row(const float *values, size_t count)
{
    return sum_floats(values, count);
}

/* In this order of additions a symmetric matrix stays symmetric to the bit. */
MD_VECTOR
static void subtract_means(float *restrict values, float row_mean, const float *restrict means,
                           float grand_mean, size_t count)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++)
        values[j] += grand_mean - (row_mean + means[j]);
}

void md_center_row(const md_kernel *kernel, float *values, size_t count, double row_mean)
{
    subtract_means(values, (float)row_mean, kernel->column_mean, (float)kernel->grand_mean, count);
}

medley_status md_gram_learn_means(md_kernel *kernel, const double *sums, size_t n,
                                  medley_error *error)
{
    free(kernel->column_mean);
    kernel->column_mean = md_calloc(n, sizeof(float));
    if (kernel->column_mean == NULL)
        return md_fail_memory(error, n * sizeof(float));
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        kernel->column_mean[i] = (float)(sums[i] / (double)n);
        total += sums[i];
    }
    kernel->grand_mean = total / ((double)n * (double)n);
    return MEDLEY_OK;
}

struct center {
    md_gram *gram;
    size_t m;
    double *sums; /* [n] */
};

static void sum_row(void *context, size_t row, size_t worker)
{
    (void)worker;
    const struct center *center = context;
    const size_t n = center->gram->n;
    center->sums[row] = md_sum_row(center->gram->stored[center->m].full + row * n, n);
}

static void center_row(void *context, size_t row, size_t worker)
{
    (void)worker;
    const struct center *center = context;
    const md_kernel *kernel = &center->gram->bank->kernels[center->m];
    float *values = center->gram->stored[center->m].full + row * center->gram->n;
    md_center_row(kernel, values, center->gram->n, (double)kernel->column_mean[row]);
}

medley_status md_gram_center_full(md_gram *gram, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    struct center center = {.gram = gram, .sums = md_calloc(gram->n, sizeof(double))};
    if (center.sums == NULL)
        return md_fail_memory(error, gram->n * sizeof(double));
    for (size_t m = 0; m < gram->count; m++) {
        if (gram->bank->kernels[m].norm != MD_NORM_CENTER || gram->stored[m].full == NULL)
            continue;
        center.m = m;
        md_parallel_for(gram->threads, gram->n, sum_row, &center);
        MEDLEY_TRY(md_gram_learn_means(&gram->bank->kernels[m], center.sums, gram->n, error));
        md_parallel_for(gram->threads, gram->n, center_row, &center);
    }
done:
    free(center.sums);
    return status;
}
