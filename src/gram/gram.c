/* SPDX-License-Identifier: BSD-3-Clause */
#include "gram/gram.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "gram/gram_internal.h"
#include "linalg/blas.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void md_gram_free(md_gram *gram)
{
    if (gram == NULL)
        return;
    for (size_t m = 0; gram->stored != NULL && m < gram->count; m++) {
        free(gram->stored[m].full);
        md_matrix_clear(&gram->stored[m].sparse);
        free(gram->stored[m].diagonal);
    }
    free(gram->stored);
    md_gram_window_clear(gram);
    for (size_t t = 0; gram->scratch != NULL && t < gram->threads; t++)
        md_tile_scratch_clear(&gram->scratch[t]);
    free(gram->scratch);
    free(gram->mix);
    free(gram);
}

size_t md_gram_count(const md_gram *gram)
{
    return gram->mix ? 1 : gram->count;
}

size_t md_gram_rows(const md_gram *gram)
{
    return gram->n;
}

bool md_gram_is_streamed(const md_gram *gram)
{
    return gram->streamed;
}

size_t md_gram_bytes(const md_gram *gram)
{
    return gram->bytes;
}

/* ---- building full matrices ---- */

/* Copies a tile across the diagonal, in small squares so that both sides stay in cache. */
static void mirror(float *full, size_t n, const md_tile_values *tile)
{
    enum { SQUARE = 16 };
    for (size_t i = 0; i < tile->rows; i += SQUARE)
        for (size_t j = 0; j < tile->columns; j += SQUARE) {
            const size_t rows = tile->rows - i < SQUARE ? tile->rows - i : SQUARE;
            const size_t columns = tile->columns - j < SQUARE ? tile->columns - j : SQUARE;
            for (size_t c = 0; c < columns; c++) {
                float *to = full + (tile->column + j + c) * n + tile->row + i;
                const float *from = tile->values + i * tile->stride + j + c;
                for (size_t r = 0; r < rows; r++)
                    to[r] = from[r * tile->stride];
            }
        }
}

static float *place_in_full(void *context, size_t m, size_t row, size_t column, size_t *stride)
{
    md_gram *gram = context;
    *stride = gram->n;
    return gram->stored[m].full + row * gram->n + column;
}

static void mirror_full(void *context, size_t m, const md_tile_values *tile)
{
    md_gram *gram = context;
    if (tile->row != tile->column)
        mirror(gram->stored[m].full, gram->n, tile);
}

struct build {
    md_gram *gram;
    md_tile_job job;
    size_t tiles; /* per side */
    size_t row;   /* of tiles */
};

/* Items are the tiles on and above the diagonal of one row of tiles. */
static void build_tile(void *context, size_t item, size_t worker)
{
    const struct build *build = context;
    const size_t n = build->gram->n;
    md_tile_range range = {.row = build->row * MD_TILE,
                           .column = (build->row + item) * MD_TILE,
                           .symmetric = true};
    range.rows = n - range.row < MD_TILE ? n - range.row : MD_TILE;
    range.columns = n - range.column < MD_TILE ? n - range.column : MD_TILE;
    md_tile_compute(&build->job, range, &build->gram->scratch[worker]);
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

static medley_status fail_stopped(medley_error *error)
{
    return md_fail(error, MEDLEY_FAILED, "stopped while kernels were computed; nothing was learnt");
}

static medley_status build_full(md_gram *gram, const bool *wanted, medley_error *error)
{
    const md_tile_sink sink = {
        .context = gram, .place = place_in_full, .take = mirror_full};
    const size_t tiles = (gram->n + MD_TILE - 1) / MD_TILE;
    struct build build = {.gram = gram,
                          .tiles = tiles,
                          .job = {.bank = gram->bank,
                                  .left = gram->points,
                                  .right = gram->points,
                                  .wanted = wanted,
                                  .sink = &sink}};
    for (build.row = 0; build.row < tiles; build.row++) {
        md_parallel_for(gram->threads, tiles - build.row, build_tile, &build);
        if (!report(gram, build.row + 1, tiles))
            return fail_stopped(error);
    }
    return MEDLEY_OK;
}

/* ---- centring: K - 1 mean' - mean 1' + grand mean ---- */

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
    const float *values = center->gram->stored[center->m].full + row * n;
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += (double)values[j];
    center->sums[row] = sum;
}

