/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a run of SpicyMKL: its memory, the first gammas, and the model it starts from. */
#include "batch/certificate.h"
#include "batch/spicy.h"

#include "linalg/blas.h"
#include "linalg/vectors.h"

enum { TALL_ROWS = 128 }; /* rank-one terms per product of matrices */

/* The first gamma, in units of scores over dual variables: small enough that Newton's method
 * reaches the first minimum, large enough for few outer iterations. */
static const double FIRST_GAMMA = 10;
static const double GROWTH = 4;        /* of gamma, per outer iteration */
static const double START_GROWTH = 16; /* of gamma, for a start that is near the optimum */
/* Of kinks, in units of scores: with the first one Newton's method is as quick as for the logistic
 * loss; the last one makes no difference. */
static const double FIRST_SOFTNESS = 0.3, LEAST_SOFTNESS = 1e-3;
static const double AWAY = 1e-3; /* share of the way from a start back to the empty model */

void md_spicy_clear(md_spicy *s)
{
    free(s->members);
    free(s->a);
    free(s->Ka);
    free(s->Kr);
    free(s->Kx);
    free(s->norm2); /* and weight */
    free(s->chosen);
    free(s->best_ratio);
    free(s->low.V);
    md_mixture_free(s->mixture);
    free(s->kept_kernel);
    free(s->kept_coefficient);
    md_pool_clear(&s->pool);
    *s = (md_spicy){0};
}

/* The change of scores that corresponds to a unit of rho: 1, except for regression losses whose rho
 * is bounded. */
static double unit_of_scores(const md_batch_problem *problem, size_t n)
{
    const md_interval domain = problem->loss->domain(problem->loss_state, problem->y[0]);
    if (problem->loss->classifies || !isfinite(domain.high - domain.low))
        return 1;
    double mean = 0;
    double square = 0;
    for (size_t i = 0; i < n; i++)
        mean += problem->y[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (problem->y[i] - mean) * (problem->y[i] - mean);
    return square > 0 ? sqrt(square / (double)n) / (domain.high - domain.low) : 1;
}

static void set_gamma(md_spicy *s)
{
    double diagonal = 0;
    for (size_t m = 0; m < s->kernels; m++)
        diagonal += md_packed_trace(s->packed, m);
    diagonal /= (double)s->kernels * (double)s->n;
    const double unit = unit_of_scores(s->problem, s->n);
    const double first = FIRST_GAMMA * (s->problem->first_gamma > 0 ? s->problem->first_gamma : 1);
    s->growth = s->problem->growth > 0 ? s->problem->growth : GROWTH;
    s->gamma_z = first * unit;
    s->first_gamma_z = s->gamma_z;
    s->softness = s->problem->loss->soft_slope != NULL ? FIRST_SOFTNESS * unit : 0;
    s->least_softness = LEAST_SOFTNESS * s->softness;
    s->gamma = s->smooth_penalty ? 1 : first * unit / (diagonal > 0 ? diagonal : 1);
}

static medley_status allocate(md_spicy *s, medley_error *error)
{
    enum { VECTORS = 20 };
    const size_t n = s->n;
    md_pool *pool = &s->pool;
    s->tall_rows = TALL_ROWS;
    MEDLEY_TRY(md_pool_new(pool, &s->rho, VECTORS * n, sizeof *s->rho, error));
    if (s->problem->products_only) {
        MEDLEY_TRY(md_mixture_create(&s->mixture, s->packed, s->problem->mixture, error));
    } else {
        MEDLEY_TRY(md_pool_new_aligned(pool, &s->sum, n * n, sizeof *s->sum, error));
        MEDLEY_TRY(md_pool_new_aligned(pool, &s->hessian, n * n, sizeof *s->hessian, error));
        MEDLEY_TRY(md_pool_new_aligned(pool, &s->tall, s->tall_rows * n, sizeof *s->tall, error));
    }
    MEDLEY_TRY(md_pool_new(pool, &s->in_set, 2 * s->kernels, sizeof *s->in_set, error));
    MEDLEY_TRY(md_pool_new(pool, &s->bound, 3 * s->kernels, sizeof *s->bound, error));
    MEDLEY_TRY(md_pool_new(pool, &s->list, s->kernels, sizeof *s->list, error));
    double *next = s->rho;
    s->screened = s->in_set + s->kernels;
    s->values = s->bound + s->kernels;
    s->dual_norms = s->values + s->kernels;
    double **vectors[] = {&s->rho,        &s->z,         &s->f,      &s->gradient, &s->new_z,
                          &s->z_slope,    &s->direction, &s->trial,  &s->best_rho, &s->candidate,
                          &s->dual_point, &s->last,      &s->scratch};
    for (size_t v = 0; v < sizeof vectors / sizeof vectors[0]; v++, next += n)
        *vectors[v] = next;
    return MEDLEY_OK;
}

medley_status md_spicy_init(md_spicy *s, const md_batch_problem *problem, bool direct,
                            medley_error *error)
{
    *s = (md_spicy){.problem = problem,
                    .packed = problem->packed,
                    .n = md_packed_rows(problem->packed),
                    .kernels = md_packed_count(problem->packed),
                    .threads = problem->threads ? problem->threads : 1,
                    .best_primal = INFINITY,
                    .best_dual = -INFINITY,
                    .began = md_clock_seconds()};
    md_blas_single_thread();
    s->finite_conjugate = md_penalty_conjugate_is_finite(problem);
    s->smooth_penalty =
        direct && (problem->loss->smooth_conjugate
                       ? problem->penalty->one_step(problem->penalty_state)
                       : problem->penalty->smooth_conjugate(problem->penalty_state));
    s->smooth_loss = s->smooth_penalty && problem->loss->smooth_conjugate;
    set_gamma(s);
    return allocate(s, error);
}

/* ---- where it begins ---- */

/* The model without kernels, its dual point, and all norms there. */
static medley_status look_at_empty_model(md_spicy *s, medley_error *error)
{
    const md_batch_problem *p = s->problem;
    md_empty_dual(p->loss, p->loss_state, p->y, s->rho, s->n);
    memset(s->f, 0, s->n * sizeof *s->f);
    md_spicy_try_model(s); /* there are no members yet */
    for (size_t i = 0; i < s->n; i++)
        s->z[i] = s->best_bias;
    memcpy(s->candidate, s->rho, s->n * sizeof *s->rho);
    return md_spicy_check_all(s, error);
}

/* rho of the start, moved away from the border of the domain. */
static medley_status look_at_start(md_spicy *s, const md_batch_solution *start, medley_error *error)
{
    for (size_t i = 0; i < s->n; i++)
        s->rho[i] += (1 - AWAY) * (start->rho[i] - s->rho[i]);
    memcpy(s->candidate, s->rho, s->n * sizeof *s->rho);
    return md_spicy_check_all(s, error);
}

/* The coefficients that the start has for members, and the scores they give. */
static medley_status adopt(md_spicy *s, const md_batch_solution *start, medley_error *error)
{
    const size_t n = s->n;
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < start->active; k++)
            if (start->kernel[k] == s->members[i].kernel)
                memcpy(s->a + i * n, start->coefficient + k * n, n * sizeof *s->a);
    MEDLEY_TRY(md_packed_multiply_each(s->packed, md_spicy_members(s, false), s->a, s->Ka, error));
    memset(s->f, 0, n * sizeof *s->f);
    for (size_t i = 0; i < s->count; i++) {
        s->members[i].aKa = fmax(0, md_dot(s->a + i * n, s->Ka + i * n, n));
        md_add_scaled(s->f, 1, s->Ka + i * n, n);
    }
    for (size_t i = 0; i < n; i++)
        s->z[i] = s->f[i] + start->bias;
    s->gamma *= START_GROWTH;
    s->gamma_z *= START_GROWTH;
    return MEDLEY_OK;
}

