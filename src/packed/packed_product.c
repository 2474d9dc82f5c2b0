/* SPDX-License-Identifier: BSD-3-Clause */
/* x'Kx and Kx for many kernels. Small triangles are dealt out some at a time, large ones in blocks
 * of rows whose parts of the result are added in order. How it is cut depends on the number of rows
 * only, so a kernel gives the same bits whatever the call, the threads and the budget. */
#include "packed/packed_internal.h"

#include "base/parallel.h"

enum {
    ITEM_VALUES = 1 << 15, /* small triangles are put together to items of so many values */
    PARTS_BYTES = 32 << 20 /* for parts of results, about */
};

struct product {
    const md_packed_batch *batch;
    const double *x;
    size_t stride;   /* from one kernel's x to the next; 0: all have the same */
    double *norm2;   /* one of these is NULL */
    double *y;       /* [count of the call][n] */
    double *vectors; /* [workers][2 length]: x and y as the loops want them */
    size_t each;     /* triangles of an item, where there is one block */
    size_t first;    /* of this round */
    double *parts;   /* [kernels of a round][blocks][length], or [..][blocks] for norm2 */
};

static size_t part_length(const struct product *product)
{
    return product->y != NULL ? product->batch->packed->length : 1;
}

/* One block of rows of kernel i: y, [length], or if that is NULL its part of x'Kx. x: scratch. */
static double product_of_rows(const struct product *product, size_t i, size_t block, double *x,
                              double *y)
{
    const md_packed *packed = product->batch->packed;
    const size_t n = packed->n;
    const size_t row = packed->block_start[block];
    const size_t end = packed->block_start[block + 1];
    const void *values = product->batch->values[i];
    const double *given = product->x + product->batch->place[i] * product->stride;
    memcpy(x + row, given + row, (n - row) * sizeof *x);
    memset(x + n, 0, (packed->length - n) * sizeof *x);
    if (y == NULL)
        return packed->loops->norm2(values, n, row, end, x);
    memset(y + row, 0, (packed->length - row) * sizeof *y);
    packed->loops->multiply(values, n, row, end, x, y);
    return 0;
}

static void whole_triangles(void *context, size_t item, size_t worker)
{
    const struct product *product = context;
    const md_packed_batch *batch = product->batch;
    const size_t n = batch->packed->n;
    double *x = product->vectors + worker * 2 * batch->packed->length;
    double *y = product->y != NULL ? x + batch->packed->length : NULL;
    const size_t end = md_min((item + 1) * product->each, batch->count);
    for (size_t i = item * product->each; i < end; i++) {
        const size_t place = batch->place[i];
        const double norm2 = product_of_rows(product, i, 0, x, y);
        if (y != NULL)
            memcpy(product->y + place * n, y, n * sizeof *y);
        else
            product->norm2[place] = norm2;
    }
}

static void block_of_rows(void *context, size_t item, size_t worker)
{
    const struct product *product = context;
    const md_packed *packed = product->batch->packed;
    double *part = product->parts + item * part_length(product);
    double *x = product->vectors + worker * 2 * packed->length;
    const double norm2 = product_of_rows(product, product->first + item / packed->blocks,
                                         item % packed->blocks, x, product->y ? part : NULL);
    if (product->y == NULL)
        *part = norm2;
}

static void add_parts(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct product *product = context;
    const md_packed *packed = product->batch->packed;
    const size_t length = part_length(product);
    const size_t width = product->y ? packed->n : 1;
    const size_t place = product->batch->place[product->first + item];
    const double *parts = product->parts + item * packed->blocks * length;
    double *out = product->y ? product->y + place * packed->n : product->norm2 + place;
    memcpy(out, parts, width * sizeof *out);
    for (size_t b = 1; b < packed->blocks; b++)
        for (size_t j = product->y ? packed->block_start[b] : 0; j < width; j++)
            out[j] += parts[b * length + j];
}

