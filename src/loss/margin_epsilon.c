/* SPDX-License-Identifier: BSD-3-Clause */
/* The loss of support vector regression, max(0, |y - f| - epsilon): residuals up to epsilon cost
 * nothing. Its conjugate is epsilon |rho| - rho y on -1 <= rho <= 1. */
#include "loss/margin_loss.h"

static const md_param epsilon_params[] =
    MD_ONE_NUMBER("epsilon", "0.1", 0, INFINITY, "E", "Residuals up to this size cost nothing.");

static double epsilon_value(const void *state, double y, double f)
{
    return fmax(0, fabs(y - f) - md_number(state));
}

static double epsilon_slope(const void *state, double y, double f)
{
    const double epsilon = md_number(state);
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
    return fabs(rho) <= 1 ? md_number(state) * fabs(rho) - rho * y : INFINITY;
}

static double epsilon_prox(const void *state, double y, double gamma, double u, double *derivative)
{
    const double epsilon = md_number(state);
    const double size = fabs(u - y);
    *derivative = 1;
    if (size <= epsilon)
        return u;
    if (size >= epsilon + gamma)
        return u - copysign(gamma, u - y);
    *derivative = 0;
    return y + copysign(epsilon, u - y);
}

/* Two kinks: max(0, f - y - epsilon) + max(0, y - f - epsilon). */
static double epsilon_soft_slope(const void *state, double y, double softness, double f,
                                 double *curvature)
{
    const double epsilon = md_number(state);
    double above;
    double below;
    const double slope = md_softplus_slope(f - y - epsilon, softness, &above) -
                         md_softplus_slope(y - f - epsilon, softness, &below);
    *curvature = above + below;
    return slope;
}

const md_margin_loss md_margin_epsilon = {
    .name = "epsilon",
    .summary = "support vector regression: small residuals cost nothing",
    .formula = "max(0, |y - f| - epsilon)",
    .params = epsilon_params,
    .state_size = sizeof(double),
    .svm = true,
    .value = epsilon_value,
    .slope = epsilon_slope,
    .domain = epsilon_domain,
    .conjugate = epsilon_conjugate,
    .prox = epsilon_prox,
    .soft_slope = epsilon_soft_slope,
};
