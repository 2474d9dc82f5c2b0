/* SPDX-License-Identifier: BSD-3-Clause */
#include "baseline/weight_simplex.h"

#include "linalg/vectors.h"

/* ---- shares ---- */

medley_status md_shares_init(md_shares *shares, md_pool *pool, const md_batch_problem *problem,
                             medley_error *error)
{
    const size_t kernels = md_packed_count(problem->packed);
    *shares = (md_shares){.count = problem->square > 0 ? kernels : kernels + 1};
    MEDLEY_TRY(md_pool_new(pool, &shares->x, shares->count, sizeof(double), error));
    return md_pool_new(pool, &shares->slope, shares->count, sizeof(double), error);
}

void md_shares_read(md_shares *shares, const md_wrap *w)
{
    double sum = 0;
    for (size_t m = 0; m < w->kernels; m++)
        sum += w->weight[m];
    if (shares->total == 0)
        shares->total = w->on_simplex ? 1 : fmax(w->best_primal / w->problem->strength, sum);
    for (size_t m = 0; m < w->kernels; m++) {
        shares->x[m] = w->weight[m] / shares->total;
        shares->slope[m] = -md_wrap_descent(w, m) * shares->total;
    }
    if (!w->on_simplex)
        shares->x[w->kernels] = fmax(0, 1 - sum / shares->total);
}

void md_shares_write(const md_shares *shares, md_wrap *w)
{
    for (size_t m = 0; m < w->kernels; m++)
        w->weight[m] = fmax(0, shares->x[m]) * shares->total;
}

/* ---- bounds ---- */

/* The program has a variable t >= 0, which is to be least, and the shares: J is never negative. */
static medley_status begin_program(md_bounds *bounds, medley_error *error)
{
    const size_t columns = bounds->shares.count + 1;
    MD_OWNED(free) double *numbers = NULL;
    MEDLEY_TRY(md_new(&numbers, 3 * columns, sizeof *numbers, error));
    double *cost = numbers;
    double *low = numbers + columns;
    double *high = low + columns;
    cost[0] = 1;
    for (size_t c = 0; c < columns; c++)
        high[c] = c == 0 ? INFINITY : 1;
    MEDLEY_TRY(md_linear_program_create(&bounds->program, cost, low, high, columns, error));
    for (size_t c = 1; c < columns; c++)
        low[c] = 1;
    return md_linear_program_add(bounds->program, low, 1, 1, error); /* the sum of shares */
}

medley_status md_bounds_init(md_bounds *bounds, md_pool *pool, const md_batch_problem *problem,
                             const char *method, medley_error *error)
{
    *bounds = (md_bounds){0};
    if (md_linear_program_missing() != NULL)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "`method=%s` needs a library for linear programs, and this Medley was built "
                       "without one (%s); use `method=spicy`",
                       method, md_linear_program_missing());
    MEDLEY_TRY(md_shares_init(&bounds->shares, pool, problem, error));
    const size_t columns = bounds->shares.count + 1;
    MEDLEY_TRY(md_pool_new(pool, &bounds->row, columns, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &bounds->solution, columns, sizeof(double), error));
    return begin_program(bounds, error);
}

void md_bounds_clear(md_bounds *bounds)
{
    md_linear_program_free(bounds->program);
    free(bounds->points);
    *bounds = (md_bounds){0};
}

/* The mean of all points by the prices of their rows, after that of the sum. */
static medley_status try_mean(const md_bounds *bounds, md_wrap *w, medley_error *error)
{
    MD_OWNED(free) double *price = NULL;
    MD_OWNED(free) double *mean = NULL;
    double sum = 0;
    MEDLEY_TRY(md_new(&price, bounds->known + 1, sizeof *price, error));
    MEDLEY_TRY(md_new(&mean, w->n, sizeof *mean, error));
    md_linear_program_prices(bounds->program, price);
    for (size_t k = 0; k < bounds->known; k++)
        sum += price[1 + k];
    for (size_t k = 0; k < bounds->known && sum > 0; k++)
        md_add_scaled(mean, price[1 + k] / sum, bounds->points + k * w->n, w->n);
    return md_wrap_try_point(w, mean, error);
}

static medley_status keep_point(md_bounds *bounds, const md_wrap *w, medley_error *error)
{
    MEDLEY_TRY(md_grow(&bounds->points, &bounds->point_capacity, (bounds->known + 1) * w->n,
                       sizeof *bounds->points, error));
    memcpy(bounds->points + bounds->known * w->n, w->here.point, w->n * sizeof(double));
    bounds->known++;
    return MEDLEY_OK;
}

/* The bound of the dual point as it is now: row, height and value. */
static void find_bound(md_bounds *bounds, const md_wrap *w)
{
    const md_batch_problem *p = w->problem;
    double conjugates = 0;
    for (size_t i = 0; i < w->n; i++)
        conjugates += p->loss->conjugate(p->loss_state, p->y[i], w->here.point[i]);
    bounds->height = bounds->value = -conjugates / bounds->scale;
    bounds->row[0] = -1;
    for (size_t m = 0; m < bounds->shares.count; m++) {
        bounds->row[1 + m] = bounds->shares.slope[m] / bounds->scale;
        bounds->value += bounds->row[1 + m] * bounds->shares.x[m];
    }
}

medley_status md_bounds_add(md_bounds *bounds, md_wrap *w, medley_error *error)
{
    const double total = md_wrap_total(w);
    md_shares_read(&bounds->shares, w);
    if (bounds->known == 0) {
        bounds->scale = fmax(total, 1e-300);
        bounds->best = INFINITY;
    }
    bounds->best = fmin(bounds->best, total / bounds->scale);
    find_bound(bounds, w);
    MEDLEY_TRY(keep_point(bounds, w, error));
    if (!w->on_simplex) { /* the better the best model, the smaller the sum of weights can be */
        const double most = w->best_primal / (w->problem->strength * bounds->shares.total);
        md_linear_program_limit(bounds->program, bounds->shares.count, fmax(0, 1 - most), 1);
    }
    MEDLEY_TRY(
        md_linear_program_add(bounds->program, bounds->row, -INFINITY, -bounds->height, error));
    MEDLEY_TRY(md_linear_program_solve(bounds->program, bounds->solution, error));
    const bool near = bounds->best - bounds->solution[0] <= w->problem->gap * bounds->best;
    return near ? try_mean(bounds, w, error) : MEDLEY_OK;
}
