/* SPDX-License-Identifier: BSD-3-Clause */
/* From the dual variable to a model: coefficients a_m = ratio (a_m + gamma rho), scores, primal
 * value; and the best model so far. */
#include "batch/certificate.h"
#include "batch/spicy.h"

#include "base/memory.h"
#include "base/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double md_spicy_length(const md_spicy *s, double norm, double *derivative)
{
    const md_batch_problem *p = s->problem;
    if (!s->smooth_penalty)
        return p->penalty->prox(p->penalty_state, s->gamma * p->strength, norm, derivative);
    double slope;
    p->penalty->conjugate(p->penalty_state, p->strength, norm, &slope, derivative);
    return slope;
}

/* The derivative of the loss's part of phi is minus these scores (d/drho L*(-rho)). With the
 * scores' own proximity term, z = prox(z_t - gamma_z rho): for the hinge loss these are its two
 * slack vectors in one, y z = 1 - xi + zeta (eq. 28-32). */
void md_spicy_scores(const md_spicy *s, const double *rho, double *scores, double *slope)
{
    const md_batch_problem *p = s->problem;
    const md_margin_loss *loss = p->loss;
    for (size_t i = 0; i < s->n; i++) {
        if (s->smooth_loss) {
            scores[i] = -loss->conjugate_slope(p->loss_state, p->y[i], rho[i]);
            slope[i] = loss->conjugate_curvature(p->loss_state, p->y[i], rho[i]);
            continue;
        }
        double derivative;
        scores[i] = loss->prox(p->loss_state, p->y[i], s->gamma_z, s->z[i] - s->gamma_z * rho[i],
                               &derivative);
        slope[i] = s->gamma_z * derivative;
    }
}

