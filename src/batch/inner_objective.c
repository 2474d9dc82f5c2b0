/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner objective phi(rho) of SpicyMKL (eq. 25, 32, 41, 47). Newton's method needs not its
 * value but prox(v_m) of the members, the scores z(rho), and the gradient (eq. 26, 49)
 *
 *     sum_m K_m prox(v_m) - z(rho). */
#include "batch/spicy.h"

#include "base/parallel.h"
#include "linalg/vectors.h"

double md_spicy_length(const md_spicy *s, double norm, double *derivative)
{
    const md_batch_problem *p = s->problem;
    if (!s->smooth_penalty)
        return p->penalty->prox(p->penalty_state, s->gamma * p->strength, norm, derivative);
    double slope;
    p->penalty->conjugate(p->penalty_state, p->strength, norm, &slope, derivative);
    return slope;
}

size_t md_spicy_threads(const md_spicy *s)
{
    static const double VALUES_OF_A_THREAD = 5e4;
    return md_threads_for(s->threads, (double)s->count * (double)s->n, VALUES_OF_A_THREAD);
}

/* ---- scores ---- */

enum { PIECE = 128 }; /* rows that one thread takes at a time, at a hundred nanoseconds each */

struct scoring {
    const md_spicy *s;
    const double *rho;
    double *scores, *slope;
};

static void score_row(const struct scoring *scoring, size_t i)
{
    const md_spicy *s = scoring->s;
    const md_batch_problem *p = s->problem;
    const md_margin_loss *loss = p->loss;
    const double rho = scoring->rho[i];
    if (s->smooth_loss) {
        scoring->scores[i] = -loss->conjugate_slope(p->loss_state, p->y[i], rho);
        scoring->slope[i] = loss->conjugate_curvature(p->loss_state, p->y[i], rho);
        return;
    }
    double derivative;
    const double u = s->z[i] - s->gamma_z * rho;
    scoring->scores[i] =
        s->softness > 0
            ? md_soft_prox(loss, p->loss_state, p->y[i], s->gamma_z, s->softness, u, &derivative)
            : loss->prox(p->loss_state, p->y[i], s->gamma_z, u, &derivative);
    scoring->slope[i] = s->gamma_z * derivative;
}

static void score_piece(void *context, size_t piece, size_t worker)
{
    const struct scoring *scoring = context;
    const size_t end = md_min((piece + 1) * PIECE, scoring->s->n);
    (void)worker;
    for (size_t i = piece * PIECE; i < end; i++)
        score_row(scoring, i);
}

/* The derivative of the loss's part of phi is minus these scores (d/drho L*(-rho)). With the
 * scores' own proximity term, z = prox(z_t - gamma_z rho): for the hinge loss these are its two
 * slack vectors in one, y z = 1 - xi + zeta (eq. 28-32). */
void md_spicy_scores(const md_spicy *s, const double *rho, double *scores, double *slope)
{
    static const double ROWS_OF_A_THREAD = 256;
    struct scoring scoring = {s, rho, scores, slope};
    md_parallel_for(md_threads_for(s->threads, (double)s->n, ROWS_OF_A_THREAD),
                    md_pieces(s->n, PIECE), score_piece, &scoring);
}

/* ---- members ---- */

/* ||v||^2 = a'Ka + 2 gamma rho'Ka + gamma^2 rho'K rho: nothing cancels, since v grows along rho. */
static void evaluate_member(void *context, size_t i, size_t worker)
{
    md_spicy *s = context;
    md_member *member = &s->members[i];
    const double *Kr = s->Kr + i * s->n;
    (void)worker;
    double norm2 = s->gamma * s->gamma * md_dot(s->rho, Kr, s->n);
    if (!s->smooth_penalty && member->aKa > 0)
        norm2 += member->aKa + 2 * s->gamma * md_dot(s->rho, s->Ka + i * s->n, s->n);
    member->norm = norm2 > 0 ? sqrt(norm2) : 0;
    member->length = md_spicy_length(s, member->norm, &member->curvature);
    member->ratio = member->norm > 0 && member->length > 0 ? member->length / member->norm : 0;
}

/* f += ratio K v */
static void add_member(md_spicy *s, size_t i)
{
    const md_member *member = &s->members[i];
    const double *Kr = s->Kr + i * s->n;
    if (member->ratio == 0)
        return;
    if (!s->smooth_penalty && member->aKa > 0)
        md_add_two(s->f, member->ratio, s->Ka + i * s->n, member->ratio * s->gamma, Kr, s->n);
    else
        md_add_scaled(s->f, member->ratio * s->gamma, Kr, s->n);
}

void md_spicy_evaluate(md_spicy *s)
{
    memset(s->f, 0, s->n * sizeof *s->f);
    md_parallel_for(md_spicy_threads(s), s->count, evaluate_member, s);
    for (size_t i = 0; i < s->count; i++)
        add_member(s, i);
    md_spicy_scores(s, s->rho, s->new_z, s->z_slope);
    for (size_t i = 0; i < s->n; i++)
        s->gradient[i] = s->f[i] - s->new_z[i];
}
