/* SPDX-License-Identifier: BSD-3-Clause */
/* The outer loops: proximal iterations on a working set (SpicyMKL Tables 1 and 2) until its gap is
 * small, a look at all kernels, a better working set, and so on until the gap over all kernels is
 * what was asked for. */
#include "batch/batch_internal.h"
#include "batch/certificate.h"

#include "base/clock.h"
#include "base/memory.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const double GROWTH = 4; /* of gamma, per outer iteration */
enum {
    MANY_STEPS = 30,     /* of an inner problem: the next one is to be no harder */
    TOO_MANY_STEPS = 60, /* easier */
    MOST_STALLED = 100
};
static const double SET_SHARE = 0.5;    /* of the wanted gap, to be reached on a working set */
static const double AWAY = 1e-3;        /* from a start, towards the empty model */
static const double ROUND_SHARE = 0.03; /* of the gap over all kernels, in early rounds */

void md_batch_solution_clear(md_batch_solution *solution)
{
    free(solution->kernel);
    free(solution->coefficient);
    free(solution->norm);
    free(solution->rho);
    free(solution->steps);
    *solution = (md_batch_solution){0};
}

/* ---- proximal iterations ---- */

/* a <- prox(v), z <- its prox (eq. 11, 28-31), and another gamma. */
static medley_status proximal_update(md_batch *b, double growth, medley_error *error)
{
    const medley_status status = md_batch_keep_best(b, error);
    if (status < 0)
        return status;
    const size_t n = b->n;
    for (size_t i = 0; !b->smooth_penalty && i < b->count; i++) {
        md_member *member = &b->members[i];
        double *a = b->a + i * n;
        double *Ka = b->Ka + i * n;
        const double *Kr = b->Kr + i * n;
        for (size_t j = 0; j < n; j++) {
            a[j] = member->ratio * (a[j] + b->gamma * b->rho[j]);
            Ka[j] = member->ratio * (Ka[j] + b->gamma * Kr[j]);
        }
        const double aKa = member->ratio > 0 ? md_batch_dot(a, Ka, n) : 0;
        member->aKa = aKa > 0 ? aKa : 0;
    }
    memcpy(b->z, b->new_z, n * sizeof *b->z);
    b->sum_ready = false;
    b->gamma *= b->smooth_penalty ? 1 : growth;
    b->gamma_z *= growth;
    return MEDLEY_OK;
}

/* A point of the dual's domain near rho. */
static void dual_candidate(const md_batch *b, double *r)
{
    const md_batch_problem *p = b->problem;
    memcpy(r, b->rho, b->n * sizeof *r);
    md_project_dual(p->loss, p->loss_state, p->y, r, b->n);
}

/* Gap of the best model against r, looking at the working set only: at most the true one. */
static medley_status set_gap(md_batch *b, const double *r, double *gap, double *largest,
                             medley_error *error)
{
    const medley_status status =
        md_store_norms2(b->store, md_batch_members(b, false), r, b->norm2, error);
    if (status < 0)
        return status;
    *largest = 0;
    for (size_t i = 0; i < b->count; i++) {
        b->norm2[i] = sqrt(b->norm2[i]);
        *largest = b->norm2[i] > *largest ? b->norm2[i] : *largest;
    }
    double scale;
    const double dual = md_batch_dual(b, r, b->norm2, b->count, &scale);
    *gap = md_relative_gap(b->best_primal, dual);
    return MEDLEY_OK;
}

/* ---- all kernels ---- */

/* member_norm: ||r|| of the members, or NULL; largest of them, or 0. */
static medley_status full_check(md_batch *b, const double *r, const double *member_norm,
                                double largest, medley_error *error)
{
    const md_batch_problem *p = b->problem;
    const double threshold = p->strength * p->penalty->slope_at_zero(p->penalty_state);
    const double limit = b->finite_conjugate || largest < threshold ? threshold : largest;
    const medley_status status = md_batch_check_all(b, r, member_norm, limit, error);
    if (status < 0)
        return status;
    size_t count = 0;
    for (size_t m = 0; m < b->kernels; m++)
        if (!b->dropped[m])
            b->values[count++] = b->bound[m];
    double scale;
    const double dual = md_batch_dual(b, r, b->values, count, &scale);
    if (dual > b->best_dual) {
        b->best_dual = dual;
        for (size_t i = 0; i < b->n; i++)
            b->dual_point[i] = scale * r[i];
        md_batch_screen(b, scale);
    }
    return MEDLEY_OK;
}

