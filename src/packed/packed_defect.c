/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking for kernels that are not positive semi-definite: K + t I is factored with a t that only
 * rounding may call for, and eigenvalues are computed where that fails. t comes from a lower bound
 * of the largest eigenvalue, sum of squared eigenvalues / their sum, which costs nothing; where it
 * is too small the eigenvalues set it right. It is none where eigenvalues of either sign cancel in
 * the sum, and no eigenvalue of a kernel is larger than the sum: it is never taken for more. */
#include "packed/packed_internal.h"

#include "base/parallel.h"
#include "optim/optim.h"

enum { LARGE_ROWS = 512 }; /* one matrix at a time, by all threads */

/* What rounding may make of the least eigenvalue, relative to the largest. */
static const double FLOAT_ROUNDING = 1e-5, DOUBLE_ROUNDING = 1e-10;

struct inspection {
    const md_packed_batch *batch;
    double *matrix; /* [workers][n][n] */
    bool *suspect;  /* [count] */
    md_packed_defect *defect;
};

static double rounding_of(const md_packed *packed, size_t m)
{
    return md_packed_is_exact(packed, m) ? DOUBLE_ROUNDING : FLOAT_ROUNDING;
}

static bool may_fail(const md_packed *packed, size_t m)
{
    const md_kernel *kernel = &packed->bank->kernels[m];
    const bool sound = kernel->class != NULL ? kernel->class->positive_definite : kernel->sound;
    return packed->frobenius2[m] > 0 && !sound && !md_packed_is_lowrank(packed, m);
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

medley_status md_packed_find_defect(md_packed *packed, md_packed_defect *defect,
                                    medley_error *error)
{
    const md_chosen all = {.count = packed->count};
    const size_t matrices = packed->n < LARGE_ROWS ? packed->threads : 1;
    const size_t values = matrices * packed->n * packed->n;
    MD_OWNED(free) bool *skip = NULL;
    MD_OWNED(free) bool *suspect = NULL;
    MD_OWNED(free) double *matrix = NULL;
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
