/* SPDX-License-Identifier: BSD-3-Clause */
/* Weighted sums of triangles. A packed sum looks like a packed triangle, so adding is one flat loop
 * over several kernels at once. Work is cut into chunks of rows whose sum stays in cache while all
 * kernels are added to it; if these are few (small triangles, thousands of kernels) the kernels
 * are divided among parts with sums of their own, which are added in order at the end. The cut
 * depends on the numbers of rows and kernels only. */
#include "packed/store_internal.h"

#include "base/memory.h"
#include "base/parallel.h"
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PARTS = 32,
    PART_KERNELS = 32,     /* a part has at least so many, or its sum costs too much */
    FUSED_BYTES = 1 << 18, /* a few triangles of this size stay in cache until they are added */
    FUSED_KERNELS = 4,     /* these few */
    FUSED_PARTS = 4        /* with fewer kernels than for so many parts it is not worth it */
};

/* A sum under way. */
struct summing {
    md_store *store;
    double *sum; /* [n][n] */
    size_t parts;
    double *partial; /* [parts][size], or NULL: straight into sum */
    double *chunk;   /* [threads][largest chunk] */
    size_t largest;  /* values of a chunk */
    bool begun;      /* sum or the partial sums hold what was added before */
    /* of the present batch: */
    const md_store_batch *batch;
    const double *weight; /* [count of the call] */

    /* with products: */
    const double *x;
    md_weigh weigh;
    void *context;
    double *y, *norm2, *weights;
    double *vectors; /* [threads + 1][length]: x, products */
};

static size_t chunk_place(const md_store *store, size_t chunk)
{
    return md_packed_row(store->n, store->chunk_start[chunk]);
}

static void scatter(const md_store *store, size_t chunk, const double *packed, double *sum)
{
    for (size_t i = store->chunk_start[chunk]; i < store->chunk_start[chunk + 1]; i++) {
        memcpy(sum + i * store->n + i, packed, (store->n - i) * sizeof *sum);
        packed += store->n - i;
    }
}

static void gather(const md_store *store, size_t chunk, const double *sum, double *packed)
{
    for (size_t i = store->chunk_start[chunk]; i < store->chunk_start[chunk + 1]; i++) {
        memcpy(packed, sum + i * store->n + i, (store->n - i) * sizeof *sum);
        packed += store->n - i;
    }
}

/* ---- beginning and end ---- */

static medley_status begin_sum(struct summing *summing, md_store *store, size_t parts,
                               medley_error *error)
{
    summing->store = store;
    summing->parts = parts;
    for (size_t c = 0; c < store->chunks; c++) {
        const size_t values = chunk_place(store, c + 1) - chunk_place(store, c);
        summing->largest = values > summing->largest ? values : summing->largest;
    }
    const size_t chunks = store->threads * summing->largest;
    const size_t count = chunks + parts * store->size;
    if (count > store->sums_count) {
        free(store->sums);
        store->sums = md_alloc_aligned(count, sizeof(double));
        store->sums_count = store->sums != NULL ? count : 0;
    }
    if (store->sums == NULL)
        return md_fail_memory(error, count * sizeof(double));
    summing->chunk = store->sums;
    summing->partial = parts > 0 ? store->sums + chunks : NULL;
    if (parts > 0)
        memset(summing->partial, 0, parts * store->size * sizeof(double));
    return MEDLEY_OK;
}

/* One chunk of the result from the partial sums, of which there may be none. */
static void collect_chunk(void *context, size_t chunk, size_t worker)
{
    const struct summing *summing = context;
    const md_store *store = summing->store;
    const size_t first = chunk_place(store, chunk);
    const size_t count = chunk_place(store, chunk + 1) - first;
    double *total = summing->chunk + worker * summing->largest;
    memset(total, 0, count * sizeof *total);
    for (size_t p = 0; p < summing->parts; p++)
        for (size_t j = 0; j < count; j++)
            total[j] += summing->partial[p * store->size + first + j];
    scatter(store, chunk, total, summing->sum);
}

