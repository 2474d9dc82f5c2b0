/* SPDX-License-Identifier: BSD-3-Clause */
/* The least point of a convex function from its slope: where the slope changes its sign. Two
 * secants are followed by a halving unless they have done better, so jumps cost what bisection
 * costs and smooth slopes a few steps. Every other halving is of the numbers between the ends
 * rather than of the distance, which finds small points in large intervals. */
#include "optim/optim.h"

#include <float.h>

enum { MOST_STEPS = 400 };

struct bracket {
    md_slope slope;
    void *context;
    double low, high;             /* slope < 0 at low, > 0 at high */
    double low_slope, high_slope; /* halved where an end stays too long, so that secants move it */
    int stays;                    /* > 0: steps for which low has stayed, < 0: high */
};

/* Doubles in their order as whole numbers, and back. */
static int64_t rank(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double of_rank(int64_t bits)
{
    double x;
    bits = bits < 0 ? INT64_MIN - bits : bits;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double middle(const struct bracket *b, bool of_numbers)
{
    if (!of_numbers)
        return b->low / 2 + b->high / 2;
    const int64_t low = rank(b->low);
    const int64_t high = rank(b->high);
    return of_rank((low >> 1) + (high >> 1) + (low & high & 1));
}

/* The distance at which two points are the same. */
static double resolution(const struct bracket *b)
{
    return DBL_EPSILON * fmin(fabs(b->low), fabs(b->high)) + DBL_MIN;
}

/* Where the line through both ends is 0, not nearer to an end than it can be told from it: at the
 * point itself the next step then comes from the other side. */
static double secant(const struct bracket *b)
{
    const double width = b->high - b->low;
    const double t = b->low + width * (b->low_slope / (b->low_slope - b->high_slope));
    const double away = 2 * resolution(b);
    if (!isfinite(b->low_slope) || !isfinite(b->high_slope) || !isfinite(t) || !(width > 2 * away))
        return b->low / 2 + b->high / 2;
    return fmin(fmax(t, b->low + away), b->high - away);
}

/* Takes t into the bracket; true if it is the point. */
static bool narrow(struct bracket *b, double t)
{
    const double slope = b->slope(b->context, t);
    if (slope == 0) {
        b->low = b->high = t;
        return true;
    }
    if (slope < 0) {
        b->low = t;
        b->low_slope = slope;
        b->stays = b->stays < 0 ? b->stays - 1 : -1;
        if (b->stays < -1)
            b->high_slope /= 2;
    } else {
        b->high = t;
        b->high_slope = slope;
        b->stays = b->stays > 0 ? b->stays + 1 : 1;
        if (b->stays > 1)
            b->low_slope /= 2;
    }
    return false;
}

static double search(struct bracket *b)
{
    bool of_numbers = false;
    for (int step = 0; step < MOST_STEPS && b->high - b->low > 2 * resolution(b); step += 3) {
        const double width = b->high - b->low;
        for (int i = 0; i < 2; i++)
            if (narrow(b, secant(b)))
                return b->low;
        if (b->high - b->low <= width / 8)
            continue;
        const double t = middle(b, of_numbers);
        of_numbers = !of_numbers;
        if (t > b->low && t < b->high && narrow(b, t))
            return b->low;
    }
    return -b->low_slope < b->high_slope ? b->low : b->high;
}

/* Walks from `from` by growing steps in the direction of sign until the slope has that sign. False
 * if it never has. */
static bool find_end(const struct bracket *b, double from, double sign, double *end, double *slope)
{
    double step = fmax(1, fabs(from));
    for (double t = from + sign * step; isfinite(t); t = from + sign * step) {
        *slope = b->slope(b->context, t);
        *end = t;
        if (sign * *slope >= 0)
            return true;
        step *= 4;
    }
    return false;
}

double md_least_point(md_slope slope, void *context, double low, double high)
{
    struct bracket b = {.slope = slope, .context = context, .low = low, .high = high};
    if (isinf(low)) {
        const double from = isinf(high) ? 0 : high;
        if (!find_end(&b, from, -1, &b.low, &b.low_slope))
            return low;
    } else {
        b.low_slope = slope(context, low);
    }
    if (isinf(high)) {
        if (!(b.low_slope < 0))
            return b.low;
        if (!find_end(&b, isinf(low) ? 0 : low, 1, &b.high, &b.high_slope))
            return high;
    } else {
        b.high_slope = slope(context, high);
    }
    if (!(b.low_slope < 0))
        return b.low;
    if (!(b.high_slope > 0))
        return b.high;
    return search(&b);
}
