/* SPDX-License-Identifier: BSD-3-Clause */
/* Squared loss 1/2 (y - f)^2: ridge regression. rho is the residual y - f, and the conjugate is
 * rho^2/2 - rho y. */
#include "loss/margin_loss.h"

static double squared_value(const void *state, double y, double f)
{
    (void)state;
    return (y - f) * (y - f) / 2;
}

static double squared_slope(const void *state, double y, double f)
{
    (void)state;
    return f - y;
}

static md_interval squared_domain(const void *state, double y)
{
    (void)state;
    (void)y;
    return (md_interval){-INFINITY, INFINITY};
}

static double squared_conjugate(const void *state, double y, double rho)
{
    (void)state;
    return rho * (rho / 2 - y);
}

static double squared_conjugate_slope(const void *state, double y, double rho)
{
    (void)state;
    return rho - y;
}

static double squared_conjugate_curvature(const void *state, double y, double rho)
{
    (void)state;
    (void)y;
    (void)rho;
    return 1;
}

static double squared_prox(const void *state, double y, double gamma, double u, double *derivative)
{
    (void)state;
    *derivative = 1 / (1 + gamma);
    return y + (u - y) / (1 + gamma);
}

const md_margin_loss md_margin_squared = {
    .name = "squared",
    .summary = "squared loss: ridge regression",
    .formula = "1/2 (y - f)^2",
    .smooth_conjugate = true,
    .strong_convexity = 1,
    .value = squared_value,
    .slope = squared_slope,
    .domain = squared_domain,
    .conjugate = squared_conjugate,
    .conjugate_slope = squared_conjugate_slope,
    .conjugate_curvature = squared_conjugate_curvature,
    .prox = squared_prox,
};
