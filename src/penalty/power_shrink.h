/* SPDX-License-Identifier: BSD-3-Clause */
/* The scalar equation of block-q: x + c x^(q-1) = b, as y + k y^(q-1) = 1 for the ratio
 * y = x/b and k = c b^(q-2), so that it neither overflows nor depends on the scale of b. */
#ifndef MD_POWER_SHRINK_H
#define MD_POWER_SHRINK_H

#include "base/base.h"

/* The range of q for which the functions here keep their precision. */
#define MD_LEAST_Q 1.001
#define MD_MOST_Q  10.0

/* y in [0, 1] for finite k >= 0 and q > 1. */
double md_power_shrink(double q, double k);

/* The same from log k, for k beyond the range of doubles. */
double md_power_shrink_log(double q, double log_k);

/* The kernel weight of a block of norm b: b^(2-q), the beta that minimises
 * 1/2 sum b^2/beta + (2-q)/(2q) sum beta^(q/(2-q)), which is sum b^q / q. Beyond q = 2 there are no
 * such weights, and b^(2-q), by which the expansion is multiplied, falls as b rises: the norm
 * itself says how much a kernel has its say. */
double md_power_weight(double q, double b);

/* x^e for x >= 0; the exponents that q = 3/2, 2 and 3 lead to are fast. */
double md_power(double x, double e);

#endif
