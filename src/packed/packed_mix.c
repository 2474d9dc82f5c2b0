/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed grams of a single kernel that has no formula: a matrix, or a weighted sum of kernels.
 * Solvers that take turns between kernel weights and a model see the mixture as one kernel. */
#include "packed/packed_internal.h"

#include "linalg/blas.h"

/* sums: [n] zeroed; comes back as the sums of the rows of the whole matrix. */
static void take_matrix(md_packed *packed, const double *matrix, double *sums)
{
    const size_t n = packed->n;
    double *values = packed->values[0];
    double square = 0;
    for (size_t i = 0; i < n; i++) {
        const double *row = matrix + i * n;
        memcpy(values + md_triangle_row(n, i), row + i, (n - i) * sizeof *row);
        sums[i] += row[i];
        packed->trace[0] += row[i];
        square += row[i] * row[i];
        for (size_t j = i + 1; j < n; j++) {
            sums[i] += row[j];
            sums[j] += row[j];
            square += 2 * row[j] * row[j];
        }
    }
    memset((char *)values + packed->size * sizeof *values, 0,
           packed->bytes - packed->size * sizeof *values);
    packed->frobenius2[0] = square;
}

medley_status md_packed_of_matrix(md_packed **result, const double *matrix, size_t n,
                                  size_t threads, medley_error *error)
{
    MD_OWNED(md_packed_free) md_packed *packed = NULL;
    MD_OWNED(free) double *sums = NULL;
    MEDLEY_TRY(md_new(&packed, 1, sizeof *packed, error));
    MEDLEY_TRY(md_new(&sums, n, sizeof *sums, error));
    md_blas_single_thread();
    *packed = (md_packed){.n = n,
                          .count = 1,
                          .residents = 1,
                          .ranks = 1,
                          .is_resident = true,
                          .threads = md_max(threads, 1),
                          .loops = &md_triangle_double};
    MEDLEY_TRY(md_packed_init(packed, error));
    MEDLEY_TRY(md_packed_divide(packed, NULL, error));
    MEDLEY_TRY(md_new_aligned(&packed->resident, 1, packed->bytes, error));
    packed->values[0] = packed->resident;
    packed->permanent[0] = true;
    take_matrix(packed, matrix, sums);
    md_packed_learn_spread(packed, 0, sums);
    *result = md_take(&packed);
    return MEDLEY_OK;
}

medley_status md_packed_mix(md_packed **mixed, md_packed *packed, md_chosen chosen,
                            const double *weight, medley_error *error)
{
    const size_t n = packed->n;
    MD_OWNED(free) double *sum = NULL;
    MEDLEY_TRY(md_new_aligned(&sum, n * n, sizeof *sum, error));
    MEDLEY_TRY(md_packed_sum(packed, chosen, weight, sum, error));
    return md_packed_of_matrix(mixed, sum, n, packed->threads, error);
}
