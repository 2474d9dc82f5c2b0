/* SPDX-License-Identifier: BSD-3-Clause */
/* The Newton step. Hessian of phi (docs/math.md; SpicyMKL eq. 27):
 *
 *     diag(-dz/drho) + gamma sum_{active} (ratio K + (curvature - ratio) K v v' K / ||v||^2)
 *
 * Steps sum to 0, so that rho does: H d = -gradient + mu 1. Solved by Cholesky, by conjugate
 * gradients where there are so many rows that they are faster. Flops: n^2 for each active kernel
 * and n^3 / 3. */
#include "batch/batch_internal.h"

#include "base/parallel.h"
#include "linalg/blas.h"
#include "optim/optim.h"
#include <math.h>
#include <string.h>

enum {
    DENSE_ROWS = 1500, /* up to so many the factorisation is faster than conjugate gradients */
    MOST_CG_STEPS = 500,
    BANDS = 16 /* of rows, in products with the Hessian: fixed, so that sums do not depend on
                  the number of threads */
};

static const double LONGEST = 10;
static const double RIDGE = 1e-10; /* of the mean diagonal: rows may be alike, kernels flat */

/* tall[rows] := sqrt(|c|) K v of the members whose c has the given sign, from *next on. */
static size_t fill_tall(md_batch *b, double sign, size_t *next)
{
    const size_t n = b->n;
    size_t rows = 0;
    for (; *next < b->count && rows < b->tall_rows; ++*next) {
        const md_member *member = &b->members[*next];
        const double c = member->curvature - member->ratio;
        if (!(member->ratio > 0) || !(sign * c > 0))
            continue;
        const double factor = sqrt(sign * c * b->gamma) / member->norm;
        double *row = b->tall + rows++ * n;
        memset(row, 0, n * sizeof *row);
        md_batch_add(row, factor * b->gamma, b->Kr + *next * n, n);
        if (!b->smooth_penalty && member->aKa > 0)
            md_batch_add(row, factor, b->Ka + *next * n, n);
    }
    return rows;
}

static medley_status build(md_batch *b, double ridge, medley_error *error)
{
    const size_t n = b->n;
    if (!b->sum_ready) {
        size_t active = 0;
        for (size_t i = 0; i < b->count; i++)
            if (b->members[i].ratio > 0)
                b->weight[active++] = b->gamma * b->members[i].ratio;
        const medley_status status =
            md_store_sum(b->store, md_batch_members(b, true), b->weight, b->sum, error);
        if (status < 0)
            return status;
        b->sum_ready = true;
    }
    for (size_t i = 0; i < n; i++)
        memcpy(b->hessian + i * n + i, b->sum + i * n + i, (n - i) * sizeof *b->sum);
    for (int sign = 1; sign >= -1; sign -= 2)
        for (size_t next = 0; next < b->count;) {
            const size_t rows = fill_tall(b, sign, &next);
            if (rows > 0)
                md_dsyrk_columns(n, rows, sign, b->tall, n, 1, b->hessian, n);
        }
    double trace = 0;
    for (size_t i = 0; i < n; i++)
        trace += b->hessian[i * n + i] += b->z_slope[i];
    const double least = b->smooth_loss ? 0 : b->gamma_z; /* no kernel and no row may be curved */
    for (size_t i = 0; i < n; i++)
        b->hessian[i * n + i] += ridge * (trace / (double)n + least);
    return MEDLEY_OK;
}

/* ---- by Cholesky ---- */

