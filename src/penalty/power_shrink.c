/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves y + k y^(q-1) = 1 (SPOM section 3.2, non-sparse MKL) by Newton's method from the side
 * where it is monotone. For q < 2 the function is concave with an infinite slope at 0; in
 * w = y^(q-1) it reads k w + w^p = 1 with p = 1/(q-1) > 1, which is convex, as the equation in
 * w = y with p = q-1 is for q >= 2. So both are
 *
 *     h(w) = alpha w + beta w^p - 1,   p >= 1,
 *
 * convex and increasing, and Newton's method falls monotonically to the root from any point on
 * the right of it. A first step from w = 1 or w = beta^(-1/p), where the power is known, is free
 * and ends there. */
#include "penalty/power_shrink.h"

#include <float.h>

/* Newton's method needs 1 to 5 steps, near q = 1 up to 9. The bound is only a safeguard. */
enum { MAX_STEPS = 200 };

/* exp(-NEGLIGIBLE) is below the rounding error of 1. */
static const double NEGLIGIBLE = 40;

double md_power(double x, double e)
{
    if (e == 2)
        return x * x;
    if (e == 1)
        return x;
    if (e == 0.5)
        return sqrt(x);
    if (e == -0.5)
        return 1 / sqrt(x);
    if (e == 1.5)
        return x * sqrt(x);
    return pow(x, e);
}

static double falling_root(double alpha, double beta, double p, double w)
{
    for (int step = 0; step < MAX_STEPS && w > 0; step++) {
        const double power = beta * md_power(w, p);
        const double linear = alpha * w;
        /* w - h(w)/h'(w) with h' = (linear + p power) / w */
        const double next = w * (1 + (p - 1) * power) / (linear + p * power);
        const double change = (w - next) / w;
        if (!(change > 0)) /* rounding stops the fall */
            break;
        w = next;
        if (p * change * change < DBL_EPSILON / 4) /* the relative change of the next step */
            break;
    }
    return w;
}

double md_power_shrink(double q, double k)
{
    if (k == 0)
        return 1;
    if (q >= 2) {
        const double p = q - 1;
        const double bound = k > 1 ? md_power(k, -1 / p) : 1; /* of k w^p <= 1 */
        const double start = k > 1 ? p * bound / (bound + p) : (1 + (p - 1) * k) / (1 + p * k);
        return falling_root(1, k, p, start);
    }
    const double p = 1 / (q - 1);
    const double w = falling_root(k, 1, p, fmin(1 / k, p / (k + p)));
    const double y = md_power(w, p);
    return y < q - 1 ? y : 1 - k * w; /* rounding of w is multiplied by p and by 1/y */
}

double md_power_shrink_log(double q, double log_k)
{
    if (log_k < -NEGLIGIBLE)
        return 1;
    const double log_y = -log_k / (q - 1); /* where the first term is negligible */
    if (log_y < -NEGLIGIBLE)
        return exp(log_y);
    return md_power_shrink(q, exp(log_k));
}

double md_power_weight(double q, double b)
{
    return q > 2 ? b : pow(b, 2 - q);
}
