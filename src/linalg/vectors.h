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

#endif
