/* SPDX-License-Identifier: BSD-3-Clause */
/* Dual points against all kernels, reading as few of them as can be: a norm changes by at most
 * ||r - r'|| sqrt(largest eigenvalue), so a kernel needs to be read only when its bound has run
 * out; and a kernel whose norm cannot reach the threshold anywhere in the ball that holds the
 * optimum (gap-safe screening) is never read again. Dual points sum to 0, so eigenvalues are those
 * of the centred kernel. */
#include "batch/batch_internal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_MEMBERS = 400, MORE_MEMBERS = 100 };

static double threshold(const md_batch *b)
{
    return b->problem->strength * b->problem->penalty->slope_at_zero(b->problem->penalty_state);
}

/* Norms of the listed kernels, those of factors from above: enough where they stay below limit. */
static medley_status look(md_batch *b, const double *r, size_t count, double limit,
                          medley_error *error)
{
    const md_chosen all = {.kernels = b->list, .count = count};
    medley_status status = md_store_bounds2(b->store, all, r, b->values, error);
    if (status < 0)
        return status;
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        b->bound[b->list[i]] = sqrt(b->values[i]);
        if (b->bound[b->list[i]] > limit)
            b->list[left++] = b->list[i];
    }
    const md_chosen near = {.kernels = b->list, .count = left};
    status = md_store_norms2(b->store, near, r, b->values, error);
    for (size_t i = 0; status == MEDLEY_OK && i < left; i++)
        b->bound[b->list[i]] = sqrt(b->values[i]);
    return status;
}

static medley_status look_exactly(md_batch *b, const double *r, size_t count, medley_error *error)
{
    const md_chosen all = {.kernels = b->list, .count = count};
    const medley_status status = md_store_norms2(b->store, all, r, b->values, error);
    for (size_t i = 0; status == MEDLEY_OK && i < count; i++)
        b->bound[b->list[i]] = sqrt(b->values[i]);
    return status;
}

medley_status md_batch_check_all(md_batch *b, const double *r, const double *member_norm,
                                 double limit, medley_error *error)
{
    double distance2 = 0;
    for (size_t i = 0; i < b->n; i++)
        distance2 += (r[i] - b->last[i]) * (r[i] - b->last[i]);
    const double distance = sqrt(distance2);
    size_t count = 0;
    for (size_t m = 0; m < b->kernels; m++) {
        if (b->dropped[m])
            continue;
        if (b->passes > 0)
            b->bound[m] += distance * sqrt(md_store_spread(b->store, m));
        if ((b->passes == 0 || b->bound[m] > limit) && !(member_norm != NULL && b->in_set[m]))
            b->list[count++] = m;
    }
    for (size_t i = 0; member_norm != NULL && i < b->count; i++)
        b->bound[b->members[i].kernel] = member_norm[i];
    memcpy(b->last, r, b->n * sizeof *r);
    b->passes++;
    return md_store_factor_bytes(b->store) > 0 ? look(b, r, count, limit, error)
                                               : look_exactly(b, r, count, error);
}

/* The dual is strongly concave with the modulus of the loss's conjugate, so its optimum is within
 * sqrt(2 gap / modulus) of any point (Ndiaye et al.). */
void md_batch_screen(md_batch *b, double scale)
{
    const double modulus = b->problem->loss->strong_convexity;
    const double limit = threshold(b) * (1 - 1e-6);
    if (!(modulus > 0) || !(limit > 0))
        return;
    const double slack = 1e-10 * fabs(b->best_primal);
    const double radius = sqrt(2 * (fmax(0, b->best_primal - b->best_dual) + slack) / modulus);
    for (size_t m = 0; m < b->kernels; m++)
        if (scale * b->bound[m] + radius * sqrt(md_store_spread(b->store, m)) < limit)
            b->dropped[m] = true;
}

/* ---- the working set ---- */

struct ranked {
    size_t kernel;
    double bound;
};

static int by_falling_bound(const void *x, const void *y)
{
    const struct ranked *a = x;
    const struct ranked *b = y;
    if (a->bound != b->bound)
        return a->bound < b->bound ? 1 : -1;
    return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

/* Members stay while they have weight or come near the threshold; others join by their norms, the
 * largest first: for penalties with a smooth dual all that would have weight. */
size_t md_batch_choose(md_batch *b)
{
    const double limit = threshold(b);
    size_t count = 0;
    size_t candidates = 0;
    struct ranked *ranked = calloc(b->kernels, sizeof *ranked);
    if (ranked == NULL)
        return SIZE_MAX;
    for (size_t i = 0; i < b->count; i++) {
        const md_member *member = &b->members[i];
        const bool has_weight = member->ratio > 0 || member->aKa > 0;
        if (!b->dropped[member->kernel] &&
            (has_weight || b->bound[member->kernel] > MD_BATCH_NEAR * limit))
            b->list[count++] = member->kernel;
    }
    for (size_t m = 0; m < b->kernels; m++)
        if (!b->dropped[m] && !b->in_set[m] && b->bound[m] >= limit && b->bound[m] > 0)
            ranked[candidates++] = (struct ranked){.kernel = m, .bound = b->bound[m]};
    const size_t first = FIRST_MEMBERS > b->kernels / 8 ? FIRST_MEMBERS : b->kernels / 8;
    size_t most = b->count == 0 ? FIRST_MEMBERS : MORE_MEMBERS + count;
    if (b->finite_conjugate)
        most = b->count == 0 && limit > 0 ? first : b->kernels;
    qsort(ranked, candidates, sizeof *ranked, by_falling_bound);
    for (size_t i = 0; i < candidates && i < most; i++)
        b->list[count++] = ranked[i].kernel;
    free(ranked);
    return count;
}
