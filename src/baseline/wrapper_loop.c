/* SPDX-License-Identifier: BSD-3-Clause */
/* What wrapper methods share: solving for fixed kernel weights, the certificate, the outer loop. */
#include "baseline/wrappers.h"

#include "batch/certificate.h"
#include "linalg/blas.h"
#include "linalg/vectors.h"
#include <float.h>

/* Kernels of a smaller share of the largest weight are left out of the mixture; their weights are
 * kept, so that they may come back. */
static const double LEAST_SHARE = 1e-10;
static const double LEAST_INNER_GAP = 1e-13;
/* Smaller gaps are for our own solver: the single precision of another one leads no further. */
static const double LIBSVM_GAP = 1e-5;

static medley_status init_wrap(md_wrap *w, md_pool *pool, const md_batch_problem *problem,
                               const md_wrap_method *method, medley_error *error)
{
    const size_t n = md_packed_rows(problem->packed);
    const size_t kernels = md_packed_count(problem->packed);
    *w = (md_wrap){.problem = problem,
                   .n = n,
                   .kernels = kernels,
                   .gap = fmax(method->inner_share * problem->gap, LEAST_INNER_GAP),
                   .on_simplex = problem->square > 0,
                   .price = problem->square > 0 ? 0 : 1,
                   .best_primal = INFINITY,
                   .best_dual = -INFINITY,
                   .began = md_clock_seconds()};
    double **of_kernels[] = {&w->weight, &w->norm, &w->best_weight, &w->values, &w->share};
    double **of_rows[] = {&w->here.rho, &w->f, &w->best_rho, &w->dual_point, &w->here.point};
    for (size_t i = 0; i < sizeof of_kernels / sizeof *of_kernels; i++)
        MEDLEY_TRY(md_pool_new(pool, of_kernels[i], kernels, sizeof(double), error));
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++)
        MEDLEY_TRY(md_pool_new(pool, of_rows[i], n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new_aligned(pool, &w->mix, n * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &w->list, kernels, sizeof(size_t), error));
    w->inner = problem->inner;
    if (w->inner == NULL)
        w->inner = md_one_kernel_libsvm(problem);
    if (w->inner == NULL)
        w->inner = md_one_kernel_newton;
    md_blas_single_thread();
    return MEDLEY_OK;
}

/* ---- a point ---- */

static double least_weight(const md_wrap *w, const double *weight)
{
    double largest = 0;
    for (size_t m = 0; m < w->kernels; m++)
        largest = fmax(largest, fabs(weight[m]));
    return fmax(LEAST_SHARE * largest, DBL_MIN);
}

medley_status md_wrap_mix(md_wrap *w, const double *weight, double *matrix, medley_error *error)
{
    const double least = least_weight(w, weight);
    size_t count = 0;
    for (size_t m = 0; m < w->kernels; m++) {
        if (!(fabs(weight[m]) >= least))
            continue;
        w->list[count] = m;
        w->values[count++] = weight[m];
    }
    return md_packed_sum(w->problem->packed, (md_chosen){.kernels = w->list, .count = count},
                         w->values, matrix, error);
}

medley_status md_wrap_solve(md_wrap *w, const double *matrix, md_fixed *fixed, medley_error *error)
{
    const md_batch_problem *p = w->problem;
    const md_one_kernel inner = {
        .problem = p, .kernel = matrix, .n = w->n, .gap = w->gap, .level = w->best_primal};
    const md_one_kernel_solver solve = w->gap >= LIBSVM_GAP ? w->inner : md_one_kernel_newton;
    MEDLEY_TRY(solve(&inner, fixed->rho, fixed->point, error));
    w->solved++;
    md_project_dual(p->loss, p->loss_state, p->y, fixed->point, w->n);
    md_dsymv(w->n, matrix, w->n, fixed->rho, w->f);
    const double norm2 = md_dot(fixed->rho, w->f, w->n);
    for (size_t i = 0; i < w->n; i++)
        w->f[i] /= p->strength;
    double bias;
    fixed->loss = md_batch_loss(p, w->f, &bias);
    fixed->value = fixed->loss + fmax(0, norm2) / (2 * p->strength);
    return MEDLEY_OK;
}

void md_fixed_copy(md_fixed *to, const md_fixed *from, size_t n)
{
    memcpy(to->rho, from->rho, n * sizeof *to->rho);
    memcpy(to->point, from->point, n * sizeof *to->point);
    to->loss = from->loss;
    to->value = from->value;
}

