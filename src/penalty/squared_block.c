/* SPDX-License-Identifier: BSD-3-Clause */
/* lp-norm MKL: Omega = 1/2 ||b||^2 with the norm ||b|| = (sum (d b)^q)^(1/q), q >= 1; q = 1 is
 * mkl. The prox satisfies x_m + c d_m^q x_m^(q-1) = b_m with c = tau ||x||^(2-q): for a given c
 * these are the scalar equations of block-q, and c is the root of
 *
 *     f(log c) = log c + (q-2) log ||x(c)|| - log tau.
 *
 * As c grows, ||x|| falls with an elasticity between -1/(q-1) and 0, so the slope of f lies
 * between 1 and 1/(q-1): one root for every q > 1, and Newton's method in log c, kept inside a
 * bracket, finds it in a few steps. Everything is relative to the largest b, since
 * prox(a b) = a prox(b). */
#include "penalty/block_weight.h"
#include "penalty/penalty.h"
#include "penalty/power_shrink.h"

#include <float.h>

static const md_param squared_block_params[] =
    MD_ONE_NUMBER("q", "1.5", 1, MD_MOST_Q, "Q", "Exponent of the norm; 1 is mkl, 2 is l2.");

/* (sum (d b)^q)^(1/q), out of reach of overflow inside the sum. */
static double norm_of(double q, const double *b, const double *weight, size_t count)
{
    double largest = 0;
    for (size_t m = 0; m < count; m++)
        largest = fmax(largest, md_weighted(b, weight, m));
    if (largest == 0)
        return 0;
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        sum += md_power(md_weighted(b, weight, m) / largest, q);
    return largest * md_power(sum, 1 / q);
}

static double squared_block_value(const void *state, const double *b, const double *weight,
                                  size_t count)
{
    const double norm = norm_of(md_number(state), b, weight, count);
    return norm * norm / 2;
}

/* What one prox works on; the arrays have count entries and live in the scratch memory. */
struct search {
    double q;
    const double *weight;
    size_t count;
    double *relative; /* b / largest b */
    double *log_k;    /* log(d^q relative^(q-2)); -inf where nothing shrinks */
    double *ratio;    /* x / b for the c last tried */
};

static void begin_search(struct search *search, const double *b, double largest)
{
    for (size_t m = 0; m < search->count; m++) {
        const double d = md_block_weight(search->weight, m);
        search->relative[m] = b[m] / largest;
        search->log_k[m] = d > 0 && b[m] > 0
                               ? search->q * log(d) + (search->q - 2) * (log(b[m]) - log(largest))
                               : -INFINITY;
    }
}

/* Fills ratio for c and gives log ||x|| and its elasticity -d log ||x|| / d log c. */
static void try_multiplier(const struct search *search, double log_c, double *log_norm,
                           double *elasticity)
{
    const double q = search->q;
    double largest = 0;
    for (size_t m = 0; m < search->count; m++) {
        search->ratio[m] = md_power_shrink_log(q, log_c + search->log_k[m]);
        const double x = md_weighted(search->relative, search->weight, m) * search->ratio[m];
        largest = x > largest ? x : largest;
    }
    if (largest == 0) { /* all shrunk below the smallest double */
        *log_norm = log(DBL_TRUE_MIN);
        *elasticity = 1 / (q - 1);
        return;
    }
    double sum = 0;
    double weighted = 0;
    for (size_t m = 0; m < search->count; m++) {
        const double y = search->ratio[m];
        const double share =
            md_power(md_weighted(search->relative, search->weight, m) * y / largest, q);
        sum += share;
        weighted += share * (1 - y) / (y + (q - 1) * (1 - y));
    }
    *log_norm = log(largest) + log(sum) / q;
    *elasticity = fmin(weighted / sum, 1 / (q - 1)); /* rounding of tiny weights could exceed it */
}

/* Leaves the ratios of the prox in search->ratio. norm is that of the relative b. */
static void find_multiplier(const struct search *search, double tau, double norm)
{
    enum { MAX_STEPS = 100 }; /* 3 to 5 are needed, rarely 15 */
    const double q = search->q;
    double low = -INFINITY;
    double high = INFINITY;
    double log_c = log(tau) + (2 - q) * (log(norm) - log1p(tau)); /* exact for q = 2 */
    for (int step = 0; step < MAX_STEPS; step++) {
        double log_norm;
        double elasticity;
        try_multiplier(search, log_c, &log_norm, &elasticity);
        const double f = log_c + (q - 2) * log_norm - log(tau);
        if (f > 0)
            high = log_c;
        else
            low = log_c;
        double next = log_c - f / (1 - (q - 2) * elasticity);
        if (fabs(next - log_c) <= 4 * DBL_EPSILON * fmax(1, fabs(log_c)))
            return;
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        if (next == low || next == high)
            return;
        log_c = next;
    }
}

