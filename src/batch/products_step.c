/* SPDX-License-Identifier: BSD-3-Clause */
/* The Newton step without a matrix of rows by rows: conjugate gradients on products with the
 * Hessian
 *
 *     H = D + W + sum_{active} c_m K_m v v' K_m,    W = gamma sum ratio K,
 *     D = diag(-dz/drho),   c_m = gamma (curvature - ratio) / ||v||^2
 *
 * where W is a mixture (mixture.h), and K_m v is at hand. They are preconditioned by
 *
 *     P = D + diag(W - U'U) + U'U + sum_{active, c_m > 0} c_m K_m v v' K_m
 *
 * with U[rank][n] from some steps of Cholesky's method on W with pivoting: each takes the row with
 * the largest remaining diagonal relative to D, for that is where the diagonal alone is worst. By
 * Woodbury's identity (lowrank_step.c) P^-1 costs n rank. */
#include "batch/spicy.h"

#include "base/parallel.h"
#include "linalg/blas.h"
#include "linalg/vectors.h"
#include "optim/optim.h"

enum {
    MOST_CG_STEPS = 300,
    MANY_CG_STEPS = 20, /* after which U gets more rows */
    FEW_CG_STEPS = 5,   /* and after which it gets fewer */
    FIRST_RANK = 128,   /* of U */
    MOST_RANK = 512,
    LEAST_RANK = 16,
    RANK_SHARE = 8,   /* of the rows */
    MOST_SINGLE = 64, /* terms of rank one in P */
    PIECES = 16,      /* of rows */
    V_BYTES = 1 << 28 /* of U and of V, at most */
};

static const double VALUES_OF_A_THREAD = 3e4; /* of U: fewer are not worth waking one for */
static const double RIDGE = 1e-10;            /* of the mean diagonal */
static const double SMALL_REST = 0.05;        /* of D, where nothing else is worth a step */
static const double LEAST_BASE = 1e-6; /* of the mean diagonal of H, in the choice of pivots */

struct step {
    md_spicy *spicy;
    double ridge;
    double *diagonal; /* [n] what is left of that of W */
    double *U;        /* [rank][n] */
    size_t rank;
    size_t pivot;  /* of the step under way */
    double *small; /* [MOST_RANK] */
    medley_error *error;
    medley_status status;
};

/* K v of member i, plus: y += factor K v. */
static void add_image(const md_spicy *s, size_t i, double factor, double *y)
{
    md_add_scaled(y, factor * s->gamma, s->Kr + i * s->n, s->n);
    if (!s->smooth_penalty && s->members[i].aKa > 0)
        md_add_scaled(y, factor, s->Ka + i * s->n, s->n);
}

static double along_image(const md_spicy *s, size_t i, const double *x)
{
    double product = s->gamma * md_dot(s->Kr + i * s->n, x, s->n);
    if (!s->smooth_penalty && s->members[i].aKa > 0)
        product += md_dot(s->Ka + i * s->n, x, s->n);
    return product;
}

/* c_m; 0 for members that are not active. */
static double single_weight(const md_spicy *s, size_t i)
{
    const md_member *member = &s->members[i];
    if (!(member->ratio > 0))
        return 0;
    return s->gamma * (member->curvature - member->ratio) / (member->norm * member->norm);
}

/* ---- the preconditioner ---- */

static size_t find_pivot(const struct step *step, double least, double *ratio)
{
    const md_spicy *s = step->spicy;
    size_t best = 0;
    *ratio = -1;
    for (size_t i = 0; i < s->n; i++) {
        const double own = step->diagonal[i] / (s->z_slope[i] + least);
        if (own > *ratio) {
            *ratio = own;
            best = i;
        }
    }
    return best;
}

/* Row `rank` of U loses what the rows before have of it, becomes a row of the factor, and the
 * diagonal loses its squares. */
static void eliminate_piece(void *context, size_t piece, size_t worker)
{
    const struct step *step = context;
    const size_t n = step->spicy->n;
    const size_t first = piece * n / PIECES;
    const size_t count = (piece + 1) * n / PIECES - first;
    double *row = step->U + step->rank * n + first;
    const double scale = 1 / sqrt(step->diagonal[step->pivot]);
    (void)worker;
    if (step->rank > 0 && count > 0)
        md_dgemv(step->rank, count, -1, step->U + first, n, true, step->small, 1, row);
    for (size_t i = 0; i < count; i++)
        row[i] *= scale;
}

static medley_status take_pivot(struct step *step, size_t pivot)
{
    const md_spicy *s = step->spicy;
    const size_t n = s->n;
    double *row = step->U + step->rank * n;
    step->pivot = pivot;
    MEDLEY_TRY(md_mixture_column(s->mixture, pivot, row, step->error));
    for (size_t l = 0; l < step->rank; l++)
        step->small[l] = step->U[l * n + pivot];
    const size_t threads =
        md_threads_for(s->threads, (double)step->rank * (double)n, VALUES_OF_A_THREAD);
    md_parallel_for(threads, PIECES, eliminate_piece, step);
    for (size_t i = 0; i < n; i++)
        step->diagonal[i] = fmax(0, step->diagonal[i] - row[i] * row[i]);
    step->diagonal[pivot] = 0;
    step->rank++;
    return MEDLEY_OK;
}

