/* SPDX-License-Identifier: BSD-3-Clause */
/* SpicyMKL's elastic net: Omega = (1-t) sum d b + t/2 sum (d b)^2;
 * prox b' = max(0, b - tau (1-t) d) / (1 + tau t d^2). */
#include "penalty/block_weight.h"
#include "penalty/penalty.h"

static const md_param elastic_params[] = MD_ONE_NUMBER(
    "t", "0.5", 0, 1, "T", "Share of the squared l2 norm; 0 is group-lasso, 1 is l2.");

static double elastic_value(const void *state, const double *b, const double *weight, size_t count)
{
    const double t = md_number(state);
    double sum = 0;
    for (size_t m = 0; m < count; m++) {
        const double x = md_weighted(b, weight, m);
        sum += x * ((1 - t) + t / 2 * x);
    }
    return sum;
}

static void elastic_prox(const void *state, double tau, const double *b, const double *weight,
                         size_t count, double *shrunk, double *scratch)
{
    const double t = md_number(state);
    const double linear = tau * (1 - t);
    const double square = tau * t;
    (void)scratch;
    for (size_t m = 0; m < count; m++) {
        const double d = md_block_weight(weight, m);
        const double x = b[m] - linear * d;
        shrunk[m] = x > 0 ? x / (1 + square * d * d) : 0;
    }
}

/* g(x) = (1-t) sqrt(x) + t x/2 at x = b^2. */
static double elastic_kernel_weight(const void *state, double b, double total)
{
    const double t = md_number(state);
    (void)total;
    return b / ((1 - t) + t * b);
}

static double elastic_strong_convexity(const void *state, double least_weight)
{
    return md_number(state) * least_weight * least_weight;
}

/* ---- as a sum of g(x) = (1-t) x + t/2 x^2, also of group-lasso (t = 0) and l2 (t = 1) ---- */

static bool elastic_smooth_conjugate(const void *state)
{
    return md_number(state) > 0;
}

static double elastic_scalar_value(const void *state, double x)
{
    const double t = md_number(state);
    return x * ((1 - t) + t / 2 * x);
}

static double elastic_slope_at_zero(const void *state)
{
    return 1 - md_number(state);
}

static double elastic_slope(const void *state, double x)
{
    const double t = md_number(state);
    return (1 - t) + t * x;
}

static double elastic_bend(const void *state, double x)
{
    (void)x;
    return md_number(state);
}

static double elastic_scalar_prox(const void *state, double tau, double y, double *derivative)
{
    const double t = md_number(state);
    const double x = y - tau * (1 - t);
    *derivative = x > 0 || t == 1 ? 1 / (1 + tau * t) : 0;
    return x > 0 ? x / (1 + tau * t) : 0;
}

/* max(0, y - tau (1-t))^2 / (2 tau t), which is infinite beyond tau where t = 0 */
static double elastic_conjugate(const void *state, double tau, double y, double *slope,
                                double *curvature)
{
    const double t = md_number(state);
    const double excess = fmax(0, y - tau * (1 - t));
    const double x = excess > 0 ? excess / (tau * t) : 0;
    if (slope != NULL)
        *slope = x;
    if (curvature != NULL)
        *curvature = excess > 0 || t == 1 ? 1 / (tau * t) : 0;
    return excess * x / 2;
}

const md_scalar_penalty md_elastic_scalar = {
    .smooth_conjugate = elastic_smooth_conjugate,
    .one_step = elastic_smooth_conjugate,
    .value = elastic_scalar_value,
    .slope_at_zero = elastic_slope_at_zero,
    .slope = elastic_slope,
    .bend = elastic_bend,
    .prox = elastic_scalar_prox,
    .conjugate = elastic_conjugate,
};

/* Of all blocks: sum max(0, n/d - (1-t))^2 / (2 t). */
static double elastic_conjugate_of_all(const void *state, const double *n, const double *weight,
                                       size_t count)
{
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        sum += elastic_conjugate(state, 1, md_over_weight(n, weight, m), NULL, NULL);
    return sum;
}

const md_penalty_class md_penalty_elastic = {
    .name = "elastic",
    .summary = "elastic net of SpicyMKL: between group-lasso and l2",
    .weights = ": its norm, divided by 1 − t + t times the norm, as a share of the sum of all "
               "these; t is that of the penalty",
    .formula = "(1-t) sum d b + t/2 sum (d b)^2",
    .scalar = &md_elastic_scalar,
    .params = elastic_params,
    .state_size = sizeof(double),
    .value = elastic_value,
    .prox = elastic_prox,
    .kernel_weight = elastic_kernel_weight,
    .strong_convexity = elastic_strong_convexity,
    .conjugate = elastic_conjugate_of_all,
};