static void squared_block_prox(const void *state, double tau, const double *b, const double *weight,
                               size_t count, double *shrunk, double *scratch)
{
    const double q = md_number(state);
    if (q == 1) {
        md_mkl_prox(tau, b, weight, count, shrunk, scratch);
        return;
    }
    struct search search = {.q = q,
                            .weight = weight,
                            .count = count,
                            .relative = scratch,
                            .log_k = scratch + count,
                            .ratio = scratch + 2 * count};
    const double largest = md_largest_norm(b, count);
    double norm = 0;
    if (largest > 0 && tau > 0) {
        begin_search(&search, b, largest);
        norm = norm_of(q, search.relative, weight, count);
    }
    if (norm > 0)
        find_multiplier(&search, tau, norm);
    for (size_t m = 0; m < count; m++)
        shrunk[m] = norm > 0 ? b[m] * search.ratio[m] : b[m];
}

/* Up to a common factor. */
static double squared_block_kernel_weight(const void *state, double b, double total)
{
    return md_power_weight(md_number(state), b / total);
}

/* 1/2 ||b||_q^2 is (q-1)-strongly convex in its own norm for 1 < q <= 2, and that norm is at least
 * least_weight times the 2-norm. For q > 2 it is flat across the axes. */
static double squared_block_strong_convexity(const void *state, double least_weight)
{
    const double q = md_number(state);
    return q <= 2 ? (q - 1) * least_weight * least_weight : 0;
}

/* Half the square of the dual norm, which is the r-norm of n/d, r = q/(q-1). */
static double squared_block_conjugate(const void *state, const double *n, const double *weight,
                                      size_t count)
{
    const double q = md_number(state);
    const double r = q / (q - 1);
    double largest = 0;
    for (size_t m = 0; m < count; m++)
        largest = fmax(largest, md_over_weight(n, weight, m));
    if (q == 1 || largest == 0 || isinf(largest))
        return largest * largest / 2;
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        sum += md_power(md_over_weight(n, weight, m) / largest, r);
    const double norm = largest * md_power(sum, 1 / r);
    return norm * norm / 2;
}

static bool squared_block_has_link(const void *state)
{
    const double q = md_number(state);
    return q > 1 && q <= 2;
}

/* x_m = n_m / d_m has the norm N = ||x||_r, and dOmega* / dn_m = N (x_m / N)^(r-1) / d_m. */
static void squared_block_link(const void *state, const double *n, const double *weight,
                               size_t count, double *scale)
{
    const double q = md_number(state);
    const double r = q / (q - 1);
    const double norm = sqrt(2 * squared_block_conjugate(state, n, weight, count));
    for (size_t m = 0; m < count; m++) {
        const double d = md_block_weight(weight, m);
        const double ratio = norm > 0 ? n[m] / d / norm : 0;
        scale[m] = ratio > 0 ? md_power(ratio, r - 2) / (d * d) : 0;
    }
}

static const md_scalar_penalty *squared_block_root(const void *state, const void **root_state,
                                                   double *q)
{
    *q = md_number(state);
    if (*q == 1)
        return md_penalty_mkl.root(NULL, root_state, q);
    *root_state = state;
    return *q >= MD_LEAST_Q ? md_penalty_block.scalar : NULL;
}

const md_penalty_class md_penalty_squared_block = {
    .name = "squared-block",
    .summary = "lp-norm multiple kernel learning: half a squared q-norm of the norms",
    .weights = ", the share of its norm to the power of 2 − q (the norm itself beyond q = 2) under "
               "the penalty",
    .formula = "1/2 (sum (d b)^q)^(2/q)",
    .params = squared_block_params,
    .state_size = sizeof(double),
    .value = squared_block_value,
    .prox = squared_block_prox,
    .kernel_weight = squared_block_kernel_weight,
    .strong_convexity = squared_block_strong_convexity,
    .conjugate = squared_block_conjugate,
    .link = squared_block_link,
    .has_link = squared_block_has_link,
    .root = squared_block_root,
};
