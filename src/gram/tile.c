/* SPDX-License-Identifier: BSD-3-Clause */
/* A tile from its inputs: products or pair sums, then for each kernel the quantity it is a function
 * of, its map and its normalisation, row by row while the row is in the nearest cache. */
#include "gram/tile.h"

#include "base/vector.h"
#include "linalg/products.h"

medley_status md_tile_scratch_make(md_pool *pool, md_tile_scratch **scratch, size_t threads,
                                   const md_bank *bank, const md_prepared *right,
                                   medley_error *error)
{
    const size_t values = (size_t)MD_TILE * MD_TILE;
    size_t columns = 0;
    for (size_t m = 0; m < bank->count; m++) {
        const md_kernel *kernel = &bank->kernels[m];
        if (kernel->class != NULL && kernel->class->quantity == MD_PAIRED &&
            md_matrix_is_sparse(&right->views[kernel->view]))
            columns = md_max(columns, right->views[kernel->view].columns);
    }
    MEDLEY_TRY(md_pool_new(pool, scratch, threads, sizeof **scratch, error));
    for (md_tile_scratch *s = *scratch; s < *scratch + threads; s++) {
        s->pairs_length = columns;
        MEDLEY_TRY(md_pool_new_aligned(pool, &s->products, values, sizeof(float), error));
        MEDLEY_TRY(md_pool_new_aligned(pool, &s->values, values, sizeof(float), error));
        MEDLEY_TRY(md_pool_new(pool, &s->pairs, 4 * columns, sizeof(float), error));
    }
    return MEDLEY_OK;
}

/* ---- products of rows ---- */

/* Only entries that meet are touched: for each entry of a left row, the right rows that have that
 * column, found in the transpose. */
static void sparse_products(const md_matrix *left, const md_matrix *transposed, md_tile_range range,
                            float *products)
{
    const size_t end = range.column + range.columns;
    for (size_t r = 0; r < range.rows; r++) {
        float *row = products + r * MD_TILE;
        memset(row, 0, range.columns * sizeof *row);
        for (size_t e = left->start[range.row + r]; e < left->start[range.row + r + 1]; e++) {
            const size_t column = md_matrix_find_row(transposed, (size_t)left->index[e]);
            if (column == SIZE_MAX)
                continue; /* never seen on the right */
            for (size_t t = md_matrix_lower_bound(transposed, column, range.column);
                 t < transposed->start[column + 1] && (size_t)transposed->index[t] < end; t++)
                row[(size_t)transposed->index[t] - range.column] +=
                    left->value[e] * transposed->value[t];
        }
    }
}

static void view_products(const md_tile_job *job, size_t v, md_tile_range range, float *products)
{
    const md_matrix *left = &job->left->views[v];
    const md_matrix *right = &job->right->views[v];
    if (md_matrix_is_sparse(right)) {
        sparse_products(left, &job->right->transposed[v], range, products);
        return;
    }
    const size_t d = right->columns;
    md_multiply_rows(range.rows, range.columns, d, left->dense + range.row * d, d,
                     right->dense + range.column * d, d, products, MD_TILE);
}

/* q = p + lift(x) + lift(z) */
MD_VECTOR_VOID(dots_from_products,
               (const float *p, float left, const float *right, float *q, size_t count),
               (p, left, right, q, count))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++)
        q[j] = p[j] + (left + right[j]);
}

/* q = max(0, ||x||^2 + ||z||^2 - 2 p) */
MD_VECTOR_VOID(distances_from_products,
               (const float *p, float left, const float *right, float *q, size_t count),
               (p, left, right, q, count))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        const float distance = left + right[j] - 2 * p[j];
        q[j] = distance > 0 ? distance : 0;
    }
}

MD_VECTOR_VOID(scale_row, (float *values, float left, const float *right, size_t count),
               (values, left, right, count))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++)
        values[j] *= left * right[j];
}

MD_VECTOR_VOID(multiply_row, (float *values, float factor, size_t count), (values, factor, count))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++)
        values[j] *= factor;
}

/* ---- paired quantities ---- */

