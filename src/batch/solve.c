/* SPDX-License-Identifier: BSD-3-Clause */
/* The outer loops: proximal iterations on a working set (SpicyMKL Tables 1 and 2) until its gap is
 * small, a look at all kernels, a better working set, and so on until the gap over all kernels is
 * what was asked for. */
#include "batch/certificate.h"
#include "batch/spicy.h"

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
static medley_status proximal_update(md_spicy *s, double growth, medley_error *error)
{
    const medley_status status = md_spicy_keep_best(s, error);
    if (status < 0)
        return status;
    const size_t n = s->n;
    for (size_t i = 0; !s->smooth_penalty && i < s->count; i++) {
        md_member *member = &s->members[i];
        double *a = s->a + i * n;
        double *Ka = s->Ka + i * n;
        const double *Kr = s->Kr + i * n;
        for (size_t j = 0; j < n; j++) {
            a[j] = member->ratio * (a[j] + s->gamma * s->rho[j]);
            Ka[j] = member->ratio * (Ka[j] + s->gamma * Kr[j]);
        }
        const double aKa = member->ratio > 0 ? md_batch_dot(a, Ka, n) : 0;
        member->aKa = aKa > 0 ? aKa : 0;
    }
    memcpy(s->z, s->new_z, n * sizeof *s->z);
    s->sum_ready = false;
    s->gamma *= s->smooth_penalty ? 1 : growth;
    s->gamma_z *= growth;
    return MEDLEY_OK;
}

/* A point of the dual's domain near rho. */
static void dual_candidate(const md_spicy *s, double *r)
{
    const md_batch_problem *p = s->problem;
    memcpy(r, s->rho, s->n * sizeof *r);
    md_project_dual(p->loss, p->loss_state, p->y, r, s->n);
}

/* Gap of the best model against r, looking at the working set only: at most the true one. */
static medley_status set_gap(md_spicy *s, const double *r, double *gap, double *largest,
                             medley_error *error)
{
    const medley_status status =
        md_store_norms2(s->store, md_spicy_members(s, false), r, s->norm2, error);
    if (status < 0)
        return status;
    *largest = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->norm2[i] = sqrt(s->norm2[i]);
        *largest = s->norm2[i] > *largest ? s->norm2[i] : *largest;
    }
    double scale;
    const double dual = md_spicy_dual(s, r, s->norm2, s->count, &scale);
    *gap = md_relative_gap(s->best_primal, dual);
    return MEDLEY_OK;
}

/* ---- all kernels ---- */

/* member_norm: ||r|| of the members, or NULL; largest of them, or 0. */
static medley_status full_check(md_spicy *s, const double *r, const double *member_norm,
                                double largest, medley_error *error)
{
    const md_batch_problem *p = s->problem;
    const double threshold = p->strength * p->penalty->slope_at_zero(p->penalty_state);
    const double limit = s->finite_conjugate || largest < threshold ? threshold : largest;
    const medley_status status = md_spicy_check_all(s, r, member_norm, limit, error);
    if (status < 0)
        return status;
    size_t count = 0;
    for (size_t m = 0; m < s->kernels; m++)
        if (!s->dropped[m])
            s->values[count++] = s->bound[m];
    double scale;
    const double dual = md_spicy_dual(s, r, s->values, count, &scale);
    if (dual > s->best_dual) {
        s->best_dual = dual;
        for (size_t i = 0; i < s->n; i++)
            s->dual_point[i] = scale * r[i];
        md_spicy_screen(s, scale);
    }
    return MEDLEY_OK;
}

/* ---- progress ---- */

static medley_status record(const md_spicy *s, md_batch_solution *solution, medley_error *error)
{
    size_t active = s->best_is_here ? 0 : s->kept;
    for (size_t i = 0; s->best_is_here && i < s->count; i++)
        active += s->best_ratio[i] > 0;
    const md_batch_step step = {.primal = s->best_primal,
                                .loss = s->best_loss,
                                .dual = s->best_dual,
                                .gap = md_relative_gap(s->best_primal, s->best_dual),
                                .active = active,
                                .seconds = md_clock_seconds() - s->began};
    return md_batch_record(solution, s->problem, &step, error);
}

/* ---- rounds ---- */