static void collect(struct summing *summing)
{
    if (summing->parts == 0 && summing->begun)
        return; /* it stands there already */
    const md_store *store = summing->store;
    md_parallel_for(md_store_threads(store, store->size * (summing->parts + 1)), store->chunks,
                    collect_chunk, summing);
}

/* ---- adding ---- */

/* total[count] += the weighted values [first, first + count) of kernels [i, end) of the batch. */
static void add_kernels(const struct summing *summing, double *total, size_t i, size_t end,
                        size_t first, size_t count)
{
    const md_store_batch *batch = summing->batch;
    while (i < end) {
        const size_t together = end - i < MD_PACKED_TOGETHER ? end - i : MD_PACKED_TOGETHER;
        double weight[MD_PACKED_TOGETHER];
        for (size_t t = 0; t < together; t++)
            weight[t] = summing->weight[batch->place[i + t]];
        summing->store->packed->add(total, batch->values + i, weight, together, first, count);
        i += together;
    }
}

/* Items: chunks, for each part. */
static void add_chunk(void *context, size_t item, size_t worker)
{
    const struct summing *summing = context;
    const md_store *store = summing->store;
    const size_t chunk = item % store->chunks;
    const size_t part = item / store->chunks;
    const size_t first = chunk_place(store, chunk);
    const size_t count = chunk_place(store, chunk + 1) - first;
    if (summing->parts > 0) {
        double *total = summing->partial + part * store->size + first;
        add_kernels(summing, total, part * summing->batch->count / summing->parts,
                    (part + 1) * summing->batch->count / summing->parts, first, count);
        return;
    }
    double *total = summing->chunk + worker * summing->largest;
    if (summing->begun)
        gather(store, chunk, summing->sum, total);
    else
        memset(total, 0, count * sizeof *total);
    add_kernels(summing, total, 0, summing->batch->count, first, count);
    scatter(store, chunk, total, summing->sum);
}

static void add_batch(struct summing *summing, const md_store_batch *batch)
{
    const md_store *store = summing->store;
    const size_t parts = summing->parts > 0 ? summing->parts : 1;
    summing->batch = batch;
    md_parallel_for(md_store_threads(store, batch->count * store->size), parts * store->chunks,
                    add_chunk, summing);
    summing->begun = true;
}

static medley_status visit_sum(void *context, const md_store_batch *batch)
{
    add_batch(context, batch);
    return MEDLEY_OK;
}

/* Among how many parts so many kernels are divided; 0: they are not. */
static size_t choose_parts(size_t chunks, size_t kernels)
{
    const size_t most = MOST_PARTS / chunks;
    const size_t parts = kernels / PART_KERNELS < most ? kernels / PART_KERNELS : most;
    return parts > 1 ? parts : 0;
}

medley_status md_store_sum(md_store *store, md_chosen chosen, const double *weight, double *sum,
                           medley_error *error)
{
    medley_status status = MEDLEY_OK;
    struct summing summing = {.sum = sum, .weight = weight};
    bool *skip = NULL;
    size_t count = 0;
    MEDLEY_TRY(md_new(&skip, chosen.count, sizeof *skip, error));
    for (size_t i = 0; i < chosen.count; i++) {
        skip[i] = weight[i] == 0;
        count += !skip[i];
    }
    MEDLEY_TRY(begin_sum(&summing, store, choose_parts(store->chunks, count), error));
    MEDLEY_TRY(md_store_walk(store, chosen, skip, visit_sum, &summing, error));
    collect(&summing);
done:
    free(skip);
    return status;
}

/* ---- products and sums in one pass ---- */

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* norm2 and weight of a kernel whose product is y. */
static double weigh(const struct summing *summing, size_t place, const double *y)
{
    const double product = dot(summing->x, y, summing->store->n);
    summing->norm2[place] = product > 0 ? product : 0;
    return summing->weigh(summing->context, place, summing->norm2[place]);
}

