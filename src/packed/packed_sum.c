/* SPDX-License-Identifier: BSD-3-Clause */
/* Weighted sums of triangles. A packed sum looks like a packed triangle, so adding is one flat loop
 * over several kernels at once. Work is cut into chunks of rows whose sum stays in cache while all
 * kernels are added to it; if these are few (small triangles, thousands of kernels) the kernels
 * are divided among parts with sums of their own, which are added in order at the end. The cut
 * depends on the numbers of rows and kernels only. */
#include "packed/packed_internal.h"

#include "base/parallel.h"

enum {
    MOST_PARTS = 32,
    PART_KERNELS = 32,     /* a part has at least so many, or its sum costs too much */
    FUSED_BYTES = 1 << 18, /* a few triangles of this size stay in cache until they are added */
    FUSED_KERNELS = 4,     /* these few */
    FUSED_PARTS = 4        /* with fewer kernels than for so many parts it is not worth it */
};

/* A sum under way. */
struct summing {
    md_packed *packed;
    double *sum; /* [n][n] */
    size_t parts;
    double *partial; /* [parts][size], or NULL: straight into sum */
    double *chunk;   /* [threads][largest chunk] */
    size_t largest;  /* values of a chunk */
    bool begun;      /* sum or the partial sums hold what was added before */
    /* of the present batch: */
    const md_packed_batch *batch;
    const double *weight; /* [count of the call] */

    /* with products: */
    const double *x;
    md_weigh weigh;
    void *context;
    double *y, *norm2, *weights;
    double *vectors; /* [threads + 1][length]: x, products */
};

static size_t chunk_place(const md_packed *packed, size_t chunk)
{
    return md_triangle_row(packed->n, packed->chunk_start[chunk]);
}

static void scatter(const md_packed *packed, size_t chunk, const double *values, double *sum)
{
    for (size_t i = packed->chunk_start[chunk]; i < packed->chunk_start[chunk + 1]; i++) {
        memcpy(sum + i * packed->n + i, values, (packed->n - i) * sizeof *sum);
        values += packed->n - i;
    }
}

static void gather(const md_packed *packed, size_t chunk, const double *sum, double *values)
{
    for (size_t i = packed->chunk_start[chunk]; i < packed->chunk_start[chunk + 1]; i++) {
        memcpy(values, sum + i * packed->n + i, (packed->n - i) * sizeof *sum);
        values += packed->n - i;
    }
}

/* ---- beginning and end ---- */

static medley_status begin_sum(struct summing *summing, md_packed *packed, size_t parts,
                               medley_error *error)
{
    summing->packed = packed;
    summing->parts = parts;
    for (size_t c = 0; c < packed->chunks; c++) {
        const size_t values = chunk_place(packed, c + 1) - chunk_place(packed, c);
        summing->largest = md_max(summing->largest, values);
    }
    const size_t chunks = packed->threads * summing->largest;
    const size_t count = chunks + parts * packed->size;
    if (count > packed->sums_count) {
        free(packed->sums);
        packed->sums_count = 0;
        MEDLEY_TRY(md_new_aligned(&packed->sums, count, sizeof(double), error));
        packed->sums_count = count;
    }
    summing->chunk = packed->sums;
    summing->partial = parts > 0 ? packed->sums + chunks : NULL;
    if (parts > 0)
        memset(summing->partial, 0, parts * packed->size * sizeof(double));
    return MEDLEY_OK;
}

/* One chunk of the result from the partial sums, of which there may be none. */
static void collect_chunk(void *context, size_t chunk, size_t worker)
{
    const struct summing *summing = context;
    const md_packed *packed = summing->packed;
    const size_t first = chunk_place(packed, chunk);
    const size_t count = chunk_place(packed, chunk + 1) - first;
    double *total = summing->chunk + worker * summing->largest;
    memset(total, 0, count * sizeof *total);
    for (size_t p = 0; p < summing->parts; p++)
        for (size_t j = 0; j < count; j++)
            total[j] += summing->partial[p * packed->size + first + j];
    scatter(packed, chunk, total, summing->sum);
}

static void collect(struct summing *summing)
{
    if (summing->parts == 0 && summing->begun)
        return; /* it stands there already */
    const md_packed *packed = summing->packed;
    md_parallel_for(md_packed_threads(packed, packed->size * (summing->parts + 1)), packed->chunks,
                    collect_chunk, summing);
}

/* ---- adding ---- */