medley_status md_wrap_settle(md_wrap *w, medley_error *error)
{
    MEDLEY_TRY(md_wrap_mix(w, w->weight, w->mix, error));
    return md_wrap_solve(w, w->mix, &w->here, error);
}

double md_wrap_total(const md_wrap *w)
{
    double sum = 0;
    for (size_t m = 0; m < w->kernels; m++)
        sum += w->weight[m];
    return w->here.value + w->problem->strength / 2 * w->price * sum;
}

double md_wrap_descent(const md_wrap *w, size_t m)
{
    const double strength = w->problem->strength;
    const double ratio = w->norm[m] / strength;
    return strength / 2 * (ratio * ratio - w->price);
}

medley_status md_wrap_refine(md_wrap *w, bool *moved, medley_error *error)
{
    *moved = w->gap > LEAST_INNER_GAP;
    if (!*moved)
        return MEDLEY_OK;
    w->gap = fmax(w->gap / 10, LEAST_INNER_GAP);
    return md_wrap_settle(w, error);
}

medley_status md_wrap_check_penalty(const md_batch_problem *problem, const char *method,
                                    medley_error *error)
{
    bool fits = problem->square == 0 || problem->square == 1;
    for (int power = -4; power <= 4 && fits; power++)
        fits = problem->penalty->slope(problem->penalty_state, pow(10, power)) == 1;
    if (!fits)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "`method=%s` learns with the penalties group-lasso and mkl only; use one of "
                       "these, or `method=gauss-seidel` or spicy",
                       method);
    return MEDLEY_OK;
}

/* ---- the certificate ---- */

static void try_model(md_wrap *w, const double *norm)
{
    const md_batch_problem *p = w->problem;
    const double least = least_weight(w, w->weight);
    size_t count = 0;
    for (size_t m = 0; m < w->kernels; m++)
        if (w->weight[m] >= least)
            w->share[count++] = w->weight[m] * norm[m] / p->strength;
    const double primal = w->here.loss + p->strength * md_batch_penalty(p, w->share, count);
    if (!(primal < w->best_primal))
        return;
    w->best_primal = primal;
    w->best_loss = w->here.loss;
    w->active = 0;
    memcpy(w->best_rho, w->here.rho, w->n * sizeof *w->here.rho);
    for (size_t m = 0; m < w->kernels; m++) {
        w->best_weight[m] = w->weight[m] >= least ? w->weight[m] : 0;
        w->active += w->best_weight[m] > 0;
    }
}

static medley_status norms_of(md_wrap *w, const double *x, double *norm, medley_error *error)
{
    const md_chosen all = {.count = w->kernels};
    MEDLEY_TRY(md_packed_norms2(w->problem->packed, all, x, norm, error));
    w->looks++;
    for (size_t m = 0; m < w->kernels; m++)
        norm[m] = sqrt(norm[m]);
    return MEDLEY_OK;
}

/* Norms at the dual point, or upper bounds of them that are as good: they differ from those at rho
 * by at most the distance times the root of the largest eigenvalue. */
static medley_status dual_norms(md_wrap *w, const double *at_rho, medley_error *error)
{
    double distance2 = 0;
    double most = 0;
    for (size_t i = 0; i < w->n; i++)
        distance2 += (w->here.point[i] - w->here.rho[i]) * (w->here.point[i] - w->here.rho[i]);
    const double distance = sqrt(distance2);
    for (size_t m = 0; m < w->kernels; m++) {
        const double difference = distance * sqrt(md_packed_spread(w->problem->packed, m));
        w->norm[m] = at_rho[m] + difference;
        most = fmax(most, difference);
    }
    const bool near = most <= 1e-3 * w->problem->gap * w->problem->strength;
    return near ? MEDLEY_OK : norms_of(w, w->here.point, w->norm, error);
}

static void try_point(md_wrap *w, const double *point, const double *norm)
{
    double scale = 1;
    const double dual = md_dual_value(w->problem, point, norm, w->kernels, &scale);
    if (!(dual > w->best_dual))
        return;
    w->best_dual = dual;
    for (size_t i = 0; i < w->n; i++)
        w->dual_point[i] = scale * point[i];
}

