/* SPDX-License-Identifier: BSD-3-Clause */
/* Dual points against all kernels, reading as few of them as can be: a norm changes by at most
 * ||r - r'|| sqrt(largest eigenvalue), so a kernel needs to be read only when its bound has run
 * out; and a kernel whose norm cannot reach the threshold anywhere in the ball that holds the
 * optimum (gap-safe screening) is never read again. Dual points sum to 0, so eigenvalues are those
 * of the centred kernel. */
#include "batch/spicy.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_MEMBERS = 400, MORE_MEMBERS = 100 };

static double threshold(const md_spicy *s)
{
    return s->problem->strength * s->problem->penalty->slope_at_zero(s->problem->penalty_state);
}

/* Norms of the listed kernels, those of factors from above: enough where they stay below limit. */
static medley_status look(md_spicy *s, const double *r, size_t count, double limit,
                          medley_error *error)
{
    const md_chosen all = {.kernels = s->list, .count = count};
    medley_status status = md_store_bounds2(s->store, all, r, s->values, error);
    if (status < 0)
        return status;
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        s->bound[s->list[i]] = sqrt(s->values[i]);
        if (s->bound[s->list[i]] > limit)
            s->list[left++] = s->list[i];
    }
    const md_chosen near = {.kernels = s->list, .count = left};
    status = md_store_norms2(s->store, near, r, s->values, error);
    for (size_t i = 0; status == MEDLEY_OK && i < left; i++)
        s->bound[s->list[i]] = sqrt(s->values[i]);
    return status;
}

static medley_status look_exactly(md_spicy *s, const double *r, size_t count, medley_error *error)
{
    const md_chosen all = {.kernels = s->list, .count = count};
    const medley_status status = md_store_norms2(s->store, all, r, s->values, error);
    for (size_t i = 0; status == MEDLEY_OK && i < count; i++)
        s->bound[s->list[i]] = sqrt(s->values[i]);
    return status;
}

medley_status md_spicy_check_all(md_spicy *s, const double *r, const double *member_norm,
                                 double limit, medley_error *error)
{
    double distance2 = 0;
    for (size_t i = 0; i < s->n; i++)
        distance2 += (r[i] - s->last[i]) * (r[i] - s->last[i]);
    const double distance = sqrt(distance2);
    size_t count = 0;
    for (size_t m = 0; m < s->kernels; m++) {
        if (s->dropped[m])
            continue;
        if (s->passes > 0)
            s->bound[m] += distance * sqrt(md_store_spread(s->store, m));
        if ((s->passes == 0 || s->bound[m] > limit) && !(member_norm != NULL && s->in_set[m]))
            s->list[count++] = m;
    }
    for (size_t i = 0; member_norm != NULL && i < s->count; i++)
        s->bound[s->members[i].kernel] = member_norm[i];
    memcpy(s->last, r, s->n * sizeof *r);
    s->passes++;
    return md_store_factor_bytes(s->store) > 0 ? look(s, r, count, limit, error)
                                               : look_exactly(s, r, count, error);
}

/* The dual is strongly concave with the modulus of the loss's conjugate, so its optimum is within
 * sqrt(2 gap / modulus) of any point (Ndiaye et al.). */
void md_spicy_screen(md_spicy *s, double scale)
{
    const double modulus = s->problem->loss->strong_convexity;
    const double limit = threshold(s) * (1 - 1e-6);
    if (!(modulus > 0) || !(limit > 0))
        return;
    const double slack = 1e-10 * fabs(s->best_primal);
    const double radius = sqrt(2 * (fmax(0, s->best_primal - s->best_dual) + slack) / modulus);
    for (size_t m = 0; m < s->kernels; m++)
        if (scale * s->bound[m] + radius * sqrt(md_store_spread(s->store, m)) < limit)
            s->dropped[m] = true;
}

/* ---- the working set ---- */

struct ranked {
    size_t kernel;
    double bound;
};

static int by_falling_bound(const void *x, const void *y)
{
    const struct ranked *left = x;
    const struct ranked *right = y;
    if (left->bound != right->bound)
        return left->bound < right->bound ? 1 : -1;
    return (left->kernel > right->kernel) - (left->kernel < right->kernel);
}

/* Members stay while they have weight or come near the threshold; others join by their norms, the
 * largest first: for penalties with a smooth dual all that would have weight. */
size_t md_spicy_choose(md_spicy *s)
{
    const double limit = threshold(s);
    size_t count = 0;
    size_t candidates = 0;
    struct ranked *ranked = calloc(s->kernels, sizeof *ranked);
    if (ranked == NULL)
        return SIZE_MAX;
    for (size_t i = 0; i < s->count; i++) {
        const md_member *member = &s->members[i];
        const bool has_weight = member->ratio > 0 || member->aKa > 0;
        if (!s->dropped[member->kernel] &&
            (has_weight || s->bound[member->kernel] > MD_SPICY_NEAR * limit))
            s->list[count++] = member->kernel;
    }
    for (size_t m = 0; m < s->kernels; m++)
        if (!s->dropped[m] && !s->in_set[m] && s->bound[m] >= limit && s->bound[m] > 0)
            ranked[candidates++] = (struct ranked){.kernel = m, .bound = s->bound[m]};
    const size_t first = FIRST_MEMBERS > s->kernels / 8 ? FIRST_MEMBERS : s->kernels / 8;
    size_t most = s->count == 0 ? FIRST_MEMBERS : MORE_MEMBERS + count;
    if (s->finite_conjugate)
        most = s->count == 0 && limit > 0 ? first : s->kernels;
    qsort(ranked, candidates, sizeof *ranked, by_falling_bound);
    for (size_t i = 0; i < candidates && i < most; i++)
        s->list[count++] = ranked[i].kernel;
    free(ranked);
    return count;
}
