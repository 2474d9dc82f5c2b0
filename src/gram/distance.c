/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels from distances that came ready made: K = exp(-d / gamma), gamma the mean distance of two
 * training rows, as the OBSCURE paper has it for its flowers (section 4.1). */
#include "gram/prepared_rows.h"

double md_distance_gamma(const md_precomputed *distance)
{
    const md_matrix *d = &distance->values;
    const double pairs = (double)d->rows * ((double)d->columns - 1);
    double sum = 0;
    for (size_t i = 0; i < d->rows * d->columns; i++)
        sum += (double)d->dense[i];
    return sum > 0 && isfinite(sum) && pairs > 0 ? sum / pairs : 1; /* 0 to themselves */
}

medley_status md_distance_check(const md_precomputed *distance, bool training, medley_error *error)
{
    const md_matrix *d = &distance->values;
    float largest = 0;
    for (size_t i = 0; i < d->rows * d->columns; i++) {
        if (!(d->dense[i] >= 0) || !isfinite(d->dense[i]))
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "distances '%s': row %zu, column %zu is %g; distances are numbers of 0 "
                           "or more",
                           distance->name, i / d->columns + 1, i % d->columns + 1,
                           (double)d->dense[i]);
        largest = fmaxf(largest, d->dense[i]);
    }
    for (size_t i = 0; training && d->rows == d->columns && i < d->rows; i++)
        if (d->dense[i * d->columns + i] > 1e-4F * largest)
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "distances '%s': row %zu, column %zu is %g; a row has distance 0 to "
                           "itself (kernel values are given by `gram`)",
                           distance->name, i + 1, i + 1, (double)d->dense[i * d->columns + i]);
    if (training && d->rows > 1 && !(largest > 0))
        return md_fail(error, MEDLEY_BAD_INPUT,
                       "distances '%s' are all 0, so that no row can be told from another; give "
                       "other distances, or leave them out",
                       distance->name);
    return MEDLEY_OK;
}

medley_status md_distance_attach(md_prepared *prepared, size_t m, const md_precomputed *distance,
                                 double gamma, medley_error *error)
{
    const md_matrix *d = &distance->values;
    const size_t count = d->rows * d->columns;
    md_pool *pool = &prepared->pool;
    md_matrix *made = NULL;
    double *wide = NULL;
    MEDLEY_TRY(md_pool_new(pool, &made, 1, sizeof *made, error));
    *made = (md_matrix){.rows = d->rows, .columns = d->columns};
    MEDLEY_TRY(md_pool_new_aligned(pool, &made->dense, count, sizeof(float), error));
    if (distance->wide != NULL)
        MEDLEY_TRY(md_pool_new_aligned(pool, &wide, count, sizeof(double), error));
    for (size_t i = 0; i < count; i++) {
        const double value = distance->wide != NULL ? distance->wide[i] : (double)d->dense[i];
        const double kernel = exp(-value / gamma);
        made->dense[i] = (float)kernel;
        if (wide != NULL)
            wide[i] = kernel;
    }
    prepared->precomputed[m] = made;
    prepared->precomputed_float64[m] = wide;
    return MEDLEY_OK;
}
