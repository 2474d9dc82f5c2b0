/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of low rank as factors, K = F'F + E with F[rank][n], by Cholesky's method with diagonal
 * pivoting: each step takes the row with the largest remaining diagonal. What it leaves, E, is
 * computed in full for those that succeed: its Frobenius norm bounds its eigenvalues whatever was
 * rounded, and is never more than its trace if K is positive semi-definite. */
#include "packed/packed_internal.h"

#include "base/parallel.h"
#include "base/vector.h"

enum {
    SLICE_KERNELS = 256,   /* whose factors lie in one array */
    FIRST_LOOK = 4,        /* steps before it may seem hopeless */
    ITEM_VALUES = 1 << 15, /* factors are put together to items of so many values */
    ALIGN = 16             /* floats: factors begin on cache lines */
};

static const double PATIENCE = 2; /* how much faster than lately the trace may yet fall */
/* Of the norm of what is left, relative to that of the matrix: the root of what differences of sums
 * in double precision may be off by. */
static const double ROUNDING = 1e-6;

struct factoring {
    const md_packed_batch *batch;
    double tolerance;
    size_t most_rank;
    size_t first;    /* of the slice */
    double *columns; /* [workers][most_rank][n] the factor in double precision */
    double *scratch; /* [workers][length + most_rank + 1]: diagonal of E, traces of E */
    float **values;  /* [SLICE_KERNELS] factors of their own, NULL: none or no memory */
    bool *no_memory; /* [SLICE_KERNELS] */
};

MD_VECTOR(double, factor_dot, (const float *f, const double *x, size_t n), (f, x, n))
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += (double)f[i] * x[i];
    return sum;
}

/* Eigenvalues add up to the trace and their squares to the squared norm, so `rank` of them add up
 * to at most sqrt(rank) times the norm: no factor leaves less than the rest. */
static bool cannot_be(const md_packed *packed, size_t m, const struct factoring *factoring)
{
    const double most = sqrt((double)factoring->most_rank * packed->frobenius2[m]);
    return packed->trace[m] - most > factoring->tolerance * packed->trace[m];
}

/* Traces fall more and more slowly, as eigenvalues do: give up if even twice the mean fall of the
 * last half of the steps would not reach the target in time. left[0..step]. */
static bool is_hopeless(const double *left, size_t step, size_t most_rank, double target)
{
    if (step < FIRST_LOOK)
        return false;
    const size_t since = step / 2;
    const double fall = (left[since] - left[step]) / (double)(step - since);
    return left[step] - PATIENCE * fall * (double)(most_rank - step) > target;
}

size_t md_packed_pivot(const double *diagonal, size_t n)
{
    size_t at = 0;
    for (size_t i = 1; i < n; i++)
        if (diagonal[i] > diagonal[at])
            at = i;
    return at;
}

double md_packed_eliminate(double *row, double *diagonal, size_t pivot, size_t n)
{
    const double scale = 1 / sqrt(diagonal[pivot]);
    double trace = 0;
    for (size_t i = 0; i < n; i++) {
        row[i] *= scale;
        diagonal[i] -= row[i] * row[i];
        if (i == pivot || diagonal[i] < 0)
            diagonal[i] = 0;
        trace += diagonal[i];
    }
    return trace;
}

/* column = (K - F'F)(:, pivot) of the first `rank` rows of F[.][n]. */
static void residual_column(const md_packed *packed, const void *k, const double *f, size_t rank,
                            size_t pivot, double *column)
{
    const size_t n = packed->n;
    packed->loops->column(k, n, pivot, column);
    for (size_t l = 0; l < rank; l += MD_TRIANGLE_TOGETHER) {
        const size_t together = md_min(rank - l, MD_TRIANGLE_TOGETHER);
        const void *rows[MD_TRIANGLE_TOGETHER];
        double weight[MD_TRIANGLE_TOGETHER];
        for (size_t t = 0; t < together; t++) {
            rows[t] = f + (l + t) * n;
            weight[t] = -f[(l + t) * n + pivot];
        }
        md_triangle_double.add(column, rows, weight, together, 0, n);
    }
}

/* Takes one step: row `rank` of F; returns the trace of what is left. */
static double take_step(const md_packed *packed, const void *k, double *f, size_t rank,
                        double *diagonal)
{
    const size_t n = packed->n;
    const size_t pivot = md_packed_pivot(diagonal, n);
    double *row = f + rank * n;
    residual_column(packed, k, f, rank, pivot, row);
    return md_packed_eliminate(row, diagonal, pivot, n);
}