static size_t most_rank(const md_spicy *s)
{
    const size_t fits = V_BYTES / (s->n * sizeof(double));
    const size_t share = md_max(s->n / RANK_SHARE, LEAST_RANK);
    return md_min(md_min(s->most_pivots, fits), md_min(share, s->n));
}

/* V from U and the terms of rank one; root from what U leaves of the diagonal. */
static void fill_low(struct step *step, size_t rank)
{
    md_spicy *s = step->spicy;
    const size_t n = s->n;
    const md_low_step *low = &s->low;
    size_t next = step->rank;
    for (size_t i = 0; i < s->count && next < rank; i++) {
        const double c = single_weight(s, i);
        double *row = step->U + next * n;
        if (!(c > 0))
            continue;
        memset(row, 0, n * sizeof *row);
        add_image(s, i, sqrt(c), row);
        next++;
    }
    for (size_t i = 0; i < n; i++) {
        low->root[i] = 1 / sqrt(s->z_slope[i] + step->diagonal[i] + step->ridge);
        for (size_t l = 0; l < rank; l++)
            low->V[i * rank + l] = low->root[i] * step->U[l * n + i];
    }
}

static medley_status make_preconditioner(struct step *step, medley_error *error)
{
    md_spicy *s = step->spicy;
    const size_t n = s->n;
    const size_t most = most_rank(s);
    MD_OWNED(free) double *U = NULL;
    MEDLEY_TRY(md_new_aligned(&U, (most + MOST_SINGLE) * n, sizeof *U, error));
    step->U = U;
    double trace = 0;
    MEDLEY_TRY(md_mixture_diagonal(s->mixture, step->diagonal, error));
    for (size_t i = 0; i < n; i++)
        trace += step->diagonal[i] + s->z_slope[i];
    const double least = s->smooth_loss ? 0 : s->gamma_z;
    step->ridge = RIDGE * (trace / (double)n + least);
    while (step->rank < most) {
        double ratio;
        const size_t pivot = find_pivot(step, LEAST_BASE * trace / (double)n, &ratio);
        if (!(ratio > SMALL_REST))
            break;
        MEDLEY_TRY(take_pivot(step, pivot));
    }
    size_t singles = 0;
    for (size_t i = 0; i < s->count; i++)
        singles += single_weight(s, i) > 0;
    const size_t rank = step->rank + md_min(singles, MOST_SINGLE);
    MEDLEY_TRY(md_spicy_low_room(s, md_max(rank, 1), error));
    if (rank == 0)
        memset(U, 0, n * sizeof *U);
    fill_low(step, md_max(rank, 1));
    if (!md_spicy_low_factor(s))
        return md_fail(error, MEDLEY_FAILED, "a Newton step has no finite matrix");
    return MEDLEY_OK;
}

static void precondition(void *context, double *x)
{
    const struct step *step = context;
    md_spicy_solve_low(step->spicy, x);
}

/* ---- the step ---- */

static void multiply_hessian(void *context, const double *x, double *y)
{
    struct step *step = context;
    const md_spicy *s = step->spicy;
    if (step->status >= 0)
        step->status = md_mixture_multiply(s->mixture, x, y, step->error);
    if (step->status < 0) { /* the curvature becomes 0, and that ends the iterations */
        memset(y, 0, s->n * sizeof *y);
        return;
    }
    for (size_t i = 0; i < s->n; i++)
        y[i] += (s->z_slope[i] + step->ridge) * x[i];
    for (size_t i = 0; i < s->count; i++) {
        const double c = single_weight(s, i);
        if (c != 0)
            add_image(s, i, c * along_image(s, i, x), y);
    }
}

static medley_status set_mixture(md_spicy *s, medley_error *error)
{
    size_t active = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->members[i].ratio > 0)
            s->weight[active++] = s->gamma * s->members[i].ratio;
    return md_mixture_set(s->mixture, md_spicy_members(s, true), s->weight, error);
}

medley_status md_spicy_step_by_products(md_spicy *s, medley_error *error)
{
    const size_t n = s->n;
    double small[MOST_RANK];
    struct step step = {.spicy = s, .diagonal = s->scratch, .small = small, .error = error};
    if (s->most_pivots == 0)
        s->most_pivots = FIRST_RANK;
    MEDLEY_TRY(set_mixture(s, error));
    MEDLEY_TRY(make_preconditioner(&step, error));
    double *target = s->scratch + n;
    for (size_t i = 0; i < n; i++) {
        target[i] = -s->gradient[i];
        s->direction[i] = 0;
    }
    const md_linear_system system = {.n = n,
                                     .context = &step,
                                     .multiply = multiply_hessian,
                                     .precondition = precondition,
                                     .centred = true};
    const double gap = (s->best_primal - s->best_dual) / s->best_primal;
    const double tolerance = gap > 0.1 ? 0.1 : gap > 1e-8 ? gap : 1e-8;
    const size_t steps = md_conjugate_gradient(&system, target, s->direction, tolerance / 10,
                                               MOST_CG_STEPS, s->scratch + 2 * n);
    if (steps > MANY_CG_STEPS)
        s->most_pivots = md_min(2 * s->most_pivots, MOST_RANK);
    else if (steps < FEW_CG_STEPS)
        s->most_pivots = md_max(s->most_pivots / 2, LEAST_RANK);
    return step.status;
}