/* With z sparse: sum over z's columns directly, the rest of x against zeros. Because a pair of
 * zeros counts nothing: sum(x,z) = sum(x at z, z) + sum(x, 0) - sum(x at z, 0). */
static float sparse_pair(const md_kernel_class *class, const md_matrix *z, size_t j, float against,
                         md_tile_scratch *scratch)
{
    const size_t columns = scratch->pairs_length;
    const float *x = scratch->pairs;
    float *x_there = scratch->pairs + columns;
    const float *zeros = scratch->pairs + 3 * columns;
    const size_t first = z->start[j];
    const size_t length = z->start[j + 1] - first;
    for (size_t e = 0; e < length; e++)
        x_there[e] = x[z->index[first + e]];
    const float sum = class->pair_sum(x_there, z->value + first, length) + against -
                      class->pair_sum(x_there, zeros, length);
    return sum > 0 ? sum : 0;
}

/* Row r of the tile. */
static void sparse_pairs_row(const md_tile_job *job, const md_kernel_class *class, size_t v,
                             size_t r, md_tile_range range, md_tile_scratch *scratch)
{
    const md_matrix *left = &job->left->views[v];
    const size_t row = range.row + r;
    float *q = scratch->products + r * MD_TILE;
    const size_t columns = scratch->pairs_length;
    float *x = scratch->pairs;
    float *compact = scratch->pairs + 2 * columns;
    const float *zeros = scratch->pairs + 3 * columns;
    float against = 0;
    size_t inside = 0;
    for (size_t e = left->start[row]; e < left->start[row + 1]; e++) {
        if ((size_t)left->index[e] < columns) {
            x[left->index[e]] = left->value[e];
            compact[inside++] = left->value[e];
        } else { /* a column that no right row has */
            against += class->pair_sum(&left->value[e], zeros, 1);
        }
    }
    against += class->pair_sum(compact, zeros, inside);
    for (size_t j = 0; j < range.columns; j++)
        q[j] = sparse_pair(class, &job->right->views[v], range.column + j, against, scratch);
    for (size_t e = left->start[row]; e < left->start[row + 1]; e++)
        if ((size_t)left->index[e] < columns)
            x[left->index[e]] = 0;
}

static void paired_quantities(const md_tile_job *job, const md_kernel_class *class, size_t v,
                              md_tile_range range, md_tile_scratch *scratch)
{
    const md_matrix *left = &job->left->views[v];
    const md_matrix *right = &job->right->views[v];
    for (size_t r = 0; r < range.rows; r++) {
        if (md_matrix_is_sparse(right)) {
            sparse_pairs_row(job, class, v, r, range, scratch);
            continue;
        }
        float *q = scratch->products + r * MD_TILE;
        const float *x = left->dense + (range.row + r) * right->columns;
        const float *z = right->dense + range.column * right->columns;
        for (size_t j = 0; j < range.columns; j++)
            q[j] = class->pair_sum(x, z + j * right->columns, right->columns);
    }
}

/* ---- kernels ---- */

struct tile_target {
    float *values;
    size_t stride;
};

static void normalise_row(const md_tile_job *job, size_t m, size_t row, md_tile_range range,
                          float *values)
{
    const md_kernel *kernel = &job->bank->kernels[m];
    if (kernel->norm == MD_NORM_DIAG) {
        scale_row(values, job->left->inverse_root[m][row],
                  job->right->inverse_root[m] + range.column, range.columns);
        if (range.symmetric && row >= range.column && row - range.column < range.columns &&
            job->left->inverse_root[m][row] > 0)
            values[row - range.column] = 1; /* exactly */
    } else if (kernel->factor != 1) {
        multiply_row(values, (float)kernel->factor, range.columns);
    }
}

