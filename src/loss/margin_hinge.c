/* SPDX-License-Identifier: BSD-3-Clause */
/* Hinge loss max(0, 1 - y f), the support vector machine's. Its conjugate -y rho is linear on
 * 0 <= y rho <= 1: no curvature to work with, and all that matters happens at the ends. */
#include "loss/margin_loss.h"

static double hinge_value(const void *state, double y, double f)
{
    (void)state;
    return fmax(0, 1 - y * f);
}

static double hinge_slope(const void *state, double y, double f)
{
    (void)state;
    const double margin = y * f;
    if (margin == 1)
        return -y / 2;
    return margin < 1 ? -y : 0;
}

static double hinge_conjugate(const void *state, double y, double rho)
{
    (void)state;
    const double p = y * rho;
    return p >= 0 && p <= 1 ? -p : INFINITY;
}

static double hinge_prox(const void *state, double y, double gamma, double u, double *derivative)
{
    (void)state;
    const double margin = y * u;
    *derivative = 1;
    if (margin >= 1)
        return u;
    if (margin <= 1 - gamma)
        return u + y * gamma;
    *derivative = 0;
    return y;
}

static double hinge_soft_slope(const void *state, double y, double softness, double f,
                               double *curvature)
{
    (void)state;
    return -y * md_softplus_slope(1 - y * f, softness, curvature);
}

const md_margin_loss md_margin_hinge = {
    .name = "hinge",
    .summary = "hinge loss: support vector machine",
    .formula = "max(0, 1 - y f)",
    .classifies = true,
    .svm = true,
    .value = hinge_value,
    .slope = hinge_slope,
    .domain = md_label_domain,
    .conjugate = hinge_conjugate,
    .prox = hinge_prox,
    .soft_slope = hinge_soft_slope,
};
