/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores of a single kernel that has no formula: a matrix, or a weighted sum of kernels. Solvers
 * that take turns between kernel weights and a model see the mixture as one kernel. */
#include "gram/store_internal.h"

#include "base/memory.h"
#include "linalg/blas.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 }; /* bytes: triangles begin on cache lines */

static medley_status init_single(md_store *store, size_t n, size_t threads, medley_error *error)
{
    *store = (md_store){.n = n,
                        .count = 1,
                        .residents = 1,
                        .threads = threads ? threads : 1,
                        .packed = &md_packed_double,
                        .size = md_packed_size(n),
                        .length = n + MD_PACKED_LANES};
    const size_t values = store->size + MD_PACKED_LANES; /* for what is read behind the last row */
    store->bytes = (values * sizeof(double) + LINE - 1) / LINE * LINE;
    store->resident = md_alloc_aligned(1, store->bytes);
    store->values = md_calloc(1, sizeof(void *));
    store->held = md_calloc(1, sizeof *store->held);
    store->trace = md_calloc(1, sizeof *store->trace);
    store->spread = md_calloc(1, sizeof *store->spread);
    store->frobenius2 = md_calloc(1, sizeof *store->frobenius2);
    store->wanted = md_calloc(1, sizeof *store->wanted);
    if (!store->resident || !store->values || !store->held || !store->trace || !store->spread ||
        !store->frobenius2 || !store->wanted)
        return md_fail_memory(error, store->bytes);
    store->values[0] = store->resident;
    return md_store_cut(store, error);
}

/* sums: [n] zeroed; comes back as the sums of the rows of the whole matrix. */
static void take_matrix(md_store *store, const double *matrix, double *sums)
{
    const size_t n = store->n;
    double *values = store->values[0];
    double square = 0;
    for (size_t i = 0; i < n; i++) {
        const double *row = matrix + i * n;
        memcpy(values + md_packed_row(n, i), row + i, (n - i) * sizeof *row);
        sums[i] += row[i];
        store->trace[0] += row[i];
        square += row[i] * row[i];
        for (size_t j = i + 1; j < n; j++) {
            sums[i] += row[j];
            sums[j] += row[j];
            square += 2 * row[j] * row[j];
        }
    }
    memset((char *)values + store->size * sizeof *values, 0,
           store->bytes - store->size * sizeof *values);
    store->frobenius2[0] = square;
}

/* ||HKH||^2 = ||K||^2 - 2 ||K1||^2 / n + (1'K1)^2 / n^2, and what rounding may hide of it. */
static double spread_of(const md_store *store, const double *sums)
{
    const double n = (double)store->n;
    double total = 0;
    double square = 0;
    for (size_t i = 0; i < store->n; i++) {
        total += sums[i];
        square += sums[i] * sums[i];
    }
    const double centred2 = store->frobenius2[0] - 2 * square / n + total * total / (n * n);
    return sqrt(centred2 > 0 ? centred2 : 0) + 1e-6 * sqrt(store->frobenius2[0]);
}

medley_status md_store_of_matrix(md_store **result, const double *matrix, size_t n, size_t threads,
                                 medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_store *store = md_calloc(1, sizeof *store);
    double *sums = md_calloc(n, sizeof *sums);
    if (store == NULL || sums == NULL) {
        status = md_fail_memory(error, n * sizeof *sums);
        goto done;
    }
    md_blas_single_thread();
    MEDLEY_TRY(init_single(store, n, threads, error));
    take_matrix(store, matrix, sums);
    store->spread[0] = spread_of(store, sums);
    *result = store;
    store = NULL;
done:
    free(sums);
    md_store_free(store);
    return status;
}

medley_status md_store_mix(md_store **mixed, md_store *store, md_chosen chosen,
                           const double *weight, medley_error *error)
{
    const size_t n = store->n;
    double *sum = md_alloc_aligned(n * n, sizeof *sum);
    if (sum == NULL)
        return md_fail_memory(error, n * n * sizeof *sum);
    medley_status status = md_store_sum(store, chosen, weight, sum, error);
    if (status == MEDLEY_OK)
        status = md_store_of_matrix(mixed, sum, n, store->threads, error);
    free(sum);
    return status;
}
