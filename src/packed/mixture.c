/* SPDX-License-Identifier: BSD-3-Clause */
#include "packed/mixture.h"

#include "gram/exact.h"
#include "packed/packed_internal.h"

#include "base/parallel.h"
#include "linalg/vectors.h"

enum { FACTORS = 16 }; /* kernels of low rank that are multiplied at a time */

struct md_mixture {
    md_pool pool;
    md_packed *packed;
    float *triangle; /* [size] and zeros, or NULL: there is no room for it */
    size_t blocks;
    double *parts;   /* [blocks][length] */
    double *x;       /* [length] with zeros after it */
    double *total;   /* [workers][values of a slice and zeros] */
    double *factors; /* [FACTORS][n] */
    double *scratch; /* [n + md_exact_scratch] */

    size_t *kernels; /* [count] those with values first */
    double *weight;  /* [count] */
    size_t count, valued;
    double card_diagonal; /* what a sum on a card lacks */
};

size_t md_mixture_bytes(size_t rows)
{
    return (md_triangle_size(rows) + MD_TRIANGLE_LANES) * sizeof(float);
}

void md_mixture_free(md_mixture *mixture)
{
    if (mixture == NULL)
        return;
    free(mixture->triangle);
    md_pool_clear(&mixture->pool);
    free(mixture);
}

medley_status md_mixture_create(md_mixture **result, md_packed *packed, size_t memory,
                                medley_error *error)
{
    MD_OWNED(md_mixture_free) md_mixture *mixture = NULL;
    MEDLEY_TRY(md_new(&mixture, 1, sizeof *mixture, error));
    md_pool *pool = &mixture->pool;
    const size_t n = packed->n;
    const size_t slice = md_packed_slice_values(packed) + MD_TRIANGLE_LANES;
    mixture->packed = packed;
    mixture->blocks = md_packed_row_blocks(packed);
    if (md_mixture_bytes(n) <= memory && packed->card == NULL)
        mixture->triangle = md_alloc_aligned(md_mixture_bytes(n), 1);
    MEDLEY_TRY(md_pool_new(pool, &mixture->kernels, packed->count, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &mixture->weight, packed->count, sizeof(double), error));
    MEDLEY_TRY(md_pool_new_aligned(pool, &mixture->parts, mixture->blocks * packed->length,
                                   sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &mixture->x, packed->length, sizeof(double), error));
    MEDLEY_TRY(
        md_pool_new_aligned(pool, &mixture->total, packed->threads * slice, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &mixture->factors, FACTORS * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &mixture->scratch, n + md_exact_scratch(&packed->prepared),
                           sizeof(double), error));
    *result = md_take(&mixture);
    return MEDLEY_OK;
}

/* ---- the sum ---- */

/* The weighted values of the kernels of a slice, in double precision. */
static double *add_slice(const md_mixture *mixture, const md_packed_slice *slice)
{
    const md_packed *packed = mixture->packed;
    const size_t n = packed->n;
    const size_t first = md_triangle_row(n, slice->row);
    const size_t count = md_triangle_row(n, slice->end) - first;
    double *total =
        mixture->total + slice->worker * (md_packed_slice_values(packed) + MD_TRIANGLE_LANES);
    memset(total, 0, (count + MD_TRIANGLE_LANES) * sizeof *total);
    for (size_t k = 0; k < slice->count; k += MD_TRIANGLE_TOGETHER)
        packed->loops->add(total, slice->values + k, mixture->weight + slice->place + k,
                           md_min(slice->count - k, MD_TRIANGLE_TOGETHER), first, count);
    return total;
}

static void keep_slice(void *context, const md_packed_slice *slice)
{
    const md_mixture *mixture = context;
    const size_t n = mixture->packed->n;
    const size_t first = md_triangle_row(n, slice->row);
    const size_t count = md_triangle_row(n, slice->end) - first;
    const double *total = add_slice(mixture, slice);
    float *to = mixture->triangle + first;
    for (size_t j = 0; j < count; j++)
        to[j] = (float)(slice->place == 0 ? total[j] : (double)to[j] + total[j]);
}