/* Some kernels that stay in cache: their products, then their sum. */
static void fuse(const struct summing *summing, size_t i, size_t count, double *total, double *y)
{
    const md_store *store = summing->store;
    const md_store_batch *batch = summing->batch;
    double weight[FUSED_KERNELS];
    const void *added[FUSED_KERNELS];
    size_t together = 0;
    for (size_t t = 0; t < count; t++) {
        const size_t place = batch->place[i + t];
        memset(y, 0, store->length * sizeof *y);
        store->packed->multiply(batch->values[i + t], store->n, 0, store->n, summing->vectors, y);
        weight[together] = weigh(summing, place, y);
        if (summing->y != NULL)
            memcpy(summing->y + place * store->n, y, store->n * sizeof *y);
        added[together] = batch->values[i + t];
        together += weight[together] != 0;
    }
    store->packed->add(total, added, weight, together, 0, store->size);
}

static void fuse_part(void *context, size_t part, size_t worker)
{
    const struct summing *summing = context;
    const md_store *store = summing->store;
    const size_t count = summing->batch->count;
    const size_t end = (part + 1) * count / summing->parts;
    for (size_t i = part * count / summing->parts, step; i < end; i += step) {
        step = end - i < FUSED_KERNELS ? end - i : FUSED_KERNELS;
        fuse(summing, i, step, summing->partial + part * store->size,
             summing->vectors + (worker + 1) * store->length);
    }
}

static medley_status visit_fused(void *context, const md_store_batch *batch)
{
    struct summing *summing = context;
    const md_store *store = summing->store;
    summing->batch = batch;
    md_parallel_for(md_store_threads(store, batch->count * store->size), summing->parts, fuse_part,
                    summing);
    return MEDLEY_OK;
}

/* Large triangles are gone from the cache before they could be added: two passes. */
static medley_status visit_large(void *context, const md_store_batch *batch)
{
    struct summing *summing = context;
    const md_store *store = summing->store;
    medley_status status = summing->y != NULL
                               ? md_store_batch_multiply(batch, summing->x, 0, summing->y)
                               : md_store_batch_norms2(batch, summing->x, summing->norm2);
    if (status < 0)
        return status;
    for (size_t i = 0; i < batch->count; i++) {
        const size_t place = batch->place[i];
        summing->weights[place] =
            summing->y != NULL ? weigh(summing, place, summing->y + place * store->n)
                               : summing->weigh(summing->context, place, summing->norm2[place]);
    }
    add_batch(summing, batch);
    return MEDLEY_OK;
}

medley_status md_store_multiply_and_sum(md_store *store, md_chosen chosen, const double *x,
                                        md_weigh weigh_kernel, void *context, double *y,
                                        double *norm2, double *sum, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const bool fused = store->bytes <= FUSED_BYTES && chosen.count >= FUSED_PARTS * PART_KERNELS;
    struct summing summing = {
        .sum = sum, .x = x, .weigh = weigh_kernel, .context = context, .y = y, .norm2 = norm2};
    const size_t parts = choose_parts(fused ? 1 : store->chunks, chosen.count);
    MEDLEY_TRY(begin_sum(&summing, store, parts, error));
    MEDLEY_TRY(md_new(&summing.weights, chosen.count, sizeof(double), error));
    MEDLEY_TRY(
        md_new(&summing.vectors, (store->threads + 1) * store->length, sizeof(double), error));
    summing.weight = summing.weights;
    memcpy(summing.vectors, x, store->n * sizeof *x);
    MEDLEY_TRY(
        md_store_walk(store, chosen, NULL, fused ? visit_fused : visit_large, &summing, error));
    collect(&summing);
done:
    free(summing.vectors);
    free(summing.weights);
    return status;
}
