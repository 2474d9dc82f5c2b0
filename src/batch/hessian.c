/* SPDX-License-Identifier: BSD-3-Clause */
/* The Newton step, which takes most of the time. Hessian of phi (SpicyMKL eq. 27, 50):
 *
 *     diag(-dz/drho) + gamma sum_{active} (ratio K + (curvature - ratio) K v v' K / ||v||^2)
 *
 * Steps sum to 0, so that rho does: H d = -gradient + mu 1. Solved by Cholesky, by conjugate
 * gradients where there are enough rows for them to be faster. Flops: n^2 for each active kernel
 * and n^3 / 3. */
#include "batch/spicy.h"
#include "linalg/vectors.h"

#include "base/parallel.h"
#include "linalg/blas.h"
#include "optim/optim.h"

enum {
    DENSE_ROWS = 1500, /* up to this many rows Cholesky is faster than conjugate gradients */
    MOST_CG_STEPS = 500,
    FEW_ROWS = 300, /* a matrix of them is copied before another thread is awake */
    BANDS = 16      /* of rows, in products with the Hessian: fixed, so that sums do not depend on
                       the number of threads */
};

static const double LONGEST = 10;
static const double RIDGE = 1e-10; /* of the mean diagonal: rows may be alike, kernels flat */

/* tall[rows] := sqrt(|c|) K v of the members whose c has the given sign, from *next on. */
static size_t fill_tall(md_spicy *s, double sign, size_t *next)
{
    const size_t n = s->n;
    size_t rows = 0;
    for (; *next < s->count && rows < s->tall_rows; ++*next) {
        const md_member *member = &s->members[*next];
        const double c = member->curvature - member->ratio;
        if (!(member->ratio > 0) || !(sign * c > 0))
            continue;
        const double factor = sqrt(sign * c * s->gamma) / member->norm;
        double *row = s->tall + rows++ * n;
        memset(row, 0, n * sizeof *row);
        md_add_scaled(row, factor * s->gamma, s->Kr + *next * n, n);
        if (!s->smooth_penalty && member->aKa > 0)
            md_add_scaled(row, factor, s->Ka + *next * n, n);
    }
    return rows;
}

/* Rows of a band get about the same number of values. */
static size_t band_start(size_t n, size_t band)
{
    return band == BANDS ? n : n - (size_t)((double)n * sqrt(1 - (double)band / BANDS));
}

static void copy_band(void *context, size_t band, size_t worker)
{
    const md_spicy *s = context;
    const size_t n = s->n;
    (void)worker;
    for (size_t i = band_start(n, band); i < band_start(n, band + 1); i++)
        memcpy(s->hessian + i * n + i, s->sum + i * n + i, (n - i) * sizeof *s->sum);
}

static medley_status build(md_spicy *s, double ridge, medley_error *error)
{
    const size_t n = s->n;
    if (!s->sum_ready) {
        size_t active = 0;
        for (size_t i = 0; i < s->count; i++)
            if (s->members[i].ratio > 0)
                s->weight[active++] = s->gamma * s->members[i].ratio;
        MEDLEY_TRY(md_packed_sum(s->packed, md_spicy_members(s, true), s->weight, s->sum, error));
        s->sum_ready = true;
    }
    md_parallel_for(n > FEW_ROWS ? s->threads : 1, BANDS, copy_band, s);
    for (int sign = 1; sign >= -1; sign -= 2)
        for (size_t next = 0; next < s->count;) {
            const size_t rows = fill_tall(s, sign, &next);
            if (rows > 0)
                md_add_squares(n, rows, sign, s->tall, n, s->hessian, n, s->threads);
        }
    double trace = 0;
    for (size_t i = 0; i < n; i++)
        trace += s->hessian[i * n + i] += s->z_slope[i];
    const double least = s->smooth_loss ? 0 : s->gamma_z; /* the trace may be 0: rows at kinks */
    for (size_t i = 0; i < n; i++)
        s->hessian[i * n + i] += ridge * (trace / (double)n + least);
    return MEDLEY_OK;
}

/* ---- by Cholesky ---- */

static void solve(const md_spicy *s, double *x)
{
    if (s->low.ready)
        md_spicy_solve_low(s, x);
    else
        md_cholesky_solve(s->hessian, s->n, x);
}

/* direction = H^-1 (-gradient + mu 1) with sum 0; flat = H^-1 1 is kept in scratch. */
static void solve_by_factor(const md_spicy *s, double *direction, bool fresh)
{
    const size_t n = s->n;
    double *flat = s->scratch;
    double mean = 0; /* the bias: part of mu in any case, and large enough to cost digits */
    for (size_t i = 0; i < n; i++)
        mean += s->gradient[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        direction[i] = mean - s->gradient[i];
    solve(s, direction);
    if (fresh) {
        for (size_t i = 0; i < n; i++)
            flat[i] = 1;
        solve(s, flat);
    }
    double sum = 0;
    double flat_sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += direction[i];
        flat_sum += flat[i];
    }
    for (size_t i = 0; i < n; i++)
        direction[i] -= sum / flat_sum * flat[i];
}