/* ---- progress ---- */

static medley_status record(const md_batch *b, md_batch_solution *solution, medley_error *error)
{
    size_t active = b->best_is_here ? 0 : b->kept;
    for (size_t i = 0; b->best_is_here && i < b->count; i++)
        active += b->best_ratio[i] > 0;
    const md_batch_step step = {.primal = b->best_primal,
                                .loss = b->best_loss,
                                .dual = b->best_dual,
                                .gap = md_relative_gap(b->best_primal, b->best_dual),
                                .active = active,
                                .seconds = md_clock_seconds() - b->began};
    return md_batch_record(solution, b->problem, &step, error);
}

/* ---- rounds ---- */

static bool is_over(const md_batch *b)
{
    return b->iterations >= b->problem->max_iterations || b->stalled > MOST_STALLED || b->gave_up;
}

/* Of gamma, after an inner problem that took so many steps. */
static double next_growth(const md_batch *b, size_t steps)
{
    if (steps >= TOO_MANY_STEPS)
        return 1 / GROWTH;
    return steps >= MANY_STEPS || GROWTH * b->gamma_z > b->most_gamma_z ? 1 : GROWTH;
}

/* Proximal iterations until the working set's gap is below target. r: the dual point then. */
static medley_status solve_set(md_batch *b, double target, double *r, double *largest,
                               md_batch_solution *solution, medley_error *error)
{
    for (b->inner_target = 0.1 * target;; b->inner_target *= 0.1) {
        const size_t before = b->newton_steps;
        medley_status status = md_batch_minimise(b, error);
        if (status < 0)
            return status;
        b->iterations++;
        double gap = 0;
        dual_candidate(b, r);
        status = set_gap(b, r, &gap, largest, error);
        if (status == MEDLEY_OK)
            status = record(b, solution, error);
        b->stalled = gap < 0.9 * b->least_gap ? 0 : b->stalled + 1;
        b->least_gap = fmin(b->least_gap, gap);
        if (status < 0 || solution->stopped || gap <= target || is_over(b))
            return status;
        status = proximal_update(b, next_growth(b, b->newton_steps - before), error);
        if (status == MEDLEY_OK && b->rounds == 0) /* what came back would go again, for ever */
            status = md_batch_prune(b, error);
        if (status < 0)
            return status;
    }
}

static medley_status next_set(md_batch *b, medley_error *error)
{
    medley_status status = md_batch_keep_best(b, error);
    if (status < 0)
        return status;
    const size_t count = md_batch_choose(b);
    if (count == SIZE_MAX)
        return md_fail_memory(error, b->kernels * sizeof(double));
    b->least_gap = INFINITY;
    return md_batch_set(b, b->list, count, error);
}

static double set_target(const md_batch *b, double wanted, double full_gap)
{
    bool all = true;
    for (size_t m = 0; m < b->kernels && all; m++)
        all = b->dropped[m] || b->in_set[m];
    const double least = all ? 0.99 * wanted : SET_SHARE * wanted;
    const double share = ROUND_SHARE * (full_gap < 1 ? full_gap : 1);
    return share > least && !all ? share : least;
}

/* The model without kernels, its dual point, and all norms there. */
static medley_status begin(md_batch *b, const md_batch_solution *start, medley_error *error)
{
    const md_batch_problem *p = b->problem;
    md_empty_dual(p->loss, p->loss_state, p->y, b->rho, b->n);
    memset(b->f, 0, b->n * sizeof *b->f);
    md_batch_try_model(b); /* there are no members yet */
    for (size_t i = 0; i < b->n; i++)
        b->z[i] = b->best_bias;
    medley_status status = full_check(b, b->rho, NULL, 0, error);
    if (status < 0 || start == NULL)
        return status;
    for (size_t i = 0; i < b->n; i++) /* not on the border of the domain */
        b->rho[i] += (1 - AWAY) * (start->rho[i] - b->rho[i]);
    return full_check(b, b->rho, NULL, 0, error);
}

