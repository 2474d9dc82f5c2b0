/* SPDX-License-Identifier: BSD-3-Clause */
/* Laplacian kernel exp(-gamma ||x-z||_1), and its sibling for histograms, the exponential
 * chi-square kernel exp(-gamma sum (x-z)^2/(x+z)). auto: gamma = 1 / mean distance. */
#include "kernel/kernel.h"

#include "base/vector.h"
#include <math.h>

struct exponential {
    md_width width;
    double factor; /* -gamma */
};

static const md_param exponential_params[] = {MD_WIDTH_PARAMS(struct exponential), {0}};

static medley_status prepare_exponential(void *state, bool *needs_data, medley_error *error)
{
    struct exponential *kernel = state;
    double gamma;
    const medley_status status = md_width_gamma(&kernel->width, "laplace/chi2", &gamma, error);
    kernel->factor = -gamma;
    *needs_data = isnan(gamma);
    return status;
}

static medley_status choose_exponential(void *state, const md_pair_statistics *statistics,
                                        medley_error *error)
{
    (void)error;
    struct exponential *kernel = state;
    kernel->width.gamma = statistics->mean > 0 ? md_round_choice(1 / statistics->mean) : 1;
    kernel->width.automatic = false;
    kernel->factor = -kernel->width.gamma;
    return MEDLEY_OK;
}

static void map_exponential(const void *state, const float *q, float *out, size_t count)
{
    const struct exponential *kernel = state;
    md_exp_scaled(q, out, count, kernel->factor);
}

MD_VECTOR
static float sum_of_absolute_differences(const float *x, const float *z, size_t columns)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t c = 0; c < columns; c++)
        sum += fabsf(x[c] - z[c]);
    return sum;
}

/* A column where both are 0 contributes 0: the tiny number keeps the division defined. */
MD_VECTOR
static float sum_of_chi2_terms(const float *x, const float *z, size_t columns)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t c = 0; c < columns; c++) {
        const float difference = x[c] - z[c];
        sum += difference * difference / (x[c] + z[c] + 1e-30f);
    }
    return sum;
}

extern const md_kernel_class md_kernel_laplace;
const md_kernel_class md_kernel_laplace = {
    .name = "laplace",
    .summary = "Laplacian",
    .formula = "exp(-gamma ||x-z||_1)",
    .quantity = MD_PAIRED,
    .params = exponential_params,
    .state_size = sizeof(struct exponential),
    .positive_definite = true,
    .map = map_exponential,
    .pair_sum = sum_of_absolute_differences,
    .prepare = prepare_exponential,
    .choose = choose_exponential,
};

extern const md_kernel_class md_kernel_chi2;
const md_kernel_class md_kernel_chi2 = {
    .name = "chi2",
    .summary = "exponential chi-square, for histograms",
    .formula = "exp(-gamma sum (x-z)^2/(x+z))",
    .quantity = MD_PAIRED,
    .params = exponential_params,
    .state_size = sizeof(struct exponential),
    .positive_definite = true,
    .nonnegative_data = true,
    .map = map_exponential,
    .pair_sum = sum_of_chi2_terms,
    .prepare = prepare_exponential,
    .choose = choose_exponential,
};