/* The rank that leaves at most the tolerance, or SIZE_MAX. */
static size_t find_rank(const struct factoring *factoring, size_t m, const void *k, double *f,
                        double *scratch)
{
    const md_packed *packed = factoring->batch->packed;
    const double target = factoring->tolerance * packed->trace[m];
    double *diagonal = scratch;
    double *left = scratch + packed->length;
    left[0] = 0;
    for (size_t i = 0; i < packed->n; i++) {
        diagonal[i] = packed->loops->get(k, md_triangle_row(packed->n, i));
        left[0] += diagonal[i];
    }
    size_t rank = 0;
    while (left[rank] > target) {
        if (rank == factoring->most_rank || is_hopeless(left, rank, factoring->most_rank, target))
            return SIZE_MAX;
        left[rank + 1] = take_step(packed, k, f, rank, diagonal);
        rank++;
    }
    return rank;
}

/* ||K - F'F||^2 = ||K||^2 - 2 sum_l f_l'K f_l + sum_{l,k} (f_l'f_k)^2 for the rows f_l of F as they
 * are kept. The root of what may be wrong with it is added. scratch: [length] */
static double residual_norm(const md_packed *packed, size_t m, const void *k, const float *f,
                            size_t rank, double *scratch)
{
    const size_t n = packed->n;
    double sum = packed->frobenius2[m];
    for (size_t l = 0; l < rank; l++) {
        for (size_t i = 0; i < n; i++)
            scratch[i] = (double)f[l * n + i];
        memset(scratch + n, 0, (packed->length - n) * sizeof *scratch);
        sum -= 2 * packed->loops->norm2(k, n, 0, n, scratch);
        for (size_t o = 0; o <= l; o++) {
            const double product = factor_dot(f + o * n, scratch, n);
            sum += (o < l ? 2 : 1) * product * product;
        }
    }
    return sqrt(sum > 0 ? sum : 0) + ROUNDING * sqrt(packed->frobenius2[m]);
}

static void factor_kernel(void *context, size_t item, size_t worker)
{
    const struct factoring *factoring = context;
    const md_packed_batch *batch = factoring->batch;
    md_packed *packed = batch->packed;
    const size_t n = packed->n;
    const size_t i = factoring->first + item;
    const size_t m = batch->place[i];
    md_factor *factor = &packed->factors[m];
    factoring->values[item] = NULL;
    factoring->no_memory[item] = false;
    if (cannot_be(packed, m, factoring))
        return;
    double *columns = factoring->columns + worker * factoring->most_rank * n;
    double *scratch = factoring->scratch + worker * (packed->length + factoring->most_rank + 1);
    const size_t rank = find_rank(factoring, m, batch->values[i], columns, scratch);
    if (rank == SIZE_MAX)
        return;
    float *values = md_alloc_aligned(rank * n, sizeof *values);
    factoring->no_memory[item] = values == NULL;
    if (values == NULL) /* the caller of the threads tells */
        return;
    for (size_t j = 0; j < rank * n; j++)
        values[j] = (float)columns[j];
    factor->rank = rank;
    factor->slack = residual_norm(packed, m, batch->values[i], values, rank, scratch);
    factoring->values[item] = values;
}

/* Moves the factors of a slice into one array. */
static medley_status keep_slice(struct factoring *factoring, size_t count, medley_error *error)
{
    md_packed *packed = factoring->batch->packed;
    size_t total = 0;
    for (size_t s = 0; s < count; s++) {
        if (factoring->no_memory[s])
            return md_fail_memory(error, factoring->most_rank * packed->n * sizeof(float));
        if (factoring->values[s] != NULL) {
            const size_t m = factoring->batch->place[factoring->first + s];
            total += md_pieces(packed->factors[m].rank * packed->n, ALIGN) * ALIGN;
        }
    }
    float *array = NULL;
    MEDLEY_TRY(md_grow(&packed->factor_arrays, &packed->factor_array_capacity,
                       packed->factor_array_count + 1, sizeof(float *), error));
    MEDLEY_TRY(md_new_aligned(&array, total, sizeof *array, error));
    packed->factor_arrays[packed->factor_array_count++] = array;
    packed->factor_bytes += total * sizeof *array;
    for (size_t s = 0; s < count; s++) {
        if (factoring->values[s] == NULL)
            continue;
        md_factor *factor = &packed->factors[factoring->batch->place[factoring->first + s]];
        memcpy(array, factoring->values[s], factor->rank * packed->n * sizeof *array);
        factor->values = array;
        array += md_pieces(factor->rank * packed->n, ALIGN) * ALIGN;
    }
    return MEDLEY_OK;
}

static medley_status visit_factor(void *context, const md_packed_batch *batch)
{
    struct factoring *factoring = context;
    const md_packed *packed = batch->packed;
    factoring->batch = batch;
    for (factoring->first = 0; factoring->first < batch->count; factoring->first += SLICE_KERNELS) {
        const size_t count = md_min(batch->count - factoring->first, SLICE_KERNELS);
        md_parallel_for(md_packed_threads(packed, count * packed->size), count, factor_kernel,
                        factoring);
        const medley_status status = keep_slice(factoring, count, batch->error);
        for (size_t s = 0; s < count; s++)
            free(factoring->values[s]);
        MEDLEY_TRY(status);
    }
    return MEDLEY_OK;
}