medley_status md_mixture_set(md_mixture *mixture, md_chosen chosen, const double *weight,
                             medley_error *error)
{
    md_packed *packed = mixture->packed;
    mixture->count = 0;
    for (int low = 0; low < 2; low++) {
        for (size_t i = 0; i < chosen.count; i++) {
            const size_t m = md_chosen_kernel(chosen, i);
            if (md_packed_is_lowrank(packed, m) != (low == 1) || weight[i] == 0 ||
                !md_packed_is_own(packed, m))
                continue;
            mixture->kernels[mixture->count] = m;
            mixture->weight[mixture->count++] = weight[i];
        }
        mixture->valued = low == 0 ? mixture->count : mixture->valued;
    }
    if (packed->card != NULL)
        return md_packed_card_set(packed, (md_chosen){mixture->kernels, mixture->valued},
                                  mixture->weight, &mixture->card_diagonal, error);
    if (mixture->triangle == NULL || mixture->valued == 0)
        return MEDLEY_OK;
    memset(mixture->triangle + packed->size, 0, MD_TRIANGLE_LANES * sizeof(float));
    return md_packed_each_slice(packed, mixture->kernels, mixture->valued, 0, false, keep_slice,
                                NULL, mixture, error);
}

/* ---- products ---- */

static void multiply_block(void *context, size_t block, size_t worker)
{
    const md_mixture *mixture = context;
    const md_packed *packed = mixture->packed;
    const size_t row = md_packed_row_block_start(packed, block);
    double *part = mixture->parts + block * packed->length;
    (void)worker;
    memset(part + row, 0, (packed->length - row) * sizeof *part);
    md_triangle_float.multiply(mixture->triangle, packed->n, row,
                               md_packed_row_block_start(packed, block + 1), mixture->x, part);
}

/* Rows that are computed for this product only. */
static void multiply_slice(void *context, const md_packed_slice *slice)
{
    const md_mixture *mixture = context;
    const md_packed *packed = mixture->packed;
    double *part = mixture->parts + slice->block * packed->length;
    const size_t before = md_triangle_row(packed->n, slice->row) * sizeof(double);
    const double *total = add_slice(mixture, slice);
    if (slice->first && slice->place == 0)
        memset(part + slice->row, 0, (packed->length - slice->row) * sizeof *part);
    md_triangle_double.multiply(md_moved(total, -(ptrdiff_t)before), packed->n, slice->row,
                                slice->end, mixture->x, part);
}

static medley_status add_factors(md_mixture *mixture, const double *x, double *y,
                                 medley_error *error)
{
    const size_t n = mixture->packed->n;
    for (size_t k = mixture->valued; k < mixture->count; k += FACTORS) {
        const size_t count = md_min(mixture->count - k, FACTORS);
        MEDLEY_TRY(md_packed_lowrank_product(mixture->packed,
                                             (md_chosen){mixture->kernels + k, count}, x, 0, NULL,
                                             mixture->factors, error));
        for (size_t f = 0; f < count; f++)
            md_add_scaled(y, mixture->weight[k + f], mixture->factors + f * n, n);
    }
    return MEDLEY_OK;
}

medley_status md_mixture_multiply(md_mixture *mixture, const double *x, double *y,
                                  medley_error *error)
{
    md_packed *packed = mixture->packed;
    const size_t n = packed->n;
    if (packed->card != NULL) {
        MEDLEY_TRY(md_packed_card_multiply(packed, x, y, error));
        md_add_scaled(y, mixture->card_diagonal, x, n);
        return add_factors(mixture, x, y, error);
    }
    memcpy(mixture->x, x, n * sizeof *x);
    memset(y, 0, n * sizeof *y);
    if (mixture->valued > 0 && mixture->triangle != NULL)
        md_parallel_for(packed->threads, mixture->blocks, multiply_block, mixture);
    else
        MEDLEY_TRY(md_packed_each_slice(packed, mixture->kernels, mixture->valued, 0, false,
                                        multiply_slice, NULL, mixture, error));
    for (size_t b = 0; mixture->valued > 0 && b < mixture->blocks; b++) {
        const size_t row = md_packed_row_block_start(packed, b);
        md_add_scaled(y + row, 1, mixture->parts + b * packed->length + row, n - row);
    }
    MEDLEY_TRY(add_factors(mixture, x, y, error));
    return md_comm_sum(packed->comm, y, n, error);
}

