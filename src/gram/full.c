/* SPDX-License-Identifier: BSD-3-Clause */
/* Full matrices: tiles on and above the diagonal are computed and mirrored, then kernels that ask
 * for it are centred, K - 1 mean' - mean 1' + grand mean. */
#include "gram/gram_internal.h"

#include "base/parallel.h"
#include "base/vector.h"

enum { REPORTS = 16 }; /* of progress */

static float *place_in_full(void *context, size_t m, size_t row, size_t column, size_t *stride)
{
    md_gram *gram = context;
    *stride = gram->n;
    return gram->stored[m].full + row * gram->n + column;
}

static void mirror_full(void *context, size_t m, const md_tile_values *tile)
{
    md_gram *gram = context;
    md_tile_mirror(gram->stored[m].full, gram->n, tile);
}

medley_status md_gram_build_full(md_gram *gram, const bool *wanted, medley_error *error)
{
    MD_OWNED(free) size_t *group_start = NULL;
    MEDLEY_TRY(md_new(&group_start, gram->count + 1, sizeof *group_start, error));
    const md_tile_sink sink = {.context = gram, .place = place_in_full, .take = mirror_full};
    md_triangle triangle = {.scratch = gram->scratch,
                            .group_start = group_start,
                            .job = {.bank = gram->bank,
                                    .left = gram->prepared,
                                    .right = gram->prepared,
                                    .wanted = wanted,
                                    .sink = &sink}};
    md_triangle_group(&triangle, NULL);
    const size_t batch = md_max(md_triangle_items(&triangle) / REPORTS, MD_MANY_TILES);
    if (!md_triangle_compute(&triangle, gram->threads, batch, gram->observer, gram->began))
        return md_fail(error, MEDLEY_FAILED,
                       "stopped while kernels were computed; nothing was learnt");
    return MEDLEY_OK;
}

/* ---- centring ---- */

MD_VECTOR
static double sum_floats(const float *values, size_t count)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++)
        sum += (double)values[j];
    return sum;
}

double md_sum_row(const float *values, size_t count)
{
    return sum_floats(values, count);
}

/* In this order of additions a symmetric matrix stays symmetric to the bit. */
MD_VECTOR
static void subtract_means(float *restrict values, float row_mean, const float *restrict means,
                           float grand_mean, size_t count)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++)
        values[j] += grand_mean - (row_mean + means[j]);
}

void md_center_row(const md_kernel *kernel, float *values, size_t count, double row_mean)
{
    subtract_means(values, (float)row_mean, kernel->column_mean, (float)kernel->grand_mean, count);
}

medley_status md_gram_learn_means(md_kernel *kernel, const double *sums, size_t n,
                                  medley_error *error)
{
    free(kernel->column_mean);
    MEDLEY_TRY(md_new(&kernel->column_mean, n, sizeof(float), error));
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        kernel->column_mean[i] = (float)(sums[i] / (double)n);
        total += sums[i];
    }
    kernel->grand_mean = total / ((double)n * (double)n);
    return MEDLEY_OK;
}

struct center {
    md_gram *gram;
    size_t m;
    double *sums; /* [n] */
};

static void sum_row(void *context, size_t row, size_t worker)
{
    (void)worker;
    const struct center *center = context;
    const size_t n = center->gram->n;
    center->sums[row] = md_sum_row(center->gram->stored[center->m].full + row * n, n);
}

static void center_row(void *context, size_t row, size_t worker)
{
    (void)worker;
    const struct center *center = context;
    const md_kernel *kernel = &center->gram->bank->kernels[center->m];
    float *values = center->gram->stored[center->m].full + row * center->gram->n;
    md_center_row(kernel, values, center->gram->n, (double)kernel->column_mean[row]);
}

medley_status md_gram_center_full(md_gram *gram, medley_error *error)
{
    MD_OWNED(free) double *sums = NULL;
    MEDLEY_TRY(md_new(&sums, gram->n, sizeof *sums, error));
    struct center center = {.gram = gram, .sums = sums};
    for (size_t m = 0; m < gram->count; m++) {
        if (gram->bank->kernels[m].norm != MD_NORM_CENTER || gram->stored[m].full == NULL)
            continue;
        center.m = m;
        md_parallel_for(gram->threads, gram->n, sum_row, &center);
        MEDLEY_TRY(md_gram_learn_means(&gram->bank->kernels[m], sums, gram->n, error));
        md_parallel_for(gram->threads, gram->n, center_row, &center);
    }
    return MEDLEY_OK;
}