/* By the norms, and what the start has. */
static medley_status first_set(md_batch *b, const md_batch_solution *start, medley_error *error)
{
    size_t count = md_batch_choose(b);
    if (count == SIZE_MAX)
        return md_fail_memory(error, b->kernels * sizeof(double));
    const size_t chosen = count;
    for (size_t s = 0; start != NULL && s < start->active; s++) {
        bool known = b->dropped[start->kernel[s]];
        for (size_t i = 0; i < chosen && !known; i++)
            known = b->list[i] == start->kernel[s];
        if (!known)
            b->list[count++] = start->kernel[s];
    }
    b->least_gap = INFINITY;
    const medley_status status = md_batch_keep_best(b, error); /* the empty one: no ratios yet */
    return status < 0 ? status : md_batch_set(b, b->list, count, error);
}

/* The coefficients that the start has for members, and the scores they give. */
static medley_status adopt(md_batch *b, const md_batch_solution *start, medley_error *error)
{
    const size_t n = b->n;
    if (b->smooth_penalty)
        return MEDLEY_OK;
    for (size_t i = 0; i < b->count; i++)
        for (size_t s = 0; s < start->active; s++)
            if (start->kernel[s] == b->members[i].kernel)
                memcpy(b->a + i * n, start->coefficient + s * n, n * sizeof *b->a);
    const medley_status status =
        md_store_multiply_each(b->store, md_batch_members(b, false), b->a, b->Ka, error);
    if (status < 0)
        return status;
    memset(b->f, 0, n * sizeof *b->f);
    for (size_t i = 0; i < b->count; i++) {
        b->members[i].aKa = fmax(0, md_batch_dot(b->a + i * n, b->Ka + i * n, n));
        md_batch_add(b->f, 1, b->Ka + i * n, n);
    }
    for (size_t i = 0; i < n; i++)
        b->z[i] = b->f[i] + start->bias;
    b->gamma *= GROWTH * GROWTH;
    b->gamma_z *= GROWTH * GROWTH;
    return MEDLEY_OK;
}

/* Rounds until the gap over all kernels is as wanted. r: scratch. */
static medley_status run(md_batch *b, double wanted, double *r, md_batch_solution *solution,
                         medley_error *error)
{
    for (;;) {
        double largest = 0;
        const double before = md_relative_gap(b->best_primal, b->best_dual);
        medley_status status =
            solve_set(b, set_target(b, wanted, before), r, &largest, solution, error);
        if (status == MEDLEY_OK)
            status = full_check(b, r, b->norm2, largest, error);
        if (status < 0)
            return status;
        md_batch_step *step = &solution->steps[solution->step_count - 1];
        step->dual = b->best_dual;
        step->gap = md_relative_gap(b->best_primal, b->best_dual);
        if (step->gap <= wanted || solution->stopped || is_over(b))
            return MEDLEY_OK;
        b->rounds++;
        status = proximal_update(b, b->gamma_z > b->first_gamma_z ? 1 / GROWTH : 1, error);
        if (status == MEDLEY_OK)
            status = next_set(b, error);
        if (status < 0)
            return status;
    }
}

/* Certifies the model from its coefficients; where rounding has made it worse than it seemed on
 * the way, goes on for a smaller gap. */
static medley_status solve(md_batch *b, double *r, md_batch_solution *solution, medley_error *error)
{
    double wanted = b->problem->gap;
    for (int round = 0; round < 3; round++, wanted /= 4) {
        medley_status status = MEDLEY_OK;
        if (md_relative_gap(b->best_primal, b->best_dual) > wanted)
            status = run(b, wanted, r, solution, error);
        if (status == MEDLEY_OK)
            status = md_batch_finish(b, solution, error);
        if (status < 0)
            return status;
        solution->dual = b->best_dual;
        solution->gap = md_certified_gap(solution->primal, solution->dual);
        solution->newton_steps = b->newton_steps;
        solution->passes = b->passes;
        solution->converged = solution->gap <= b->problem->gap;
        b->best_primal = solution->primal; /* what was carried along may have been too low */
        b->best_loss = solution->loss;
        if (solution->converged || solution->stopped || is_over(b))
            break;
    }
    return MEDLEY_OK;
}