void md_packed_forget_factors(md_packed *packed)
{
    for (size_t a = 0; a < packed->factor_array_count; a++)
        free(packed->factor_arrays[a]);
    free(packed->factors);
    packed->factors = NULL;
    packed->factor_array_count = 0;
    packed->factor_bytes = 0;
}

medley_status md_packed_factor(md_packed *packed, double tolerance, size_t most_rank,
                               medley_error *error)
{
    const size_t n = packed->n;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct factoring factoring = {.tolerance = tolerance, .most_rank = md_min(most_rank, n)};
    md_packed_forget_factors(packed);
    if (packed->by_rows) /* not worth a look at all columns */
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&packed->factors, packed->count, sizeof *packed->factors, error));
    const size_t columns = packed->threads * factoring.most_rank * n;
    const size_t scratch = packed->threads * (packed->length + factoring.most_rank + 1);
    MEDLEY_TRY(md_pool_new_aligned(&pool, &factoring.columns, columns, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &factoring.scratch, scratch, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &factoring.values, SLICE_KERNELS, sizeof(float *), error));
    MEDLEY_TRY(md_pool_new(&pool, &factoring.no_memory, SLICE_KERNELS, sizeof(bool), error));
    const md_chosen all = {.count = packed->count};
    MEDLEY_TRY(md_packed_walk(packed, all, NULL, visit_factor, &factoring, error));
    double bytes = (double)packed->factor_bytes;
    MEDLEY_TRY(md_comm_sum(packed->comm, &bytes, 1, error));
    packed->factor_bytes = (size_t)bytes; /* of all ranks */
    return MEDLEY_OK;
}

bool md_packed_has_factor(const md_packed *packed, size_t m)
{
    return packed->factors != NULL && packed->factors[m].values != NULL;
}

size_t md_packed_factor_bytes(const md_packed *packed)
{
    return packed->factor_bytes;
}

/* ---- bounds ---- */

static double factor_norm2(const float *f, size_t rank, size_t n, const double *x)
{
    double norm2 = 0;
    for (size_t l = 0; l < rank; l++) {
        const double product = factor_dot(f + l * n, x, n);
        norm2 += product * product;
    }
    return norm2;
}

struct bounds {
    md_packed *packed;
    md_chosen chosen;
    const double *x;
    double x2; /* ||x||^2 */
    double *bound2;
    size_t each; /* kernels of an item */
};

static void bound_kernels(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct bounds *bounds = context;
    const md_packed *packed = bounds->packed;
    const size_t end = md_min((item + 1) * bounds->each, bounds->chosen.count);
    for (size_t i = item * bounds->each; i < end; i++) {
        const size_t m = md_chosen_kernel(bounds->chosen, i);
        if (!md_packed_has_factor(packed, m))
            continue;
        const md_factor *factor = &packed->factors[m];
        bounds->bound2[i] = factor_norm2(factor->values, factor->rank, packed->n, bounds->x) +
                            bounds->x2 * factor->slack;
    }
}

static medley_status visit_exactly(void *context, const md_packed_batch *batch)
{
    const struct bounds *bounds = context;
    return md_packed_batch_norms2(batch, bounds->x, bounds->bound2);
}

medley_status md_packed_bounds2(md_packed *packed, md_chosen chosen, const double *x,
                                double *bound2, medley_error *error)
{
    struct bounds bounds = {.packed = packed, .chosen = chosen, .x = x, .bound2 = bound2};
    MD_OWNED(free) bool *skip = NULL;
    size_t values = 0;
    MEDLEY_TRY(md_new(&skip, chosen.count, sizeof *skip, error));
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        skip[i] = md_packed_has_factor(packed, m);
        values += skip[i] ? packed->factors[m].rank * packed->n : 0;
    }
    for (size_t i = 0; i < packed->n; i++)
        bounds.x2 += x[i] * x[i];
    bounds.each = ITEM_VALUES * chosen.count / (values + 1) + 1;
    md_parallel_for(md_packed_threads(packed, values), md_pieces(chosen.count, bounds.each),
                    bound_kernels, &bounds);
    MEDLEY_TRY(md_packed_lowrank_product(packed, chosen, x, 0, bound2, NULL, error));
    if (packed->by_rows) /* there are no factors */
        MEDLEY_TRY(md_packed_rows_product(packed, chosen, x, 0, bound2, NULL, error));
    else
        MEDLEY_TRY(md_packed_walk(packed, chosen, skip, visit_exactly, &bounds, error));
    return md_packed_exchange(packed, chosen, bound2, 1, error);
}
