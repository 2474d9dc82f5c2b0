/* SPDX-License-Identifier: BSD-3-Clause */
/* A dual point against all kernels, reading as few of them as possible: a norm changes by at most
 * ||r - r'|| sqrt(largest eigenvalue), so a kernel is read only when its bound has run out; and a
 * kernel whose norm cannot reach the threshold anywhere in the ball that holds the optimum
 * (gap-safe screening) is never read again. Dual points sum to 0, so eigenvalues are those of the
 * centred kernel. */
#include "batch/certificate.h"
#include "batch/spicy.h"
#include "linalg/vectors.h"

/* Norms of the listed kernels into bound. Bounds that factors give are enough below limit. */
static medley_status read_listed(md_spicy *s, size_t count, double limit, medley_error *error)
{
    md_chosen listed = {.kernels = s->list, .count = count};
    if (md_packed_factor_bytes(s->packed) > 0) {
        MEDLEY_TRY(md_packed_bounds2(s->packed, listed, s->candidate, s->values, error));
        listed.count = 0;
        for (size_t i = 0; i < count; i++) {
            s->bound[s->list[i]] = sqrt(s->values[i]);
            if (s->bound[s->list[i]] > limit)
                s->list[listed.count++] = s->list[i];
        }
    }
    MEDLEY_TRY(md_packed_norms2(s->packed, listed, s->candidate, s->values, error));
    for (size_t i = 0; i < listed.count; i++)
        s->bound[s->list[i]] = sqrt(s->values[i]);
    return MEDLEY_OK;
}

/* Brings bound up to date for the candidate: exact wherever it could be above limit. */
static medley_status update_bounds(md_spicy *s, double limit, medley_error *error)
{
    double distance2 = 0;
    size_t count = 0;
    for (size_t i = 0; i < s->n; i++)
        distance2 += (s->candidate[i] - s->last[i]) * (s->candidate[i] - s->last[i]);
    const double distance = sqrt(distance2);
    for (size_t m = 0; m < s->kernels; m++) {
        if (s->screened[m])
            continue;
        if (s->passes > 0)
            s->bound[m] += distance * sqrt(md_packed_spread(s->packed, m));
        if ((s->passes == 0 || s->bound[m] > limit) && !s->in_set[m])
            s->list[count++] = m;
    }
    for (size_t i = 0; i < s->count; i++) /* computed for the gap of the working set */
        s->bound[s->members[i].kernel] = s->norm2[i];
    memcpy(s->last, s->candidate, s->n * sizeof *s->last);
    s->passes++;
    return read_listed(s, count, limit, error);
}

/* Screens kernels that cannot be active at the optimum, where the dual is at most best_primal: it
 * is strongly concave with the modulus of the loss's conjugate, so its optimum is within
 * sqrt(2 gap / modulus) of any point (Ndiaye et al.). scale: of the candidate for best_dual. */
static void screen(md_spicy *s, double scale)
{
    const double modulus = s->problem->loss->strong_convexity;
    const double limit = md_penalty_threshold(s->problem) * (1 - 1e-6);
    if (!(modulus > 0) || !(limit > 0))
        return;
    const double slack = 1e-10 * fabs(s->best_primal);
    const double radius = sqrt(2 * (fmax(0, s->best_primal - s->best_dual) + slack) / modulus);
    for (size_t m = 0; m < s->kernels; m++)
        if (scale * s->bound[m] + radius * sqrt(md_packed_spread(s->packed, m)) < limit)
            s->screened[m] = true;
}

medley_status md_spicy_check_all(md_spicy *s, medley_error *error)
{
    double limit = md_penalty_threshold(s->problem);
    double scale;
    size_t count = 0;
    for (size_t i = 0; !s->finite_conjugate && i < s->count; i++) /* only the largest matters */
        limit = s->norm2[i] > limit ? s->norm2[i] : limit;
    MEDLEY_TRY(update_bounds(s, limit, error));
    for (size_t m = 0; m < s->kernels; m++)
        if (!s->screened[m])
            s->values[count++] = s->bound[m];
    const double dual = md_dual_value(s->problem, s->candidate, s->values, count, &scale);
    if (dual > s->best_dual) {
        s->best_dual = dual;
        for (size_t i = 0; i < s->n; i++)
            s->dual_point[i] = scale * s->candidate[i];
        for (size_t m = 0; m < s->kernels; m++)
            s->dual_norms[m] = s->screened[m] ? 0 : scale * s->bound[m];
        screen(s, scale);
    }
    return MEDLEY_OK;
}

/* ---- no kernel at all ---- */

medley_status md_batch_largest_strength(const md_batch_problem *problem, double *largest,
                                        double *without_slope, medley_error *error)
{
    const size_t n = md_packed_rows(problem->packed);
    const size_t kernels = md_packed_count(problem->packed);
    MD_OWNED(free) double *rho = NULL;
    MD_OWNED(free) double *norm2 = NULL;
    if (problem->square > 0) {
        *largest = INFINITY;
        return md_batch_large_square(problem, without_slope, error);
    }
    MEDLEY_TRY(md_new(&rho, n, sizeof *rho, error));
    MEDLEY_TRY(md_new(&norm2, kernels, sizeof *norm2, error));
    md_empty_dual(problem->loss, problem->loss_state, problem->y, rho, n);
    MEDLEY_TRY(md_packed_norms2(problem->packed, (md_chosen){.count = kernels}, rho, norm2, error));
    double most = 0;
    const double size = md_dot(rho, rho, n);
    for (size_t m = 0; m < kernels; m++) /* a constant kernel has a norm of rounding here */
        if (norm2[m] > most && norm2[m] > 1e-12 * size * md_packed_trace(problem->packed, m))
            most = norm2[m];
    const double slope = problem->penalty->slope_at_zero(problem->penalty_state);
    *without_slope = sqrt(most);
    *largest = slope > 0 ? sqrt(most) / slope : INFINITY;
    return MEDLEY_OK;
}
