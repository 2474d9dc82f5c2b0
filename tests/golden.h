/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a convex function of one number is least, by golden sections: needs nothing but its
 * values. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <math.h>

typedef double (*golden_function)(void *context, double x);

/* To about the square root of rounding where the function is smooth, its value to rounding. Both
 * points are looked at anew each time: those of the step before would drift. */
static inline double golden_least(golden_function function, void *context, double low, double high)
{
    const double part = (sqrt(5.0) - 1) / 2;
    for (int step = 0; step < 120; step++) {
        const double left = high - part * (high - low);
        const double right = low + part * (high - low);
        const double at_left = function(context, left);
        const double at_right = function(context, right);
        low = at_left < at_right ? low : left;
        high = at_left > at_right ? high : right;
    }
    return low / 2 + high / 2;
}

#endif
