/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores of a single kernel that has no formula: a matrix, or a weighted sum of kernels. Solvers
 * that take turns between kernel weights and a model see the mixture as one kernel. */
#include "packed/store_internal.h"

#include "base/memory.h"
#include "linalg/blas.h"
#include <stdlib.h>
#include <string.h>

static medley_status init_single(md_store *store, size_t n, size_t threads, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    *store = (md_store){.n = n,
                        .count = 1,
                        .residents = 1,
                        .threads = threads ? threads : 1,
                        .packed = &md_packed_double};
    MEDLEY_TRY(md_store_init(store, error));
    MEDLEY_TRY(md_new_aligned(&store->resident, 1, store->bytes, error));
    store->values[0] = store->resident;
done:
    return status;
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

medley_status md_store_of_matrix(md_store **result, const double *matrix, size_t n, size_t threads,
                                 medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_store *store = NULL;
    double *sums = NULL;
    MEDLEY_TRY(md_new(&store, 1, sizeof *store, error));
    MEDLEY_TRY(md_new(&sums, n, sizeof *sums, error));
    md_blas_single_thread();
    MEDLEY_TRY(init_single(store, n, threads, error));
    take_matrix(store, matrix, sums);
    md_store_learn_spread(store, 0, sums);
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
    medley_status status = MEDLEY_OK;
    const size_t n = store->n;
    double *sum = NULL;
    MEDLEY_TRY(md_new_aligned(&sum, n * n, sizeof *sum, error));
    MEDLEY_TRY(md_store_sum(store, chosen, weight, sum, error));
    MEDLEY_TRY(md_store_of_matrix(mixed, sum, n, store->threads, error));
done:
    free(sum);
    return status;
}
