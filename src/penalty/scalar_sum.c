/* SPDX-License-Identifier: BSD-3-Clause */
#include "penalty/scalar_sum.h"

#include "penalty/penalty_internal.h"
#include <float.h>

static const double LEAST = 1e-300;     /* norms below are 0 */
static const double MOST_POWER = 1e150; /* curvatures end here, so that products stay finite */
enum { MOST_STEPS = 300 };              /* about ten are needed */

static double sum_value(const void *state, double x)
{
    const md_scalar_sum *sum = state;
    double value = 0;
    for (const md_scalar_term *t = sum->terms; t < sum->terms + sum->count; t++)
        value += t->factor * t->scalar->value(t->state, sum->unit * x);
    return value;
}

static double sum_slope_at_zero(const void *state)
{
    const md_scalar_sum *sum = state;
    double slope = 0;
    for (const md_scalar_term *t = sum->terms; t < sum->terms + sum->count; t++)
        slope += t->factor * sum->unit * t->scalar->slope_at_zero(t->state);
    return slope;
}

static double sum_slope(const void *state, double x)
{
    const md_scalar_sum *sum = state;
    double slope = 0;
    for (const md_scalar_term *t = sum->terms; t < sum->terms + sum->count; t++)
        slope += t->factor * sum->unit * t->scalar->slope(t->state, sum->unit * x);
    return slope;
}

static double sum_bend(const void *state, double x)
{
    const md_scalar_sum *sum = state;
    double bend = 0;
    for (const md_scalar_term *t = sum->terms; t < sum->terms + sum->count; t++)
        bend += t->factor * sum->unit * sum->unit * t->scalar->bend(t->state, sum->unit * x);
    return fmin(bend, MOST_POWER);
}

/* One term that bends is enough: the curvature of the conjugate is one over that of the sum. */
static bool sum_smooth_conjugate(const void *state)
{
    const md_scalar_sum *sum = state;
    bool smooth = false;
    for (const md_scalar_term *t = sum->terms; t < sum->terms + sum->count; t++)
        smooth = smooth || t->scalar->smooth_conjugate(t->state);
    return smooth;
}

static bool sum_one_step(const void *state)
{
    const md_scalar_sum *sum = state;
    bool smooth = false;
    for (const md_scalar_term *t = sum->terms; t < sum->terms + sum->count; t++)
        smooth = smooth || t->scalar->one_step(t->state);
    return smooth;
}

/* The x > 0 with own x + tau g'(x) = y, which is below high; 0 where it would be below LEAST.
 * Newton's method between ends that close in on it. */
static double solve_slope(const md_scalar_sum *sum, double own, double tau, double y, double high)
{
    double low = LEAST;
    if (!(high > low) || own * low + tau * sum_slope(sum, low) >= y)
        return 0;
    double x = high;
    for (int step = 0; step < MOST_STEPS; step++) {
        const double off = own * x + tau * sum_slope(sum, x) - y;
        if (off > 0)
            high = x;
        else
            low = x;
        double next = x - off / (own + tau * sum_bend(sum, x));
        if (fabs(next - x) <= DBL_EPSILON * x)
            return fmin(fmax(next, low), high);
        if (!(next > low && next < high) || step % 8 == 7)
            next = high > 4 * low ? sqrt(low) * sqrt(high) : low + (high - low) / 2;
        if (next == low || next == high)
            return next;
        x = next;
    }
    return x;
}

static double sum_prox(const void *state, double tau, double y, double *derivative)
{
    const double first = tau * sum_slope_at_zero(state);
    const double x = y > first ? solve_slope(state, 1, tau, y, y - first) : 0;
    const bool flat = x == 0 && first > 0 && y <= first;
    *derivative = flat ? 0 : 1 / (1 + tau * sum_bend(state, fmax(x, LEAST)));
    return x;
}

/* The slope of the sum is at least that of each term: where the sum's is y, x is no more than where
 * a term's alone is. Infinite: no term's is ever y. */
static double most_length(const md_scalar_sum *sum, double tau, double y)
{
    double most = INFINITY;
    for (const md_scalar_term *t = sum->terms; t < sum->terms + sum->count; t++) {
        double x = INFINITY;
        const double strength = tau * t->factor * sum->unit;
        if (isfinite(t->scalar->conjugate(t->state, strength, y, &x, NULL)))
            most = fmin(most, x / sum->unit);
    }
    return most;
}

static double sum_conjugate(const void *state, double tau, double y, double *slope,
                            double *curvature)
{
    const double first = tau * sum_slope_at_zero(state);
    const bool flat = y <= first;
    const double most = flat ? 0 : most_length(state, tau, y);
    const double x = isfinite(most) ? solve_slope(state, 0, tau, y, 2 * most) : most;
    if (slope != NULL)
        *slope = x;
    if (curvature != NULL)
        *curvature =
            flat && first > 0 ? 0 : fmin(1 / (tau * sum_bend(state, fmax(x, LEAST))), MOST_POWER);
    return isfinite(x) ? fmax(0, x * y - tau * sum_value(state, x)) : INFINITY;
}

const md_scalar_penalty md_sum_of_scalars = {
    .smooth_conjugate = sum_smooth_conjugate,
    .one_step = sum_one_step,
    .value = sum_value,
    .slope_at_zero = sum_slope_at_zero,
    .slope = sum_slope,
    .bend = sum_bend,
    .prox = sum_prox,
    .conjugate = sum_conjugate,
};

/* ---- penalties as such sums ---- */

static bool add_scalar(md_penalty_parts *parts, const md_penalty_class *class, const void *state,
                       double factor)
{
    md_scalar_sum *sum = &parts->sum;
    if (class->scalar == NULL || sum->count == MD_MOST_TERMS - 1) /* one more may join them */
        return false;
    sum->terms[sum->count++] = (md_scalar_term){
        .scalar = class->scalar, .state = class->fixed ? class->fixed : state, .factor = factor};
    return true;
}

/* Squares of the same norm are one. */
static bool add_square(md_penalty_parts *parts, const md_penalty_class *class, const void *state,
                       double factor)
{
    double q;
    const void *root_state;
    const md_scalar_penalty *root =
        class->root != NULL ? class->root(state, &root_state, &q) : NULL;
    if (root == NULL || (parts->root != NULL && parts->q != q))
        return false;
    parts->root = root;
    parts->root_state = root_state;
    parts->q = q;
    parts->factor += factor;
    return true;
}

bool md_penalty_split(md_penalty_parts *parts, const md_penalty *penalty)
{
    *parts = (md_penalty_parts){.sum.unit = 1};
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++) {
        const double share = t->class->l2_share != NULL ? t->class->l2_share(t->state) : 0;
        bool known = true;
        if (share > 0)
            known = add_scalar(parts, &md_penalty_l2, NULL, share * t->factor);
        if (known && share < 1)
            known = add_scalar(parts, t->class, t->state, t->factor) ||
                    add_square(parts, t->class, t->state, (1 - share) * t->factor);
        if (!known)
            return false;
    }
    return parts->sum.count > 0 || parts->root != NULL;
}
