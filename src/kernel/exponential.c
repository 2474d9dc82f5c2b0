/* SPDX-License-Identifier: BSD-3-Clause */
/* Laplacian kernel exp(-gamma ||x-z||_1), and its sibling for histograms, the exponential
 * chi-square kernel exp(-gamma sum (x-z)^2/(x+z)). auto: gamma = 1 / mean distance. */
#include "kernel/kernel.h"

#include "base/exp.h"
#include "base/vector.h"

const md_param md_exponential_params[] = {
    {MD_NUMBER(md_exponential, sigma, "", 1e-150, 1e150, "X", "width; gamma = 1/(2 sigma^2)")},
    {MD_NUMBER(md_exponential, sigma2, "", 1e-300, 1e300, "X",
               "squared width; gamma = 1/(2 sigma2)")},
    {MD_NUMBER(md_exponential, gamma, "", 1e-300, 1e300, "X",
               "factor of the distance in the exponent")},
    {.name = "auto",
     .type = MD_FLAG,
     .offset = offsetof(md_exponential, automatic),
     .fallback = "",
     .argument = "",
     .help = "from the data, by the mean distance (default when no width is given)"},
    {0}};

/* Exactly one may be given; without one the factor is left to the data. */
medley_status md_exponential_prepare(md_exponential *state, const char *kernel, bool *needs_data,
                                     medley_error *error)
{
    const int given = !isnan(state->sigma) + !isnan(state->sigma2) + !isnan(state->gamma);
    double gamma = state->gamma;
    if (given > 1 || (given == 1 && state->automatic))
        return md_fail(error, MEDLEY_USAGE,
                       "kernel %s: give one of sigma, sigma2, gamma and auto, not several", kernel);
    if (!isnan(state->sigma))
        gamma = 1 / (2 * state->sigma * state->sigma);
    else if (!isnan(state->sigma2))
        gamma = 1 / (2 * state->sigma2);
    state->factor = -gamma;
    *needs_data = isnan(gamma);
    return MEDLEY_OK;
}

void md_exponential_map(const void *state, const float *q, float *out, size_t count)
{
    md_exp_scaled(q, out, count, ((const md_exponential *)state)->factor);
}

static medley_status prepare(void *state, bool *needs_data, medley_error *error)
{
    return md_exponential_prepare(state, "laplace/chi2", needs_data, error);
}

static medley_status choose(void *state, const md_pair_statistics *statistics, medley_error *error)
{
    (void)error;
    md_exponential *kernel = state;
    kernel->gamma = statistics->mean > 0 ? md_round_choice(1 / statistics->mean) : 1;
    kernel->automatic = false;
    kernel->factor = -kernel->gamma;
    return MEDLEY_OK;
}

MD_VECTOR(float, sum_of_absolute_differences, (const float *x, const float *z, size_t columns),
          (x, z, columns))
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t c = 0; c < columns; c++)
        sum += fabsf(x[c] - z[c]);
    return sum;
}

/* A column where both are 0 contributes 0: the tiny number keeps the division defined. The square
 * of a small difference would be 0, its quotient is not. */
MD_VECTOR(float, sum_of_chi2_terms, (const float *x, const float *z, size_t columns),
          (x, z, columns))
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t c = 0; c < columns; c++) {
        const float difference = x[c] - z[c];
        sum += difference * (difference / (x[c] + z[c] + 1e-30f));
    }
    return sum;
}

MD_VECTOR_VOID(exp_exactly, (const double *q, double *out, size_t count, double factor),
               (q, out, count, factor))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++)
        out[j] = md_exp_double(factor * q[j]);
}

void md_exponential_exact(const void *state, const double *q, double *out, size_t count)
{
    exp_exactly(q, out, count, ((const md_exponential *)state)->factor);
}

void md_exponential_form(const void *state, md_device_form *form)
{
    *form = (md_device_form){.quantity = MD_ON_DISTANCE2,
                             .map = MD_MAP_EXP,
                             .scale = md_float_factor(((const md_exponential *)state)->factor)};
}

static void form_of_laplace(const void *state, md_device_form *form)
{
    md_exponential_form(state, form);
    form->quantity = MD_ON_L1;
}

static void form_of_chi2(const void *state, md_device_form *form)
{
    md_exponential_form(state, form);
    form->quantity = MD_ON_CHI2;
}

MD_VECTOR(double, exact_sum_of_absolute_differences,
          (const float *x, const float *z, size_t columns), (x, z, columns))
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t c = 0; c < columns; c++)
        sum += fabs((double)x[c] - (double)z[c]);
    return sum;
}

MD_VECTOR(double, exact_sum_of_chi2_terms, (const float *x, const float *z, size_t columns),
          (x, z, columns))
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t c = 0; c < columns; c++) {
        const double difference = (double)x[c] - (double)z[c];
        const double both = (double)x[c] + (double)z[c];
        sum += difference * difference / (both > 0 ? both : 1); /* no branch: 0 / 1 */
    }
    return sum;
}

const md_kernel_class md_kernel_laplace = {
    .name = "laplace",
    .summary = "Laplacian",
    .formula = "exp(-gamma ||x-z||_1), gamma = 1/(2 sigma2), sigma2 = sigma^2",
    .quantity = MD_PAIRED,
    .params = md_exponential_params,
    .state_size = sizeof(md_exponential),
    .positive_definite = true,
    .map = md_exponential_map,
    .exact = md_exponential_exact,
    .pair_sum = sum_of_absolute_differences,
    .exact_pair_sum = exact_sum_of_absolute_differences,
    .form = form_of_laplace,
    .prepare = prepare,
    .choose = choose,
};

const md_kernel_class md_kernel_chi2 = {
    .name = "chi2",
    .summary = "exponential chi-square, for histograms",
    .formula = "exp(-gamma sum (x-z)^2/(x+z)), gamma = 1/(2 sigma2), sigma2 = sigma^2",
    .quantity = MD_PAIRED,
    .params = md_exponential_params,
    .state_size = sizeof(md_exponential),
    .positive_definite = true,
    .nonnegative_data = true,
    .map = md_exponential_map,
    .exact = md_exponential_exact,
    .pair_sum = sum_of_chi2_terms,
    .exact_pair_sum = exact_sum_of_chi2_terms,
    .form = form_of_chi2,
    .prepare = prepare,
    .choose = choose,
};
