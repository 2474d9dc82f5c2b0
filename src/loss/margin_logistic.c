/* SPDX-License-Identifier: BSD-3-Clause */
/* Logistic loss log(1 + exp(-y f)); with p = y rho its conjugate is p log p + (1-p) log(1-p), the
 * negative entropy of a coin. Everything is computed from exp of a negative number, so nothing
 * overflows. */
#include "loss/margin_loss.h"

#include <float.h>

/* 1 / (1 + exp(margin)) */
static double chance_of_error(double margin)
{
    if (margin < 0)
        return 1 / (1 + exp(margin));
    const double small = exp(-margin);
    return small / (1 + small);
}

static double logistic_value(const void *state, double y, double f)
{
    (void)state;
    const double margin = y * f;
    return margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
}

static double logistic_slope(const void *state, double y, double f)
{
    (void)state;
    return -y * chance_of_error(y * f);
}

static double logistic_conjugate(const void *state, double y, double rho)
{
    (void)state;
    const double p = y * rho;
    if (!(p >= 0 && p <= 1))
        return INFINITY;
    if (p == 0 || p == 1)
        return 0;
    return p * log(p) + (1 - p) * log1p(-p);
}

static double logistic_conjugate_slope(const void *state, double y, double rho)
{
    (void)state;
    const double p = y * rho;
    return y * (log(p) - log1p(-p));
}

static double logistic_conjugate_curvature(const void *state, double y, double rho)
{
    (void)state;
    const double p = y * rho;
    return 1 / (p * (1 - p));
}

/* In margins: w = v + gamma / (1 + exp(w)), whose right side falls from v + gamma to v. The root is
 * between them; Newton's method is kept there by halving. */
static double logistic_prox(const void *state, double y, double gamma, double u, double *derivative)
{
    (void)state;
    const double v = y * u;
    double low = v;
    double high = v + gamma;
    double w = v < 0 ? fmin(high, 0) : v;
    double p = chance_of_error(w);
    for (int step = 0; step < 200; step++) {
        const double excess = w - v - gamma * p;
        if (excess > 0)
            high = w;
        else
            low = w;
        double next = w - excess / (1 + gamma * p * (1 - p));
        if (!(next >= low && next <= high))
            next = low + (high - low) / 2;
        const double change = fabs(next - w);
        w = next;
        p = chance_of_error(w);
        if (change <= DBL_EPSILON * fabs(w) || high - low <= DBL_EPSILON * fabs(w))
            break;
    }
    *derivative = 1 / (1 + gamma * p * (1 - p));
    return y * w;
}

const md_margin_loss md_margin_logistic = {
    .name = "logistic",
    .summary = "logistic loss: probabilities",
    .formula = "log(1 + exp(-y f))",
    .classifies = true,
    .logistic_link = true,
    .smooth_conjugate = true,
    .strong_convexity = 4,
    .value = logistic_value,
    .slope = logistic_slope,
    .domain = md_label_domain,
    .conjugate = logistic_conjugate,
    .conjugate_slope = logistic_conjugate_slope,
    .conjugate_curvature = logistic_conjugate_curvature,
    .prox = logistic_prox,
};
