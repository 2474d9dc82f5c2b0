/* SPDX-License-Identifier: BSD-3-Clause */
#include "gram/exact_internal.h"

#include "base/vector.h"

enum { LANES = 8 }; /* right rows of a strip of a panel, [columns][LANES] */
_Static_assert(MD_EXACT_PANEL % LANES == 0, "a panel is made of whole strips");

/* ---- of one row with many: <x,z> and ||x - z||^2 ---- */

/* A single column, as views of one variable have it, is a vector of rows already. */
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

/* The same of the first `rows` of a panel, and of as many more as fill a strip. */
MD_VECTOR_VOID(dots_in_panel,
               (const double *x, const double *panel, size_t rows, size_t columns, double *q),
               (x, panel, rows, columns, q))
{
    for (size_t j = 0; j < rows; j += LANES) {
        const double *strip = panel + j * columns;
        double sum[LANES] = {0};
        for (size_t c = 0; c < columns; c++) {
#pragma omp simd
            for (size_t l = 0; l < LANES; l++)
                sum[l] += x[c] * strip[c * LANES + l];
        }
        memcpy(q + j, sum, sizeof sum);
    }
}

MD_VECTOR_VOID(distances2_in_panel,
               (const double *x, const double *panel, size_t rows, size_t columns, double *q),
               (x, panel, rows, columns, q))
{
    for (size_t j = 0; j < rows; j += LANES) {
        const double *strip = panel + j * columns;
        double sum[LANES] = {0};
        for (size_t c = 0; c < columns; c++) {
#pragma omp simd
            for (size_t l = 0; l < LANES; l++) {
                const double apart = x[c] - strip[c * LANES + l];
                sum[l] += apart * apart;
            }
        }
        memcpy(q + j, sum, sizeof sum);
    }
}

/* ---- the quantity that a kernel is a function of ---- */

bool md_exact_takes_panels(const md_between *between, size_t m)
{
    const md_kernel *kernel = &between->bank->kernels[m];
    if (kernel->class == NULL || kernel->class->quantity == MD_PAIRED)
        return false;
    const md_matrix *right = &between->right->views[kernel->view];
    return !md_matrix_is_sparse(right) && right->columns < MD_EXACT_NARROW;
}

void md_exact_fill_panel(const md_matrix *view, size_t first, size_t count, double *panel)
{
    const size_t d = view->columns;
    const float *z = view->dense + first * d;
    for (size_t j = 0; j < count; j += LANES)
        for (size_t c = 0; c < d; c++)
            for (size_t l = 0; l < LANES; l++)
                panel[j * d + c * LANES + l] = j + l < count ? (double)z[(j + l) * d + c] : 0;
}

/* <x,z> of the rows as they were before the origin o was subtracted from both:
 * <x + o, z + o> = <x + o, z> + <x + o, o>. */
static void dots(const double *x, const md_matrix *view, const float *origin,
                 const md_right_rows *right, double *q)
{
    const size_t d = view->columns;
    double base = 0;
    if (origin != NULL)
        dots_with_rows(x, origin, 1, d, &base);
    if (right->panel != NULL)
        dots_in_panel(x, right->panel, right->count, d, q);
    else
        dots_with_rows(x, view->dense + right->first * d, right->count, d, q);
    for (size_t j = 0; base != 0 && j < right->count; j++)
        q[j] += base;
}

