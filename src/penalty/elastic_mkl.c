/* SPDX-License-Identifier: BSD-3-Clause */
/* SPOM's elastic net MKL: Omega = s/2 sum (d b)^2 + (1-s)/2 (sum d b)^2. Completing the square
 * gives its exact prox in two steps: with c = sqrt(1 + tau s d^2), the mkl prox of b/c with weights
 * d/c and tau (1-s), then a division by c. Without weights that is the mkl prox of b/c^2 with
 * tau (1-s)/c^2. */
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
    for (size_t m = 0; m < count; m++) {
        const double x = md_weighted(b, weight, m);
        squares += x * x;
    }
    return s / 2 * squares + (1 - s) / 2 * norm * norm;
}

static void elastic_mkl_prox(const void *state, double tau, const double *b, const double *weight,
                             size_t count, double *shrunk, double *scratch)
{
    const double s = md_number(state);
    if (weight == NULL) {
        const double divisor = 1 + tau * s;
        for (size_t m = 0; m < count; m++)
            shrunk[m] = b[m] / divisor;
        md_mkl_prox(tau * (1 - s) / divisor, shrunk, NULL, count, shrunk, scratch);
        return;
    }
    double *relative = scratch + 2 * count; /* d/c; the mkl prox has the rest of the scratch */
    for (size_t m = 0; m < count; m++) {
        const double c = sqrt(1 + tau * s * weight[m] * weight[m]);
        relative[m] = weight[m] / c;
        shrunk[m] = b[m] / c;
    }
    md_mkl_prox(tau * (1 - s), shrunk, relative, count, shrunk, scratch);
    for (size_t m = 0; m < count; m++)
        shrunk[m] /= sqrt(1 + tau * s * weight[m] * weight[m]);
}

static double elastic_mkl_kernel_weight(const void *state, double b, double total)
{
    const double s = md_number(state);
    return b / ((1 - s) * total + s * b);
}

static double elastic_mkl_strong_convexity(const void *state, double least_weight)
{
    return md_number(state) * least_weight * least_weight;
}

/* The least, over thresholds t, of t^2 / (2 (1-s)) + sum max(0, n/d - t)^2 / (2 s): n is split into
 * what either term takes. Newton's method climbs to the root of its slope from below, as in mkl.c;
 * no t gives less than the conjugate. */
static double elastic_mkl_conjugate(const void *state, const double *n, const double *weight,
                                    size_t count)
{
    const double s = md_number(state);
    const double largest = md_largest_ratio(n, weight, count);
    if (s == 0 || isinf(largest))
        return largest * largest / 2;
    if (s == 1)
        return md_half_squares(n, weight, count);
    double t = -1;
    for (double next = 0; next > t;) {
        t = next;
        double sum = 0;
        double squares = 0;
        for (size_t m = 0; m < count; m++) {
            const double x = md_over_weight(n, weight, m);
            if (x > t) {
                sum += x;
                squares += 1;
            }
        }
        next = sum / (s / (1 - s) + squares);
    }
    double excess = 0;
    for (size_t m = 0; m < count; m++) {
        const double x = fmax(0, md_over_weight(n, weight, m) - t);
        excess += x * x;
    }
    return t * t / (2 * (1 - s)) + excess / (2 * s);
}

static const md_scalar_penalty *elastic_mkl_root(const void *state, const void **root_state,
                                                 double *q)
{
    (void)state;
    return md_penalty_mkl.root(NULL, root_state, q);
}

/* Half a squared norm too, whose dual norm has no closed form. */
const md_penalty_class md_penalty_elastic_mkl = {
    .name = "elastic-mkl",
    .summary = "elastic net of SPOM: between mkl and l2",
    .formula = "s/2 sum (d b)^2 + (1-s)/2 (sum d b)^2",
    .params = elastic_mkl_params,
    .state_size = sizeof(double),
    .value = elastic_mkl_value,
    .prox = elastic_mkl_prox,
    .kernel_weight = elastic_mkl_kernel_weight,
    .strong_convexity = elastic_mkl_strong_convexity,
    .conjugate = elastic_mkl_conjugate,
    .root = elastic_mkl_root,
    .l2_share = md_number_of,
};