/* total[count] += the weighted values [first, first + count) of kernels [i, end) of the batch. */
static void add_kernels(const struct summing *summing, double *total, size_t i, size_t end,
                        size_t first, size_t count)
{
    const md_packed_batch *batch = summing->batch;
    while (i < end) {
        const size_t together = md_min(end - i, MD_TRIANGLE_TOGETHER);
        double weight[MD_TRIANGLE_TOGETHER];
        for (size_t t = 0; t < together; t++)
            weight[t] = summing->weight[batch->place[i + t]];
        summing->packed->loops->add(total, batch->values + i, weight, together, first, count);
        i += together;
    }
}

/* Items: chunks, for each part. */
static void add_chunk(void *context, size_t item, size_t worker)
{
    const struct summing *summing = context;
    const md_packed *packed = summing->packed;
    const size_t chunk = item % packed->chunks;
    const size_t part = item / packed->chunks;
    const size_t first = chunk_place(packed, chunk);
    const size_t count = chunk_place(packed, chunk + 1) - first;
    if (summing->parts > 0) {
        double *total = summing->partial + part * packed->size + first;
        add_kernels(summing, total, part * summing->batch->count / summing->parts,
                    (part + 1) * summing->batch->count / summing->parts, first, count);
        return;
    }
    double *total = summing->chunk + worker * summing->largest;
    if (summing->begun)
        gather(packed, chunk, summing->sum, total);
    else
        memset(total, 0, count * sizeof *total);
    add_kernels(summing, total, 0, summing->batch->count, first, count);
    scatter(packed, chunk, total, summing->sum);
}

static void add_batch(struct summing *summing, const md_packed_batch *batch)
{
    const md_packed *packed = summing->packed;
    const size_t parts = summing->parts > 0 ? summing->parts : 1;
    summing->batch = batch;
    md_packed_note(packed, batch->count);
    md_parallel_for(md_packed_threads(packed, batch->count * packed->size), parts * packed->chunks,
                    add_chunk, summing);
    summing->begun = true;
}

static medley_status visit_sum(void *context, const md_packed_batch *batch)
{
    add_batch(context, batch);
    return MEDLEY_OK;
}

/* Among how many parts so many kernels are divided; 0: they are not. */
static size_t choose_parts(size_t chunks, size_t kernels)
{
    const size_t parts = md_min(kernels / PART_KERNELS, MOST_PARTS / chunks);
    return parts > 1 ? parts : 0;
}

/* What md_packed_sum does where kernels are gone through by rows. */
static medley_status sum_by_rows(md_packed *packed, md_chosen chosen, const double *weight,
                                 double *sum, medley_error *error)
{
    for (size_t i = 0; i < packed->n; i++)
        memset(sum + i * packed->n + i, 0, (packed->n - i) * sizeof *sum);
    MEDLEY_TRY(md_packed_rows_add(packed, chosen, weight, sum, error));
    MEDLEY_TRY(md_packed_lowrank_add(packed, chosen, weight, sum, error));
    return md_packed_sum_ranks(packed, sum, error);
}

medley_status md_packed_sum(md_packed *packed, md_chosen chosen, const double *weight, double *sum,
                            medley_error *error)
{
    if (packed->by_rows)
        return sum_by_rows(packed, chosen, weight, sum, error);
    struct summing summing = {.sum = sum, .weight = weight};
    MD_OWNED(free) bool *skip = NULL;
    size_t count = 0;
    MEDLEY_TRY(md_new(&skip, chosen.count, sizeof *skip, error));
    for (size_t i = 0; i < chosen.count; i++) {
        skip[i] = weight[i] == 0;
        count += !skip[i];
    }
    MEDLEY_TRY(begin_sum(&summing, packed, choose_parts(packed->chunks, count), error));
    MEDLEY_TRY(md_packed_walk(packed, chosen, skip, visit_sum, &summing, error));
    collect(&summing);
    MEDLEY_TRY(md_packed_lowrank_add(packed, chosen, weight, sum, error));
    return md_packed_sum_ranks(packed, sum, error);
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
    const double product = dot(summing->x, y, summing->packed->n);
    summing->norm2[place] = product > 0 ? product : 0;
    return summing->weigh(summing->context, place, summing->norm2[place]);
}

/* Some kernels that stay in cache: their products, then their sum. */
static void fuse(const struct summing *summing, size_t i, size_t count, double *total, double *y)
{
    const md_packed *packed = summing->packed;
    const md_packed_batch *batch = summing->batch;
    double weight[FUSED_KERNELS];
    const void *added[FUSED_KERNELS];
    size_t together = 0;
    for (size_t t = 0; t < count; t++) {
        const size_t place = batch->place[i + t];
        memset(y, 0, packed->length * sizeof *y);
        packed->loops->multiply(batch->values[i + t], packed->n, 0, packed->n, summing->vectors, y);
        weight[together] = weigh(summing, place, y);
        if (summing->y != NULL)
            memcpy(summing->y + place * packed->n, y, packed->n * sizeof *y);
        added[together] = batch->values[i + t];
        together += weight[together] != 0;
    }
    packed->loops->add(total, added, weight, together, 0, packed->size);
}

