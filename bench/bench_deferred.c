/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on the fly, the inner loop: flushing 128 changed rows, two of ten labels each, for the
 * linear, cubic and Gaussian kernel of one view (20,000 rows x 196 columns), against what cannot be
 * avoided: one matrix product of 128 x ROWS x COLUMNS by the same number of threads. What is beyond
 * the products is divided by measuring less and less of the work: tiles of products alone, tiles
 * with the maps of the kernels, all of it. Then the same where the rows are kept: bytes a second
 * against copying large arrays. Best of all repeats.
 *
 *     bench_deferred [ROWS [COLUMNS]] */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "data/dataset.h"
#include "gram/deferred.h"
#include "gram/tile.h"
#include "linalg/blas.h"
#include "linalg/products.h"
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KERNELS = 3,
    MOST_THREADS = 2,
    LABELS = 10,
    WINDOW = 64,                   /* rows that are announced together */
    BOOKED = 128,                  /* rows that are flushed together: two windows */
    REPEATS = 40,                  /* flushes */
    KEPT_SETS = 4,                 /* of BOOKED rows each that are kept: more than caches hold */
    WARM = 14,                     /* flushes after which a row is kept */
    FEWEST_ROWS = REPEATS * BOOKED /* every flushing has other rows */
};

struct bench {
    md_bank bank;
    md_prepared prepared;
    md_gram *gram;
    md_deferred *deferred;
    float *score[KERNELS]; /* [LABELS][rows] */
    size_t rows, columns, threads;
};

static void check(medley_status status, const medley_error *error)
{
    if (status < 0) {
        fprintf(stderr, "bench_deferred: %s\n", error->message);
        exit(1);
    }
}

static float *allocate(size_t count)
{
    float *values = md_alloc_aligned(count, sizeof *values);
    if (values == NULL) {
        fprintf(stderr, "bench_deferred: not enough memory\n");
        exit(1);
    }
    memset(values, 0, count * sizeof *values);
    return values;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* 0 where a difference of two measurements has no meaning: something else was running. */
static double rate(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds : 0;
}

/* ---- the floor ---- */

/* Products of the first BOOKED rows with all rows, cut by columns. */
struct products {
    const struct bench *bench;
    const md_prepared *left;
    float *values;            /* [BOOKED][rows] of whole stripes */
    md_tile_scratch *scratch; /* [threads] */
    md_pool pool;
    size_t width;
};

static size_t width_of(const struct products *work, size_t item)
{
    const size_t left = work->bench->rows - item * work->width;
    return left < work->width ? left : work->width;
}

static void multiply_stripe(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct products *work = context;
    const size_t columns = work->bench->columns;
    const float *right = work->bench->prepared.views[0].dense + item * work->width * columns;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BOOKED, (int)width_of(work, item),
                (int)columns, 1, work->left->views[0].dense, (int)columns, right, (int)columns, 0,
                work->values + item * work->width, (int)work->bench->rows);
}

/* What stays in the cache of one thread, as flushing cuts it. */
static void multiply_tile(void *context, size_t item, size_t worker)
{
    const struct products *work = context;
    const size_t columns = work->bench->columns;
    const float *right = work->bench->prepared.views[0].dense + item * work->width * columns;
    md_multiply_rows(BOOKED, width_of(work, item), columns, work->left->views[0].dense, columns,
                     right, columns, work->scratch[worker].products, MD_TILE);
}

/* The values of all kernels, which nobody takes. */
static void compute_tile(void *context, size_t item, size_t worker)
{
    struct products *work = context;
    const md_tile_sink nobody = {0};
    const md_tile_job job = {.bank = &work->bench->bank,
                             .left = work->left,
                             .right = &work->bench->prepared,
                             .sink = &nobody};
    const md_tile_range range = {
        .rows = BOOKED, .column = item * work->width, .columns = width_of(work, item)};
    md_tile_compute(&job, range, &work->scratch[worker]);
}

