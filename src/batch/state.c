/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a run of the batch solver, and its working set. */
#include "batch/batch_internal.h"
#include "batch/certificate.h"

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

void md_batch_clear(md_batch *b)
{
    free(b->members);
    free(b->in_set);
    free(b->a);
    free(b->Ka);
    free(b->Kr);
    free(b->Kx);
    free(b->norm2);
    free(b->weight);
    free(b->chosen);
    free(b->rho);
    free(b->sum);
    free(b->hessian);
    free(b->tall);
    free(b->best_ratio);
    free(b->kept_kernel);
    free(b->kept_coefficient);
    free(b->bound);
    free(b->dropped);
    free(b->list);
    free(b->values);
    *b = (md_batch){0};
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

static void set_gamma(md_batch *b)
{
    double diagonal = 0;
    for (size_t m = 0; m < b->kernels; m++)
        diagonal += md_store_trace(b->store, m);
    diagonal /= (double)b->kernels * (double)b->n;
    const double unit = unit_of_scores(b->problem, b->n);
    b->gamma_z = FIRST_GAMMA * unit;
    b->first_gamma_z = b->gamma_z;
    b->most_gamma_z = MOST_GROWTH * b->gamma_z;
    b->gamma = b->smooth_penalty ? 1 : FIRST_GAMMA * unit / (diagonal > 0 ? diagonal : 1);
}

static medley_status allocate(md_batch *b, medley_error *error)
{
    enum { VECTORS = 20 };
    const size_t n = b->n;
    double *next = md_calloc(VECTORS * n, sizeof *next);
    b->rho = next; /* owns all of them */
    b->sum = md_alloc_aligned(n * n, sizeof *b->sum);
    b->hessian = md_alloc_aligned(n * n, sizeof *b->hessian);
    b->tall_rows = TALL_ROWS;
    b->tall = md_alloc_aligned(b->tall_rows * n, sizeof *b->tall);
    b->in_set = md_calloc(b->kernels, sizeof *b->in_set);
    b->dropped = md_calloc(b->kernels, sizeof *b->dropped);
    b->bound = md_calloc(b->kernels, sizeof *b->bound);
    b->list = md_calloc(b->kernels, sizeof *b->list);
    b->values = md_calloc(b->kernels, sizeof *b->values);
    if (next == NULL || b->sum == NULL || b->hessian == NULL || b->tall == NULL ||
        b->in_set == NULL || b->dropped == NULL || b->bound == NULL || b->list == NULL ||
        b->values == NULL)
        return md_fail_memory(error, 3 * n * n * sizeof *b->sum);
    double **vectors[] = {&b->rho,      &b->z,          &b->f,         &b->gradient,
                          &b->new_z,    &b->z_slope,    &b->direction, &b->trial,
                          &b->best_rho, &b->dual_point, &b->last,      &b->scratch};
    for (size_t v = 0; v < sizeof vectors / sizeof vectors[0]; v++, next += n)
        *vectors[v] = next;
    return MEDLEY_OK;
}

medley_status md_batch_init(md_batch *b, const md_batch_problem *problem, bool direct,
                            medley_error *error)
{
    *b = (md_batch){.problem = problem,
                    .store = problem->store,
                    .n = md_store_rows(problem->store),
                    .kernels = md_store_count(problem->store),
                    .threads = problem->threads ? problem->threads : 1,
                    .best_primal = INFINITY,
                    .best_dual = -INFINITY,
                    .began = md_clock_seconds()};
    md_blas_single_thread();
    b->finite_conjugate = md_penalty_conjugate_is_finite(problem);
    b->smooth_penalty = direct && problem->penalty->smooth_conjugate(problem->penalty_state);
    b->smooth_loss = b->smooth_penalty && problem->loss->smooth_conjugate;
    set_gamma(b);
    return allocate(b, error);
}

/* ---- the working set ---- */

static medley_status grow(md_batch *b, size_t count, medley_error *error)
{
    if (count <= b->capacity)
        return MEDLEY_OK;
    const size_t room = count + count / 4;
    const size_t values = room * b->n;
    double **tables[] = {&b->Kr, &b->Kx, &b->a, &b->Ka};
    for (size_t t = 0; t < (b->smooth_penalty ? 2 : 4); t++) {
        double *table = md_alloc_aligned(values, sizeof *table);
        if (table == NULL)
            return md_fail_memory(error, values * sizeof *table);
        if (b->count > 0)
            memcpy(table, *tables[t], b->count * b->n * sizeof *table);
        free(*tables[t]);
        *tables[t] = table;
    }
    md_member *members = realloc(b->members, room * sizeof *members);
    b->members = members != NULL ? members : b->members;
    double *ratio = realloc(b->best_ratio, room * sizeof *ratio);
    b->best_ratio = ratio != NULL ? ratio : b->best_ratio;
    free(b->norm2);
    free(b->weight);
    free(b->chosen);
    b->norm2 = md_calloc(room, sizeof *b->norm2);
    b->weight = md_calloc(room, sizeof *b->weight);
    b->chosen = md_calloc(room, sizeof *b->chosen);
    if (members == NULL || ratio == NULL || b->norm2 == NULL || b->weight == NULL ||
        b->chosen == NULL)
        return md_fail_memory(error, room * sizeof *members);
    b->capacity = room;
    return MEDLEY_OK;
}

static void move_member(md_batch *b, size_t to, size_t from)
{
    if (to == from)
        return;
    const size_t bytes = b->n * sizeof(double);
    b->members[to] = b->members[from];
    memcpy(b->Kr + to * b->n, b->Kr + from * b->n, bytes);
    if (b->smooth_penalty)
        return;
    memcpy(b->a + to * b->n, b->a + from * b->n, bytes);
    memcpy(b->Ka + to * b->n, b->Ka + from * b->n, bytes);
}

/* Members that are not wanted any more go; the order of the others stays. */
static void drop_members(md_batch *b)
{
    size_t left = 0;
    for (size_t i = 0; i < b->count; i++)
        if (b->in_set[b->members[i].kernel])
            move_member(b, left++, i);
    b->count = left;
}

medley_status md_batch_set(md_batch *b, const size_t *kernels, size_t count, medley_error *error)
{
    memset(b->in_set, 0, b->kernels * sizeof *b->in_set);
    for (size_t i = 0; i < count; i++)
        b->in_set[kernels[i]] = true;
    drop_members(b);
    medley_status status = grow(b, count, error);
    if (status < 0)
        return status;
    const size_t before = b->count;
    for (size_t i = 0; i < before; i++)
        b->in_set[b->members[i].kernel] = false; /* for a moment: what is left is new */
    for (size_t i = 0; i < count; i++) {
        if (!b->in_set[kernels[i]])
            continue;
        b->members[b->count] = (md_member){.kernel = kernels[i]};
        if (!b->smooth_penalty) {
            memset(b->a + b->count * b->n, 0, b->n * sizeof *b->a);
            memset(b->Ka + b->count * b->n, 0, b->n * sizeof *b->Ka);
        }
        b->count++;
    }
    for (size_t i = 0; i < before; i++)
        b->in_set[b->members[i].kernel] = true;
    status = md_store_hold(b->store, md_batch_members(b, false), error);
    b->sum_ready = false;
    b->factor_ready = false;
    md_chosen fresh = md_batch_members(b, false);
    fresh.kernels += before;
    fresh.count -= before;
    return status < 0 ? status
                      : md_store_multiply(b->store, fresh, b->rho, b->Kr + before * b->n, error);
}

medley_status md_batch_prune(md_batch *b, medley_error *error)
{
    const md_batch_problem *p = b->problem;
    const double limit = MD_BATCH_NEAR * p->strength * p->penalty->slope_at_zero(p->penalty_state);
    const size_t before = b->count;
    for (size_t i = 0; i < b->count; i++)
        if (b->norm2[i] < limit && !(b->members[i].ratio > 0) && !(b->members[i].aKa > 0))
            b->in_set[b->members[i].kernel] = false;
    drop_members(b);
    if (b->count == before)
        return MEDLEY_OK;
    b->factor_ready = false;
    return md_store_hold(b->store, md_batch_members(b, false), error);
}

md_chosen md_batch_members(md_batch *b, bool active_only)
{
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++)
        if (!active_only || b->members[i].ratio > 0)
            b->chosen[count++] = b->members[i].kernel;
    return (md_chosen){.kernels = b->chosen, .count = count};
}
