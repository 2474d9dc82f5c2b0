/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a run of the batch solver, and its working set. */
#include "batch/certificate.h"
#include "batch/spicy.h"

#include "base/clock.h"
#include "base/memory.h"
#include "linalg/blas.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TALL_ROWS = 128 }; /* rank-one terms that are added together */

/* Proximity to begin with, in units of scores over dual variables: small enough for the first
 * steps to stay within reach, large enough for few outer iterations. */
static const double FIRST_GAMMA = 10;
static const double MOST_GROWTH = 1e7; /* more makes steps less exact, not longer */

void md_spicy_clear(md_spicy *s)
{
    free(s->members);
    free(s->in_set);
    free(s->a);
    free(s->Ka);
    free(s->Kr);
    free(s->Kx);
    free(s->norm2);
    free(s->weight);
    free(s->chosen);
    free(s->rho);
    free(s->sum);
    free(s->hessian);
    free(s->tall);
    free(s->best_ratio);
    free(s->kept_kernel);
    free(s->kept_coefficient);
    free(s->bound);
    free(s->dropped);
    free(s->list);
    free(s->values);
    *s = (md_spicy){0};
}

/* What a unit of rho is worth in scores: 1, but for losses of numbers whose rho is bounded. */
static double unit_of_scores(const md_batch_problem *problem, size_t n)
{
    double low;
    double high;
    problem->loss->domain(problem->loss_state, problem->y[0], &low, &high);
    if (problem->loss->classifies || !isfinite(high - low))
        return 1;
    double mean = 0;
    double square = 0;
    for (size_t i = 0; i < n; i++)
        mean += problem->y[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (problem->y[i] - mean) * (problem->y[i] - mean);
    return square > 0 ? sqrt(square / (double)n) / (high - low) : 1;
}

static void set_gamma(md_spicy *s)
{
    double diagonal = 0;
    for (size_t m = 0; m < s->kernels; m++)
        diagonal += md_store_trace(s->store, m);
    diagonal /= (double)s->kernels * (double)s->n;
    const double unit = unit_of_scores(s->problem, s->n);
    s->gamma_z = FIRST_GAMMA * unit;
    s->first_gamma_z = s->gamma_z;
    s->most_gamma_z = MOST_GROWTH * s->gamma_z;
    s->gamma = s->smooth_penalty ? 1 : FIRST_GAMMA * unit / (diagonal > 0 ? diagonal : 1);
}

static medley_status allocate(md_spicy *s, medley_error *error)
{
    enum { VECTORS = 20 };
    const size_t n = s->n;
    double *next = md_calloc(VECTORS * n, sizeof *next);
    s->rho = next; /* owns all of them */
    s->sum = md_alloc_aligned(n * n, sizeof *s->sum);
    s->hessian = md_alloc_aligned(n * n, sizeof *s->hessian);
    s->tall_rows = TALL_ROWS;
    s->tall = md_alloc_aligned(s->tall_rows * n, sizeof *s->tall);
    s->in_set = md_calloc(s->kernels, sizeof *s->in_set);
    s->dropped = md_calloc(s->kernels, sizeof *s->dropped);
    s->bound = md_calloc(s->kernels, sizeof *s->bound);
    s->list = md_calloc(s->kernels, sizeof *s->list);
    s->values = md_calloc(s->kernels, sizeof *s->values);
    if (next == NULL || s->sum == NULL || s->hessian == NULL || s->tall == NULL ||
        s->in_set == NULL || s->dropped == NULL || s->bound == NULL || s->list == NULL ||
        s->values == NULL)
        return md_fail_memory(error, 3 * n * n * sizeof *s->sum);
    double **vectors[] = {&s->rho,      &s->z,          &s->f,         &s->gradient,
                          &s->new_z,    &s->z_slope,    &s->direction, &s->trial,
                          &s->best_rho, &s->dual_point, &s->last,      &s->scratch};
    for (size_t v = 0; v < sizeof vectors / sizeof vectors[0]; v++, next += n)
        *vectors[v] = next;
    return MEDLEY_OK;
}

medley_status md_spicy_init(md_spicy *s, const md_batch_problem *problem, bool direct,
                            medley_error *error)
{
    *s = (md_spicy){.problem = problem,
                    .store = problem->store,
                    .n = md_store_rows(problem->store),
                    .kernels = md_store_count(problem->store),
                    .threads = problem->threads ? problem->threads : 1,
                    .best_primal = INFINITY,
                    .best_dual = -INFINITY,
                    .began = md_clock_seconds()};
    md_blas_single_thread();
    s->finite_conjugate = md_penalty_conjugate_is_finite(problem);
    s->smooth_penalty = direct && problem->penalty->smooth_conjugate(problem->penalty_state);
    s->smooth_loss = s->smooth_penalty && problem->loss->smooth_conjugate;
    set_gamma(s);
    return allocate(s, error);
}

/* ---- the working set ---- */

static medley_status grow(md_spicy *s, size_t count, medley_error *error)
{
    if (count <= s->capacity)
        return MEDLEY_OK;
    const size_t room = count + count / 4;
    const size_t values = room * s->n;
    double **tables[] = {&s->Kr, &s->Kx, &s->a, &s->Ka};
    for (size_t t = 0; t < (s->smooth_penalty ? 2 : 4); t++) {
        double *table = md_alloc_aligned(values, sizeof *table);
        if (table == NULL)
            return md_fail_memory(error, values * sizeof *table);
        if (s->count > 0)
            memcpy(table, *tables[t], s->count * s->n * sizeof *table);
        free(*tables[t]);
        *tables[t] = table;
    }
    md_member *members = realloc(s->members, room * sizeof *members);
    s->members = members != NULL ? members : s->members;
    double *ratio = realloc(s->best_ratio, room * sizeof *ratio);
    s->best_ratio = ratio != NULL ? ratio : s->best_ratio;
    free(s->norm2);
    free(s->weight);
    free(s->chosen);
    s->norm2 = md_calloc(room, sizeof *s->norm2);
    s->weight = md_calloc(room, sizeof *s->weight);
    s->chosen = md_calloc(room, sizeof *s->chosen);
    if (members == NULL || ratio == NULL || s->norm2 == NULL || s->weight == NULL ||
        s->chosen == NULL)
        return md_fail_memory(error, room * sizeof *members);
    s->capacity = room;
    return MEDLEY_OK;
}

static void move_member(md_spicy *s, size_t to, size_t from)
{
    if (to == from)
        return;
    const size_t bytes = s->n * sizeof(double);
    s->members[to] = s->members[from];
    memcpy(s->Kr + to * s->n, s->Kr + from * s->n, bytes);
    if (s->smooth_penalty)
        return;
    memcpy(s->a + to * s->n, s->a + from * s->n, bytes);
    memcpy(s->Ka + to * s->n, s->Ka + from * s->n, bytes);
}

/* Members that are not wanted any more go; the order of the others stays. */
static void drop_members(md_spicy *s)
{
    size_t left = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->in_set[s->members[i].kernel])
            move_member(s, left++, i);
    s->count = left;
}