static bool is_over(const md_spicy *s)
{
    return s->iterations >= s->problem->max_iterations || s->stalled > MOST_STALLED || s->gave_up;
}

/* Of gamma, after an inner problem that took so many steps. */
static double next_growth(const md_spicy *s, size_t steps)
{
    if (steps >= TOO_MANY_STEPS)
        return 1 / GROWTH;
    return steps >= MANY_STEPS || GROWTH * s->gamma_z > s->most_gamma_z ? 1 : GROWTH;
}

/* Proximal iterations until the working set's gap is below target. r: the dual point then. */
static medley_status solve_set(md_spicy *s, double target, double *r, double *largest,
                               md_batch_solution *solution, medley_error *error)
{
    for (s->inner_target = 0.1 * target;; s->inner_target *= 0.1) {
        const size_t before = s->newton_steps;
        medley_status status = md_spicy_minimise(s, error);
        if (status < 0)
            return status;
        s->iterations++;
        double gap = 0;
        dual_candidate(s, r);
        status = set_gap(s, r, &gap, largest, error);
        if (status == MEDLEY_OK)
            status = record(s, solution, error);
        s->stalled = gap < 0.9 * s->least_gap ? 0 : s->stalled + 1;
        s->least_gap = fmin(s->least_gap, gap);
        if (status < 0 || solution->stopped || gap <= target || is_over(s))
            return status;
        status = proximal_update(s, next_growth(s, s->newton_steps - before), error);
        if (status == MEDLEY_OK && s->rounds == 0) /* what came back would go again, for ever */
            status = md_spicy_prune(s, error);
        if (status < 0)
            return status;
    }
}

static medley_status next_set(md_spicy *s, medley_error *error)
{
    medley_status status = md_spicy_keep_best(s, error);
    if (status < 0)
        return status;
    const size_t count = md_spicy_choose(s);
    if (count == SIZE_MAX)
        return md_fail_memory(error, s->kernels * sizeof(double));
    s->least_gap = INFINITY;
    return md_spicy_set(s, s->list, count, error);
}

static double set_target(const md_spicy *s, double wanted, double full_gap)
{
    bool all = true;
    for (size_t m = 0; m < s->kernels && all; m++)
        all = s->dropped[m] || s->in_set[m];
    const double least = all ? 0.99 * wanted : SET_SHARE * wanted;
    const double share = ROUND_SHARE * (full_gap < 1 ? full_gap : 1);
    return share > least && !all ? share : least;
}

/* The model without kernels, its dual point, and all norms there. */
static medley_status begin(md_spicy *s, const md_batch_solution *start, medley_error *error)
{
    const md_batch_problem *p = s->problem;
    md_empty_dual(p->loss, p->loss_state, p->y, s->rho, s->n);
    memset(s->f, 0, s->n * sizeof *s->f);
    md_spicy_try_model(s); /* there are no members yet */
    for (size_t i = 0; i < s->n; i++)
        s->z[i] = s->best_bias;
    medley_status status = full_check(s, s->rho, NULL, 0, error);
    if (status < 0 || start == NULL)
        return status;
    for (size_t i = 0; i < s->n; i++) /* not on the border of the domain */
        s->rho[i] += (1 - AWAY) * (start->rho[i] - s->rho[i]);
    return full_check(s, s->rho, NULL, 0, error);
}

/* By the norms, and what the start has. */
static medley_status first_set(md_spicy *s, const md_batch_solution *start, medley_error *error)
{
    size_t count = md_spicy_choose(s);
    if (count == SIZE_MAX)
        return md_fail_memory(error, s->kernels * sizeof(double));
    const size_t chosen = count;
    for (size_t k = 0; start != NULL && k < start->active; k++) {
        bool known = s->dropped[start->kernel[k]];
        for (size_t i = 0; i < chosen && !known; i++)
            known = s->list[i] == start->kernel[k];
        if (!known)
            s->list[count++] = start->kernel[k];
    }
    s->least_gap = INFINITY;
    const medley_status status = md_spicy_keep_best(s, error); /* the empty one: no ratios yet */
    return status < 0 ? status : md_spicy_set(s, s->list, count, error);
}

