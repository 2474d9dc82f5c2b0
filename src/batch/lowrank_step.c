/* SPDX-License-Identifier: BSD-3-Clause */
/* The Newton step where all active kernels are kept as factors of low rank, K_m = F_m'F_m. With
 * w = F_m v / ||v|| the kernels' part of the Hessian (hessian.c) is
 *
 *     gamma F_m' (ratio I + (curvature - ratio) w w') F_m = U_m'U_m,
 *     U_m = sqrt(gamma) (sqrt(ratio) F_m + (sqrt(curvature) - sqrt(ratio)) w (K_m v)' / ||v||)
 *
 * so that H = D + U'U with D = diag(-dz/drho) and U[rank][n]. By Woodbury's identity
 *
 *     H^-1 = D^-1/2 (I - V (I + V'V)^-1 V') D^-1/2,    V = D^-1/2 U'
 *
 * which costs n rank^2 and, more important with a weak penalty, squares nothing but V: I + V'V is
 * the Hessian of the primal problem in the features. */
#include "batch/spicy.h"

#include "linalg/blas.h"
#include "linalg/vectors.h"
#include "optim/optim.h"

enum { SHARE = 3 };                      /* rank at most a part of the rows */
static const double LEAST_SLOPE = 1e-13; /* of D, relative to its largest element */

/* The rank of all active members together; 0: one of them has no factor, or it is not low. */
static size_t total_rank(const md_spicy *s)
{
    size_t total = 0;
    for (size_t i = 0; i < s->count; i++) {
        size_t rank;
        if (!(s->members[i].ratio > 0))
            continue;
        if (md_packed_lowrank(s->packed, s->members[i].kernel, &rank) == NULL)
            return 0;
        total += rank;
    }
    return total <= s->n / SHARE ? total : 0;
}

bool md_spicy_has_low_rank(const md_spicy *s)
{
    return total_rank(s) > 0;
}

static medley_status make_room(md_spicy *s, size_t rank, medley_error *error)
{
    md_low_step *low = &s->low;
    if (rank <= low->capacity)
        return MEDLEY_OK;
    free(low->V);
    low->V = NULL;
    low->capacity = 0;
    MEDLEY_TRY(md_new_aligned(&low->V, rank * (s->n + rank + 1) + s->n, sizeof(double), error));
    low->capacity = rank;
    return MEDLEY_OK;
}

/* The columns of V that belong to member i, from `first` on. v = a + gamma rho; K v is known. */
static size_t fill_member(md_spicy *s, size_t i, size_t first)
{
    const size_t n = s->n;
    const md_low_step *low = &s->low;
    const md_member *member = &s->members[i];
    const bool has_a = !s->smooth_penalty && member->aKa > 0;
    const double plain = sqrt(s->gamma * member->ratio);
    const double along = sqrt(s->gamma * fmax(member->curvature, 0)) - plain;
    size_t rank;
    const double *F = md_packed_lowrank(s->packed, member->kernel, &rank);
    for (size_t l = 0; l < rank; l++) {
        const double *row = F + l * n;
        double w = s->gamma * md_dot(row, s->rho, n);
        w += has_a ? md_dot(row, s->a + i * n, n) : 0;
        const double factor = along * w / (member->norm * member->norm);
        const double *Kr = s->Kr + i * n;
        const double *Ka = has_a ? s->Ka + i * n : NULL;
        for (size_t j = 0; j < n; j++)
            low->V[j * low->rank + first + l] =
                low->root[j] *
                (plain * row[j] + factor * (s->gamma * Kr[j] + (Ka != NULL ? Ka[j] : 0)));
    }
    return first + rank;
}

void md_spicy_solve_low(const md_spicy *s, double *x)
{
    const md_low_step *low = &s->low;
    for (size_t i = 0; i < s->n; i++)
        x[i] *= low->root[i];
    md_dgemv(s->n, low->rank, 1, low->V, low->rank, true, x, 0, low->small);
    md_cholesky_solve(low->S, low->rank, low->small);
    md_dgemv(s->n, low->rank, -1, low->V, low->rank, false, low->small, 1, x);
    for (size_t i = 0; i < s->n; i++)
        x[i] *= low->root[i];
}

medley_status md_spicy_factor_low(md_spicy *s, bool *done, medley_error *error)
{
    md_low_step *low = &s->low;
    const size_t n = s->n;
    const size_t rank = total_rank(s);
    double most = 0;
    *done = false;
    if (rank == 0)
        return MEDLEY_OK;
    MEDLEY_TRY(make_room(s, rank, error));
    low->rank = rank;
    low->S = low->V + n * rank;
    low->small = low->S + rank * rank;
    low->root = low->small + rank;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, s->z_slope[i]);
    for (size_t i = 0; i < n; i++)
        low->root[i] = 1 / sqrt(fmax(s->z_slope[i], LEAST_SLOPE * most));
    for (size_t i = 0, first = 0; i < s->count; i++)
        if (s->members[i].ratio > 0)
            first = fill_member(s, i, first);
    memset(low->S, 0, rank * rank * sizeof *low->S);
    for (size_t l = 0; l < rank; l++)
        low->S[l * rank + l] = 1;
    md_dsyrk_columns(rank, n, 1, low->V, rank, 1, low->S, rank);
    low->ready = *done = most > 0 && md_cholesky(low->S, rank, s->threads);
    return MEDLEY_OK;
}
