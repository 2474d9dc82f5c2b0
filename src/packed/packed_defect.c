/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking for kernels that are not positive semi-definite: K + t I is factored with a t that only
 * rounding may call for, and eigenvalues are computed where that fails. t comes from a lower bound
 * of the largest eigenvalue, sum of squared eigenvalues / their sum, which costs nothing; where it
 * is too small the eigenvalues set it right. It is none where eigenvalues of either sign cancel in
 * the sum, and no eigenvalue of a kernel is larger than the sum: it is never taken for more.
 *
 * Kernels by rows have too many rows for that: products with them give Ritz values (Lanczos), which
 * lie between the extreme eigenvalues and come near them, so that a defect which is found is one.
 */
#include "packed/packed_internal.h"

#include "base/parallel.h"
#include "base/random.h"
#include "linalg/vectors.h"
#include "optim/optim.h"

enum {
    LARGE_ROWS = 512, /* one matrix at a time, by all threads */
    RITZ_STEPS = 60
};

/* What rounding may make of the least eigenvalue, relative to the largest. */
static const double FLOAT_ROUNDING = 1e-5, DOUBLE_ROUNDING = 1e-10;

struct inspection {
    const md_packed_batch *batch;
    double *matrix; /* [workers][n][n] */
    bool *suspect;  /* [count] */
    md_packed_defect *defect;
};

/* Ready-made values may have been rounded before they came to be kept as doubles. */
static double rounding_of(const md_packed *packed, size_t m)
{
    const bool came_rounded =
        packed->bank->kernels[m].class == NULL && packed->prepared.precomputed_float64[m] == NULL;
    return md_packed_is_exact(packed, m) && !came_rounded ? DOUBLE_ROUNDING : FLOAT_ROUNDING;
}

static bool may_fail(const md_packed *packed, size_t m)
{
    const md_kernel *kernel = &packed->bank->kernels[m];
    const bool sound = kernel->class != NULL ? kernel->class->positive_definite : kernel->sound;
    return packed->frobenius2[m] > 0 && !sound && !md_packed_is_lowrank(packed, m) &&
           md_packed_is_own(packed, m);
}

static void unpack(const md_packed *packed, const void *k, double shift, double *matrix)
{
    const size_t n = packed->n;
    const double one = 1;
    for (size_t i = 0; i < n; i++) {
        double *row = matrix + i * n;
        for (size_t j = 0; j < n; j++)
            row[j] = 0;
        row[i] = shift;
        packed->loops->add(row + i, &k, &one, 1, md_triangle_row(n, i), n - i);
    }
}

/* Kernel i of the batch, as far as a factorisation can tell. */
static void inspect(const struct inspection *inspection, size_t i, double *matrix, size_t threads)
{
    const md_packed *packed = inspection->batch->packed;
    const size_t m = inspection->batch->place[i];
    const double trace = packed->trace[m];
    const double bound = trace > 0 ? fmin(packed->frobenius2[m] / trace, trace) : 0;
    const double shift = rounding_of(packed, m) * bound;
    unpack(packed, inspection->batch->values[i], shift, matrix);
    inspection->suspect[m] = !md_cholesky(matrix, packed->n, threads);
}

static void inspect_one(void *context, size_t item, size_t worker)
{
    const struct inspection *inspection = context;
    const size_t n = inspection->batch->packed->n;
    inspect(inspection, item, inspection->matrix + worker * n * n, 1);
}

static medley_status visit_inspect(void *context, const md_packed_batch *batch)
{
    struct inspection *inspection = context;
    const md_packed *packed = batch->packed;
    inspection->batch = batch;
    if (packed->n < LARGE_ROWS) {
        const size_t work = batch->count * packed->size * (packed->n / 6 + 1);
        md_parallel_for(md_packed_threads(packed, work), batch->count, inspect_one, inspection);
        return MEDLEY_OK;
    }
    for (size_t i = 0; i < batch->count; i++)
        inspect(inspection, i, inspection->matrix, packed->threads);
    return MEDLEY_OK;
}

static medley_status visit_eigenvalues(void *context, const md_packed_batch *batch)
{
    const struct inspection *inspection = context;
    unpack(batch->packed, batch->values[0], 0, inspection->matrix);
    return md_extreme_eigenvalues(inspection->matrix, batch->packed->n, &inspection->defect->least,
                                  &inspection->defect->most, batch->error);
}

/* ---- by products ---- */

/* One step of Lanczos's method: w = K v - beta u, v is the last vector and u the one before. The
 * new one takes the place of u; returns its length before it is scaled. */
static medley_status lanczos_step(md_packed *packed, size_t m, double *v[2], double *w,
                                  double *alpha, double *beta, medley_error *error)
{
    const size_t n = packed->n;
    const md_chosen one = {.kernels = &m, .count = 1};
    MEDLEY_TRY(md_packed_own_products(packed, one, v[0], 0, NULL, w, error));
    *alpha = md_dot(w, v[0], n);
    md_add_two(w, -*alpha, v[0], -*beta, v[1], n);
    *beta = sqrt(md_dot(w, w, n));
    for (size_t i = 0; i < n; i++)
        v[1][i] = *beta > 0 ? w[i] / *beta : 0;
    md_swap(&v[0], &v[1]);
    return MEDLEY_OK;
}

