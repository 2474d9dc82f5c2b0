/* SPDX-License-Identifier: BSD-3-Clause */
/* Triangles from tiles: the part of each tile on and above the diagonal goes straight to its
 * place. Kernels of one view share its products, as in full.c. Then kernels that ask for it are
 * centred and the ridge is added, and in the first pass traces and spreads are learnt. */
#include "gram/gram_internal.h"
#include "packed/store_internal.h"

#include "base/memory.h"
#include "base/parallel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a spread, relative to the norm of the matrix: it is what is left of sums in double precision
 * whose relative error is far below the square of this. */
static const double ROUNDING = 1e-6;

medley_status md_store_report(const md_store *store, size_t done, medley_error *error)
{
    if (md_report_kernels(store->observer, done, store->count, store->began))
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_FAILED, "stopped while kernels were computed; nothing was learnt");
}

/* ---- tiles ---- */

/* 1 / sqrt(K(x,x)) as it was before values were rounded. */
static double inverse_root(const md_store *store, size_t m, size_t i)
{
    const double self = store->points.precomputed_wide[m][i * store->n + i];
    return self > 0 ? 1 / sqrt(self) : 0;
}

/* The place of a tile from values that were never rounded. */
static void take_exact(const md_store *store, size_t m, const md_tile_values *tile)
{
    const size_t n = store->n;
    const double *from = store->points.precomputed_wide[m];
    const md_kernel *kernel = &store->bank->kernels[m];
    const bool unit = kernel->norm == MD_NORM_DIAG;
    for (size_t i = tile->row; i < tile->row + tile->rows; i++) {
        double *to = (double *)store->values[m] + md_packed_row(n, i);
        const double left = unit ? inverse_root(store, m, i) : kernel->factor;
        for (size_t j = tile->column > i ? tile->column : i; j < tile->column + tile->columns; j++)
            to[j - i] = from[i * n + j] * left * (unit ? inverse_root(store, m, j) : 1);
    }
}

static void take_tile(void *context, size_t m, const md_tile_values *tile)
{
    const md_store *store = context;
    if (md_store_is_exact(store, m))
        take_exact(store, m, tile);
    else
        store->packed->take(store->values[m], store->n, tile);
}

static void compute_tiles(md_store *store)
{
    const md_tile_sink sink = {.context = store, .take = take_tile};
    md_triangle triangle = {.scratch = store->scratch,
                            .group_start = store->group_start,
                            .job = {.bank = store->bank,
                                    .left = &store->points,
                                    .right = &store->points,
                                    .wanted = store->wanted,
                                    .sink = &sink}};
    md_triangle_group(&triangle, store->wanted);
    const size_t threads = md_store_threads(store, triangle.groups * store->size);
    md_triangle_compute(&triangle, threads, SIZE_MAX, NULL, 0);
}

/* ---- what is done to a whole triangle ---- */

struct finish {
    md_store *store;
    const size_t *kernels;
    bool learn;
    double *sums;  /* [workers][2 n]: row sums, ones */
    double *means; /* [kernels][n] sums of rows of centred kernels */
};

static double *row_sums(const struct finish *finish, const void *values, size_t worker)
{
    const md_store *store = finish->store;
    const size_t n = store->n;
    double *sums = finish->sums + worker * 2 * store->length;
    double *ones = sums + store->length;
    for (size_t i = 0; i < n; i++) {
        sums[i] = 0;
        ones[i] = 1;
    }
    store->packed->multiply(values, n, 0, n, ones, sums);
    return sums;
}

static void center(const struct finish *finish, size_t item, size_t worker)
{
    md_store *store = finish->store;
    const size_t n = store->n;
    void *values = store->values[finish->kernels[item]];
    double *mean = row_sums(finish, values, worker);
    double grand = 0;
    if (finish->learn)
        for (size_t i = 0; i < n; i++)
            finish->means[item * n + i] = mean[i];
    for (size_t i = 0; i < n; i++) {
        mean[i] /= (double)n;
        grand += mean[i];
    }
    store->packed->center(values, n, 0, n, mean, grand / (double)n);
}

