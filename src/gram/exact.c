/* SPDX-License-Identifier: BSD-3-Clause */
#include "gram/exact.h"

#include "base/parallel.h"
#include "base/vector.h"
#include "linalg/vectors.h"

enum { BLOCK = 16 }; /* left rows of an item */

/* <x,z>, and ||x - z||^2, of x with each row z. A single column, as views of one variable have it,
 * makes a vector of rows in place of columns. */
MD_VECTOR_VOID(dots_with_rows,
               (const double *x, const float *z, size_t rows, size_t columns, double *q),
               (x, z, rows, columns, q))
{
    for (size_t j = 0; columns == 1 && j < rows; j++)
        q[j] = x[0] * (double)z[j];
    for (size_t j = 0; columns != 1 && j < rows; j++) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t c = 0; c < columns; c++)
            sum += x[c] * (double)z[j * columns + c];
        q[j] = sum;
    }
}

MD_VECTOR_VOID(distances2_to_rows,
               (const double *x, const float *z, size_t rows, size_t columns, double *q),
               (x, z, rows, columns, q))
{
    for (size_t j = 0; columns == 1 && j < rows; j++)
        q[j] = (x[0] - (double)z[j]) * (x[0] - (double)z[j]);
    for (size_t j = 0; columns != 1 && j < rows; j++) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t c = 0; c < columns; c++) {
            const double apart = x[c] - (double)z[j * columns + c];
            sum += apart * apart;
        }
        q[j] = sum;
    }
}

/* ---- the quantity that a kernel is a function of ---- */

/* <x,z> of the rows as they were before the origin o was subtracted from both:
 * <x + o, z + o> = <x + o, z> + <x + o, o>. */
static void dense_quantities(const md_between *between, const md_kernel *kernel, size_t row,
                             double *q, double *scratch)
{
    const size_t v = kernel->view;
    const md_matrix *right = &between->right->views[v];
    const size_t d = right->columns;
    const float *x = between->left->views[v].dense + row * d;
    const float *origin = between->bank->origin != NULL ? between->bank->origin[v] : NULL;
    const bool dots = kernel->class->quantity == MD_DOT;
    for (size_t c = 0; c < d; c++)
        scratch[c] = (double)x[c] + (dots && origin != NULL ? (double)origin[c] : 0);
    if (kernel->class->quantity == MD_PAIRED) {
        for (size_t j = 0; j < right->rows; j++)
            q[j] = kernel->class->exact_pair_sum(x, right->dense + j * d, d);
    } else if (dots) {
        double base = 0;
        if (origin != NULL)
            dots_with_rows(scratch, origin, 1, d, &base);
        dots_with_rows(scratch, right->dense, right->rows, d, q);
        for (size_t j = 0; base != 0 && j < right->rows; j++)
            q[j] += base;
    } else {
        distances2_to_rows(scratch, right->dense, right->rows, d, q);
    }
}

/* What two numbers of one column add to the quantity; of distances, the square. */
static double term(const md_kernel *kernel, const float *x, const float *z)
{
    if (kernel->class->quantity == MD_PAIRED)
        return kernel->class->exact_pair_sum(x, z, 1);
    const double difference = (double)*x - (double)*z;
    return kernel->class->quantity == MD_DOT ? (double)*x * (double)*z : difference * difference;
}

/* A pair of zeros adds nothing, so the columns of the two rows are gone through together. */
static double sparse_quantity(const md_kernel *kernel, md_row x, md_row z)
{
    const float zero = 0;
    double sum = 0;
    for (size_t i = 0, j = 0; i < x.count || j < z.count;) {
        const size_t left = i < x.count ? md_row_column(x, i) : SIZE_MAX;
        const size_t right = j < z.count ? md_row_column(z, j) : SIZE_MAX;
        sum +=
            term(kernel, left <= right ? &x.value[i] : &zero, right <= left ? &z.value[j] : &zero);
        i += left <= right;
        j += right <= left;
    }
    return sum;
}

static void sparse_quantities(const md_between *between, const md_kernel *kernel, size_t row,
                              double *q)
{
    const md_matrix *right = &between->right->views[kernel->view];
    const md_row left = md_matrix_row(&between->left->views[kernel->view], row);
    for (size_t j = 0; j < right->rows; j++)
        q[j] = sparse_quantity(kernel, left, md_matrix_row(right, j));
}