static medley_status step_by_cholesky(md_spicy *s, medley_error *error)
{
    double ridge = RIDGE;
    for (int attempt = 0; attempt < 4; attempt++, ridge *= 1000) {
        MEDLEY_TRY(build(s, ridge, error));
        if (md_cholesky(s->hessian, s->n, s->threads)) {
            solve_by_factor(s, s->direction, true);
            s->factor_ready = true;
            return MEDLEY_OK;
        }
    }
    /* The curvature is lost to rounding; this is still a descent direction. */
    for (size_t i = 0; i < s->n; i++)
        s->direction[i] = -s->gradient[i] / (s->gamma_z + s->z_slope[i]);
    return MEDLEY_OK;
}

/* ---- by conjugate gradients ---- */

struct symmetric {
    const md_spicy *spicy;
    const double *x;
    double *parts; /* [BANDS][n] */
};

static void multiply_band(void *context, size_t band, size_t worker)
{
    (void)worker;
    const struct symmetric *product = context;
    const size_t n = product->spicy->n;
    double *y = product->parts + band * n;
    memset(y, 0, n * sizeof *y);
    const size_t end = band_start(n, band + 1);
    for (size_t i = band_start(n, band); i < end; i++) {
        const double *row = product->spicy->hessian + i * n;
        y[i] += md_dot(row + i, product->x + i, n - i);
        md_add_scaled(y + i + 1, product->x[i], row + i + 1, n - i - 1);
    }
}

static void multiply_hessian(void *context, const double *x, double *y)
{
    struct symmetric *product = context;
    product->x = x;
    md_parallel_for(product->spicy->threads, BANDS, multiply_band, product);
    memset(y, 0, product->spicy->n * sizeof *y);
    for (size_t band = 0; band < BANDS; band++)
        md_add_scaled(y, 1, product->parts + band * product->spicy->n, product->spicy->n);
}

static medley_status step_by_gradients(md_spicy *s, medley_error *error)
{
    const size_t n = s->n;
    MEDLEY_TRY(build(s, RIDGE, error));
    double *target = s->scratch;
    double *inverse = s->scratch + n;
    for (size_t i = 0; i < n; i++) {
        target[i] = -s->gradient[i];
        inverse[i] = 1 / s->hessian[i * n + i];
        s->direction[i] = 0;
    }
    struct symmetric symmetric = {.spicy = s, .parts = s->tall};
    const md_linear_system system = {.n = n,
                                     .context = &symmetric,
                                     .multiply = multiply_hessian,
                                     .inverse_diagonal = inverse,
                                     .centred = true};
    const double gap = (s->best_primal - s->best_dual) / s->best_primal;
    const double tolerance = gap > 0.1 ? 0.1 : gap > 1e-8 ? gap : 1e-8;
    md_conjugate_gradient(&system, target, s->direction, tolerance / 10, MOST_CG_STEPS,
                          s->scratch + 2 * n);
    return MEDLEY_OK;
}

/* After long steps in flat directions the sum differs from 0 by more than rounding. */
static void center(double *x, size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        x[i] -= mean;
}

/* Where phi is flat except for the ridge, steps would lead far out of the loss's domain: their
 * length is limited to LONGEST times its width. */
static void shorten(md_spicy *s)
{
    double factor = 1;
    for (size_t i = 0; i < s->n; i++) {
        const md_interval domain =
            s->problem->loss->domain(s->problem->loss_state, s->problem->y[i]);
        if (fabs(s->direction[i]) * factor > LONGEST * (domain.high - domain.low))
            factor = LONGEST * (domain.high - domain.low) / fabs(s->direction[i]);
    }
    for (size_t i = 0; factor < 1 && i < s->n; i++)
        s->direction[i] *= factor;
}

medley_status md_spicy_direction(md_spicy *s, double *decrement, medley_error *error)
{
    bool done;
    s->factor_ready = s->low.ready = false;
    MEDLEY_TRY(md_spicy_factor_low(s, &done, error));
    if (done) {
        solve_by_factor(s, s->direction, true);
        s->factor_ready = true;
    } else if (s->mixture != NULL) {
        MEDLEY_TRY(md_spicy_step_by_products(s, error));
    } else {
        MEDLEY_TRY(s->n <= DENSE_ROWS ? step_by_cholesky(s, error) : step_by_gradients(s, error));
    }
    *decrement = -md_dot(s->gradient, s->direction, s->n);
    shorten(s);
    center(s->direction, s->n);
    return MEDLEY_OK;
}

double md_spicy_old_decrement(md_spicy *s)
{
    if (!s->factor_ready)
        return NAN;
    solve_by_factor(s, s->trial, false);
    return -md_dot(s->gradient, s->trial, s->n);
}
