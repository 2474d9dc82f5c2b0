/* SPDX-License-Identifier: BSD-3-Clause */
/* exp for loops of MD_VECTOR functions: no branches and no calls, so that it is computed for a
 * whole vector at once.
 *
 * x = n ln 2 + r with |r| <= ln(2) / 2: a polynomial for exp(r), and 2^n by building the exponent's
 * bits. ln 2 is taken away in two pieces so that r keeps its digits. Adding and taking away 1.5
 * times a large power of 2 rounds to the nearest whole number n, which is then found in the last
 * bits of the sum as well. */
#ifndef MD_EXP_H
#define MD_EXP_H

#include "base/base.h"

/* 2^lift exp(x) to about two units in the last place; 0 where that is below exp(-87), where floats
 * begin to lose digits, and its value at x = 88 above that. What is not a number stays so. */
static inline float md_exp_lifted(float x, int lift)
{
    const float lowest = -87.0f - 0.6931472f * (float)lift;
    const float inside = x < lowest ? 0.0f : 1.0f;
    x = x < lowest ? lowest : x;
    x = x > 88.0f ? 88.0f : x;
    const float shifted = x * 1.44269504f + 12582912.0f;
    const float n = shifted - 12582912.0f;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 0.0013814222f;
    p = p * r + 0.00836889866f;
    p = p * r + 0.0416684057f;
    p = p * r + 0.166665191f;
    p = p * r + 0.499999933f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127 + (uint32_t)lift) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return inside * p * power;
}

static inline float md_exp_float(float x)
{
    return md_exp_lifted(x, 0);
}

/* The same in double precision, to about two units in the last place: 0 below -708, exp(709) above
 * 709. The polynomial is the Taylor series, whose rest is below 1e-17. */
static inline double md_exp_double(double x)
{
    const double inside = x < -708.0 ? 0.0 : 1.0;
    x = x < -708.0 ? -708.0 : x;
    x = x > 709.0 ? 709.0 : x;
    const double shifted = x * 1.4426950408889634 + 6755399441055744.0;
    const double n = shifted - 6755399441055744.0;
    const double r = (x - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return inside * p * power;
}

#endif
