/* SPDX-License-Identifier: BSD-3-Clause */
/* x'Kx, Kx and weighted sums of kernels that are gone through by rows (packed_rows.c). */
#include "packed/packed_internal.h"

#include "base/parallel.h"

enum { PARTS_BYTES = 128 << 20 }; /* for parts of results, about */

struct product {
    md_packed *packed;
    const size_t *place; /* [count] in the lists of the call */
    const double *x;
    size_t stride;
    double *norm2, *y;
    const double *weight;
    double *sum; /* [n][n] */
    size_t blocks;
    double *parts;   /* [kernels of a group][blocks][length], or [..][blocks] for norm2 */
    double *vectors; /* [workers][length] */
};

/* Those of the chosen kernels that have values: kernels[*count], and where they are in the call. */
static medley_status list_valued(md_pool *pool, const md_packed *packed, md_chosen chosen,
                                 const double *weight, size_t **kernels, size_t **place,
                                 size_t *count, medley_error *error)
{
    MEDLEY_TRY(md_pool_new(pool, kernels, chosen.count, sizeof **kernels, error));
    MEDLEY_TRY(md_pool_new(pool, place, chosen.count, sizeof **place, error));
    *count = 0;
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        if (!md_packed_is_own(packed, m) || md_packed_is_lowrank(packed, m) ||
            (weight != NULL && weight[i] == 0))
            continue;
        (*kernels)[*count] = m;
        (*place)[(*count)++] = i;
    }
    return MEDLEY_OK;
}

static void multiply_rows(void *context, const md_packed_slice *slice)
{
    const struct product *product = context;
    const md_packed *packed = product->packed;
    const size_t n = packed->n;
    double *x = product->vectors + slice->worker * packed->length;
    for (size_t k = 0; k < slice->count; k++) {
        const size_t place = product->place[slice->place + k];
        const double *given = product->x + place * product->stride;
        memcpy(x + slice->row, given + slice->row, (n - slice->row) * sizeof *x);
        if (product->y == NULL) {
            double *part = product->parts + k * product->blocks + slice->block;
            *part = (slice->first ? 0 : *part) +
                    packed->loops->norm2(slice->values[k], n, slice->row, slice->end, x);
            continue;
        }
        double *part = product->parts + (k * product->blocks + slice->block) * packed->length;
        if (slice->first)
            memset(part + slice->row, 0, (packed->length - slice->row) * sizeof *part);
        packed->loops->multiply(slice->values[k], n, slice->row, slice->end, x, part);
    }
}

/* The parts of the kernels of a group, in order. */
static void add_parts(void *context, const md_packed_slice *slice)
{
    const struct product *product = context;
    const md_packed *packed = product->packed;
    for (size_t k = 0; k < slice->count; k++) {
        const size_t place = product->place[slice->place + k];
        double *y = product->y != NULL ? product->y + place * packed->n : NULL;
        double norm2 = 0;
        if (y != NULL)
            memset(y, 0, packed->n * sizeof *y);
        for (size_t b = 0; b < product->blocks; b++) {
            const double *part = product->parts + (k * product->blocks + b) * packed->length;
            for (size_t i = md_packed_row_block_start(packed, b); y != NULL && i < packed->n; i++)
                y[i] += part[i];
            norm2 += y == NULL ? product->parts[k * product->blocks + b] : 0;
        }
        if (product->norm2 != NULL)
            product->norm2[place] = norm2 > 0 ? norm2 : 0;
    }
}

medley_status md_packed_rows_product(md_packed *packed, md_chosen chosen, const double *x,
                                     size_t stride, double *norm2, double *y, medley_error *error)
{
    if (packed->card != NULL)
        return md_packed_card_product(packed, chosen, x, stride, norm2, y, error);
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct product product = {.packed = packed,
                              .x = x,
                              .stride = stride,
                              .norm2 = norm2,
                              .y = y,
                              .blocks = md_packed_row_blocks(packed)};
    size_t *kernels, *place, count;
    MEDLEY_TRY(list_valued(&pool, packed, chosen, NULL, &kernels, &place, &count, error));
    product.place = place;
    const size_t each = product.blocks * (y != NULL ? packed->length : 1);
    const size_t group = md_min(PARTS_BYTES / (each * sizeof(double)) + 1, count);
    const size_t length = packed->threads * packed->length;
    MEDLEY_TRY(md_packed_parts(packed, group * each, &product.parts, error));
    MEDLEY_TRY(md_pool_new(&pool, &product.vectors, length, sizeof(double), error));
    return md_packed_each_slice(packed, kernels, count, group, false, multiply_rows, add_parts,
                                &product, error);
}

static void add_rows(void *context, const md_packed_slice *slice)
{
    const struct product *product = context;
    const md_packed *packed = product->packed;
    const size_t n = packed->n;
    for (size_t k = 0; k < slice->count; k++)
        for (size_t i = slice->row; i < slice->end; i++)
            packed->loops->add(product->sum + i * n + i, &slice->values[k],
                               &product->weight[product->place[slice->place + k]], 1,
                               md_triangle_row(n, i), n - i);
}

medley_status md_packed_rows_add(md_packed *packed, md_chosen chosen, const double *weight,
                                 double *sum, medley_error *error)
{
    if (packed->card != NULL)
        return md_packed_card_add(packed, chosen, weight, sum, error);
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct product product = {.packed = packed, .weight = weight, .sum = sum};
    size_t *kernels, *place, count;
    MEDLEY_TRY(list_valued(&pool, packed, chosen, weight, &kernels, &place, &count, error));
    product.place = place;
    return md_packed_each_slice(packed, kernels, count, 0, false, add_rows, NULL, &product, error);
}
