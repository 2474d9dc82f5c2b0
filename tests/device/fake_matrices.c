/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole matrices on the fake card. */
#include "fake_card.h"

typedef struct fake_matrices {
    fake_bank *bank;
    double *sum; /* [rows][rows]; NULL: there is none yet */
} fake_matrices;

static void free_matrices(void *context)
{
    fake_matrices *matrices = context;
    if (matrices != NULL)
        free(matrices->sum);
    free(matrices);
}

static int create_matrices(void *context, void **result, char *message)
{
    fake_bank *bank = context;
    *result = NULL;
    if (fake_fails(bank, message))
        return 1;
    fake_demand(bank->precise, "matrices of values in half precision");
    for (size_t m = 0; m < bank->kernels; m++)
        fake_demand(bank->own.root[m] == NULL, "matrices of values with roots");
    fake_matrices *matrices = fake_array(1, sizeof *matrices);
    matrices->bank = bank;
    *result = matrices;
    return 0;
}

static void check_kernels(const fake_bank *bank, const size_t *kernels, size_t count)
{
    fake_demand(count <= bank->kernels, "more kernels are asked for than there are");
    for (size_t k = 0; k < count; k++)
        fake_demand(kernels[k] < bank->kernels, "a kernel is asked for that is none");
}

static void multiply_kernel(const fake_bank *bank, size_t m, const double *x, double *norm2,
                            double *y)
{
    const size_t rows = bank->own.rows;
    double product = 0;
    for (size_t i = 0; i < rows; i++) {
        const float *values = fake_kept_row(bank, i) + m * rows;
        double sum = 0;
        for (size_t j = 0; j < rows; j++)
            sum += (double)values[j] * x[j];
        product += x[i] * sum;
        if (y != NULL)
            y[i] = sum;
    }
    if (norm2 != NULL)
        *norm2 = product;
}

static int multiply(void *context, const size_t *kernels, size_t count, const double *x,
                    size_t stride, double *norm2, double *y, char *message)
{
    const fake_matrices *matrices = context;
    const fake_bank *bank = matrices->bank;
    if (fake_fails(bank, message))
        return 1;
    check_kernels(bank, kernels, count);
    fake_demand(stride == 0 || stride >= bank->own.rows, "vectors overlap");
    for (size_t k = 0; k < count; k++)
        multiply_kernel(bank, kernels[k], x + k * stride, norm2 != NULL ? &norm2[k] : NULL,
                        y != NULL ? y + k * bank->own.rows : NULL);
    return 0;
}

static int squares(void *context, double *square, char *message)
{
    const fake_matrices *matrices = context;
    const fake_bank *bank = matrices->bank;
    const size_t rows = bank->own.rows;
    if (fake_fails(bank, message))
        return 1;
    for (size_t m = 0; m < bank->kernels; m++) {
        square[m] = 0;
        for (size_t e = 0; e < rows * rows; e++) {
            const double value = (double)fake_kept_row(bank, e / rows)[m * rows + e % rows];
            square[m] += value * value;
        }
    }
    return 0;
}

static int add_up(void *context, const size_t *kernels, size_t count, const double *weight,
                  double *sum, char *message)
{
    fake_matrices *matrices = context;
    const fake_bank *bank = matrices->bank;
    const size_t rows = bank->own.rows;
    if (fake_fails(bank, message))
        return 1;
    check_kernels(bank, kernels, count);
    if (matrices->sum == NULL)
        matrices->sum = fake_array(rows * rows, sizeof *matrices->sum);
    for (size_t e = 0; e < rows * rows; e++) {
        const float *values = fake_kept_row(bank, e / rows);
        matrices->sum[e] = 0;
        for (size_t k = 0; k < count; k++)
            matrices->sum[e] += weight[k] * (double)values[kernels[k] * rows + e % rows];
    }
    if (sum != NULL)
        memcpy(sum, matrices->sum, rows * rows * sizeof *sum);
    return 0;
}

static int multiply_sum(void *context, const double *x, double *y, char *message)
{
    const fake_matrices *matrices = context;
    const size_t rows = matrices->bank->own.rows;
    if (fake_fails(matrices->bank, message))
        return 1;
    fake_demand(matrices->sum != NULL, "a product with a sum that there is not");
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < rows; j++)
            sum += matrices->sum[i * rows + j] * x[j];
        y[i] = sum;
    }
    return 0;
}

static int column(void *context, size_t row, double *out, char *message)
{
    const fake_matrices *matrices = context;
    const size_t rows = matrices->bank->own.rows;
    if (fake_fails(matrices->bank, message))
        return 1;
    fake_demand(matrices->sum != NULL && row < rows, "a column of a sum that there is not");
    memcpy(out, matrices->sum + row * rows, rows * sizeof *out);
    return 0;
}

void fake_matrices_functions(md_device_functions *functions)
{
    functions->matrices_create = create_matrices;
    functions->matrices_free = free_matrices;
    functions->multiply = multiply;
    functions->squares = squares;
    functions->sum = add_up;
    functions->multiply_sum = multiply_sum;
    functions->column = column;
}
