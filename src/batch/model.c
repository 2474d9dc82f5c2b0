/* SPDX-License-Identifier: BSD-3-Clause */
/* From the dual variable to a model: coefficients a_m = ratio (a_m + gamma rho), scores, primal
 * value; and the best model so far. */
#include "batch/batch_internal.h"
#include "batch/certificate.h"

#include "base/memory.h"
#include "base/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double md_batch_length(const md_batch *b, double norm, double *derivative)
{
    const md_batch_problem *p = b->problem;
    if (!b->smooth_penalty)
        return p->penalty->prox(p->penalty_state, b->gamma * p->strength, norm, derivative);
    double slope;
    p->penalty->conjugate(p->penalty_state, p->strength, norm, &slope, derivative);
    return slope;
}

/* The derivative of the loss's part of phi is minus these scores (d/drho L*(-rho)). With the
 * scores' own proximity term, z = prox(z_t - gamma_z rho): for the hinge loss these are its two
 * slack vectors in one, y z = 1 - xi + zeta (eq. 28-32). */
void md_batch_scores(const md_batch *b, const double *rho, double *scores, double *slope)
{
    const md_batch_problem *p = b->problem;
    const md_margin_loss *loss = p->loss;
    for (size_t i = 0; i < b->n; i++) {
        if (b->smooth_loss) {
            scores[i] = -loss->conjugate_slope(p->loss_state, p->y[i], rho[i]);
            slope[i] = loss->conjugate_curvature(p->loss_state, p->y[i], rho[i]);
            continue;
        }
        double derivative;
        scores[i] = loss->prox(p->loss_state, p->y[i], b->gamma_z, b->z[i] - b->gamma_z * rho[i],
                               &derivative);
        slope[i] = b->gamma_z * derivative;
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
static void evaluate_member(md_batch *b, size_t i)
{
    md_member *member = &b->members[i];
    const double *Kr = b->Kr + i * b->n;
    double norm2 = b->gamma * b->gamma * dot_product(b->rho, Kr, b->n);
    if (!b->smooth_penalty && member->aKa > 0)
        norm2 += member->aKa + 2 * b->gamma * dot_product(b->rho, b->Ka + i * b->n, b->n);
    member->norm = norm2 > 0 ? sqrt(norm2) : 0;
    member->length = md_batch_length(b, member->norm, &member->curvature);
    member->ratio = member->norm > 0 && member->length > 0 ? member->length / member->norm : 0;
    if (member->ratio == 0)
        return;
    if (!b->smooth_penalty && member->aKa > 0)
        add_two(b->f, member->ratio, b->Ka + i * b->n, member->ratio * b->gamma, Kr, b->n);
    else
        add_scaled(b->f, member->ratio * b->gamma, Kr, b->n);
}

void md_batch_evaluate(md_batch *b)
{
    memset(b->f, 0, b->n * sizeof *b->f);
    for (size_t i = 0; i < b->count; i++)
        evaluate_member(b, i);
    md_batch_scores(b, b->rho, b->new_z, b->z_slope);
    for (size_t i = 0; i < b->n; i++)
        b->gradient[i] = b->f[i] - b->new_z[i];
}

void md_batch_try_model(md_batch *b)
{
    const md_batch_problem *p = b->problem;
    const double bias = md_best_bias(p->loss, p->loss_state, p->y, b->f, b->n);
    double loss = 0;
    double penalty = 0;
    for (size_t i = 0; i < b->n; i++)
        loss += p->loss->value(p->loss_state, p->y[i], b->f[i] + bias);
    for (size_t i = 0; i < b->count; i++)
        if (b->members[i].ratio > 0)
            penalty += p->penalty->value(p->penalty_state, b->members[i].length);
    const double primal = loss + p->strength * penalty;
    if (!(primal < b->best_primal))
        return;
    b->best_primal = primal;
    b->best_loss = loss;
    b->best_bias = bias;
    b->best_is_here = true;
    b->best_gamma = b->gamma;
    memcpy(b->best_rho, b->rho, b->n * sizeof *b->rho);
    for (size_t i = 0; i < b->count; i++)
        b->best_ratio[i] = b->members[i].ratio;
}

/* Writes the best model as coefficients, before a or the working set change. */
medley_status md_batch_keep_best(md_batch *b, medley_error *error)
{
    if (!b->best_is_here)
        return MEDLEY_OK;
    size_t active = 0;
    for (size_t i = 0; i < b->count; i++)
        active += b->best_ratio[i] > 0;
    free(b->kept_kernel);
    free(b->kept_coefficient);
    b->kept_kernel = md_calloc(active, sizeof *b->kept_kernel);
    b->kept_coefficient = md_calloc(active * b->n, sizeof *b->kept_coefficient);
    b->kept = 0;
    if (b->kept_kernel == NULL || b->kept_coefficient == NULL)
        return md_fail_memory(error, active * b->n * sizeof *b->kept_coefficient);
    for (size_t i = 0; i < b->count; i++) {
        const double ratio = b->best_ratio[i];
        if (!(ratio > 0))
            continue;
        double *to = b->kept_coefficient + b->kept * b->n;
        for (size_t j = 0; j < b->n; j++)
            to[j] = ratio *
                    ((b->smooth_penalty ? 0 : b->a[i * b->n + j]) + b->best_gamma * b->best_rho[j]);
        b->kept_kernel[b->kept++] = b->members[i].kernel;
    }
    b->best_is_here = false;
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
static medley_status copy_kept(const md_batch *b, md_batch_solution *solution, medley_error *error)
{
    const size_t **order = md_calloc(b->kept, sizeof(const size_t *));
    free(solution->kernel); /* of an attempt before */
    free(solution->norm);
    free(solution->coefficient);
    free(solution->rho);
    solution->kernel = md_calloc(b->kept, sizeof *solution->kernel);
    solution->norm = md_calloc(b->kept, sizeof *solution->norm);
    solution->coefficient = md_calloc(b->kept * b->n, sizeof *solution->coefficient);
    solution->rho = md_copy(b->dual_point, b->n * sizeof *b->dual_point);
    if (order == NULL || solution->kernel == NULL || solution->norm == NULL ||
        solution->coefficient == NULL || solution->rho == NULL) {
        free(order);
        return md_fail_memory(error, b->kept * b->n * sizeof(double));
    }
    for (size_t i = 0; i < b->kept; i++)
        order[i] = &b->kept_kernel[i];
    qsort(order, b->kept, sizeof(const size_t *), compare_places);
    for (size_t i = 0; i < b->kept; i++) {
        const size_t from = (size_t)(order[i] - b->kept_kernel);
        solution->kernel[i] = *order[i];
        memcpy(solution->coefficient + i * b->n, b->kept_coefficient + from * b->n,
               b->n * sizeof(double));
    }
    solution->active = b->kept;
    solution->rows = b->n;
    free(order);
    return MEDLEY_OK;
}

medley_status md_batch_finish(md_batch *b, md_batch_solution *solution, medley_error *error)
{
    medley_status status = md_batch_keep_best(b, error);
    if (status == MEDLEY_OK)
        status = copy_kept(b, solution, error);
    if (status == MEDLEY_OK)
        status = md_batch_certify(solution, b->problem, error);
    return status;
}
