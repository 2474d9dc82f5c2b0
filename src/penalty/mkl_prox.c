/* SPDX-License-Identifier: BSD-3-Clause */
/* The threshold t of the squared l1 prox (SPOM Alg. 4): t = S / (1/tau + A), where S = sum d b and
 * A = sum d^2 run over the blocks with b > t d.
 *
 * t is the root of the increasing concave function t/tau - sum d (b - t d)_+, and S / (1/tau + A)
 * over any set of blocks is a lower bound of it. So Newton's method, begun with all blocks, climbs
 * to t from below: each pass drops for good the blocks with b <= t d and takes the new bound of
 * those that are left, until none is dropped. This is selection with the bound as the pivot; no
 * block is sorted or divided. The threshold of the first few blocks alone is another lower bound,
 * a good one where few blocks remain, and tried first. A pass that drops less than a third of A
 * halves the largest t - b/d that the next one can find, so passes are few and shrinking: O(M) in
 * all, for any b and weights of like size. Dividing by tau, not multiplying, keeps huge tau finite.
 */
#include "penalty/mkl_prox.h"

#include "base/vector.h"
#include "penalty/block_weight.h"
#include <stdlib.h>

/* S / (1/tau + A) over all the given blocks. */
MD_VECTOR
static double threshold_of_all(double tau, const double *b, const double *weight, size_t count)
{
    double s = 0;
    double a = 0;
#pragma omp simd reduction(+ : s, a)
    for (size_t m = 0; m < count; m++) {
        const double d = md_block_weight(weight, m);
        s += d * b[m];
        a += d * d;
    }
    return s / (1 / tau + a);
}

/* Moves the blocks with b > t d to the front of kept (and kept_weight, where there are weights)
 * and returns how many there are. No branch depends on the data. */
static size_t keep_above(double t, const double *b, const double *weight, size_t count,
                         double *kept, double *kept_weight)
{
    size_t n = 0;
    if (weight == NULL) {
        for (size_t m = 0; m < count; m++) {
            const double x = b[m];
            kept[n] = x;
            n += x > t;
        }
        return n;
    }
    for (size_t m = 0; m < count; m++) {
        const double x = b[m];
        const double d = weight[m];
        kept[n] = x;
        kept_weight[n] = d;
        n += x > t * d;
    }
    return n;
}

/* A lower bound of the threshold to begin with. */
static double first_bound(double tau, const double *b, const double *weight, size_t count,
                          double *scratch)
{
    enum { FEW = 256, PART = 16 };
    const double all = threshold_of_all(tau, b, weight, count);
    if (count < FEW)
        return all;
    const double part = md_mkl_threshold(tau, b, weight, count / PART, scratch);
    return part > all ? part : all;
}

double md_mkl_threshold(double tau, const double *b, const double *weight, size_t count,
                        double *scratch)
{
    if (tau == 0)
        return 0;
    double *const kept = scratch;
    double *const kept_weight = scratch + count;
    double t = first_bound(tau, b, weight, count, scratch);
    for (;;) {
        const size_t n = keep_above(t, b, weight, count, kept, kept_weight);
        if (n == count)
            return t;
        b = kept;
        weight = weight == NULL ? NULL : kept_weight;
        count = n;
        const double bound = threshold_of_all(tau, b, weight, count);
        if (!(bound > t)) /* it only falls where rounding dropped a block at t itself */
            return t;
        t = bound;
    }
}

void md_mkl_prox(double tau, const double *b, const double *weight, size_t count, double *shrunk,
                 double *scratch)
{
    md_soft_threshold(md_mkl_threshold(tau, b, weight, count, scratch), b, weight, count, shrunk);
}

/* ---- the same by sorting ---- */

struct pair {
    double u, a; /* b/d and d^2 */
};

static int compare_down(const void *left, const void *right)
{
    const double x = ((const struct pair *)left)->u;
    const double y = ((const struct pair *)right)->u;
    return (x < y) - (x > y);
}

double md_mkl_threshold_sorted(double tau, const double *b, const double *weight, size_t count,
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