static double trace_of(const md_store *store, const void *values)
{
    double trace = 0;
    for (size_t i = 0; i < store->n; i++)
        trace += store->packed->get(values, md_packed_row(store->n, i));
    return trace;
}

static void add_ridge(const md_store *store, void *values)
{
    const double ridge = store->ridge * trace_of(store, values) / (double)store->n;
    for (size_t i = 0; i < store->n; i++) {
        const size_t place = md_packed_row(store->n, i);
        store->packed->set(values, place, store->packed->get(values, place) + ridge);
    }
}

/* ||HKH||^2 = ||K||^2 - 2 ||K1||^2 / n + (1'K1)^2 / n^2. */
void md_store_learn_spread(md_store *store, size_t m, const double *sums)
{
    const double n = (double)store->n;
    const double norm2 = store->frobenius2[m];
    double total = 0;
    double sums2 = 0;
    for (size_t i = 0; i < store->n; i++) {
        total += sums[i];
        sums2 += sums[i] * sums[i];
    }
    const double centred2 = norm2 - 2 * sums2 / n + total * total / (n * n);
    store->spread[m] = sqrt(centred2 > 0 ? centred2 : 0) + ROUNDING * sqrt(norm2);
}

static void learn_norm(md_store *store, size_t m)
{
    const void *values = store->values[m];
    double diagonal2 = 0;
    for (size_t i = 0; i < store->n; i++) {
        const double own = store->packed->get(values, md_packed_row(store->n, i));
        diagonal2 += own * own;
    }
    store->frobenius2[m] = 2 * store->packed->squares(values, 0, store->size) - diagonal2;
}

static void finish_kernel(void *context, size_t item, size_t worker)
{
    const struct finish *finish = context;
    md_store *store = finish->store;
    const size_t m = finish->kernels[item];
    if (store->bank->kernels[m].norm == MD_NORM_CENTER)
        center(finish, item, worker);
    if (store->ridge != 0)
        add_ridge(store, store->values[m]);
    if (!finish->learn)
        return;
    store->trace[m] = trace_of(store, store->values[m]);
    learn_norm(store, m);
    md_store_learn_spread(store, m, row_sums(finish, store->values[m], worker));
}

static medley_status learn_means(const struct finish *finish, size_t count, medley_error *error)
{
    md_store *store = finish->store;
    medley_status status = MEDLEY_OK;
    for (size_t i = 0; finish->learn && i < count && status == MEDLEY_OK; i++) {
        md_kernel *kernel = &store->bank->kernels[finish->kernels[i]];
        if (kernel->norm == MD_NORM_CENTER)
            status = md_gram_learn_means(kernel, finish->means + i * store->n, store->n, error);
    }
    return status;
}

static medley_status finish_kernels(md_store *store, const size_t *kernels, size_t count,
                                    bool learn, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    bool centred = false;
    for (size_t i = 0; i < count; i++)
        centred = centred || store->bank->kernels[kernels[i]].norm == MD_NORM_CENTER;
    if (!centred && store->ridge == 0 && !learn)
        return MEDLEY_OK;
    struct finish finish = {.store = store, .kernels = kernels, .learn = learn};
    const size_t means = learn && centred ? count * store->n : 1;
    MEDLEY_TRY(md_new(&finish.sums, 2 * store->length * store->threads, sizeof(double), error));
    MEDLEY_TRY(md_new(&finish.means, means, sizeof(double), error));
    md_parallel_for(md_store_threads(store, count * store->size), count, finish_kernel, &finish);
    MEDLEY_TRY(learn_means(&finish, count, error));
done:
    free(finish.sums);
    free(finish.means);
    return status;
}

medley_status md_store_load(md_store *store, const size_t *kernels, size_t count, bool learn,
                            medley_error *error)
{
    if (count == 0)
        return MEDLEY_OK;
    for (size_t m = 0; m < store->count; m++)
        store->wanted[m] = false;
    for (size_t i = 0; i < count; i++) {
        const size_t used = store->size * store->packed->value_bytes;
        store->wanted[kernels[i]] = true;
        memset((char *)store->values[kernels[i]] + used, 0, store->bytes - used);
    }
    compute_tiles(store);
    return finish_kernels(store, kernels, count, learn, error);
}
