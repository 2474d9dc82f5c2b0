/* SPDX-License-Identifier: BSD-3-Clause */
/* The threshold of the squared l1 prox as the paper writes it (SPOM Alg. 4), by sorting b/d:
 * O(count log count). The reference for tests and benchmarks of md_mkl_threshold. */
#ifndef MKL_SORTED_H
#define MKL_SORTED_H

#include "penalty/block_weight.h"
#include <stdlib.h>

struct pair {
    double u, a; /* b/d and d^2 */
};

static int compare_down(const void *left, const void *right)
{
    const double x = ((const struct pair *)left)->u;
    const double y = ((const struct pair *)right)->u;
    return (x < y) - (x > y);
}

/* scratch: 2 * count doubles. */
static double mkl_threshold_sorted(double tau, const double *b, const double *weight, size_t count,
                                   double *scratch)
{
    if (tau == 0)
        return 0;
    struct pair *const pairs = (struct pair *)scratch;
    size_t n = 0;
    for (size_t m = 0; m < count; m++) {
        const double d = md_block_weight(weight, m);
        if (d > 0) /* the others neither shrink nor count */
            pairs[n++] = (struct pair){.u = b[m] / d, .a = d * d};
    }
    qsort(pairs, n, sizeof *pairs, compare_down);
    long double a = 0;
    long double s = 0;
    double t = 0;
    for (size_t j = 0; j < n; j++) {
        a += pairs[j].a;
        s += (long double)pairs[j].a * pairs[j].u;
        const double bound = (double)(s / (1 / (long double)tau + a));
        if (j > 0 && pairs[j].u <= bound) /* the first is above its bound but for rounding */
            break;
        t = bound;
    }
    return t;
}

#endif
