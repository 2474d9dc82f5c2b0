/* SPDX-License-Identifier: BSD-3-Clause */
/* The nearest point of the simplex in some half-spaces A x <= b, by its dual. For multipliers
 * u >= 0 the nearest point x(u) of the simplex to x0 - A'u is known, and
 *
 *     D(u) = 1/2 ||x(u) - x0||^2 + u'(A x(u) - b)
 *
 * is concave with the gradient A x(u) - b; where S are the variables above 0, its Hessian is
 * -A_S (I - 11'/|S|) A_S'. Newton's method on the multipliers that are above 0 or want to be, with
 * negative ones cut off on the way (Bertsekas), needs few steps: D is quadratic as long as S and
 * these multipliers stay what they are. There are as many multipliers as planes, far fewer than
 * variables. */
#include "linalg/vectors.h"
#include "optim/optim.h"
#include "optim/simplex.h"
#include <float.h>

enum { MOST_STEPS = 100, MOST_HALVINGS = 60 };
static const double PRECISION = 1e-9; /* of the length of slopes */
static const double RIDGE = 1e-10;    /* of the squared length of slopes */

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x < y) - (x > y);
}

/* max(0, x - t) with the t for which the sum is 1. */
void md_simplex_project(double *x, size_t count, double *scratch)
{
    double sum = 0;
    double threshold = 0;
    memcpy(scratch, x, count * sizeof *x);
    qsort(scratch, count, sizeof *scratch, descending);
    for (size_t i = 0; i < count; i++) {
        sum += scratch[i];
        if (scratch[i] * (double)(i + 1) <= sum - 1)
            break;
        threshold = (sum - 1) / (double)(i + 1);
    }
    for (size_t i = 0; i < count; i++)
        x[i] = fmax(0, x[i] - threshold);
}

struct dual {
    const md_half_spaces *spaces;
    const double *from;            /* [count] */
    double *length2;               /* [planes] of slopes */
    double *u, *gradient, value;   /* [planes] */
    double *x;                     /* [count] x(u) */
    double *trial_u, *trial_x;     /* [planes], [count] */
    double *scratch;               /* [count] */
    size_t *free, frees;           /* [planes] multipliers that move */
    double *hessian, *step, *rows; /* [planes][planes], [planes], [planes][count] scratch */
};

/* x(u) and D(u). */
static double evaluate(const struct dual *d, const double *u, double *x)
{
    const md_half_spaces *s = d->spaces;
    double value = 0;
    memcpy(x, d->from, s->count * sizeof *x);
    for (size_t k = 0; k < s->planes; k++)
        if (u[k] > 0)
            md_add_scaled(x, -u[k], s->slope + k * s->count, s->count);
    md_simplex_project(x, s->count, d->scratch);
    for (size_t m = 0; m < s->count; m++)
        value += (x[m] - d->from[m]) * (x[m] - d->from[m]) / 2;
    for (size_t k = 0; k < s->planes; k++)
        if (u[k] > 0)
            value += u[k] * (md_dot(s->slope + k * s->count, x, s->count) - s->limit[k]);
    return value;
}

/* The gradient, and which multipliers move. Is it the optimum? */
static bool look(struct dual *d)
{
    const md_half_spaces *s = d->spaces;
    bool over = true;
    d->frees = 0;
    for (size_t k = 0; k < s->planes; k++) {
        d->gradient[k] = md_dot(s->slope + k * s->count, d->x, s->count) - s->limit[k];
        const double small = PRECISION * sqrt(d->length2[k]);
        if (d->u[k] > 0 || d->gradient[k] > small)
            d->free[d->frees++] = k;
        over = over && (d->u[k] > 0 ? fabs(d->gradient[k]) : d->gradient[k]) <= small;
    }
    return over;
}

/* step[frees]: Newton's. False if rounding hides it. */
static bool find_step(struct dual *d)
{
    const md_half_spaces *s = d->spaces;
    const size_t n = d->frees;
    size_t support = 0;
    for (size_t m = 0; m < s->count; m++)
        support += d->x[m] > 0;
    for (size_t i = 0; i < n; i++) { /* slopes of the support, without their mean */
        const double *slope = s->slope + d->free[i] * s->count;
        double *row = d->rows + i * support;
        double mean = 0;
        for (size_t m = 0, to = 0; m < s->count; m++)
            if (d->x[m] > 0)
                mean += row[to++] = slope[m];
        mean /= (double)support;
        for (size_t m = 0; m < support; m++)
            row[m] -= mean;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++)
            d->hessian[i * n + j] = md_dot(d->rows + i * support, d->rows + j * support, support);
        d->hessian[i * n + i] += RIDGE * d->length2[d->free[i]];
        d->step[i] = d->gradient[d->free[i]];
    }
    if (!md_cholesky(d->hessian, n, 1))
        return false;
    md_cholesky_solve(d->hessian, n, d->step);
    return true;
}

/* Halves the step until D grows. False: it does not. */
static bool search(struct dual *d)
{
    const md_half_spaces *s = d->spaces;
    double share = 1;
    for (size_t i = 0; i < MOST_HALVINGS; i++, share /= 2) {
        double expected = 0;
        memcpy(d->trial_u, d->u, s->planes * sizeof *d->u);
        for (size_t k = 0; k < d->frees; k++) {
            double *u = &d->trial_u[d->free[k]];
            *u = fmax(0, *u + share * d->step[k]);
            expected += d->gradient[d->free[k]] * (*u - d->u[d->free[k]]);
        }
        const double value = evaluate(d, d->trial_u, d->trial_x);
        if (!(value > d->value + 1e-4 * expected) || !(expected > 0))
            continue;
        d->value = value;
        md_swap(&d->u, &d->trial_u);
        md_swap(&d->x, &d->trial_x);
        return true;
    }
    return false;
}

/* A step uphill. Multipliers that are cut off may turn Newton's direction downhill; that of the
 * gradient, by the lengths of slopes, never is. */
static bool move(struct dual *d)
{
    if (find_step(d) && search(d))
        return true;
    for (size_t i = 0; i < d->frees; i++)
        d->step[i] = d->gradient[d->free[i]] / fmax(d->length2[d->free[i]], DBL_MIN);
    return search(d);
}

medley_status md_simplex_project_into(const md_half_spaces *spaces, double *x, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    const size_t planes = spaces->planes;
    const size_t count = spaces->count;
    struct dual d = {.spaces = spaces, .from = x};
    double **of_planes[] = {&d.length2, &d.u, &d.gradient, &d.trial_u, &d.step};
    double **of_all[] = {&d.x, &d.trial_x, &d.scratch};
    for (size_t i = 0; i < sizeof of_planes / sizeof *of_planes; i++)
        MEDLEY_TRY(md_pool_new(&pool, of_planes[i], planes, sizeof(double), error));
    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
        MEDLEY_TRY(md_pool_new(&pool, of_all[i], count, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &d.free, planes, sizeof *d.free, error));
    MEDLEY_TRY(md_pool_new(&pool, &d.hessian, planes * planes, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &d.rows, planes * count, sizeof(double), error));
    for (size_t k = 0; k < planes; k++)
        d.length2[k] = md_dot(spaces->slope + k * count, spaces->slope + k * count, count);
    d.value = evaluate(&d, d.u, d.x);
    for (size_t i = 0; i < MOST_STEPS && !look(&d) && move(&d); i++)
        ;
    memcpy(x, d.x, count * sizeof *x);
    return MEDLEY_OK;
}