static medley_status run_blocks(struct product *product)
{
    const md_packed_batch *batch = product->batch;
    const md_packed *packed = batch->packed;
    const size_t each = packed->blocks * part_length(product);
    const size_t round = md_min(PARTS_BYTES / (each * sizeof(double)) + 1, batch->count);
    MD_OWNED(free) double *parts = NULL;
    MEDLEY_TRY(md_new_aligned(&parts, round * each, sizeof *parts, batch->error));
    product->parts = parts;
    for (product->first = 0; product->first < batch->count; product->first += round) {
        const size_t kernels = md_min(batch->count - product->first, round);
        md_parallel_for(packed->threads, kernels * packed->blocks, block_of_rows, product);
        md_parallel_for(md_packed_threads(packed, kernels * each), kernels, add_parts, product);
    }
    return MEDLEY_OK;
}

static medley_status run_product(struct product *product)
{
    const md_packed_batch *batch = product->batch;
    const md_packed *packed = batch->packed;
    const size_t length = packed->threads * 2 * packed->length;
    MD_OWNED(free) double *vectors = NULL;
    MEDLEY_TRY(md_new_aligned(&vectors, length, sizeof *vectors, batch->error));
    product->vectors = vectors;
    md_packed_note(packed, batch->count);
    if (packed->blocks > 1)
        return run_blocks(product);
    product->each = ITEM_VALUES / (packed->size + 1) + 1;
    md_parallel_for(md_packed_threads(packed, batch->count * packed->size),
                    md_pieces(batch->count, product->each), whole_triangles, product);
    return MEDLEY_OK;
}

medley_status md_packed_batch_norms2(const md_packed_batch *batch, const double *x, double *norm2)
{
    struct product product = {.batch = batch, .x = x, .norm2 = norm2};
    MEDLEY_TRY(run_product(&product));
    for (size_t i = 0; i < batch->count; i++) {
        double *value = &norm2[batch->place[i]];
        *value = *value > 0 ? *value : 0;
    }
    return MEDLEY_OK;
}

medley_status md_packed_batch_multiply(const md_packed_batch *batch, const double *x, size_t stride,
                                       double *y)
{
    struct product product = {.batch = batch, .x = x, .stride = stride, .y = y};
    return run_product(&product);
}

/* ---- for all kernels of a call ---- */

static medley_status visit_product(void *context, const md_packed_batch *batch)
{
    const struct product *call = context; /* x and results: each batch has the rest */
    return call->y ? md_packed_batch_multiply(batch, call->x, call->stride, call->y)
                   : md_packed_batch_norms2(batch, call->x, call->norm2);
}

medley_status md_packed_own_products(md_packed *packed, md_chosen chosen, const double *x,
                                     size_t stride, double *norm2, double *y, medley_error *error)
{
    struct product call = {.x = x, .stride = stride, .norm2 = norm2, .y = y};
    MEDLEY_TRY(md_packed_lowrank_product(packed, chosen, x, stride, norm2, y, error));
    if (packed->by_rows)
        return md_packed_rows_product(packed, chosen, x, stride, norm2, y, error);
    return md_packed_walk(packed, chosen, NULL, visit_product, &call, error);
}

medley_status md_packed_norms2(md_packed *packed, md_chosen chosen, const double *x, double *norm2,
                               medley_error *error)
{
    MEDLEY_TRY(md_packed_own_products(packed, chosen, x, 0, norm2, NULL, error));
    return md_packed_exchange(packed, chosen, norm2, 1, error);
}

medley_status md_packed_multiply(md_packed *packed, md_chosen chosen, const double *x, double *y,
                                 medley_error *error)
{
    MEDLEY_TRY(md_packed_own_products(packed, chosen, x, 0, NULL, y, error));
    return md_packed_exchange(packed, chosen, y, packed->n, error);
}

medley_status md_packed_multiply_each(md_packed *packed, md_chosen chosen, const double *x,
                                      double *y, medley_error *error)
{
    MEDLEY_TRY(md_packed_own_products(packed, chosen, x, packed->n, NULL, y, error));
    return md_packed_exchange(packed, chosen, y, packed->n, error);
}
