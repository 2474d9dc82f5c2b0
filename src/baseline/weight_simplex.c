/* SPDX-License-Identifier: BSD-3-Clause */
#include "baseline/weight_simplex.h"

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
    bounds->program = NULL;
}

medley_status md_bounds_add(md_bounds *bounds, const md_wrap *w, double *gain, medley_error *error)
{
    const md_batch_problem *p = w->problem;
    const bool first = bounds->scale == 0;
    md_shares_read(&bounds->shares, w);
    if (first)
        bounds->scale = fmax(md_wrap_total(w), 1e-300);
    double value = 0;
    for (size_t i = 0; i < w->n; i++)
        value -= p->loss->conjugate(p->loss_state, p->y[i], w->here.point[i]);
    bounds->height = value / bounds->scale;
    value = bounds->height;
    bounds->row[0] = -1;
    for (size_t m = 0; m < bounds->shares.count; m++) {
        bounds->row[1 + m] = bounds->shares.slope[m] / bounds->scale;
        value += bounds->row[1 + m] * bounds->shares.x[m];
    }
    *gain = first ? INFINITY : value - bounds->solution[0];
    MEDLEY_TRY(
        md_linear_program_add(bounds->program, bounds->row, -INFINITY, -bounds->height, error));
    return md_linear_program_solve(bounds->program, bounds->solution, error);
}