static void center_row(void *context, size_t row, size_t worker)
{
    (void)worker;
    const struct center *center = context;
    const md_kernel *kernel = &center->gram->bank->kernels[center->m];
    float *values = center->gram->stored[center->m].full + row * center->gram->n;
    md_center_row(kernel, values, center->gram->n, (double)kernel->column_mean[row]);
}

void md_center_row(const md_kernel *kernel, float *values, size_t count, double row_mean)
{
    const float shift = (float)(kernel->grand_mean - row_mean);
    for (size_t j = 0; j < count; j++)
        values[j] += shift - kernel->column_mean[j];
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

static medley_status center_full(md_gram *gram, medley_error *error)
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

/* ---- creation ---- */

static bool needs_values(const md_kernel *kernel)
{
    return !kernel->explicit_weights;
}

static medley_status init_gram(md_gram *gram, medley_error *error)
{
    gram->stored = md_calloc(gram->count, sizeof *gram->stored);
    gram->scratch = md_calloc(gram->threads, sizeof *gram->scratch);
    if (gram->stored == NULL || gram->scratch == NULL)
        return md_fail_memory(error, gram->count * sizeof *gram->stored);
    for (size_t t = 0; t < gram->threads; t++) {
        const medley_status status = md_tile_scratch_init(&gram->scratch[t], gram->points, error);
        if (status < 0)
            return status;
    }
    return MEDLEY_OK;
}

/* K_m(i,i) of every row after normalisation (centred kernels: once their means are known). */
static medley_status learn_diagonals(md_gram *gram, medley_error *error)
{
    for (size_t m = 0; m < gram->count; m++) {
        const md_kernel *kernel = &gram->bank->kernels[m];
        if (!needs_values(kernel))
            continue;
        double *self = md_calloc(gram->n, sizeof *self);
        if (self == NULL)
            return md_fail_memory(error, gram->n * sizeof *self);
        gram->stored[m].diagonal = self;
        const md_matrix *given = gram->points->precomputed[m];
        if (kernel->class != NULL)
            md_points_self(gram->points, gram->bank, m, self);
        else
            for (size_t i = 0; i < gram->n; i++)
                self[i] = (double)given->dense[i * gram->n + i];
        for (size_t i = 0; i < gram->n; i++) {
            if (kernel->norm == MD_NORM_DIAG)
                self[i] = self[i] > 0 ? 1 : 0;
            else if (kernel->norm == MD_NORM_CENTER)
                self[i] += kernel->grand_mean - 2 * (double)kernel->column_mean[i];
            else
                self[i] *= kernel->factor;
        }
    }
    return MEDLEY_OK;
}

/* Kernels that are mostly zero go to sparse storage first; the others are kept in full if all of
 * them fit what is left of the budget, else their rows are computed as they are needed. */
static medley_status choose_storage(md_gram *gram, size_t memory, bool *full, medley_error *error)
{
    const double each = (double)gram->n * (double)gram->n * sizeof(float);
    medley_status status = md_gram_build_sparse(gram, memory, error);
    if (status < 0)
        return status;
    double wanted = 0;
    for (size_t m = 0; m < gram->count; m++) {
        full[m] = needs_values(&gram->bank->kernels[m]) && gram->stored[m].sparse.start == NULL;
        wanted += full[m] ? each : 0;
    }
    gram->streamed = memory > 0 && wanted + (double)gram->bytes > (double)memory;
    if (gram->streamed)
        return md_gram_window_init(gram, full, memory - gram->bytes, error);
    for (size_t m = 0; m < gram->count; m++) {
        if (!full[m])
            continue;
        gram->stored[m].full = md_alloc_aligned(gram->n * gram->n, sizeof(float));
        if (gram->stored[m].full == NULL)
            return md_fail(error, MEDLEY_FAILED,
                           "the kernels need %.1f GB; set --memory to a smaller budget so that "
                           "they are computed on the fly",
                           wanted / 1e9);
    }
    gram->bytes += (size_t)wanted;
    return MEDLEY_OK;
}

medley_status md_gram_create(md_gram **result, md_bank *bank, const md_points *points,
                             const md_gram_options *options, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    bool *full = md_calloc(bank->count, sizeof *full);
    md_gram *gram = md_calloc(1, sizeof *gram);
    if (gram == NULL || full == NULL) {
        free(full);
        free(gram);
        return md_fail_memory(error, sizeof *gram);
    }
    md_blas_single_thread();
    gram->bank = bank;
    gram->points = points;
    gram->n = points->rows;
    gram->count = bank->count;
    gram->threads = options->threads ? options->threads : 1;
    gram->observer = options->observer;
    gram->began = md_clock_seconds();
    MEDLEY_TRY(init_gram(gram, error));
    MEDLEY_TRY(choose_storage(gram, options->memory, full, error));
    if (!gram->streamed) {
        MEDLEY_TRY(build_full(gram, full, error));
        MEDLEY_TRY(center_full(gram, error));
    }
    MEDLEY_TRY(learn_diagonals(gram, error));
    *result = gram;
    gram = NULL;
done:
    free(full);
    md_gram_free(gram);
    return status;
}

/* ---- use ---- */

MD_VECTOR
static void add_multiple(float *y, float alpha, const float *x, size_t count)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++)
        y[j] += alpha * x[j];
}

