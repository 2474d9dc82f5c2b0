/* SPDX-License-Identifier: BSD-3-Clause */
#include "penalty/bound.h"

#include "penalty/block_weight.h"
#include "penalty/penalty_internal.h"
#include <assert.h>

bool md_penalty_has_conjugate(const md_penalty *penalty)
{
    bool known = true;
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++)
        known = known && t->class->conjugate != NULL;
    return known;
}

/* ---- a function of one number ---- */

typedef double (*function_of_one)(void *context, double x);

/* The least value met by golden sections between low and high, and where (point may be NULL).
 * Where the function is infinite the search turns to high (upwards) or to low. */
static double least_between(function_of_one function, void *context, double low, double high,
                            int steps, bool upwards, double *point)
{
    static const double PART = 0.61803398874989485;
    double least = INFINITY;
    for (int step = 0; step < steps && low < high; step++) {
        const double left = high - PART * (high - low);
        const double right = low + PART * (high - low);
        const double at_left = function(context, left);
        const double at_right = function(context, right);
        const double smaller = fmin(at_left, at_right);
        if (smaller < least) {
            least = smaller;
            if (point != NULL)
                *point = at_left < at_right ? left : right;
        }
        const bool rises = at_left < at_right || (isinf(at_left) && isinf(at_right) && !upwards);
        if (rises)
            high = right;
        else
            low = left;
    }
    return least;
}

/* ---- sums of terms: the first one takes a part of n, the others the rest ---- */

enum { SPLIT_STEPS = 40 };

struct split {
    const md_penalty *penalty;
    const double *n;
    size_t count;
    double *part; /* [count] */
    double *rest; /* [count] */
};

/* f Omega has the conjugate f Omega*(n / f). The terms share what they are given by their factors.
 */
static double conjugate_of(const md_penalty *penalty, size_t first, size_t end, double *n,
                           size_t count)
{
    double factors = 0;
    for (size_t t = first; t < end; t++)
        factors += penalty->terms[t].factor;
    for (size_t m = 0; m < count; m++)
        n[m] /= factors;
    double sum = 0;
    for (size_t t = first; t < end; t++) {
        const md_penalty_term *term = &penalty->terms[t];
        sum += term->factor * term->class->conjugate(term->state, n, penalty->weight, count);
    }
    return sum;
}

static double conjugate_of_split(struct split *split)
{
    for (size_t m = 0; m < split->count; m++)
        split->rest[m] = fmax(0, split->n[m] - split->part[m]);
    return conjugate_of(split->penalty, 0, 1, split->part, split->count) +
           conjugate_of(split->penalty, 1, split->penalty->count, split->rest, split->count);
}

/* The same share of all blocks. */
static double by_share(void *context, double share)
{
    struct split *split = context;
    for (size_t m = 0; m < split->count; m++)
        split->part[m] = share * split->n[m];
    return conjugate_of_split(split);
}

/* The first term takes n up to a threshold, or what is above it: as l2 shares with norms. */
static double below_threshold(void *context, double threshold)
{
    struct split *split = context;
    for (size_t m = 0; m < split->count; m++)
        split->part[m] = fmin(split->n[m], threshold * md_block_weight(split->penalty->weight, m));
    return conjugate_of_split(split);
}

static double above_threshold(void *context, double threshold)
{
    struct split *split = context;
    for (size_t m = 0; m < split->count; m++)
        split->part[m] =
            fmax(0, split->n[m] - threshold * md_block_weight(split->penalty->weight, m));
    return conjugate_of_split(split);
}

/* Beyond it, both are as if it were infinite. */
static double largest_threshold(const struct split *split)
{
    double largest = 0;
    for (size_t m = 0; m < split->count; m++) {
        const double d = md_block_weight(split->penalty->weight, m);
        largest = fmax(largest, d > 0 ? split->n[m] / d : 0);
    }
    return largest;
}

static double conjugate_of_sum(struct split *split)
{
    const md_penalty *penalty = split->penalty;
    double factors = 0;
    for (size_t t = 0; t < penalty->count; t++)
        factors += penalty->terms[t].factor;
    const double even = penalty->terms[0].factor / factors;
    const double most = largest_threshold(split);
    double least = by_share(split, even);
    least = fmin(least, by_share(split, 0));
    least = fmin(least, by_share(split, 1));
    least = fmin(least, least_between(by_share, split, 0, even, SPLIT_STEPS, true, NULL));
    least = fmin(least, least_between(by_share, split, even, 1, SPLIT_STEPS, false, NULL));
    least = fmin(least, least_between(below_threshold, split, 0, most, SPLIT_STEPS, false, NULL));
    return fmin(least, least_between(above_threshold, split, 0, most, SPLIT_STEPS, false, NULL));
}

double md_penalty_conjugate(const md_penalty *penalty, const double *n, size_t count,
                            double *scratch)
{
    assert(penalty->weight == NULL || penalty->weight_count == count);
    if (penalty->count == 1) {
        memcpy(scratch, n, count * sizeof *n);
        return conjugate_of(penalty, 0, 1, scratch, count);
    }
    struct split split = {
        .penalty = penalty, .n = n, .count = count, .part = scratch, .rest = scratch + count};
    return conjugate_of_sum(&split);
}

/* ---- the bound ---- */

enum { SCALE_STEPS = 90 }; /* to rounding, where the bound ends at a wall */

struct bound {
    const md_penalty *penalty;
    double lambda, cbar;
    const double *norms;
    size_t penalised;
    double own; /* half the squares of the other norms */
    double *scratch;
};

/* What is to be least. */
static double minus_bound(void *context, double s)
{
    struct bound *bound = context;
    double *n = bound->scratch + 2 * bound->penalised;
    for (size_t m = 0; m < bound->penalised; m++)
        n[m] = s / bound->lambda * bound->norms[m];
    const double conjugate =
        md_penalty_conjugate(bound->penalty, n, bound->penalised, bound->scratch);
    return bound->lambda * conjugate + s * (s / bound->lambda * bound->own) - s * bound->cbar;
}

double md_penalty_bound(const md_penalty *penalty, double lambda, double cbar, const double *norms,
                        size_t penalised, size_t count, double *scale, double *scratch)
{
    struct bound bound = {.penalty = penalty,
                          .lambda = lambda,
                          .cbar = cbar,
                          .norms = norms,
                          .penalised = penalised,
                          .own = md_half_squares(norms + penalised, NULL, count - penalised),
                          .scratch = scratch};
    double s = 1;
    double best = -minus_bound(&bound, 1);
    double inside = 0;
    const double within = -least_between(minus_bound, &bound, 0, 1, SCALE_STEPS, false, &inside);
    if (!(best >= within)) {
        s = inside;
        best = within;
    }
    if (!(best > 0)) {
        s = 0;
        best = 0;
    }
    if (scale != NULL)
        *scale = s;
    return best;
}
