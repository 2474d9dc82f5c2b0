/* SPDX-License-Identifier: BSD-3-Clause */
/* SPOM's elastic net MKL: Omega = s/2 sum b^2 + (1-s)/2 (sum d b)^2. Completing the square gives
 * its exact prox in two steps: scale b by 1/(1 + tau s), then the mkl prox with
 * tau (1-s)/(1 + tau s). */
#include "penalty/block_weight.h"
#include "penalty/penalty.h"

static const md_param elastic_mkl_params[] =
    MD_ONE_NUMBER("s", "0.5", 0, 1, "S", "Share of the squared l2 norm; 0 is mkl, 1 is l2.");

static double elastic_mkl_value(const void *state, const double *b, const double *weight,
                                size_t count)
{
    const double s = md_number(state);
    const double norm = md_weighted_sum(b, weight, count);
    double squares = 0;
    for (size_t m = 0; m < count; m++)
        squares += b[m] * b[m];
    return s / 2 * squares + (1 - s) / 2 * norm * norm;
}

static void elastic_mkl_prox(const void *state, double tau, const double *b, const double *weight,
                             size_t count, double *shrunk, double *scratch)
{
    const double s = md_number(state);
    const double divisor = 1 + tau * s;
    for (size_t m = 0; m < count; m++)
        shrunk[m] = b[m] / divisor;
    md_mkl_prox(tau * (1 - s) / divisor, shrunk, weight, count, shrunk, scratch);
}

static double elastic_mkl_kernel_weight(const void *state, double b, double total)
{
    const double s = md_number(state);
    return b / ((1 - s) * total + s * b);
}

static double elastic_mkl_strong_convexity(const void *state, double least_weight)
{
    (void)least_weight; /* the squares are not weighted */
    return md_number(state);
}

/* The least, over thresholds t, of t^2 / (2 (1-s)) + sum max(0, n - t d)^2 / (2 s): n is split into
 * what either term takes. Newton's method climbs to the root of its slope from below, as in mkl.c;
 * no t gives less than the conjugate. */
static double elastic_mkl_conjugate(const void *state, const double *n, const double *weight,
                                    size_t count)
{
    const double s = md_number(state);
    if (s == 0 || s == 1) {
        const double norm = s == 0 ? md_largest_ratio(n, weight, count) : 0;
        return s == 0 ? norm * norm / 2 : md_half_squares(n, NULL, count);
    }
    double t = -1;
    for (double next = 0; next > t;) {
        t = next;
        double sum = 0;
        double squares = 0;
        for (size_t m = 0; m < count; m++) {
            const double d = md_block_weight(weight, m);
            if (n[m] > t * d) {
                sum += d * n[m];
                squares += d * d;
            }
        }
        next = sum / (s / (1 - s) + squares);
    }
    double excess = 0;
    for (size_t m = 0; m < count; m++) {
        const double x = fmax(0, n[m] - t * md_block_weight(weight, m));
        excess += x * x;
    }
    return t * t / (2 * (1 - s)) + excess / (2 * s);
}

/* Half a squared norm too, whose dual norm has no closed form. */
const md_penalty_class md_penalty_elastic_mkl = {
    .name = "elastic-mkl",
    .summary = "elastic net of SPOM: between mkl and l2",
    .formula = "s/2 sum b^2 + (1-s)/2 (sum d b)^2",
    .params = elastic_mkl_params,
    .state_size = sizeof(double),
    .value = elastic_mkl_value,
    .prox = elastic_mkl_prox,
    .kernel_weight = elastic_mkl_kernel_weight,
    .strong_convexity = elastic_mkl_strong_convexity,
    .conjugate = elastic_mkl_conjugate,
};
