/* SPDX-License-Identifier: BSD-3-Clause */
/* Products with kernel values in double precision. A block of left rows meets the right rows panel
 * by panel, so that neither values nor a transposed view are ever stored whole. Every left row is
 * summed by itself: results depend neither on the blocks nor on the number of threads. */
#include "gram/exact_internal.h"

#include "base/parallel.h"
#include "linalg/vectors.h"

enum {
    LARGEST_BLOCK = 64, /* left rows of an item, which share panels */
    SMALLEST_BLOCK = 8,
    ITEMS = 4 /* for each thread, at least */
};

/* y = K_m x of left rows first .. end - 1 and `count` kernels m, each with some vectors. */
struct products {
    const md_between *between;
    const size_t *kernels;
    size_t count, first, end;
    const double *x; /* [right rows] at kernel * x_kernel_stride + vector * right rows */
    size_t vectors, x_kernel_stride;
    double *y; /* at kernel, vector, row - first */
    size_t y_kernel_stride, y_vector_stride, y_row_stride;
    size_t *group; /* [groups + 1] first kernels; those of a group share quantities */
    size_t groups;
    size_t block, blocks; /* left rows of a block, and how many there are */
    double *scratch;      /* [workers][product_scratch] */
};

/* For quantities, values, a panel, and a row. */
static size_t product_scratch(const md_prepared *right)
{
    return (2 + MD_EXACT_NARROW) * MD_EXACT_PANEL + md_exact_scratch(right);
}

/* Are the quantities of kernel m those of the one before? */
static bool has_same_quantities(const md_bank *bank, size_t m, size_t before)
{
    const md_kernel *kernel = &bank->kernels[m];
    const md_kernel *other = &bank->kernels[before];
    return kernel->class != NULL && other->class != NULL && kernel->view == other->view &&
           kernel->class->quantity == other->class->quantity &&
           kernel->class->exact_pair_sum == other->class->exact_pair_sum;
}

static void find_groups(struct products *work)
{
    const size_t *kernels = work->kernels;
    for (size_t k = 0; k < work->count; k++)
        if (k == 0 || !has_same_quantities(work->between->bank, kernels[k], kernels[k - 1]))
            work->group[work->groups++] = k;
    work->group[work->groups] = work->count;
}

/* What some right rows add to the products of kernel k and one row. */
static void add_products(const struct products *work, size_t k, size_t row,
                         const md_right_rows *right, const double *values)
{
    const size_t columns = work->between->right->rows;
    const double *x = work->x + k * work->x_kernel_stride + right->first;
    double *y = work->y + k * work->y_kernel_stride + (row - work->first) * work->y_row_stride;
    for (size_t v = 0; v < work->vectors; v++)
        y[v * work->y_vector_stride] = (right->first > 0 ? y[v * work->y_vector_stride] : 0) +
                                       md_dot(values, x + v * columns, right->count);
}

/* An item is a group for a block of left rows. */
static void multiply_block(void *context, size_t item, size_t worker)
{
    const struct products *work = context;
    const md_between *between = work->between;
    const size_t group = item / work->blocks;
    const size_t first_kernel = work->kernels[work->group[group]];
    const size_t first = work->first + item % work->blocks * work->block;
    const size_t end = md_min(first + work->block, work->end);
    double *q = work->scratch + worker * product_scratch(between->right);
    double *values = q + MD_EXACT_PANEL;
    double *panel = values + MD_EXACT_PANEL;
    double *left_row = panel + MD_EXACT_NARROW * MD_EXACT_PANEL;
    const bool has_panel = md_exact_takes_panels(between, first_kernel);
    md_right_rows right = {.panel = has_panel ? panel : NULL};
    for (; right.first == 0 || right.first < between->right->rows; right.first += MD_EXACT_PANEL) {
        right.count = md_min(between->right->rows - right.first, MD_EXACT_PANEL);
        if (has_panel)
            md_exact_fill_panel(&between->right->views[between->bank->kernels[first_kernel].view],
                                right.first, right.count, panel);
        for (size_t row = first; row < end; row++) {
            md_exact_quantities(between, first_kernel, row, &right, q, left_row);
            for (size_t k = work->group[group]; k < work->group[group + 1]; k++) {
                md_exact_values(between, work->kernels[k], row, &right, q, values);
                add_products(work, k, row, &right, values);
            }
        }
    }
}

static medley_status multiply(struct products *work, medley_error *error)
{
    const size_t threads = md_max(work->between->threads, 1);
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    MEDLEY_TRY(md_pool_new(&pool, &work->group, work->count + 1, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(&pool, &work->scratch, threads * product_scratch(work->between->right),
                           sizeof(double), error));
    find_groups(work);
    work->block = LARGEST_BLOCK;
    while (work->block > SMALLEST_BLOCK &&
           work->groups * md_pieces(work->end - work->first, work->block) < ITEMS * threads)
        work->block /= 2;
    work->blocks = md_pieces(work->end - work->first, work->block);
    md_parallel_for(threads, work->groups * work->blocks, multiply_block, work);
    return MEDLEY_OK;
}

medley_status md_exact_multiply(const md_between *between, size_t m, const double *x, size_t count,
                                double *y, medley_error *error)
{
    struct products work = {.between = between,
                            .kernels = &m,
                            .count = 1,
                            .end = between->left->rows,
                            .x = x,
                            .vectors = count,
                            .y = y,
                            .y_vector_stride = between->left->rows,
                            .y_row_stride = 1};
    return multiply(&work, error);
}

medley_status md_exact_multiply_rows(const md_between *between, const md_exact_products *products,
                                     double *y, medley_error *error)
{
    struct products work = {.between = between,
                            .kernels = products->kernels,
                            .count = products->count,
                            .first = products->first,
                            .end = products->end,
                            .x = products->x,
                            .vectors = 1,
                            .x_kernel_stride = products->stride,
                            .y = y,
                            .y_kernel_stride = 1,
                            .y_row_stride = products->count};
    return multiply(&work, error);
}

/* Centred kernels: as center_scores in kernel_between.c. */
medley_status md_exact_scores(const md_between *between, size_t m, const double *coefficient,
                              size_t labels, double *scores, medley_error *error)
{
    const md_kernel *kernel = &between->bank->kernels[m];
    const bool centred = kernel->norm == MD_NORM_CENTER;
    const size_t rows = between->left->rows;
    const size_t columns = between->right->rows;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    double *x = NULL; /* [labels + 1][columns]: coefficients of each label, and for means */
    double *y = NULL; /* [labels + 1][rows] */
    MEDLEY_TRY(md_pool_new(&pool, &x, (labels + 1) * columns, sizeof *x, error));
    MEDLEY_TRY(md_pool_new(&pool, &y, (labels + 1) * rows, sizeof *y, error));
    for (size_t j = 0; j < columns; j++) {
        for (size_t l = 0; l < labels; l++)
            x[l * columns + j] = coefficient[j * labels + l];
        x[labels * columns + j] = 1 / (double)columns;
    }
    MEDLEY_TRY(md_exact_multiply(between, m, x, labels + centred, y, error));
    for (size_t l = 0; l < labels; l++) {
        double sum = 0;
        double mean = 0;
        for (size_t j = 0; j < columns && centred; j++) {
            sum += x[l * columns + j];
            mean += x[l * columns + j] * (double)kernel->column_mean[j];
        }
        for (size_t r = 0; r < rows; r++)
            scores[r * labels + l] +=
                y[l * rows + r] -
                (centred ? mean + (y[labels * rows + r] - kernel->grand_mean) * sum : 0);
    }
    return MEDLEY_OK;
}
