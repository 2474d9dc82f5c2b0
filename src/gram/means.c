/* SPDX-License-Identifier: BSD-3-Clause */
/* The means of centred kernels whose matrices are not kept: one pass over their values, a strip of
 * rows for each thread. */
#include "gram/gram_internal.h"

#include "base/parallel.h"

struct sums {
    md_gram *gram;
    md_tile_job job;
    double **of_row; /* [kernels][n] */
};

static void add_sums(void *context, size_t m, const md_tile_values *tile)
{
    const struct sums *sums = context;
    for (size_t r = 0; r < tile->rows; r++)
        sums->of_row[m][tile->row + r] +=
            md_sum_row(tile->values + r * tile->stride, tile->columns);
}

static void sum_strip(void *context, size_t item, size_t worker)
{
    const struct sums *sums = context;
    md_tile_range range = {.row = item * MD_TILE, .symmetric = true};
    range.rows = md_min(sums->gram->n - range.row, MD_TILE);
    md_tile_compute_rows(&sums->job, range, &sums->gram->scratch[worker]);
}

medley_status md_gram_learn_unkept_means(md_gram *gram, const bool *unkept, medley_error *error)
{
    bool any = false;
    bool *wanted = NULL;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct sums sums = {.gram = gram};
    const md_tile_sink sink = {.context = &sums, .take = add_sums};
    MEDLEY_TRY(md_pool_new(&pool, &wanted, gram->count, sizeof *wanted, error));
    MEDLEY_TRY(md_pool_new(&pool, &sums.of_row, gram->count, sizeof(double *), error));
    for (size_t m = 0; m < gram->count; m++) {
        wanted[m] = unkept[m] && gram->bank->kernels[m].norm == MD_NORM_CENTER;
        any = any || wanted[m];
        if (wanted[m])
            MEDLEY_TRY(md_pool_new(&pool, &sums.of_row[m], gram->n, sizeof(double), error));
    }
    if (!any)
        return MEDLEY_OK;
    sums.job = (md_tile_job){.bank = gram->bank,
                             .left = gram->prepared,
                             .right = gram->prepared,
                             .wanted = wanted,
                             .sink = &sink};
    md_parallel_for(gram->threads, md_pieces(gram->n, MD_TILE), sum_strip, &sums);
    for (size_t m = 0; m < gram->count; m++)
        if (wanted[m])
            MEDLEY_TRY(
                md_gram_learn_means(&gram->bank->kernels[m], sums.of_row[m], gram->n, error));
    return MEDLEY_OK;
}