/* The coefficients that the start has for members, and the scores they give. */
static medley_status adopt(md_spicy *s, const md_batch_solution *start, medley_error *error)
{
    const size_t n = s->n;
    if (s->smooth_penalty)
        return MEDLEY_OK;
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < start->active; k++)
            if (start->kernel[k] == s->members[i].kernel)
                memcpy(s->a + i * n, start->coefficient + k * n, n * sizeof *s->a);
    const medley_status status =
        md_store_multiply_each(s->store, md_spicy_members(s, false), s->a, s->Ka, error);
    if (status < 0)
        return status;
    memset(s->f, 0, n * sizeof *s->f);
    for (size_t i = 0; i < s->count; i++) {
        s->members[i].aKa = fmax(0, md_batch_dot(s->a + i * n, s->Ka + i * n, n));
        md_batch_add(s->f, 1, s->Ka + i * n, n);
    }
    for (size_t i = 0; i < n; i++)
        s->z[i] = s->f[i] + start->bias;
    s->gamma *= GROWTH * GROWTH;
    s->gamma_z *= GROWTH * GROWTH;
    return MEDLEY_OK;
}

/* Rounds until the gap over all kernels is as wanted. r: scratch. */
static medley_status run(md_spicy *s, double wanted, double *r, md_batch_solution *solution,
                         medley_error *error)
{
    for (;;) {
        double largest = 0;
        const double before = md_relative_gap(s->best_primal, s->best_dual);
        medley_status status =
            solve_set(s, set_target(s, wanted, before), r, &largest, solution, error);
        if (status == MEDLEY_OK)
            status = full_check(s, r, s->norm2, largest, error);
        if (status < 0)
            return status;
        md_batch_step *step = &solution->steps[solution->step_count - 1];
        step->dual = s->best_dual;
        step->gap = md_relative_gap(s->best_primal, s->best_dual);
        if (step->gap <= wanted || solution->stopped || is_over(s))
            return MEDLEY_OK;
        s->rounds++;
        status = proximal_update(s, s->gamma_z > s->first_gamma_z ? 1 / GROWTH : 1, error);
        if (status == MEDLEY_OK)
            status = next_set(s, error);
        if (status < 0)
            return status;
    }
}

/* Certifies the model from its coefficients; where rounding has made it worse than it seemed on
 * the way, goes on for a smaller gap. */
static medley_status solve(md_spicy *s, double *r, md_batch_solution *solution, medley_error *error)
{
    double wanted = s->problem->gap;
    for (int round = 0; round < 3; round++, wanted /= 4) {
        medley_status status = MEDLEY_OK;
        if (md_relative_gap(s->best_primal, s->best_dual) > wanted)
            status = run(s, wanted, r, solution, error);
        if (status == MEDLEY_OK)
            status = md_spicy_finish(s, solution, error);
        if (status < 0)
            return status;
        solution->dual = s->best_dual;
        solution->gap = md_certified_gap(solution->primal, solution->dual);
        solution->newton_steps = s->newton_steps;
        solution->passes = s->passes;
        solution->converged = solution->gap <= s->problem->gap;
        s->best_primal = solution->primal; /* what was carried along may have been too low */
        s->best_loss = solution->loss;
        if (solution->converged || solution->stopped || is_over(s))
            break;
    }
    return MEDLEY_OK;
}

static medley_status attempt(md_spicy *s, const md_batch_solution *start,
                             md_batch_solution *solution, medley_error *error)
{
    double *r = md_calloc(s->n, sizeof *r);
    if (r == NULL)
        return md_fail_memory(error, s->n * sizeof *r);
    medley_status status = begin(s, start, error);
    const bool empty = md_relative_gap(s->best_primal, s->best_dual) <= s->problem->gap;
    if (status == MEDLEY_OK && !empty)
        status = first_set(s, start, error);
    if (status == MEDLEY_OK && !empty && start != NULL)
        status = adopt(s, start, error);
    if (status == MEDLEY_OK)
        status = solve(s, r, solution, error);
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
    md_spicy s;
    *solution = (md_batch_solution){0};
    medley_status status = md_spicy_init(&s, problem, direct, error);
    if (status == MEDLEY_OK)
        status = attempt(&s, start, solution, error);
    *again = s.smooth_penalty && s.iterations < problem->max_iterations && !solution->converged &&
             !solution->stopped;
    md_spicy_clear(&s);
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