static void precomputed_row(const md_between *between, size_t m, size_t row, double *out)
{
    const md_prepared *left = between->left;
    const md_matrix *values = left->precomputed[m];
    const double *wide = left->precomputed_float64[m];
    const size_t from = left->precomputed_row != NULL ? left->precomputed_row[row] : row;
    for (size_t j = 0; j < between->right->rows; j++) {
        const size_t column = between->training_row != NULL ? between->training_row[j] : j;
        const size_t place = from * values->columns + column;
        out[j] = wide != NULL ? wide[place] : (double)values->dense[place];
    }
}

/* ---- rows ---- */

/* 1 / sqrt(K(x,x)): as prepared, but of training values that were never rounded their own. */
static double inverse_root(const md_between *between, size_t m, size_t row, bool left)
{
    const double *wide = between->left->precomputed_float64[m];
    if (wide != NULL && between->left == between->right) {
        const double self = wide[row * between->left->precomputed[m]->columns + row];
        return self > 0 ? 1 / sqrt(self) : 0;
    }
    return (double)(left ? between->left : between->right)->inverse_root[m][row];
}

size_t md_exact_scratch(const md_prepared *right)
{
    size_t columns = 1;
    for (size_t v = 0; v < right->view_count; v++)
        if (!md_matrix_is_sparse(&right->views[v]))
            columns = md_max(columns, right->views[v].columns);
    return columns;
}

/* What the kernel is a function of; of precomputed ones, its values. */
static void quantities(const md_between *between, size_t m, size_t row, double *q, double *scratch)
{
    const md_kernel *kernel = &between->bank->kernels[m];
    if (kernel->class == NULL)
        precomputed_row(between, m, row, q);
    else if (md_matrix_is_sparse(&between->right->views[kernel->view]))
        sparse_quantities(between, kernel, row, q);
    else
        dense_quantities(between, kernel, row, q, scratch);
}

/* Values from quantities, which may be in the same place. */
static void values_from(const md_between *between, size_t m, size_t row, const double *q,
                        double *out)
{
    const md_kernel *kernel = &between->bank->kernels[m];
    const size_t count = between->right->rows;
    for (size_t j = 0; j < count; j++)
        out[j] = kernel->class != NULL ? kernel->class->exact(kernel->state, q[j]) : q[j];
    if (kernel->norm == MD_NORM_DIAG) {
        const double own = inverse_root(between, m, row, true);
        for (size_t j = 0; j < count; j++)
            out[j] *= own * inverse_root(between, m, j, false);
    } else if (kernel->factor != 1) {
        for (size_t j = 0; j < count; j++)
            out[j] *= kernel->factor;
    }
}

void md_exact_row(const md_between *between, size_t m, size_t row, double *out, double *scratch)
{
    quantities(between, m, row, out, scratch);
    values_from(between, m, row, out, out);
}

static double self_quantity(const md_between *between, const md_kernel *kernel, size_t row)
{
    const float *origin =
        between->bank->origin != NULL ? between->bank->origin[kernel->view] : NULL;
    const md_row x = md_matrix_row(&between->left->views[kernel->view], row);
    double sum = 0;
    if (kernel->class->quantity == MD_DISTANCE2)
        return 0;
    if (kernel->class->quantity == MD_PAIRED)
        return kernel->class->exact_pair_sum(x.value, x.value, x.count);
    for (size_t e = 0; e < x.count; e++) {
        const double value = (double)x.value[e] + (origin != NULL ? (double)origin[e] : 0);
        sum += value * value;
    }
    return sum;
}

double md_exact_self(const md_between *between, size_t m, size_t row)
{
    const md_kernel *kernel = &between->bank->kernels[m];
    const md_matrix *values = between->left->precomputed[m];
    const double *wide = between->left->precomputed_float64[m];
    const size_t place = kernel->class == NULL ? row * values->columns + row : 0;
    double self = 0;
    if (kernel->class != NULL)
        self = kernel->class->exact(kernel->state, self_quantity(between, kernel, row));
    else
        self = wide != NULL ? wide[place] : (double)values->dense[place];
    if (kernel->norm != MD_NORM_DIAG)
        return self * kernel->factor;
    const double root = inverse_root(between, m, row, true);
    return self * root * root;
}

