/* SPDX-License-Identifier: BSD-3-Clause */
/* The prox of tau/2 (sum d b)^2 (SPOM Alg. 2 and 4): b' = max(0, b - t d) for one threshold t. */
#ifndef MD_MKL_PROX_H
#define MD_MKL_PROX_H

#include "base/base.h"

/* t by selection, in O(count). weight NULL: all one. scratch: 2 * count doubles. */
double md_mkl_threshold(double tau, const double *b, const double *weight, size_t count,
                        double *scratch);

/* b' by selection; shrunk may be b. scratch: 2 * count doubles. */
void md_mkl_prox(double tau, const double *b, const double *weight, size_t count, double *shrunk,
                 double *scratch);

#endif