static void axpy_stored(md_gram *gram, size_t m, size_t row, float alpha, float *y)
{
    const md_stored *stored = &gram->stored[m];
    if (stored->sparse.start != NULL) {
        const md_matrix *k = &stored->sparse;
        for (size_t e = k->start[row]; e < k->start[row + 1]; e++)
            y[k->index[e]] += alpha * k->value[e];
    } else {
        add_multiple(y, alpha, md_gram_row(gram, m, row), gram->n);
    }
}

const float *md_gram_row(md_gram *gram, size_t m, size_t row)
{
    return gram->stored[m].full ? gram->stored[m].full + row * gram->n
                                : md_gram_window_row(gram, m, row);
}

void md_gram_axpy(md_gram *gram, size_t m, size_t row, float alpha, float *y)
{
    if (gram->mix == NULL) {
        axpy_stored(gram, m, row, alpha, y);
        return;
    }
    for (size_t k = 0; k < gram->count; k++)
        if (gram->mix[k] != 0)
            axpy_stored(gram, k, row, alpha * (float)gram->mix[k], y);
}

static float stored_entry(md_gram *gram, size_t m, size_t row, size_t column)
{
    const md_matrix *k = &gram->stored[m].sparse;
    if (k->start == NULL)
        return md_gram_row(gram, m, row)[column];
    for (size_t e = k->start[row]; e < k->start[row + 1] && (size_t)k->index[e] <= column; e++)
        if ((size_t)k->index[e] == column)
            return k->value[e];
    return 0;
}

float md_gram_entry(md_gram *gram, size_t m, size_t row, size_t column)
{
    if (gram->mix == NULL)
        return stored_entry(gram, m, row, column);
    double sum = 0;
    for (size_t k = 0; k < gram->count; k++)
        if (gram->mix[k] != 0)
            sum += gram->mix[k] * (double)stored_entry(gram, k, row, column);
    return (float)sum;
}

double md_gram_diagonal(const md_gram *gram, size_t m, size_t row)
{
    if (gram->mix == NULL)
        return gram->stored[m].diagonal[row];
    double sum = 0;
    for (size_t k = 0; k < gram->count; k++)
        if (gram->mix[k] != 0)
            sum += gram->mix[k] * gram->stored[k].diagonal[row];
    return sum;
}

