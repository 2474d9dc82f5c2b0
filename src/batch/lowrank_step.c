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

#include "base/parallel.h"
#include "linalg/blas.h"
#include "linalg/vectors.h"
#include "optim/optim.h"

enum {
    SHARE = 3,           /* rank at most a part of the rows */
    PIECES = 16,         /* of the rows, in products with V: sums are in their order */
    FEW_VALUES = 1 << 16 /* of V: another thread is not worth waking for them */
};
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

medley_status md_spicy_low_room(md_spicy *s, size_t rank, medley_error *error)
{
    md_low_step *low = &s->low;
    if (rank > low->capacity) {
        const size_t values = rank * (s->n + rank + PIECES + 1) + s->n;
        free(low->V);
        low->V = NULL;
        low->capacity = 0;
        MEDLEY_TRY(md_new_aligned(&low->V, values, sizeof(double), error));
        low->capacity = rank;
    }
    low->rank = rank;
    low->S = low->V + s->n * rank;
    low->small = low->S + rank * rank;
    low->root = low->small + (PIECES + 1) * rank;
    return MEDLEY_OK;
}

/* The columns of V that belong to member i, from `first` on. v = a + gamma rho; K v is known. */
static void fill_member(md_spicy *s, size_t i, size_t first)
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
}

/* ---- products with V, its rows cut into pieces ---- */

struct low_product {
    const md_low_step *low;
    size_t n;
    size_t pieces;
    double *x;
};

static size_t piece_start(const struct low_product *product, size_t piece)
{
    return piece * product->n / product->pieces;
}

/* x of the piece becomes D^-1/2 x, and V' of that a part of small. */
static void project_piece(void *context, size_t piece, size_t worker)
{
    const struct low_product *product = context;
    const md_low_step *low = product->low;
    const size_t first = piece_start(product, piece);
    const size_t rows = piece_start(product, piece + 1) - first;
    double *part = low->small + (piece + 1) * low->rank;
    (void)worker;
    memset(part, 0, low->rank * sizeof *part);
    for (size_t i = first; i < first + rows; i++)
        product->x[i] *= low->root[i];
    if (rows > 0)
        md_dgemv(rows, low->rank, 1, low->V + first * low->rank, low->rank, true,
                 product->x + first, 0, part);
}

/* x = D^-1/2 (x - V small) */
static void correct_piece(void *context, size_t piece, size_t worker)
{
    const struct low_product *product = context;
    const md_low_step *low = product->low;
    const size_t first = piece_start(product, piece);
    const size_t rows = piece_start(product, piece + 1) - first;
    (void)worker;
    if (rows > 0)
        md_dgemv(rows, low->rank, -1, low->V + first * low->rank, low->rank, false, low->small, 1,
                 product->x + first);
    for (size_t i = first; i < first + rows; i++)
        product->x[i] *= low->root[i];
}

void md_spicy_solve_low(const md_spicy *s, double *x)
{
    const md_low_step *low = &s->low;
    const size_t pieces = s->n * low->rank > FEW_VALUES ? PIECES : 1;
    struct low_product product = {.low = low, .n = s->n, .pieces = pieces, .x = x};
    md_parallel_for(s->threads, pieces, project_piece, &product);
    memset(low->small, 0, low->rank * sizeof *low->small);
    for (size_t piece = 0; piece < pieces; piece++)
        md_add_scaled(low->small, 1, low->small + (piece + 1) * low->rank, low->rank);
    md_cholesky_solve(low->S, low->rank, low->small);
    md_parallel_for(s->threads, pieces, correct_piece, &product);
}

/* ---- S = I + V'V ---- */

bool md_spicy_low_factor(md_spicy *s)
{
    const size_t rank = s->low.rank;
    memset(s->low.S, 0, rank * rank * sizeof *s->low.S);
    for (size_t l = 0; l < rank; l++)
        s->low.S[l * rank + l] = 1;
    md_add_squares(rank, s->n, 1, s->low.V, rank, s->low.S, rank, s->threads);
    return md_cholesky(s->low.S, rank, s->threads);
}

/* ---- the step ---- */

struct low_filling {
    md_spicy *spicy;
    size_t *first; /* [members] first column of V that belongs to each; SIZE_MAX: none */
};

static void fill_one(void *context, size_t i, size_t worker)
{
    const struct low_filling *filling = context;
    (void)worker;
    if (filling->first[i] != SIZE_MAX)
        fill_member(filling->spicy, i, filling->first[i]);
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
    MD_OWNED(free) size_t *places = NULL;
    MEDLEY_TRY(md_new(&places, s->count, sizeof *places, error));
    MEDLEY_TRY(md_spicy_low_room(s, rank, error));
    for (size_t i = 0; i < n; i++)
        most = fmax(most, s->z_slope[i]);
    for (size_t i = 0; i < n; i++)
        low->root[i] = 1 / sqrt(fmax(s->z_slope[i], LEAST_SLOPE * most));
    for (size_t i = 0, first = 0; i < s->count; i++) {
        size_t own = 0;
        places[i] = s->members[i].ratio > 0 ? first : SIZE_MAX;
        if (s->members[i].ratio > 0)
            md_packed_lowrank(s->packed, s->members[i].kernel, &own);
        first += own;
    }
    struct low_filling filling = {.spicy = s, .first = places};
    md_parallel_for(n * rank > FEW_VALUES ? s->threads : 1, s->count, fill_one, &filling);
    low->ready = *done = most > 0 && md_spicy_low_factor(s);
    return MEDLEY_OK;
}