/* ---- products ---- */

struct multiplying {
    const md_between *between;
    size_t kernel;
    const double *x;
    size_t count;
    double *y;
    double *scratch; /* [workers][right rows + md_exact_scratch] */
};

static void multiply_block(void *context, size_t item, size_t worker)
{
    const struct multiplying *work = context;
    const md_between *between = work->between;
    const size_t columns = between->right->rows;
    double *values = work->scratch + worker * (columns + md_exact_scratch(between->right));
    const size_t end = md_min((item + 1) * BLOCK, between->left->rows);
    for (size_t r = item * BLOCK; r < end; r++) {
        md_exact_row(between, work->kernel, r, values, values + columns);
        for (size_t k = 0; k < work->count; k++)
            work->y[k * between->left->rows + r] = md_dot(values, work->x + k * columns, columns);
    }
}

medley_status md_exact_multiply(const md_between *between, size_t m, const double *x, size_t count,
                                double *y, medley_error *error)
{
    const size_t threads = md_max(between->threads, 1);
    const size_t scratch = between->right->rows + md_exact_scratch(between->right);
    MD_OWNED(free) double *memory = NULL;
    MEDLEY_TRY(md_new_aligned(&memory, threads * scratch, sizeof *memory, error));
    struct multiplying work = {between, m, x, count, y, memory};
    md_parallel_for(threads, md_pieces(between->left->rows, BLOCK), multiply_block, &work);
    return MEDLEY_OK;
}

struct row_products {
    const md_between *between;
    const md_exact_products *products;
    double *y;
    double *scratch; /* [workers][2 right rows + md_exact_scratch] */
};

/* Are the quantities of kernel m those of the one before? */
static bool has_same_quantities(const md_bank *bank, size_t m, size_t before)
{
    const md_kernel *kernel = &bank->kernels[m];
    const md_kernel *other = &bank->kernels[before];
    return kernel->class != NULL && other->class != NULL && kernel->view == other->view &&
           kernel->class->quantity == other->class->quantity &&
           kernel->class->exact_pair_sum == other->class->exact_pair_sum;
}

/* Kernels first .. end - 1, which share quantities, of the left rows of an item. */
static void multiply_group(const struct row_products *work, md_span rows, md_span group, double *q,
                           double *values)
{
    const md_between *between = work->between;
    const md_exact_products *products = work->products;
    const size_t columns = between->right->rows;
    for (size_t r = rows.first; r < rows.end; r++) {
        quantities(between, products->kernels[group.first], r, q, values + columns);
        for (size_t k = group.first; k < group.end; k++) {
            values_from(between, products->kernels[k], r, q, values);
            work->y[(r - products->first) * products->count + k] =
                md_dot(values, products->x + k * products->stride, columns);
        }
    }
}

/* All rows of the item before the next view: its right rows stay in cache. */
static void multiply_row_block(void *context, size_t item, size_t worker)
{
    const struct row_products *work = context;
    const md_exact_products *products = work->products;
    const size_t columns = work->between->right->rows;
    double *q = work->scratch + worker * (2 * columns + md_exact_scratch(work->between->right));
    const size_t first = products->first + item * BLOCK;
    const md_span rows = {first, md_min(first + BLOCK, products->end)};
    for (md_span group = {0}; group.first < products->count; group.first = group.end) {
        group.end = group.first + 1;
        while (group.end < products->count &&
               has_same_quantities(work->between->bank, products->kernels[group.end],
                                   products->kernels[group.first]))
            group.end++;
        multiply_group(work, rows, group, q, q + columns);
    }
}

medley_status md_exact_multiply_rows(const md_between *between, const md_exact_products *products,
                                     double *y, medley_error *error)
{
    const size_t threads = md_max(between->threads, 1);
    const size_t scratch = 2 * between->right->rows + md_exact_scratch(between->right);
    MD_OWNED(free) double *memory = NULL;
    MEDLEY_TRY(md_new_aligned(&memory, threads * scratch, sizeof *memory, error));
    struct row_products work = {between, products, y, memory};
    md_parallel_for(threads, md_pieces(products->end - products->first, BLOCK), multiply_row_block,
                    &work);
    return MEDLEY_OK;
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