/* ---- single values, from the data ---- */

static md_between itself(const md_packed *packed)
{
    return (md_between){
        .bank = packed->bank, .left = &packed->prepared, .right = &packed->prepared};
}

static double added_to_diagonal(const md_packed *packed, size_t m)
{
    return md_packed_is_lowrank(packed, m) ? packed->lowrank[m].ridge : packed->diagonal[m];
}

medley_status md_mixture_diagonal(const md_mixture *mixture, double *diagonal, medley_error *error)
{
    const md_packed *packed = mixture->packed;
    const size_t n = packed->n;
    const md_between between = itself(packed);
    memset(diagonal, 0, n * sizeof *diagonal);
    for (size_t k = 0; k < mixture->count; k++) {
        const size_t m = mixture->kernels[k];
        const md_kernel *kernel = &packed->bank->kernels[m];
        const bool centred = kernel->norm == MD_NORM_CENTER;
        const double scale = md_packed_scale(packed, m);
        const double added = added_to_diagonal(packed, m);
        double *self = mixture->scratch;
        md_exact_selves(&between, m, self);
        for (size_t i = 0; i < n; i++) {
            const double mean =
                centred ? kernel->grand_mean - 2 * (double)kernel->column_mean[i] : 0;
            diagonal[i] += mixture->weight[k] * ((self[i] + mean) * scale + added);
        }
    }
    return md_comm_sum(packed->comm, diagonal, n, error);
}

/* Column `row` of kernel k of the sum, from the data. */
static void add_column(md_mixture *mixture, size_t k, size_t row, double *column)
{
    const md_packed *packed = mixture->packed;
    const size_t n = packed->n;
    const md_between between = itself(packed);
    const size_t m = mixture->kernels[k];
    const md_kernel *kernel = &packed->bank->kernels[m];
    const double weight = mixture->weight[k] * md_packed_scale(packed, m);
    md_exact_row(&between, m, row, mixture->scratch, mixture->scratch + n);
    md_add_scaled(column, weight, mixture->scratch, n);
    for (size_t i = 0; kernel->norm == MD_NORM_CENTER && i < n; i++)
        column[i] += weight * (kernel->grand_mean - (double)kernel->column_mean[i] -
                               (double)kernel->column_mean[row]);
    column[row] += mixture->weight[k] * added_to_diagonal(packed, m);
}

medley_status md_mixture_column(md_mixture *mixture, size_t row, double *column,
                                medley_error *error)
{
    const md_packed *packed = mixture->packed;
    const size_t n = packed->n;
    const bool stored = mixture->triangle != NULL || packed->card != NULL;
    memset(column, 0, n * sizeof *column);
    if (packed->card != NULL) {
        MEDLEY_TRY(md_packed_card_column(packed, row, column, error));
        column[row] += mixture->card_diagonal;
    } else if (stored && mixture->valued > 0)
        md_triangle_float.column(mixture->triangle, n, row, column);
    for (size_t k = stored ? mixture->valued : 0; k < mixture->count; k++) {
        const md_lowrank *lowrank = &packed->lowrank[mixture->kernels[k]];
        if (lowrank->values == NULL)
            add_column(mixture, k, row, column);
        for (size_t l = 0; lowrank->values != NULL && l < lowrank->rank; l++)
            md_add_scaled(column, mixture->weight[k] * lowrank->values[l * n + row],
                          lowrank->values + l * n, n);
        if (lowrank->values != NULL)
            column[row] += mixture->weight[k] * lowrank->ridge;
    }
    return md_comm_sum(packed->comm, column, n, error);
}
