/* SPDX-License-Identifier: BSD-3-Clause */
/* Products and sums over rows. */
#ifndef MD_BATCH_VECTORS_H
#define MD_BATCH_VECTORS_H

#include "base/base.h"

double md_batch_dot(const double *x, const double *y, size_t n);
void md_batch_add(double *f, double p, const double *x, size_t n); /* f += p x */
void md_batch_add_two(double *f, double p, const double *x, double q, const double *y,
                      size_t n); /* f += p x + q y */

#endif
