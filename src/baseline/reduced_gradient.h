/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two forms of SimpleMKL share: directions for kernel weights that must not fall below 0.
 */
#ifndef MD_REDUCED_GRADIENT_H
#define MD_REDUCED_GRADIENT_H

#include "base/base.h"

/* slope[count]: how steeply J falls as a weight grows, by itself or at the expense of another. It
 * becomes 0 for weights that are 0 and would fall. Returns its sum. */
double md_reduced_direction(double *slope, const double *weight, size_t count);

/* The longest step before a weight falls below 0, and whose that is; infinite and count: none does.
 */
double md_reduced_stretch(const double *slope, const double *weight, size_t count, size_t *which);

#endif