/* Full matrices are summed into one, so that a row of the mixture costs what a row of one kernel
 * costs; other kinds of storage are summed row by row when they are used. */
medley_status md_gram_mix(md_gram *gram, const double *weight, medley_error *error)
{
    gram->mix = md_copy(weight, gram->count * sizeof *weight);
    if (gram->mix == NULL)
        return md_fail_memory(error, gram->count * sizeof *weight);
    size_t first = gram->count;
    for (size_t m = 0; m < gram->count; m++) {
        md_stored *stored = &gram->stored[m];
        if (stored->full == NULL || weight[m] == 0)
            continue;
        const size_t total = gram->n * gram->n;
        if (first == gram->count) {
            first = m;
            const float factor = (float)weight[m];
            for (size_t i = 0; i < total; i++)
                stored->full[i] *= factor;
        } else {
            add_multiple(gram->stored[first].full, (float)weight[m], stored->full, total);
            gram->mix[m] = 0;
            free(stored->full);
            stored->full = NULL;
        }
        for (size_t i = 0; i < gram->n; i++) {
            double *sum = gram->stored[first].diagonal;
            sum[i] = m == first ? sum[i] * weight[m] : sum[i] + weight[m] * stored->diagonal[i];
        }
    }
    if (first < gram->count)
        gram->mix[first] = 1;
    return MEDLEY_OK;
}

medley_status md_gram_multiply(md_gram *gram, size_t m, const float *coefficient, size_t labels,
                               float *out, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t window = md_gram_window(gram);
    const size_t step = window < MD_TILE ? window : MD_TILE;
    const size_t last = gram->mix ? gram->count : m + 1;
    size_t rows[MD_TILE];
    for (size_t i = 0; i < gram->n && status == MEDLEY_OK; i += step) {
        const size_t count = gram->n - i < step ? gram->n - i : step;
        for (size_t r = 0; r < count; r++)
            rows[r] = i + r;
        status = md_gram_prefetch(gram, rows, count, error);
        for (size_t k = gram->mix ? 0 : m; k < last && status == MEDLEY_OK; k++) {
            const float factor = gram->mix ? (float)gram->mix[k] : 1;
            if (factor != 0)
                md_gram_multiply_rows(gram, k, factor, coefficient, labels, i, count, out);
        }
    }
    return status;
}

void md_gram_multiply_rows(md_gram *gram, size_t m, float factor, const float *coefficient,
                           size_t labels, size_t row, size_t count, float *out)
{
    const md_matrix *k = &gram->stored[m].sparse;
    if (k->start == NULL) { /* rows of a full matrix or of a window follow one another */
        md_gemm(count, labels, gram->n, factor, md_gram_row(gram, m, row), gram->n, coefficient,
                labels, 1, out + row * labels, labels);
        return;
    }
    for (size_t r = row; r < row + count; r++)
        for (size_t e = k->start[r]; e < k->start[r + 1]; e++)
            add_multiple(out + r * labels, factor * k->value[e],
                         coefficient + (size_t)k->index[e] * labels, labels);
}

medley_status md_gram_pack(md_gram *gram, float *packed, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t n = gram->n;
    const size_t triangle = n * (n + 1) / 2;
    float *row = md_calloc(n, sizeof *row);
    if (row == NULL)
        return md_fail_memory(error, n * sizeof *row);
    for (size_t i = 0; i < n; i++) {
        MEDLEY_TRY(md_gram_prefetch(gram, &i, 1, error));
        const size_t offset = i * n - i * (i - 1) / 2; /* lengths n, n-1, ... of the rows above */
        for (size_t m = 0; m < md_gram_count(gram); m++) {
            memset(row, 0, n * sizeof *row);
            md_gram_axpy(gram, m, i, 1, row);
            memcpy(packed + m * triangle + offset, row + i, (n - i) * sizeof *row);
        }
    }
done:
    free(row);
    return status;
}