static double time_products(struct products work, size_t width, md_parallel_body body)
{
    work.width = width;
    const double begin = md_clock_seconds();
    md_parallel_for(work.bench->threads, (work.bench->rows + width - 1) / width, body, &work);
    return md_clock_seconds() - begin;
}

struct floors {
    double product; /* one large piece for each thread */
    double tiles;   /* the same in tiles */
    double values;  /* tiles, and the maps of all kernels */
};

static void start_floors(struct products *work, md_prepared *left)
{
    const struct bench *bench = work->bench;
    medley_error error = {0};
    size_t rows[BOOKED];
    for (size_t i = 0; i < BOOKED; i++)
        rows[i] = i;
    check(md_prepared_gather(left, &bench->prepared, rows, BOOKED, &error), &error);
    check(md_tile_scratch_make(&work->pool, &work->scratch, bench->threads, &bench->bank,
                               &bench->prepared, &error),
          &error);
    work->left = left;
    work->values = allocate(BOOKED * bench->rows);
}

static void end_floors(struct products *work, md_prepared *left)
{
    free(work->values);
    md_pool_clear(&work->pool);
    md_prepared_clear(left);
}

static void measure_floors(const struct products *work, struct floors *best)
{
    const struct bench *bench = work->bench;
    const size_t stripe = (bench->rows + bench->threads - 1) / bench->threads;
    best->product = least(best->product, time_products(*work, stripe, multiply_stripe));
    best->tiles = least(best->tiles, time_products(*work, MD_TILE, multiply_tile));
    best->values = least(best->values, time_products(*work, MD_TILE, compute_tile));
}

/* ---- flushing ---- */

/* Changes at BOOKED rows from `first` on: two windows are opened and closed again. windows: seconds
 * for these; returned: seconds until all is flushed. */
static double flush_rows(struct bench *bench, size_t first, double *windows)
{
    medley_error error = {0};
    *windows = 0;
    for (size_t w = 0; w < BOOKED; w += WINDOW) {
        size_t rows[WINDOW];
        for (size_t i = 0; i < WINDOW; i++)
            rows[i] = (first + w + i) % bench->rows;
        const double begin = md_clock_seconds();
        check(md_deferred_open(bench->deferred, rows, WINDOW, &error), &error);
        for (size_t m = 0; m < KERNELS; m++)
            for (size_t i = 0; i < WINDOW; i++) {
                const md_label_change changes[] = {{i % LABELS, 1e-3f}, {(i + 1) % LABELS, -1e-3f}};
                md_deferred_add(bench->deferred, m, rows[i], changes, 2);
            }
        *windows += md_clock_seconds() - begin;
    }
    const double begin = md_clock_seconds();
    check(md_deferred_close(bench->deferred, &error), &error);
    return md_clock_seconds() - begin;
}

/* memory: for the deferred scores; enough for windows of full size in any case. */
static void start_deferred(struct bench *bench, size_t memory)
{
    medley_error error = {0};
    const md_deferred_options options = {.labels = LABELS, .longest = WINDOW, .memory = memory};
    check(md_deferred_create(&bench->deferred, bench->gram, &options, &error), &error);
    for (size_t m = 0; m < KERNELS; m++) {
        memset(bench->score[m], 0, LABELS * bench->rows * sizeof(float));
        check(md_deferred_attach(bench->deferred, m, bench->score[m], &error), &error);
    }
    if (md_deferred_open_most(bench->deferred) != WINDOW) {
        fprintf(stderr, "bench_deferred: the window has %zu rows and %d are expected\n",
                md_deferred_open_most(bench->deferred), WINDOW);
        exit(1);
    }
}

static void end_deferred(struct bench *bench)
{
    for (size_t m = 0; m < KERNELS; m++)
        md_deferred_detach(bench->deferred, m);
    md_deferred_free(bench->deferred);
}