static medley_status find_ritz(md_packed *packed, size_t m, md_packed_defect *defect,
                               medley_error *error)
{
    const size_t n = packed->n;
    const size_t most = md_min(n, RITZ_STEPS);
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    double *vectors = NULL;
    double *small = NULL; /* [most][most] */
    double *kept = NULL;
    double beta = 0;
    md_random random;
    size_t steps = 0;
    MEDLEY_TRY(md_pool_new(&pool, &vectors, 3 * n, sizeof *vectors, error));
    MEDLEY_TRY(md_pool_new(&pool, &small, most * most, sizeof *small, error));
    MEDLEY_TRY(md_pool_new(&pool, &kept, 2 * most, sizeof *kept, error));
    double *v[2] = {vectors, vectors + n};
    md_random_seed(&random, 1);
    for (size_t i = 0; i < n; i++)
        v[0][i] = md_random_normal(&random);
    const double length = sqrt(md_dot(v[0], v[0], n));
    for (size_t i = 0; i < n; i++)
        v[0][i] /= length;
    for (; steps < most && (steps == 0 || beta > 0); steps++) {
        double *alpha = &kept[2 * steps];
        MEDLEY_TRY(lanczos_step(packed, m, v, vectors + 2 * n, alpha, &beta, error));
        alpha[1] = beta;
    }
    for (size_t k = 0; k < steps; k++) {
        small[k * steps + k] = kept[2 * k];
        if (k + 1 < steps)
            small[k * steps + k + 1] = kept[2 * k + 1];
    }
    return md_extreme_eigenvalues(small, steps, &defect->least, &defect->most, error);
}

static medley_status find_by_products(md_packed *packed, md_packed_defect *defect,
                                      medley_error *error)
{
    for (size_t m = 0; m < packed->count; m++) {
        if (!may_fail(packed, m))
            continue;
        MEDLEY_TRY(find_ritz(packed, m, defect, error));
        defect->kernel = m;
        if (defect->least < -rounding_of(packed, m) * defect->most)
            return MEDLEY_OK;
    }
    *defect = (md_packed_defect){.kernel = packed->count};
    return MEDLEY_OK;
}

/* Of its own kernels. */
static medley_status find_own(md_packed *packed, md_packed_defect *defect, medley_error *error)
{
    const md_chosen all = {.count = packed->count};
    const size_t matrices = packed->n < LARGE_ROWS ? packed->threads : 1;
    MD_OWNED(free) bool *skip = NULL;
    MD_OWNED(free) bool *suspect = NULL;
    MD_OWNED(free) double *matrix = NULL;
    bool any = false;
    if (packed->by_rows)
        return find_by_products(packed, defect, error);
    for (size_t m = 0; m < packed->count; m++)
        any = any || may_fail(packed, m);
    const size_t values = any ? matrices * packed->n * packed->n : 0;
    MEDLEY_TRY(md_new(&skip, packed->count, sizeof *skip, error));
    MEDLEY_TRY(md_new(&suspect, packed->count, sizeof *suspect, error));
    MEDLEY_TRY(md_new_aligned(&matrix, values, sizeof *matrix, error));
    struct inspection inspection = {.matrix = matrix, .suspect = suspect, .defect = defect};
    for (size_t m = 0; m < packed->count; m++)
        skip[m] = !may_fail(packed, m);
    MEDLEY_TRY(md_packed_walk(packed, all, skip, visit_inspect, &inspection, error));
    for (size_t m = 0; m < packed->count; m++) {
        if (!suspect[m])
            continue;
        const md_chosen one = {.kernels = &m, .count = 1};
        MEDLEY_TRY(md_packed_walk(packed, one, NULL, visit_eigenvalues, &inspection, error));
        defect->kernel = m;
        if (defect->least < -rounding_of(packed, m) * defect->most)
            return MEDLEY_OK;
    }
    *defect = (md_packed_defect){.kernel = packed->count};
    return MEDLEY_OK;
}

medley_status md_packed_find_defect(md_packed *packed, md_packed_defect *defect,
                                    medley_error *error)
{
    MEDLEY_TRY(find_own(packed, defect, error));
    double first = (double)defect->kernel;
    MEDLEY_TRY(md_comm_least(packed->comm, &first, error));
    const bool own = (double)defect->kernel == first;
    double ends[2] = {own ? defect->least : 0, own ? defect->most : 0};
    if ((size_t)first < packed->count)
        MEDLEY_TRY(md_comm_sum(packed->comm, ends, 2, error));
    *defect = (md_packed_defect){.kernel = (size_t)first, .least = ends[0], .most = ends[1]};
    return MEDLEY_OK;
}