static medley_status attempt(md_batch *b, const md_batch_solution *start,
                             md_batch_solution *solution, medley_error *error)
{
    double *r = md_calloc(b->n, sizeof *r);
    if (r == NULL)
        return md_fail_memory(error, b->n * sizeof *r);
    medley_status status = begin(b, start, error);
    const bool empty = md_relative_gap(b->best_primal, b->best_dual) <= b->problem->gap;
    if (status == MEDLEY_OK && !empty)
        status = first_set(b, start, error);
    if (status == MEDLEY_OK && !empty && start != NULL)
        status = adopt(b, start, error);
    if (status == MEDLEY_OK)
        status = solve(b, r, solution, error);
    free(r);
    return status;
}

/* Keeps the better of two solutions in the first, with the effort of both. */
static void keep_better(md_batch_solution *first, md_batch_solution *second)
{
    const size_t newton_steps = first->newton_steps + second->newton_steps;
    const size_t passes = first->passes + second->passes;
    const bool stopped = second->stopped;
    if (second->gap < first->gap) {
        const md_batch_solution swap = *first;
        *first = *second;
        *second = swap;
    }
    md_batch_solution_clear(second);
    first->newton_steps = newton_steps;
    first->passes = passes;
    first->stopped = stopped;
}

static medley_status solve_once(md_batch_solution *solution, const md_batch_problem *problem,
                                const md_batch_solution *start, bool direct, bool *again,
                                medley_error *error)
{
    md_batch b;
    *solution = (md_batch_solution){0};
    medley_status status = md_batch_init(&b, problem, direct, error);
    if (status == MEDLEY_OK)
        status = attempt(&b, start, solution, error);
    *again = b.smooth_penalty && b.iterations < problem->max_iterations && !solution->converged &&
             !solution->stopped;
    md_batch_clear(&b);
    return status;
}

medley_status md_batch_solve(md_batch_solution *solution, const md_batch_problem *problem,
                             const md_batch_solution *start, medley_error *error)
{
    bool again;
    medley_status status = solve_once(solution, problem, start, true, &again, error);
    if (status == MEDLEY_OK && again) {
        md_batch_solution second;
        md_batch_problem rest = *problem;
        rest.max_iterations -=
            solution->step_count < rest.max_iterations ? solution->step_count : 0;
        status = solve_once(&second, &rest, start, false, &again, error);
        if (status == MEDLEY_OK)
            keep_better(solution, &second);
        else
            md_batch_solution_clear(&second);
    }
    if (status < 0)
        md_batch_solution_clear(solution);
    return status;
}

medley_status md_batch_largest_C(const md_batch_problem *problem, double *largest,
                                 double *without_slope, medley_error *error)
{
    const size_t n = md_store_rows(problem->store);
    const size_t kernels = md_store_count(problem->store);
    double *rho = md_calloc(n, sizeof *rho);
    double *norm2 = md_calloc(kernels, sizeof *norm2);
    medley_status status = MEDLEY_OK;
    if (rho == NULL || norm2 == NULL) {
        status = md_fail_memory(error, kernels * sizeof *norm2);
        goto done;
    }
    md_empty_dual(problem->loss, problem->loss_state, problem->y, rho, n);
    MEDLEY_TRY(md_store_norms2(problem->store, (md_chosen){.count = kernels}, rho, norm2, error));
    double most = 0;
    const double size = md_batch_dot(rho, rho, n);
    for (size_t m = 0; m < kernels; m++) /* a constant kernel has a norm of rounding here */
        if (norm2[m] > most && norm2[m] > 1e-12 * size * md_store_trace(problem->store, m))
            most = norm2[m];
    const double slope = problem->penalty->slope_at_zero(problem->penalty_state);
    *without_slope = sqrt(most);
    *largest = slope > 0 ? sqrt(most) / slope : INFINITY;
done:
    free(rho);
    free(norm2);
    return status;
}
