/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse multiple kernel learning: Omega = 1/2 (sum d b)^2, half the squared block 1-norm.
 *
 * Its prox (SPOM Alg. 2 for d = 1, and Alg. 4) is b' = max(0, b - t d) with t = S / (1/tau + A),
 * where S = sum d b and A = sum d^2 run over the blocks with b > t d.
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
#include "base/vector.h"
#include "penalty/block_weight.h"
#include "penalty/penalty.h"

/* S / (1/tau + A) over all the given blocks. */
MD_VECTOR(double, threshold_of_all,
          (double tau, const double *b, const double *weight, size_t count),
          (tau, b, weight, count))
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

/* ---- the penalty ---- */

static double mkl_value(const void *state, const double *b, const double *weight, size_t count)
{
    (void)state;
    const double norm = md_weighted_sum(b, weight, count);
    return norm * norm / 2;
}

static void mkl_prox(const void *state, double tau, const double *b, const double *weight,
                     size_t count, double *shrunk, double *scratch)
{
    (void)state;
    md_mkl_prox(tau, b, weight, count, shrunk, scratch);
}

static double mkl_kernel_weight(const void *state, double b, double total)
{
    (void)state;
    return b / total;
}

/* Half the square of the dual norm. */
static double mkl_conjugate(const void *state, const double *n, const double *weight, size_t count)
{
    (void)state;
    const double norm = md_largest_ratio(n, weight, count);
    return norm * norm / 2;
}

static const md_scalar_penalty *mkl_root(const void *state, const void **root_state, double *q)
{
    (void)state;
    *root_state = md_penalty_group_lasso.fixed;
    *q = 1;
    return md_penalty_group_lasso.scalar;
}

const md_penalty_class md_penalty_mkl = {
    .name = "mkl",
    .summary = "sparse multiple kernel learning: few blocks",
    .formula = "1/2 (sum d b)^2",
    .value = mkl_value,
    .prox = mkl_prox,
    .kernel_weight = mkl_kernel_weight,
    .conjugate = mkl_conjugate,
    .root = mkl_root,
};