static void fuse_part(void *context, size_t part, size_t worker)
{
    const struct summing *summing = context;
    const md_packed *packed = summing->packed;
    const size_t count = summing->batch->count;
    const size_t end = (part + 1) * count / summing->parts;
    for (size_t i = part * count / summing->parts, step; i < end; i += step) {
        step = md_min(end - i, FUSED_KERNELS);
        fuse(summing, i, step, summing->partial + part * packed->size,
             summing->vectors + (worker + 1) * packed->length);
    }
}

static medley_status visit_fused(void *context, const md_packed_batch *batch)
{
    struct summing *summing = context;
    const md_packed *packed = summing->packed;
    summing->batch = batch;
    md_packed_note(packed, batch->count);
    md_parallel_for(md_packed_threads(packed, batch->count * packed->size), summing->parts,
                    fuse_part, summing);
    return MEDLEY_OK;
}

/* Large triangles are gone from the cache before they could be added: two passes. */
static medley_status visit_large(void *context, const md_packed_batch *batch)
{
    struct summing *summing = context;
    const md_packed *packed = summing->packed;
    MEDLEY_TRY(summing->y != NULL ? md_packed_batch_multiply(batch, summing->x, 0, summing->y)
                                  : md_packed_batch_norms2(batch, summing->x, summing->norm2));
    for (size_t i = 0; i < batch->count; i++) {
        const size_t place = batch->place[i];
        summing->weights[place] =
            summing->y != NULL ? weigh(summing, place, summing->y + place * packed->n)
                               : summing->weigh(summing->context, place, summing->norm2[place]);
    }
    add_batch(summing, batch);
    return MEDLEY_OK;
}

/* Products first, since kernels are gone through anew for their sum. */
static medley_status multiply_then_sum(md_packed *packed, md_chosen chosen,
                                       const struct summing *summing, medley_error *error)
{
    MD_OWNED(free) double *weights = NULL;
    MEDLEY_TRY(md_new(&weights, chosen.count, sizeof *weights, error));
    if (summing->y != NULL)
        MEDLEY_TRY(md_packed_multiply(packed, chosen, summing->x, summing->y, error));
    MEDLEY_TRY(md_packed_norms2(packed, chosen, summing->x, summing->norm2, error));
    for (size_t i = 0; i < chosen.count; i++)
        weights[i] = summing->weigh(summing->context, i, summing->norm2[i]);
    return md_packed_sum(packed, chosen, weights, summing->sum, error);
}

medley_status md_packed_multiply_and_sum(md_packed *packed, md_chosen chosen, const double *x,
                                         md_weigh weigh_kernel, void *context, double *y,
                                         double *norm2, double *sum, medley_error *error)
{
    MD_OWNED(free) double *weights = NULL;
    MD_OWNED(free) double *vectors = NULL;
    const bool fused = packed->bytes <= FUSED_BYTES && chosen.count >= FUSED_PARTS * PART_KERNELS;
    struct summing summing = {
        .sum = sum, .x = x, .weigh = weigh_kernel, .context = context, .y = y, .norm2 = norm2};
    if (packed->by_rows)
        return multiply_then_sum(packed, chosen, &summing, error);
    const size_t parts = choose_parts(fused ? 1 : packed->chunks, chosen.count);
    MEDLEY_TRY(begin_sum(&summing, packed, parts, error));
    MEDLEY_TRY(md_new(&weights, chosen.count, sizeof *weights, error));
    MEDLEY_TRY(md_new(&vectors, (packed->threads + 1) * packed->length, sizeof *vectors, error));
    memcpy(vectors, x, packed->n * sizeof *x);
    summing.weight = summing.weights = weights;
    summing.vectors = vectors;
    MEDLEY_TRY(md_packed_lowrank_product(packed, chosen, x, 0, norm2, y, error));
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        if (md_packed_is_lowrank(packed, m) && md_packed_is_own(packed, m))
            weights[i] = weigh_kernel(context, i, norm2[i]);
    }
    MEDLEY_TRY(
        md_packed_walk(packed, chosen, NULL, fused ? visit_fused : visit_large, &summing, error));
    collect(&summing);
    MEDLEY_TRY(md_packed_lowrank_add(packed, chosen, weights, sum, error));
    MEDLEY_TRY(md_packed_exchange(packed, chosen, norm2, 1, error));
    if (y != NULL)
        MEDLEY_TRY(md_packed_exchange(packed, chosen, y, packed->n, error));
    return md_packed_sum_ranks(packed, sum, error);
}
