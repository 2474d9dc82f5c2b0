/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel values between new points and support points, used as they are computed: prediction. A
 * block of new rows belongs to one thread, which adds up its scores tile by tile in a fixed order.
 */
#include "gram/between_card.h"
#include "gram/gram_internal.h"

#include "base/parallel.h"
#include "linalg/products.h"

/* ---- scores ---- */

struct scoring {
    const md_between *between;
    const md_expansion *terms;
    size_t term_count, labels;
    float *by_label;          /* [terms][labels][right rows] coefficients */
    size_t *term_of;          /* [kernels] term + 1 of a kernel, 0: none */
    bool *wanted;             /* [kernels] */
    double *sums;             /* [terms][labels] of coefficients, centred kernels only */
    double *means;            /* [terms][labels] of column_mean times coefficients */
    double *row_sums;         /* [threads][kernels][MD_TILE] */
    md_tile_scratch *scratch; /* [threads] */
    float *scores;            /* [rows][labels] the sum of all terms; NULL: */
    float *const *apart;      /* [terms] of [rows][labels] each by itself */
};

struct scoring_block {
    struct scoring *scoring;
    double *row_sums; /* [kernels][MD_TILE] of this thread */
    size_t row;
};

/* Where the scores of a term go. */
static float *scores_of(const struct scoring *scoring, size_t term)
{
    return scoring->scores != NULL ? scoring->scores : scoring->apart[term];
}

static void add_scores(void *context, size_t m, const md_tile_values *tile)
{
    const struct scoring_block *block = context;
    const struct scoring *scoring = block->scoring;
    const size_t t = scoring->term_of[m] - 1;
    const size_t labels = scoring->labels;
    const size_t columns = scoring->between->right->rows;
    md_add_products(tile->rows, labels, tile->columns, tile->values, tile->stride,
                    scoring->by_label + t * labels * columns + tile->column, columns,
                    scores_of(scoring, t) + tile->row * labels, labels);
    if (scoring->between->bank->kernels[m].norm != MD_NORM_CENTER)
        return;
    for (size_t r = 0; r < tile->rows; r++)
        block->row_sums[m * MD_TILE + r] +=
            md_sum_row(tile->values + r * tile->stride, tile->columns);
}

/* sum_j (K_ij - mean_j - mean_i + grand) a_j = (K a)_i - mean.a - (mean_i - grand) sum a. The right
 * points of a centred kernel are all training rows, so mean_i is the mean of row i. */
static void center_scores(const struct scoring_block *block, size_t rows)
{
    const struct scoring *scoring = block->scoring;
    const md_bank *bank = scoring->between->bank;
    const size_t labels = scoring->labels;
    for (size_t t = 0; t < scoring->term_count; t++) {
        const size_t m = scoring->terms[t].kernel;
        const md_kernel *kernel = &bank->kernels[m];
        if (kernel->norm != MD_NORM_CENTER)
            continue;
        for (size_t r = 0; r < rows; r++) {
            const double mean =
                block->row_sums[m * MD_TILE + r] / (double)scoring->between->right->rows;
            float *score = scores_of(scoring, t) + (block->row + r) * labels;
            for (size_t l = 0; l < labels; l++)
                score[l] -= (float)(scoring->means[t * labels + l] +
                                    (mean - kernel->grand_mean) * scoring->sums[t * labels + l]);
        }
    }
}

/* Rows of a block: few rows are cut finer, so that several threads find work. */
static size_t block_height(size_t rows)
{
    enum { BLOCKS = 16, LEAST = 16 };
    return md_min(md_max(md_pieces(rows / BLOCKS, LEAST) * LEAST, LEAST), MD_TILE);
}

static void score_block(void *context, size_t item, size_t worker)
{
    struct scoring *scoring = context;
    const md_between *between = scoring->between;
    const size_t kernels = between->bank->count;
    const size_t height = block_height(between->left->rows);
    struct scoring_block block = {.scoring = scoring,
                                  .row_sums = scoring->row_sums + worker * kernels * MD_TILE,
                                  .row = item * height};
    const md_tile_sink sink = {.context = &block, .take = add_scores};
    const md_tile_job job = {.bank = between->bank,
                             .left = between->left,
                             .right = between->right,
                             .columns_of = between->training_row,
                             .wanted = scoring->wanted,
                             .sink = &sink};
    memset(block.row_sums, 0, kernels * MD_TILE * sizeof(double));
    const md_tile_range range = {.row = block.row,
                                 .rows = md_min(between->left->rows - block.row, height),
                                 .symmetric = between->left == between->right};
    md_tile_compute_rows(&job, range, &scoring->scratch[worker]);
    center_scores(&block, range.rows);
}

/* Turned around, and summed where kernels are centred. */
static void take_coefficients(struct scoring *scoring)
{
    const size_t labels = scoring->labels;
    const size_t rows = scoring->between->right->rows;
    for (size_t t = 0; t < scoring->term_count; t++) {
        const md_kernel *kernel = &scoring->between->bank->kernels[scoring->terms[t].kernel];
        for (size_t j = 0; j < rows; j++)
            for (size_t l = 0; l < labels; l++) {
                const float a = scoring->terms[t].coefficient[j * labels + l];
                scoring->by_label[(t * labels + l) * rows + j] = a;
                if (kernel->norm != MD_NORM_CENTER)
                    continue;
                scoring->sums[t * labels + l] += (double)a;
                scoring->means[t * labels + l] += (double)a * (double)kernel->column_mean[j];
            }
    }
}

