/* SPDX-License-Identifier: BSD-3-Clause */
/* A penalty from outside: Omega = sum d (b + b^2 / 2), whose prox is (b - tau d)+ / (1 + tau d). */
#include "penalty/penalty.h"

#include <math.h>

static double weight_of(const double *weight, size_t m)
{
    return weight != NULL ? weight[m] : 1;
}

static double value(const void *state, const double *b, const double *weight, size_t count)
{
    (void)state;
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        sum += weight_of(weight, m) * (b[m] + b[m] * b[m] / 2);
    return sum;
}

static void prox(const void *state, double tau, const double *b, const double *weight, size_t count,
                 double *shrunk, double *scratch)
{
    (void)state;
    (void)scratch;
    for (size_t m = 0; m < count; m++) {
        const double t = tau * weight_of(weight, m);
        shrunk[m] = fmax(0, b[m] - t) / (1 + t);
    }
}

static double strong_convexity(const void *state, double least_weight)
{
    (void)state;
    return least_weight;
}

const md_penalty_class md_penalty_firm = {
    .name = "firm",
    .summary = "norms and their squares, from outside",
    .formula = "sum d (b + b^2/2)",
    .value = value,
    .prox = prox,
    .strong_convexity = strong_convexity,
};