MD_VECTOR
static double dot_product(const double *restrict x, const double *restrict y, size_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

double md_batch_dot(const double *x, const double *y, size_t n)
{
    return dot_product(x, y, n);
}

MD_VECTOR
static void add_two(double *restrict f, double p, const double *restrict x, double q,
                    const double *restrict y, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        f[i] += p * x[i] + q * y[i];
}

MD_VECTOR
static void add_scaled(double *restrict f, double p, const double *restrict x, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        f[i] += p * x[i];
}

void md_batch_add(double *f, double p, const double *x, size_t n)
{
    add_scaled(f, p, x, n);
}

/* ||v||^2 = a'Ka + 2 gamma rho'Ka + gamma^2 rho'K rho: nothing cancels, v grows along rho. */
static void evaluate_member(md_spicy *s, size_t i)
{
    md_member *member = &s->members[i];
    const double *Kr = s->Kr + i * s->n;
    double norm2 = s->gamma * s->gamma * dot_product(s->rho, Kr, s->n);
    if (!s->smooth_penalty && member->aKa > 0)
        norm2 += member->aKa + 2 * s->gamma * dot_product(s->rho, s->Ka + i * s->n, s->n);
    member->norm = norm2 > 0 ? sqrt(norm2) : 0;
    member->length = md_spicy_length(s, member->norm, &member->curvature);
    member->ratio = member->norm > 0 && member->length > 0 ? member->length / member->norm : 0;
    if (member->ratio == 0)
        return;
    if (!s->smooth_penalty && member->aKa > 0)
        add_two(s->f, member->ratio, s->Ka + i * s->n, member->ratio * s->gamma, Kr, s->n);
    else
        add_scaled(s->f, member->ratio * s->gamma, Kr, s->n);
}

void md_spicy_evaluate(md_spicy *s)
{
    memset(s->f, 0, s->n * sizeof *s->f);
    for (size_t i = 0; i < s->count; i++)
        evaluate_member(s, i);
    md_spicy_scores(s, s->rho, s->new_z, s->z_slope);
    for (size_t i = 0; i < s->n; i++)
        s->gradient[i] = s->f[i] - s->new_z[i];
}

void md_spicy_try_model(md_spicy *s)
{
    const md_batch_problem *p = s->problem;
    const double bias = md_best_bias(p->loss, p->loss_state, p->y, s->f, s->n);
    double loss = 0;
    double penalty = 0;
    for (size_t i = 0; i < s->n; i++)
        loss += p->loss->value(p->loss_state, p->y[i], s->f[i] + bias);
    for (size_t i = 0; i < s->count; i++)
        if (s->members[i].ratio > 0)
            penalty += p->penalty->value(p->penalty_state, s->members[i].length);
    const double primal = loss + p->strength * penalty;
    if (!(primal < s->best_primal))
        return;
    s->best_primal = primal;
    s->best_loss = loss;
    s->best_bias = bias;
    s->best_is_here = true;
    s->best_gamma = s->gamma;
    memcpy(s->best_rho, s->rho, s->n * sizeof *s->rho);
    for (size_t i = 0; i < s->count; i++)
        s->best_ratio[i] = s->members[i].ratio;
}

/* Writes the best model as coefficients, before a or the working set change. */
medley_status md_spicy_keep_best(md_spicy *s, medley_error *error)
{
    if (!s->best_is_here)
        return MEDLEY_OK;
    size_t active = 0;
    for (size_t i = 0; i < s->count; i++)
        active += s->best_ratio[i] > 0;
    free(s->kept_kernel);
    free(s->kept_coefficient);
    s->kept_kernel = md_calloc(active, sizeof *s->kept_kernel);
    s->kept_coefficient = md_calloc(active * s->n, sizeof *s->kept_coefficient);
    s->kept = 0;
    if (s->kept_kernel == NULL || s->kept_coefficient == NULL)
        return md_fail_memory(error, active * s->n * sizeof *s->kept_coefficient);
    for (size_t i = 0; i < s->count; i++) {
        const double ratio = s->best_ratio[i];
        if (!(ratio > 0))
            continue;
        double *to = s->kept_coefficient + s->kept * s->n;
        for (size_t j = 0; j < s->n; j++)
            to[j] = ratio *
                    ((s->smooth_penalty ? 0 : s->a[i * s->n + j]) + s->best_gamma * s->best_rho[j]);
        s->kept_kernel[s->kept++] = s->members[i].kernel;
    }
    s->best_is_here = false;
    return MEDLEY_OK;
}

/* ---- the model that is returned ---- */

static int compare_places(const void *x, const void *y)
{
    const size_t *a = *(const size_t *const *)x;
    const size_t *b = *(const size_t *const *)y;
    return (*a > *b) - (*a < *b);
}

/* In the order of the kernels. */
static medley_status copy_kept(const md_spicy *s, md_batch_solution *solution, medley_error *error)
{
    const size_t **order = md_calloc(s->kept, sizeof(const size_t *));
    free(solution->kernel); /* of an attempt before */
    free(solution->norm);
    free(solution->coefficient);
    free(solution->rho);
    solution->kernel = md_calloc(s->kept, sizeof *solution->kernel);
    solution->norm = md_calloc(s->kept, sizeof *solution->norm);
    solution->coefficient = md_calloc(s->kept * s->n, sizeof *solution->coefficient);
    solution->rho = md_copy(s->dual_point, s->n * sizeof *s->dual_point);
    if (order == NULL || solution->kernel == NULL || solution->norm == NULL ||
        solution->coefficient == NULL || solution->rho == NULL) {
        free(order);
        return md_fail_memory(error, s->kept * s->n * sizeof(double));
    }
    for (size_t i = 0; i < s->kept; i++)
        order[i] = &s->kept_kernel[i];
    qsort(order, s->kept, sizeof(const size_t *), compare_places);
    for (size_t i = 0; i < s->kept; i++) {
        const size_t from = (size_t)(order[i] - s->kept_kernel);
        solution->kernel[i] = *order[i];
        memcpy(solution->coefficient + i * s->n, s->kept_coefficient + from * s->n,
               s->n * sizeof(double));
    }
    solution->active = s->kept;
    solution->rows = s->n;
    free(order);
    return MEDLEY_OK;
}

medley_status md_spicy_finish(md_spicy *s, md_batch_solution *solution, medley_error *error)
{
    medley_status status = md_spicy_keep_best(s, error);
    if (status == MEDLEY_OK)
        status = copy_kept(s, solution, error);
    if (status == MEDLEY_OK)
        status = md_batch_certify(solution, s->problem, error);
    return status;
}
