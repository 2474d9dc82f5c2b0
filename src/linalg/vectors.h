/* SPDX-License-Identifier: BSD-3-Clause */
/* Products and sums of vectors that do not overlap. */
#ifndef MD_VECTORS_H
#define MD_VECTORS_H

#include "base/base.h"

double md_dot(const double *x, const double *y, size_t n);
void md_add_scaled(double *f, double p, const double *x, size_t n); /* f += p x */
void md_add_two(double *f, double p, const double *x, double q, const double *y,
                size_t n); /* f += p x + q y */

void md_add_multiple(float *y, float alpha, const float *x, size_t count); /* y += alpha x */
void md_add_two_multiples(float *y, float alpha, float *z, float beta, const float *x,
                          size_t count); /* y += alpha x, z += beta x; y and z do not overlap */

/* The same with x in half precision (binary16). */
void md_add_half_multiple(float *y, float alpha, const uint16_t *x, size_t count);
void md_add_two_half_multiples(float *y, float alpha, float *z, float beta, const uint16_t *x,
                               size_t count);

/* What such a number is, if it is finite; without branches, so that loops of it become wide. The
 * exponent, shifted to where a float has it, lacks 112. Numbers below 2^-14 have no leading one:
 * they get it, and it is taken away again. */
static inline float md_half_value(uint16_t half)
{
    const uint32_t rest = half & 0x7fff;
    const uint32_t is_tiny = 0U - ((rest - 0x400U) >> 31); /* all ones, or 0 */
    const uint32_t is_beyond = 0U - ((0x7bffU - rest) >> 31);
    const uint32_t with_one =
        (rest << 13) + (112u << 23) + (is_tiny & (1u << 23)) + (is_beyond & (112u << 23));
    const uint32_t one = is_tiny & (113u << 23);
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    float value;
    float less;
    memcpy(&value, &with_one, sizeof value);
    memcpy(&less, &one, sizeof less);
    value -= less;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits |= sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