/* Everything in turn, so that what else the machine does hits all of it alike. */
static void measure_computed(struct bench *bench, struct floors *floors, double *best,
                             double *windows)
{
    struct products work = {.bench = bench};
    md_prepared left = {0};
    start_deferred(bench, 1);
    start_floors(&work, &left);
    for (size_t i = 0; i < REPEATS; i++) {
        double open;
        *best = least(*best, flush_rows(bench, i * BOOKED, &open));
        *windows = least(*windows, open);
        measure_floors(&work, floors);
    }
    if (md_deferred_count(bench->deferred).found > 0)
        fprintf(stderr, "bench_deferred: rows were kept, so this is too fast\n");
    end_floors(&work, &left);
    end_deferred(bench);
}

static void run_computed(struct bench *bench)
{
    double best = INFINITY;
    double windows = INFINITY;
    struct floors floors = {INFINITY, INFINITY, INFINITY};
    measure_computed(bench, &floors, &best, &windows);
    const double values = (double)BOOKED * (double)bench->rows;
    const double gigaflop = 2 * values * (double)bench->columns / 1e9;
    const double maps = floors.values - floors.tiles;
    const double sums = best - floors.values;
    const double sum_gigaflop = 2 * values * LABELS * KERNELS / 1e9;
    printf("computed, %zu thread%s: %5.2f ms for %d rows: products at %.0f GFLOP/s = %.2f of plain "
           "products (%.0f); of it products in tiles %.2f ms, maps %.2f ms (%.2f G values/s), "
           "adding up %.2f ms (%.0f GFLOP/s); besides, windows %.2f ms\n",
           bench->threads, bench->threads > 1 ? "s" : " ", 1e3 * best, BOOKED, gigaflop / best,
           floors.product / best, gigaflop / floors.product, 1e3 * floors.tiles, 1e3 * maps,
           rate(values * KERNELS / 1e9, maps), 1e3 * sums, rate(sum_gigaflop, sums), 1e3 * windows);
    printf("{\"bench\":\"deferred\",\"case\":\"computed\",\"rows\":%zu,\"columns\":%zu,"
           "\"kernels\":%d,\"booked\":%d,\"threads\":%zu,\"seconds\":%.6f,"
           "\"product_seconds\":%.6f,\"gflop_per_s\":%.1f,\"product_gflop_per_s\":%.1f,"
           "\"ratio\":%.4f,\"tile_seconds\":%.6f,\"map_seconds\":%.6f,\"sum_seconds\":%.6f,"
           "\"window_seconds\":%.6f}\n",
           bench->rows, bench->columns, KERNELS, BOOKED, bench->threads, best, floors.product,
           gigaflop / best, gigaflop / floors.product, floors.product / best, floors.tiles, maps,
           sums, windows);
}

/* ---- rows that are kept ---- */

struct copy {
    char *from, *to;
    size_t piece; /* bytes */
};

static void copy_piece(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct copy *copy = context;
    memcpy(copy->to + item * copy->piece, copy->from + item * copy->piece, copy->piece);
}

/* Bytes read and written a second. */
static double measure_copy(size_t threads)
{
    enum { MEGABYTES = 128 };
    struct copy copy = {.piece = 1 << 20};
    const size_t bytes = MEGABYTES * copy.piece;
    copy.from = (char *)allocate(bytes / sizeof(float));
    copy.to = (char *)allocate(bytes / sizeof(float));
    double best = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        const double begin = md_clock_seconds();
        md_parallel_for(threads, MEGABYTES, copy_piece, &copy);
        best = least(best, md_clock_seconds() - begin);
    }
    free(copy.from);
    free(copy.to);
    return 2 * (double)bytes / best;
}

