/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-sparse multiple kernel learning: Omega = (1/q) sum d b^q, q > 1. The prox solves
 * x + tau d x^(q-1) = b for each block (SPOM section 3.2). */
#include "penalty/block_weight.h"
#include "penalty/penalty.h"
#include "penalty/power_shrink.h"

#include <math.h>

struct block {
    double q;
};

static const md_param block_params[] = {{.name = "q",
                                         .type = MD_DOUBLE,
                                         .offset = offsetof(struct block, q),
                                         .fallback = "1.5",
                                         .least = MD_LEAST_Q,
                                         .most = MD_MOST_Q,
                                         .argument = "Q",
                                         .help = "Exponent of the norms; nearer 1 is sparser."},
                                        {0}};

static double block_value(const void *state, const double *b, const double *weight, size_t count)
{
    const double q = ((const struct block *)state)->q;
    double sum = 0;
    for (size_t m = 0; m < count; m++) {
        const double d = md_block_weight(weight, m);
        sum += d > 0 ? d * md_power(b[m], q) : 0; /* the power may be infinite */
    }
    return sum / q;
}

static void block_prox(const void *state, double tau, const double *b, const double *weight,
                       size_t count, double *shrunk, double *scratch)
{
    const double q = ((const struct block *)state)->q;
    (void)scratch;
    for (size_t m = 0; m < count; m++) {
        const double x = b[m];
        const double d = md_block_weight(weight, m);
        if (x == 0 || d == 0 || tau == 0) {
            shrunk[m] = x;
            continue;
        }
        const double k = tau * (d * md_power(x, q - 2));
        const double y = isnormal(k) ? md_power_shrink(q, k)
                                     : md_power_shrink_log(q, log(tau) + log(d) + (q - 2) * log(x));
        shrunk[m] = x * y;
    }
}

static double block_kernel_weight(const void *state, double b, double total)
{
    (void)total;
    return pow(b, 2 - ((const struct block *)state)->q);
}

/* d (q-1) b^(q-2) has no positive lower bound over all b unless q = 2. */
static double block_strong_convexity(const void *state, double least_weight)
{
    return ((const struct block *)state)->q == 2 ? least_weight : 0;
}

extern const md_penalty_class md_penalty_block;
const md_penalty_class md_penalty_block = {
    .name = "block",
    .summary = "non-sparse multiple kernel learning: powers of the norms",
    .formula = "(1/q) sum d b^q",
    .params = block_params,
    .state_size = sizeof(struct block),
    .separable = true,
    .value = block_value,
    .prox = block_prox,
    .kernel_weight = block_kernel_weight,
    .strong_convexity = block_strong_convexity,
};
