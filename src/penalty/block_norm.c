/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-sparse multiple kernel learning: Omega = (1/q) sum (d b)^q, q > 1. The prox solves
 * x + tau d^q x^(q-1) = b for each block (SPOM section 3.2). */
#include "penalty/block_weight.h"
#include "penalty/penalty.h"
#include "penalty/power_shrink.h"

static const md_param block_params[] = MD_ONE_NUMBER("q", "1.5", MD_LEAST_Q, MD_MOST_Q, "Q",
                                                     "Exponent of the norms; nearer 1 is sparser.");

static double block_value(const void *state, const double *b, const double *weight, size_t count)
{
    const double q = md_number(state);
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        sum += md_power(md_weighted(b, weight, m), q);
    return sum / q;
}

/* The ratio of the prox to b > 0, for tau > 0 and d > 0. */
static double shrinking_ratio(double q, double tau, double d, double b)
{
    const double power = d == 1 ? 1 : md_power(d, q);
    const double k = tau * (power * md_power(b, q - 2));
    return isnormal(k) ? md_power_shrink(q, k)
                       : md_power_shrink_log(q, log(tau) + q * log(d) + (q - 2) * log(b));
}

static void block_prox(const void *state, double tau, const double *b, const double *weight,
                       size_t count, double *shrunk, double *scratch)
{
    const double q = md_number(state);
    (void)scratch;
    for (size_t m = 0; m < count; m++) {
        const double x = b[m];
        const double d = md_block_weight(weight, m);
        const bool stays = x == 0 || d == 0 || tau == 0;
        shrunk[m] = stays ? x : x * shrinking_ratio(q, tau, d, x);
    }
}

static double block_kernel_weight(const void *state, double b, double total)
{
    (void)total;
    return md_power_weight(md_number(state), b);
}

/* d^q (q-1) b^(q-2) has no positive lower bound over all b unless q = 2. */
static double block_strong_convexity(const void *state, double least_weight)
{
    return md_number(state) == 2 ? least_weight * least_weight : 0;
}

/* ---- as a sum of g(x) = x^q / q ---- */

/* Where powers grow beyond all use (q near 1) or are infinite (q > 2 at 0) they end here, so that
 * sums and products of them stay finite. */
static const double MOST_POWER = 1e150;

/* Beyond q = 2 its curvature is infinite at 0; near q = 1 its power q/(q-1) is too steep for steps
 * that follow the curvature. */
static bool block_smooth_conjugate(const void *state)
{
    const double q = md_number(state);
    return q >= 1.25 && q <= 2;
}

/* Where the loss is smooth too, all of it is worth a try (SpicyMKL section 4.3); nearer 1 its power
 * is beyond 20. */
static bool block_one_step(const void *state)
{
    return md_number(state) >= 1.05;
}

static double block_scalar_value(const void *state, double x)
{
    const double q = md_number(state);
    return md_power(x, q) / q;
}

static double block_slope(const void *state, double x)
{
    return md_power(x, md_number(state) - 1);
}

static double block_bend(const void *state, double x)
{
    const double q = md_number(state);
    return fmin((q - 1) * md_power(x, q - 2), MOST_POWER);
}

/* With w = x/y, tau x^(q-2) = (1-w)/w: what the derivative 1 / (1 + tau (q-1) x^(q-2)) needs. At
 * y = 0 the ratio's limit is 0, 1/(1+tau) or 1. */
static double block_scalar_prox(const void *state, double tau, double y, double *derivative)
{
    const double q = md_number(state);
    double ratio = q < 2 ? 0 : q > 2 ? 1 : 1 / (1 + tau);
    if (y > 0)
        ratio = shrinking_ratio(q, tau, 1, y);
    *derivative = ratio / (ratio + (q - 1) * (1 - ratio));
    return y * ratio;
}

/* tau (y/tau)^r / r with r = q/(q-1). */
static double block_conjugate(const void *state, double tau, double y, double *slope,
                              double *curvature)
{
    const double q = md_number(state);
    const double e = 1 / (q - 1); /* r - 1 */
    const double ratio = y / tau;
    const double x = fmin(md_power(ratio, e), MOST_POWER);
    if (slope != NULL)
        *slope = x;
    if (curvature != NULL)
        *curvature = fmin(e / tau * md_power(ratio, e - 1), MOST_POWER);
    return fmin(y * x / (e + 1), MOST_POWER);
}

static const md_scalar_penalty block_scalar = {
    .smooth_conjugate = block_smooth_conjugate,
    .one_step = block_one_step,
    .value = block_scalar_value,
    .slope_at_zero = md_zero,
    .slope = block_slope,
    .bend = block_bend,
    .prox = block_scalar_prox,
    .conjugate = block_conjugate,
};

/* Of all blocks: (1/r) sum (n/d)^r with r = q/(q-1). */
static double block_conjugate_of_all(const void *state, const double *n, const double *weight,
                                     size_t count)
{
    const double e = 1 / (md_number(state) - 1); /* r - 1 */
    double sum = 0;
    for (size_t m = 0; m < count; m++) {
        const double x = md_over_weight(n, weight, m);
        sum += x > 0 ? x * md_power(x, e) : 0;
    }
    return sum / (e + 1);
}

const md_penalty_class md_penalty_block = {
    .name = "block",
    .summary = "non-sparse multiple kernel learning: powers of the norms",
    .weights = ", the share of its norm to the power of 2 − q (the norm itself beyond q = 2) under "
               "the penalty",
    .formula = "(1/q) sum (d b)^q",
    .scalar = &block_scalar,
    .params = block_params,
    .state_size = sizeof(double),
    .value = block_value,
    .prox = block_prox,
    .kernel_weight = block_kernel_weight,
    .strong_convexity = block_strong_convexity,
    .conjugate = block_conjugate_of_all,
};
