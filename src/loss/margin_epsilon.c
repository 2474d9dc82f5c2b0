/* SPDX-License-Identifier: BSD-3-Clause */
/* The loss of support vector regression, max(0, |y - f| - epsilon): residuals up to epsilon cost
 * nothing. Its conjugate is epsilon |rho| - rho y on -1 <= rho <= 1. */
#include "loss/margin_loss.h"

struct epsilon {
    double epsilon;
};

static const md_param epsilon_params[] = {{.name = "epsilon",
                                           .type = MD_DOUBLE,
                                           .offset = offsetof(struct epsilon, epsilon),
                                           .fallback = "0.1",
                                           .least = 0,
                                           .most = INFINITY,
                                           .argument = "E",
                                           .help = "Residuals up to this size cost nothing."},
                                          {0}};

static double epsilon_of(const void *state)
{
    return ((const struct epsilon *)state)->epsilon;
}

static double epsilon_value(const void *state, double y, double f)
{
    return fmax(0, fabs(y - f) - epsilon_of(state));
}

static double epsilon_slope(const void *state, double y, double f)
{
    const double epsilon = epsilon_of(state);
    const double size = fabs(f - y);
    if (size < epsilon || size == 0)
        return 0;
    return copysign(size == epsilon ? 0.5 : 1, f - y);
}

static md_interval epsilon_domain(const void *state, double y)
{
    (void)state;
    (void)y;
    return (md_interval){-1, 1};
}

static double epsilon_conjugate(const void *state, double y, double rho)
{
    return fabs(rho) <= 1 ? epsilon_of(state) * fabs(rho) - rho * y : INFINITY;
}

static double epsilon_prox(const void *state, double y, double gamma, double u, double *derivative)
{
    const double epsilon = epsilon_of(state);
    const double size = fabs(u - y);
    *derivative = 1;
    if (size <= epsilon)
        return u;
    if (size >= epsilon + gamma)
        return u - copysign(gamma, u - y);
    *derivative = 0;
    return y + copysign(epsilon, u - y);
}

const md_margin_loss md_margin_epsilon = {
    .name = "epsilon",
    .summary = "support vector regression: small residuals cost nothing",
    .formula = "max(0, |y - f| - epsilon)",
    .params = epsilon_params,
    .state_size = sizeof(struct epsilon),
    .svm = true,
    .value = epsilon_value,
    .slope = epsilon_slope,
    .domain = epsilon_domain,
    .conjugate = epsilon_conjugate,
    .prox = epsilon_prox,
};
