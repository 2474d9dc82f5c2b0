/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel values between new points and support points, used as they are computed: prediction. A
 * block of new rows belongs to one thread, which adds up its scores tile by tile in a fixed order.
 */
#include "gram/gram_internal.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "linalg/products.h"
#include <stdlib.h>
#include <string.h>

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
    const size_t height = (rows / BLOCKS + LEAST - 1) / LEAST * LEAST;
    return height < LEAST ? LEAST : height < MD_TILE ? height : MD_TILE;
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
    md_tile_range range = {.row = block.row, .symmetric = between->left == between->right};
    range.rows =
        between->left->rows - range.row < height ? between->left->rows - range.row : height;
    for (range.column = 0; range.column < between->right->rows; range.column += MD_TILE) {
        range.columns = between->right->rows - range.column < MD_TILE
                            ? between->right->rows - range.column
                            : MD_TILE;
        md_tile_compute(&job, range, &scoring->scratch[worker]);
    }
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

/* scoring: where the scores go. */
static medley_status score_all(struct scoring scoring, const md_between *between,
                               const md_expansion *terms, size_t term_count, size_t labels,
                               medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t kernels = between->bank->count;
    const size_t threads = between->threads ? between->threads : 1;
    scoring.between = between;
    scoring.terms = terms;
    scoring.term_count = term_count;
    scoring.labels = labels;
    scoring.by_label = md_calloc(term_count * labels * between->right->rows, sizeof(float));
    scoring.term_of = md_calloc(kernels, sizeof *scoring.term_of);
    scoring.wanted = md_calloc(kernels, sizeof *scoring.wanted);
    scoring.sums = md_calloc(term_count * labels, sizeof *scoring.sums);
    scoring.means = md_calloc(term_count * labels, sizeof *scoring.means);
    scoring.row_sums = md_calloc(threads * kernels * MD_TILE, sizeof *scoring.row_sums);
    scoring.scratch = md_calloc(threads, sizeof *scoring.scratch);
    if (!scoring.by_label || !scoring.term_of || !scoring.wanted || !scoring.sums ||
        !scoring.means || !scoring.row_sums || !scoring.scratch) {
        status = md_fail_memory(error, threads * kernels * MD_TILE * sizeof(double));
        goto done;
    }
    for (size_t t = 0; t < threads; t++)
        MEDLEY_TRY_DONE(md_tile_scratch_init(&scoring.scratch[t], between->right, error));
    for (size_t t = 0; t < term_count; t++) {
        scoring.term_of[terms[t].kernel] = t + 1;
        scoring.wanted[terms[t].kernel] = true;
    }
    take_coefficients(&scoring);
    const size_t height = block_height(between->left->rows);
    md_parallel_for(threads, (between->left->rows + height - 1) / height, score_block, &scoring);
done:
    for (size_t t = 0; scoring.scratch != NULL && t < threads; t++)
        md_tile_scratch_clear(&scoring.scratch[t]);
    free(scoring.scratch);
    free(scoring.by_label);
    free(scoring.term_of);
    free(scoring.wanted);
    free(scoring.sums);
    free(scoring.means);
    free(scoring.row_sums);
    return status;
}

medley_status md_between_scores(const md_between *between, const md_expansion *terms,
                                size_t term_count, size_t labels, float *scores,
                                medley_error *error)
{
    return score_all((struct scoring){.scores = scores}, between, terms, term_count, labels, error);
}

medley_status md_between_scores_apart(const md_between *between, const md_expansion *terms,
                                      size_t term_count, size_t labels, float *const *scores,
                                      medley_error *error)
{
    return score_all((struct scoring){.apart = scores}, between, terms, term_count, labels, error);
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
    const size_t rows = job->between->left->rows;
    const size_t columns = job->between->right->rows;
    md_tile_range range = {.row = item * job->height, .symmetric = job->symmetric};
    range.rows = rows - range.row < job->height ? rows - range.row : job->height;
    for (range.column = job->symmetric ? range.row : 0; range.column < columns;
         range.column += MD_TILE) {
        range.columns = columns - range.column < MD_TILE ? columns - range.column : MD_TILE;
        md_tile_compute(&job->tile, range, &job->scratch[worker]);
    }
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
    md_parallel_for(threads, (rows + job->height - 1) / job->height, values_block, job);
    if (between->bank->kernels[job->kernel].norm == MD_NORM_CENTER)
        md_parallel_for(threads, rows, center_values, job);
}

medley_status md_between_values(const md_between *between, size_t kernel, float *values,
                                medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t threads = between->threads ? between->threads : 1;
    bool *wanted = md_calloc(between->bank->count, sizeof *wanted);
    struct values_job job = {.between = between,
                             .kernel = kernel,
                             .values = values,
                             .symmetric = between->left == between->right,
                             .scratch = md_calloc(threads, sizeof *job.scratch)};
    job.height = job.symmetric ? MD_TILE : block_height(between->left->rows);
    if (wanted == NULL || job.scratch == NULL) {
        status = md_fail_memory(error, between->bank->count);
        goto done;
    }
    for (size_t t = 0; t < threads; t++)
        MEDLEY_TRY_DONE(md_tile_scratch_init(&job.scratch[t], between->right, error));
    wanted[kernel] = true;
    compute_values(&job, wanted, threads);
done:
    for (size_t t = 0; job.scratch != NULL && t < threads; t++)
        md_tile_scratch_clear(&job.scratch[t]);
    free(job.scratch);
    free(wanted);
    return status;
}