static void run_kept(struct bench *bench)
{
    double best = INFINITY;
    double windows;
    start_deferred(bench, 0);
    for (size_t i = 0; i < (size_t)WARM * KEPT_SETS; i++)
        flush_rows(bench, i % KEPT_SETS * BOOKED, &windows);
    const size_t computed = md_deferred_count(bench->deferred).computed;
    for (size_t i = 0; i < REPEATS; i++)
        best = least(best, flush_rows(bench, i % KEPT_SETS * BOOKED, &windows));
    if (md_deferred_count(bench->deferred).computed != computed)
        fprintf(stderr, "bench_deferred: some rows were not kept, so this is too slow\n");
    end_deferred(bench);
    const double rows = (double)bench->rows;
    const double values = KERNELS * BOOKED * rows * sizeof(float);
    const double all = values + 2 * KERNELS * LABELS * rows * sizeof(float);
    const double copy = measure_copy(bench->threads);
    printf("kept,     %zu thread%s: %5.2f ms for %d rows: kernel values at %.1f GB/s, with scores "
           "%.1f; memcpy %.1f GB/s (read and written): %.2f and %.2f of it\n",
           bench->threads, bench->threads > 1 ? "s" : " ", 1e3 * best, BOOKED, values / best / 1e9,
           all / best / 1e9, copy / 1e9, values / best / copy, all / best / copy);
    printf("{\"bench\":\"deferred\",\"case\":\"kept\",\"rows\":%zu,\"kernels\":%d,\"booked\":%d,"
           "\"threads\":%zu,\"seconds\":%.6f,\"value_gb_per_s\":%.2f,\"all_gb_per_s\":%.2f,"
           "\"copy_gb_per_s\":%.2f,\"ratio\":%.4f}\n",
           bench->rows, KERNELS, BOOKED, bench->threads, best, values / best / 1e9,
           all / best / 1e9, copy / 1e9, values / best / copy);
}

/* ---- the data ---- */

static void run(const medley_dataset *dataset, size_t threads)
{
    static char *kernels[] = {"linear(norm=diag)", "poly(degree=3,norm=diag)", "rbf(sigma2=400)",
                              NULL};
    medley_error error = {0};
    struct bench bench = {
        .rows = dataset->rows, .columns = dataset->tables[0].features.columns, .threads = threads};
    const md_bank_options bank_options = {.kernels = kernels, .views = "all"};
    const md_gram_options gram_options = {.threads = threads, .memory = 1};
    check(md_bank_make(&bench.bank, dataset, &bank_options, &error), &error);
    check(md_prepared_make(&bench.prepared, &bench.bank, dataset, true, &error), &error);
    check(md_gram_create(&bench.gram, &bench.bank, &bench.prepared, &gram_options, &error), &error);
    for (size_t m = 0; m < KERNELS; m++)
        bench.score[m] = allocate(LABELS * bench.rows);
    run_computed(&bench);
    run_kept(&bench);
    for (size_t m = 0; m < KERNELS; m++)
        free(bench.score[m]);
    md_gram_free(bench.gram);
    md_prepared_clear(&bench.prepared);
    md_bank_clear(&bench.bank);
}

int main(int argc, char **argv)
{
    const size_t rows = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    const size_t columns = argc > 2 ? strtoul(argv[2], NULL, 10) : 196;
    if (rows < FEWEST_ROWS || columns == 0) {
        fprintf(stderr, "usage: bench_deferred [ROWS [COLUMNS]], at least %d rows\n", FEWEST_ROWS);
        return 2;
    }
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    double *values = md_calloc(rows * columns, sizeof *values);
    md_random random;
    md_random_seed(&random, 1);
    for (size_t i = 0; values != NULL && i < rows * columns; i++)
        values[i] = md_random_normal(&random);
    check(medley_dataset_from_dense(&dataset, values, rows, columns, NULL, &error), &error);
    md_blas_single_thread();
    for (size_t threads = 1; threads <= MOST_THREADS; threads++)
        run(dataset, threads);
    medley_dataset_free(dataset);
    free(values);
    return 0;
}