static void dense_quantities(const md_between *between, const md_kernel *kernel, size_t row,
                             const md_right_rows *right, double *q, double *scratch)
{
    const size_t v = kernel->view;
    const md_matrix *view = &between->right->views[v];
    const size_t d = view->columns;
    const float *x = between->left->views[v].dense + row * d;
    const float *z = view->dense + right->first * d;
    const float *origin = between->bank->origin != NULL ? between->bank->origin[v] : NULL;
    const bool is_dot = kernel->class->quantity == MD_DOT;
    for (size_t c = 0; c < d; c++)
        scratch[c] = (double)x[c] + (is_dot && origin != NULL ? (double)origin[c] : 0);
    if (kernel->class->quantity == MD_PAIRED) {
        for (size_t j = 0; j < right->count; j++)
            q[j] = kernel->class->exact_pair_sum(x, z + j * d, d);
    } else if (is_dot) {
        dots(scratch, view, origin, right, q);
    } else if (right->panel != NULL) {
        distances2_in_panel(scratch, right->panel, right->count, d, q);
    } else {
        distances2_to_rows(scratch, z, right->count, d, q);
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
                              const md_right_rows *right, double *q)
{
    const md_matrix *view = &between->right->views[kernel->view];
    const md_row left = md_matrix_row(&between->left->views[kernel->view], row);
    for (size_t j = 0; j < right->count; j++)
        q[j] = sparse_quantity(kernel, left, md_matrix_row(view, right->first + j));
}

static void precomputed_values(const md_between *between, size_t m, size_t row,
                               const md_right_rows *right, double *out)
{
    const md_prepared *left = between->left;
    const md_matrix *values = left->precomputed[m];
    const double *wide = left->precomputed_float64[m];
    const size_t from = left->precomputed_row != NULL ? left->precomputed_row[row] : row;
    for (size_t i = 0; i < right->count; i++) {
        const size_t j = right->first + i;
        const size_t column = between->training_row != NULL ? between->training_row[j] : j;
        const size_t place = from * values->columns + column;
        out[i] = wide != NULL ? wide[place] : (double)values->dense[place];
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

static void divide_by_roots(const md_between *between, size_t m, size_t row,
                            const md_right_rows *right, double *values)
{
    const double own = inverse_root(between, m, row, true);
    const bool is_float = between->left->precomputed_float64[m] == NULL;
    const float *root = is_float ? between->right->inverse_root[m] + right->first : NULL;
    for (size_t j = 0; is_float && j < right->count; j++)
        values[j] *= own * (double)root[j];
    for (size_t j = 0; !is_float && j < right->count; j++)
        values[j] *= own * inverse_root(between, m, right->first + j, false);
}

size_t md_exact_scratch(const md_prepared *right)
{
    size_t columns = 1;
    for (size_t v = 0; v < right->view_count; v++)
        if (!md_matrix_is_sparse(&right->views[v]))
            columns = md_max(columns, right->views[v].columns);
    return columns;
}

void md_exact_quantities(const md_between *between, size_t m, size_t row,
                         const md_right_rows *right, double *q, double *scratch)
{
    const md_kernel *kernel = &between->bank->kernels[m];
    if (kernel->class == NULL)
        precomputed_values(between, m, row, right, q);
    else if (md_matrix_is_sparse(&between->right->views[kernel->view]))
        sparse_quantities(between, kernel, row, right, q);
    else
        dense_quantities(between, kernel, row, right, q, scratch);
}

void md_exact_values(const md_between *between, size_t m, size_t row, const md_right_rows *right,
                     const double *q, double *out)
{
    const md_kernel *kernel = &between->bank->kernels[m];
    if (kernel->class != NULL)
        kernel->class->exact(kernel->state, q, out, right->count);
    else if (out != q)
        memcpy(out, q, right->count * sizeof *out);
    if (kernel->norm == MD_NORM_DIAG) {
        divide_by_roots(between, m, row, right, out);
    } else if (kernel->factor != 1) {
        for (size_t j = 0; j < right->count; j++)
            out[j] *= kernel->factor;
    }
}

void md_exact_row(const md_between *between, size_t m, size_t row, double *out, double *scratch)
{
    const md_right_rows all = {.count = between->right->rows};
    md_exact_quantities(between, m, row, &all, out, scratch);
    md_exact_values(between, m, row, &all, out, out);
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
    if (kernel->class != NULL) {
        self = self_quantity(between, kernel, row);
        kernel->class->exact(kernel->state, &self, &self, 1);
    } else {
        self = wide != NULL ? wide[place] : (double)values->dense[place];
    }
    if (kernel->norm != MD_NORM_DIAG)
        return self * kernel->factor;
    const double root = inverse_root(between, m, row, true);
    return self * root * root;
}

void md_exact_selves(const md_between *between, size_t m, double *self)
{
    const md_kernel *kernel = &between->bank->kernels[m];
    const bool same = kernel->class != NULL && kernel->class->quantity == MD_DISTANCE2 &&
                      kernel->norm != MD_NORM_DIAG;
    for (size_t i = 0; i < between->left->rows; i++)
        self[i] = same && i > 0 ? self[0] : md_exact_self(between, m, i);
}