/* Near the optimum kinks are as sharp as the gap of the start asks for (sharpen in spicy.c). */
static void soften(md_spicy *s)
{
    const md_batch_problem *p = s->problem;
    double bias;
    double penalty = 0;
    if (s->smooth_penalty)
        md_spicy_evaluate(s); /* f, from rho alone */
    const double loss = md_batch_loss(p, s->f, &bias);
    for (size_t i = 0; i < s->count; i++) {
        const md_member *member = &s->members[i];
        penalty += p->penalty->value(p->penalty_state,
                                     s->smooth_penalty ? member->length : sqrt(member->aKa));
    }
    const double apart = (loss + p->strength * penalty - s->best_dual) / ((double)s->n * M_LN2);
    s->softness = apart > s->least_softness ? fmin(s->softness, apart) : 0;
}

medley_status md_spicy_begin(md_spicy *s, const md_batch_solution *start, medley_error *error)
{
    MEDLEY_TRY(look_at_empty_model(s, error));
    if (start != NULL)
        MEDLEY_TRY(look_at_start(s, start, error));
    if (md_spicy_gap(s) <= s->problem->gap)
        return MEDLEY_OK;
    MEDLEY_TRY(md_spicy_keep_best(s, error)); /* the empty model, before there are members */
    MEDLEY_TRY(md_spicy_next_set(s, start, error));
    if (start != NULL && !s->smooth_penalty)
        MEDLEY_TRY(adopt(s, start, error));
    if (start != NULL)
        soften(s);
    return MEDLEY_OK;
}
