/* SPDX-License-Identifier: BSD-3-Clause */
/* Losses and penalties of the batch problem and their conjugates, written down from docs/math.md
 * and nothing else: what the solver's own functions are checked against. */
#ifndef TESTS_BATCH_PLAIN_FORMULAS_H
#define TESTS_BATCH_PLAIN_FORMULAS_H

#include <math.h>
#include <stddef.h>

enum plain_loss_kind { LOGISTIC, HINGE, SQUARED, EPSILON, LOSSES };
static const char *const plain_loss_names[LOSSES] = {"logistic", "hinge", "squared", "epsilon"};

struct plain_loss {
    size_t kind;    /* enum plain_loss_kind */
    double epsilon; /* EPSILON only */
};

static inline double plain_loss_value(const struct plain_loss *loss, double y, double f)
{
    switch (loss->kind) {
    case LOGISTIC:
        return y * f > 0 ? log1p(exp(-y * f)) : log1p(exp(y * f)) - y * f;
    case HINGE:
        return fmax(0, 1 - y * f);
    case SQUARED:
        return (y - f) * (y - f) / 2;
    default:
        return fmax(0, fabs(y - f) - loss->epsilon);
    }
}

static inline double plain_entropy(double p)
{
    return p > 0 ? p * log(p) : 0;
}

/* l*(-rho); infinite outside of its domain. */
static inline double plain_loss_conjugate(const struct plain_loss *loss, double y, double rho)
{
    const double p = y * rho;
    switch (loss->kind) {
    case LOGISTIC:
        return p >= 0 && p <= 1 ? plain_entropy(p) + plain_entropy(1 - p) : INFINITY;
    case HINGE:
        return p >= 0 && p <= 1 ? -p : INFINITY;
    case SQUARED:
        return rho * rho / 2 - rho * y;
    default:
        return fabs(rho) <= 1 ? loss->epsilon * fabs(rho) - rho * y : INFINITY;
    }
}

static inline double plain_loss_slope(const struct plain_loss *loss, double y, double f)
{
    switch (loss->kind) {
    case LOGISTIC:
        return -y / (1 + exp(y * f));
    case HINGE:
        return y * f < 1 ? -y : 0;
    case SQUARED:
        return f - y;
    default:
        return fabs(f - y) <= loss->epsilon ? 0 : copysign(1, f - y);
    }
}

/* ---- penalties: g of one norm ---- */

enum plain_penalty_kind { LASSO, ELASTIC, BLOCK };

struct plain_penalty {
    const char *text;
    enum plain_penalty_kind kind;
    double parameter; /* t or q */
};

static inline double plain_g(const struct plain_penalty *penalty, double x)
{
    const double p = penalty->parameter;
    if (penalty->kind == LASSO)
        return x;
    return penalty->kind == ELASTIC ? (1 - p) * x + p / 2 * x * x : pow(x, p) / p;
}

static inline double plain_g_slope(const struct plain_penalty *penalty, double x)
{
    const double p = penalty->parameter;
    if (penalty->kind == LASSO)
        return 1;
    return penalty->kind == ELASTIC ? 1 - p + p * x : pow(x, p - 1);
}

/* sup_x x h - C g(x) */
static inline double plain_g_conjugate(const struct plain_penalty *penalty, double C, double h)
{
    const double p = penalty->parameter;
    if (penalty->kind == LASSO || (penalty->kind == ELASTIC && p == 0))
        return h <= C ? 0 : INFINITY;
    if (penalty->kind == ELASTIC)
        return pow(fmax(0, h - C * (1 - p)), 2) / (2 * C * p);
    return C * (p - 1) / p * pow(h / C, p / (p - 1));
}

/* argmin_x (x - b)^2 / 2 + tau g(x), by halving. */
static inline double plain_g_prox(const struct plain_penalty *penalty, double tau, double b)
{
    double low = 0;
    double high = b;
    for (int i = 0; i < 100; i++) {
        const double x = (low + high) / 2;
        if (x - b + tau * plain_g_slope(penalty, x) > 0)
            high = x;
        else
            low = x;
    }
    return low;
}

static const struct plain_penalty plain_penalties[] = {
    {"group-lasso", LASSO, 0},    {"elastic(t=0.5)", ELASTIC, 0.5},   {"elastic(t=0)", ELASTIC, 0},
    {"elastic(t=1)", ELASTIC, 1}, {"elastic(t=0.02)", ELASTIC, 0.02}, {"block(q=1.5)", BLOCK, 1.5},
    {"block(q=3)", BLOCK, 3},     {"block(q=2)", BLOCK, 2},
};
enum { PENALTIES = sizeof plain_penalties / sizeof *plain_penalties };

#endif
