/* SPDX-License-Identifier: BSD-3-Clause */
/* Full matrices: tiles on and above the diagonal are computed and mirrored, then kernels that ask
 * for it are centred, K - 1 mean' - mean 1' + grand mean. */
#include "gram/gram_internal.h"

#include "base/parallel.h"
#include "base/vector.h"

enum { REPORTS = 16 }; /* of progress */

static float *place_in_full(void *context, size_t m, size_t row, size_t column, size_t *stride)
{
    const md_full_job *job = context;
    *stride = job->prepared->rows;
    return job->full[m] + row * job->prepared->rows + column;
}

static void mirror_full(void *context, size_t m, const md_tile_values *tile)
{
    const md_full_job *job = context;
    md_tile_mirror(job->full[m], job->prepared->rows, tile);
}

medley_status md_full_compute(md_full_job *job, medley_error *error)
{
    const size_t kernels = job->bank->count;
    MD_OWNED(free) size_t *group_start = NULL;
    MD_OWNED(free) bool *wanted = NULL;
    MEDLEY_TRY(md_new(&group_start, kernels + 1, sizeof *group_start, error));
    MEDLEY_TRY(md_new(&wanted, kernels, sizeof *wanted, error));
    for (size_t m = 0; m < kernels; m++)
        wanted[m] = job->full[m] != NULL;
    const md_tile_sink sink = {.context = job, .place = place_in_full, .take = mirror_full};
    md_triangle triangle = {.scratch = job->scratch,
                            .group_start = group_start,
                            .job = {.bank = job->bank,
                                    .left = job->prepared,
                                    .right = job->prepared,
                                    .wanted = wanted,
                                    .sink = &sink}};
    md_triangle_group(&triangle, NULL);
    const size_t batch = md_max(md_triangle_items(&triangle) / REPORTS, MD_MANY_TILES);
    return md_triangle_compute(&triangle, job->threads, batch, job->observer, job->began)
               ? MEDLEY_OK
               : MEDLEY_STOPPED;
}

/* ---- centring ---- */

MD_VECTOR(double, sum_floats, (const float *values, size_t count), (values, count))
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
MD_VECTOR_VOID(subtract_means,
               (float *restrict values, float row_mean, const float *restrict means,
                float grand_mean, size_t count),
               (values, row_mean, means, grand_mean, count))
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