medley_status md_spicy_set(md_spicy *s, const size_t *kernels, size_t count, medley_error *error)
{
    memset(s->in_set, 0, s->kernels * sizeof *s->in_set);
    for (size_t i = 0; i < count; i++)
        s->in_set[kernels[i]] = true;
    drop_members(s);
    medley_status status = grow(s, count, error);
    if (status < 0)
        return status;
    const size_t before = s->count;
    for (size_t i = 0; i < before; i++)
        s->in_set[s->members[i].kernel] = false; /* for a moment: what is left is new */
    for (size_t i = 0; i < count; i++) {
        if (!s->in_set[kernels[i]])
            continue;
        s->members[s->count] = (md_member){.kernel = kernels[i]};
        if (!s->smooth_penalty) {
            memset(s->a + s->count * s->n, 0, s->n * sizeof *s->a);
            memset(s->Ka + s->count * s->n, 0, s->n * sizeof *s->Ka);
        }
        s->count++;
    }
    for (size_t i = 0; i < before; i++)
        s->in_set[s->members[i].kernel] = true;
    status = md_store_hold(s->store, md_spicy_members(s, false), error);
    s->sum_ready = false;
    s->factor_ready = false;
    md_chosen fresh = md_spicy_members(s, false);
    fresh.kernels += before;
    fresh.count -= before;
    return status < 0 ? status
                      : md_store_multiply(s->store, fresh, s->rho, s->Kr + before * s->n, error);
}

medley_status md_spicy_prune(md_spicy *s, medley_error *error)
{
    const md_batch_problem *p = s->problem;
    const double limit = MD_SPICY_NEAR * p->strength * p->penalty->slope_at_zero(p->penalty_state);
    const size_t before = s->count;
    for (size_t i = 0; i < s->count; i++)
        if (s->norm2[i] < limit && !(s->members[i].ratio > 0) && !(s->members[i].aKa > 0))
            s->in_set[s->members[i].kernel] = false;
    drop_members(s);
    if (s->count == before)
        return MEDLEY_OK;
    s->factor_ready = false;
    return md_store_hold(s->store, md_spicy_members(s, false), error);
}

md_chosen md_spicy_members(md_spicy *s, bool active_only)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        if (!active_only || s->members[i].ratio > 0)
            s->chosen[count++] = s->members[i].kernel;
    return (md_chosen){.kernels = s->chosen, .count = count};
}