medley_status md_wrap_try_point(md_wrap *w, const double *point, medley_error *error)
{
    MEDLEY_TRY(norms_of(w, point, w->values, error));
    try_point(w, point, w->values);
    return MEDLEY_OK;
}

/* Looks at all kernels: a model and a dual point. */
static medley_status look(md_wrap *w, medley_error *error)
{
    MEDLEY_TRY(norms_of(w, w->here.rho, w->values, error));
    try_model(w, w->values);
    MEDLEY_TRY(dual_norms(w, w->values, error));
    try_point(w, w->here.point, w->norm);
    return MEDLEY_OK;
}

static medley_status finish(const md_wrap *w, md_batch_solution *solution, medley_error *error)
{
    const size_t n = w->n;
    size_t next = 0;
    MEDLEY_TRY(md_batch_allocate(solution, n, w->active, w->dual_point, error));
    for (size_t m = 0; m < w->kernels; m++) {
        if (!(w->best_weight[m] > 0))
            continue;
        double *to = solution->coefficient + next * n;
        for (size_t i = 0; i < n; i++)
            to[i] = w->best_weight[m] * w->best_rho[i] / w->problem->strength;
        solution->kernel[next++] = m;
    }
    solution->newton_steps = w->solved;
    solution->passes = w->looks;
    return md_batch_certify(solution, w->problem, NULL, error);
}

/* ---- the outer loop ---- */

/* The model without kernels. */
static medley_status begin(md_wrap *w, medley_error *error)
{
    const md_batch_problem *p = w->problem;
    double bias;
    w->here.loss = md_batch_loss(p, w->f, &bias);
    md_empty_dual(p->loss, p->loss_state, p->y, w->here.rho, w->n);
    memcpy(w->here.point, w->here.rho, w->n * sizeof *w->here.rho);
    return look(w, error);
}

static double kernel_weight(const md_batch_problem *p, double norm)
{
    return norm / p->penalty->slope(p->penalty_state, norm);
}

/* Those of the start, and a little of every other kernel; or equal ones. */
static void first_weights(md_wrap *w, const md_batch_solution *start)
{
    double largest = 0;
    for (size_t s = 0; start != NULL && s < start->active; s++) {
        if (!(start->norm[s] > 0))
            continue;
        const double weight = kernel_weight(w->problem, start->norm[s]);
        w->weight[start->kernel[s]] = weight;
        largest = fmax(largest, weight);
    }
    const double others = largest > 0 ? 1e-3 * largest : 1 / (double)w->kernels;
    double sum = 0;
    for (size_t m = 0; m < w->kernels; m++)
        sum += w->weight[m] = fmax(w->weight[m], others);
    for (size_t m = 0; m < w->kernels && w->on_simplex; m++)
        w->weight[m] /= sum;
    if (start != NULL)
        memcpy(w->here.point, start->rho, w->n * sizeof *w->here.point);
}

static medley_status record(const md_wrap *w, md_batch_solution *solution, medley_error *error)
{
    const md_batch_step step = {.primal = w->best_primal,
                                .loss = w->best_loss,
                                .dual = w->best_dual,
                                .gap = md_relative_gap(w->best_primal, w->best_dual),
                                .active = w->active,
                                .seconds = md_clock_seconds() - w->began};
    return md_batch_record(solution, w->problem, &step, error);
}

static bool is_over(const md_wrap *w, const md_batch_solution *solution)
{
    return solution->stopped || solution->step_count >= w->problem->max_iterations ||
           md_relative_gap(w->best_primal, w->best_dual) <= w->problem->gap;
}

medley_status md_wrap_run(md_batch_solution *solution, const md_batch_problem *problem,
                          const md_batch_solution *start, const md_wrap_method *method,
                          medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    md_wrap w;
    *solution = (md_batch_solution){0};
    MEDLEY_TRY(init_wrap(&w, &pool, problem, method, error));
    MEDLEY_TRY(begin(&w, error));
    bool moved = !is_over(&w, solution);
    if (moved) {
        first_weights(&w, start);
        MEDLEY_TRY(md_wrap_settle(&w, error));
    }
    while (moved) {
        MEDLEY_TRY(look(&w, error));
        MEDLEY_TRY(record(&w, solution, error));
        if (is_over(&w, solution))
            break;
        MEDLEY_TRY(method->move(&w, method->state, &moved, error));
    }
    return finish(&w, solution, error);
}