/* The scores go to scores, or if that is NULL to apart. */
static medley_status score_all(const md_between *between, const md_expansion *terms,
                               size_t term_count, size_t labels, float *scores, float *const *apart,
                               medley_error *error)
{
    const size_t kernels = between->bank->count;
    const size_t threads = md_max(between->threads, 1);
    const size_t values = term_count * labels;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct scoring scoring = {.between = between,
                              .terms = terms,
                              .term_count = term_count,
                              .labels = labels,
                              .scores = scores,
                              .apart = apart};
    bool done;
    MEDLEY_TRY(md_between_card(&done, between, terms, term_count, labels, scores, apart, error));
    if (done)
        return MEDLEY_OK;
    MEDLEY_TRY(
        md_pool_new(&pool, &scoring.by_label, values * between->right->rows, sizeof(float), error));
    MEDLEY_TRY(md_pool_new(&pool, &scoring.term_of, kernels, sizeof *scoring.term_of, error));
    MEDLEY_TRY(md_pool_new(&pool, &scoring.wanted, kernels, sizeof *scoring.wanted, error));
    MEDLEY_TRY(md_pool_new(&pool, &scoring.sums, values, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &scoring.means, values, sizeof(double), error));
    MEDLEY_TRY(
        md_pool_new(&pool, &scoring.row_sums, threads * kernels * MD_TILE, sizeof(double), error));
    MEDLEY_TRY(md_tile_scratch_make(&pool, &scoring.scratch, threads, between->bank, between->right,
                                    error));
    for (size_t t = 0; t < term_count; t++) {
        scoring.term_of[terms[t].kernel] = t + 1;
        scoring.wanted[terms[t].kernel] = true;
    }
    take_coefficients(&scoring);
    const size_t blocks = md_pieces(between->left->rows, block_height(between->left->rows));
    md_parallel_for(threads, blocks, score_block, &scoring);
    return MEDLEY_OK;
}

medley_status md_between_scores(const md_between *between, const md_expansion *terms,
                                size_t term_count, size_t labels, float *scores,
                                medley_error *error)
{
    return score_all(between, terms, term_count, labels, scores, NULL, error);
}

medley_status md_between_scores_apart(const md_between *between, const md_expansion *terms,
                                      size_t term_count, size_t labels, float *const *scores,
                                      medley_error *error)
{
    return score_all(between, terms, term_count, labels, NULL, scores, error);
}

/* ---- values ---- */

struct values_job {
    const md_between *between;
    md_tile_job tile;
    size_t kernel, height;    /* of blocks of left rows */
    bool symmetric;           /* tiles below the diagonal are copied from above */
    md_tile_scratch *scratch; /* [threads] */
    float *values;
};

static float *place_in_values(void *context, size_t m, size_t row, size_t column, size_t *stride)
{
    const struct values_job *job = context;
    (void)m;
    *stride = job->between->right->rows;
    return job->values + row * job->between->right->rows + column;
}

static void mirror_values(void *context, size_t m, const md_tile_values *tile)
{
    const struct values_job *job = context;
    (void)m;
    md_tile_mirror(job->values, job->between->right->rows, tile);
}

static void values_block(void *context, size_t item, size_t worker)
{
    const struct values_job *job = context;
    const size_t row = item * job->height;
    const md_tile_range range = {.row = row,
                                 .rows = md_min(job->between->left->rows - row, job->height),
                                 .column = job->symmetric ? row : 0,
                                 .symmetric = job->symmetric};
    md_tile_compute_rows(&job->tile, range, &job->scratch[worker]);
}

static void center_values(void *context, size_t row, size_t worker)
{
    (void)worker;
    const struct values_job *job = context;
    const size_t columns = job->between->right->rows;
    float *values = job->values + row * columns;
    md_center_row(&job->between->bank->kernels[job->kernel], values, columns,
                  md_sum_row(values, columns) / (double)columns);
}

static void compute_values(struct values_job *job, const bool *wanted, size_t threads)
{
    const md_between *between = job->between;
    const md_tile_sink sink = {
        .context = job, .place = place_in_values, .take = job->symmetric ? mirror_values : NULL};
    job->tile = (md_tile_job){.bank = between->bank,
                              .left = between->left,
                              .right = between->right,
                              .columns_of = between->training_row,
                              .wanted = wanted,
                              .sink = &sink};
    const size_t rows = between->left->rows;
    md_parallel_for(threads, md_pieces(rows, job->height), values_block, job);
    if (between->bank->kernels[job->kernel].norm == MD_NORM_CENTER)
        md_parallel_for(threads, rows, center_values, job);
}

medley_status md_between_values(const md_between *between, size_t kernel, float *values,
                                medley_error *error)
{
    const size_t threads = md_max(between->threads, 1);
    const bool symmetric = between->left == between->right;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    bool *wanted = NULL;
    struct values_job job = {.between = between,
                             .kernel = kernel,
                             .height = symmetric ? MD_TILE : block_height(between->left->rows),
                             .symmetric = symmetric,
                             .values = values};
    MEDLEY_TRY(md_pool_new(&pool, &wanted, between->bank->count, sizeof *wanted, error));
    MEDLEY_TRY(
        md_tile_scratch_make(&pool, &job.scratch, threads, between->bank, between->right, error));
    wanted[kernel] = true;
    compute_values(&job, wanted, threads);
    return MEDLEY_OK;
}