/* direction = H^-1 (-gradient + mu 1) with sum 0; flat = H^-1 1 is kept in scratch. */
static void solve_by_factor(const md_batch *b, double *direction, bool fresh)
{
    const size_t n = b->n;
    double *flat = b->scratch;
    double mean = 0; /* it is the bias, goes into mu anyway, and would cost digits */
    for (size_t i = 0; i < n; i++)
        mean += b->gradient[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        direction[i] = mean - b->gradient[i];
    md_cholesky_solve(b->hessian, n, direction, 1);
    if (fresh) {
        for (size_t i = 0; i < n; i++)
            flat[i] = 1;
        md_cholesky_solve(b->hessian, n, flat, 1);
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

static medley_status step_by_cholesky(md_batch *b, medley_error *error)
{
    double ridge = RIDGE;
    for (int attempt = 0; attempt < 4; attempt++, ridge *= 1000) {
        const medley_status status = build(b, ridge, error);
        if (status < 0)
            return status;
        if (md_cholesky(b->hessian, b->n, b->threads)) {
            solve_by_factor(b, b->direction, true);
            b->factor_ready = true;
            return MEDLEY_OK;
        }
    }
    /* rounding has eaten the curvature: downhill is still known */
    for (size_t i = 0; i < b->n; i++)
        b->direction[i] = -b->gradient[i] / (b->gamma_z + b->z_slope[i]);
    return MEDLEY_OK;
}

/* ---- by conjugate gradients ---- */

struct symmetric {
    const md_batch *b;
    const double *x;
    double *parts; /* [BANDS][n] */
    double *y;
};

/* Rows of a band get about the same number of values. */
static size_t band_start(size_t n, size_t band)
{
    return n - (size_t)((double)n * sqrt(1 - (double)band / BANDS));
}

static void multiply_band(void *context, size_t band, size_t worker)
{
    (void)worker;
    const struct symmetric *s = context;
    const size_t n = s->b->n;
    double *y = s->parts + band * n;
    memset(y, 0, n * sizeof *y);
    const size_t end = band + 1 == BANDS ? n : band_start(n, band + 1);
    for (size_t i = band_start(n, band); i < end; i++) {
        const double *row = s->b->hessian + i * n;
        y[i] += md_batch_dot(row + i, s->x + i, n - i);
        md_batch_add(y + i + 1, s->x[i], row + i + 1, n - i - 1);
    }
}

static void multiply_hessian(void *context, const double *x, double *y)
{
    struct symmetric *s = context;
    s->x = x;
    md_parallel_for(s->b->threads, BANDS, multiply_band, s);
    memset(y, 0, s->b->n * sizeof *y);
    for (size_t band = 0; band < BANDS; band++)
        md_batch_add(y, 1, s->parts + band * s->b->n, s->b->n);
}

static medley_status step_by_gradients(md_batch *b, medley_error *error)
{
    const size_t n = b->n;
    const medley_status status = build(b, RIDGE, error);
    if (status < 0)
        return status;
    double *target = b->scratch;
    double *inverse = b->scratch + n;
    for (size_t i = 0; i < n; i++) {
        target[i] = -b->gradient[i];
        inverse[i] = 1 / b->hessian[i * n + i];
        b->direction[i] = 0;
    }
    struct symmetric symmetric = {.b = b, .parts = b->tall};
    const md_linear_system system = {.n = n,
                                     .context = &symmetric,
                                     .multiply = multiply_hessian,
                                     .inverse_diagonal = inverse,
                                     .centred = true};
    const double gap = (b->best_primal - b->best_dual) / b->best_primal;
    const double tolerance = gap > 0.1 ? 0.1 : gap > 1e-8 ? gap : 1e-8;
    md_conjugate_gradient(&system, target, b->direction, tolerance / 10, MOST_CG_STEPS,
                          b->scratch + 2 * n);
    return MEDLEY_OK;
}

/* Long steps in flat directions leave more than rounding of a sum. */
static void center(double *x, size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        x[i] -= mean;
}

/* Where phi is flat but for the ridge, steps would lead far out of the loss's domain: no step is
 * longer than LONGEST times its width. */
static void shorten(md_batch *b)
{
    double factor = 1;
    for (size_t i = 0; i < b->n; i++) {
        double low;
        double high;
        b->problem->loss->domain(b->problem->loss_state, b->problem->y[i], &low, &high);
        if (fabs(b->direction[i]) * factor > LONGEST * (high - low))
            factor = LONGEST * (high - low) / fabs(b->direction[i]);
    }
    for (size_t i = 0; factor < 1 && i < b->n; i++)
        b->direction[i] *= factor;
}

medley_status md_batch_direction(md_batch *b, double *decrement, medley_error *error)
{
    b->factor_ready = false;
    const medley_status status =
        b->n <= DENSE_ROWS ? step_by_cholesky(b, error) : step_by_gradients(b, error);
    *decrement = -md_batch_dot(b->gradient, b->direction, b->n);
    shorten(b);
    center(b->direction, b->n);
    return status;
}

double md_batch_old_decrement(md_batch *b)
{
    if (!b->factor_ready)
        return NAN;
    solve_by_factor(b, b->trial, false);
    return -md_batch_dot(b->gradient, b->trial, b->n);
}