static void kernel_row(const md_tile_job *job, size_t m, size_t r, md_tile_range range,
                       const float *products, float *out)
{
    const md_kernel *kernel = &job->bank->kernels[m];
    const size_t row = range.row + r;
    const float *q = products + r * MD_TILE;
    const size_t v = kernel->view;
    if (kernel->class->quantity == MD_DOT && job->left->lift[v] != NULL) {
        dots_from_products(q, job->left->lift[v][row], job->right->lift[v] + range.column, out,
                           range.columns);
        q = out;
    } else if (kernel->class->quantity == MD_DISTANCE2) {
        distances_from_products(q, job->left->norm2[v][row], job->right->norm2[v] + range.column,
                                out, range.columns);
        if (range.symmetric && row >= range.column && row - range.column < range.columns)
            out[row - range.column] = 0; /* exactly */
        q = out;
    }
    kernel->class->map(kernel->state, q, out, range.columns);
    normalise_row(job, m, row, range, out);
}

static struct tile_target target_of(const md_tile_job *job, size_t m, md_tile_range range,
                                    md_tile_scratch *scratch)
{
    struct tile_target target = {0};
    if (job->sink->place != NULL)
        target.values =
            job->sink->place(job->sink->context, m, range.row, range.column, &target.stride);
    if (target.values == NULL)
        target = (struct tile_target){.values = scratch->values, .stride = MD_TILE};
    return target;
}

static void hand_over(const md_tile_job *job, size_t m, md_tile_range range,
                      struct tile_target target)
{
    const md_tile_values tile = {.row = range.row,
                                 .column = range.column,
                                 .rows = range.rows,
                                 .columns = range.columns,
                                 .values = target.values,
                                 .stride = target.stride};
    if (job->sink->take != NULL)
        job->sink->take(job->sink->context, m, &tile);
}

static void precomputed_tile(const md_tile_job *job, size_t m, md_tile_range range,
                             md_tile_scratch *scratch)
{
    const md_matrix *values = job->left->precomputed[m];
    const struct tile_target target = target_of(job, m, range, scratch);
    for (size_t r = 0; r < range.rows; r++) {
        const size_t *row_of = job->left->precomputed_row;
        const size_t row = row_of != NULL ? row_of[range.row + r] : range.row + r;
        const float *from = values->dense + row * values->columns;
        float *to = target.values + r * target.stride;
        for (size_t j = 0; j < range.columns; j++)
            to[j] = from[job->columns_of ? job->columns_of[range.column + j] : range.column + j];
        normalise_row(job, m, range.row + r, range, to);
    }
    hand_over(job, m, range, target);
}

static bool is_wanted(const md_tile_job *job, size_t m)
{
    return job->wanted ? job->wanted[m] : !md_kernel_has_weights(&job->bank->kernels[m]);
}

void md_tile_compute(const md_tile_job *job, md_tile_range range, md_tile_scratch *scratch)
{
    /* what scratch->products holds: which view's, and whose pair sums (NULL: dot products) */
    size_t held_view = SIZE_MAX;
    float (*held_pairs)(const float *, const float *, size_t) = NULL;

    const size_t end = range.end_kernel ? range.end_kernel : job->bank->count;
    for (size_t m = range.first_kernel; m < end; m++) {
        const md_kernel *kernel = &job->bank->kernels[m];
        if (!is_wanted(job, m))
            continue;
        if (kernel->class == NULL) {
            precomputed_tile(job, m, range, scratch);
            continue;
        }
        if (kernel->view != held_view || kernel->class->pair_sum != held_pairs) {
            if (kernel->class->quantity == MD_PAIRED)
                paired_quantities(job, kernel->class, kernel->view, range, scratch);
            else
                view_products(job, kernel->view, range, scratch->products);
            held_view = kernel->view;
            held_pairs = kernel->class->pair_sum;
        }
        const struct tile_target target = target_of(job, m, range, scratch);
        for (size_t r = 0; r < range.rows; r++)
            kernel_row(job, m, r, range, scratch->products, target.values + r * target.stride);
        hand_over(job, m, range, target);
    }
}

void md_tile_compute_rows(const md_tile_job *job, md_tile_range range, md_tile_scratch *scratch)
{
    for (; range.column < job->right->rows; range.column += MD_TILE) {
        range.columns = md_min(job->right->rows - range.column, MD_TILE);
        md_tile_compute(job, range, scratch);
    }
}
