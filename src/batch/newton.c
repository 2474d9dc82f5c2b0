/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner problem: minimise phi(rho) among rho that sum to 0, by Newton's method with a line
 * search (SpicyMKL sections 3.3 and 3.5.1). phi is convex and smooth, so the line search looks for
 * a small slope instead of a small value: it is exact to rounding where values are not. Along the
 * direction every norm is a root of a quadratic, so a trial costs O(members + rows). */
#include "batch/batch_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 100, MOST_DIRECT_STEPS = 30, MOST_TRIALS = 40 };

static const double ACCURACY = 0.03;  /* of the inner problem: the decrement against how far the
                                         proximal step goes (Rockafellar's criterion B) */
static const double FLAT = 0.3;       /* slope left by the line search */
static const double INSIDE = 0.995;   /* of the way to the end of the loss's domain */
static const double ROUNDING = 1e-13; /* of scores */

/* ---- the line search ---- */

struct line {
    md_batch *b;
    double *rho, *scores, *slope; /* [n] scratch */
};

/* d phi / dt at rho + t direction. */
static double slope_at(const struct line *line, double t)
{
    const md_batch *b = line->b;
    double slope = 0;
    for (size_t i = 0; i < b->count; i++) {
        const double *q = b->members[i].line;
        const double norm2 = q[0] + t * (2 * q[1] + t * q[2]);
        const double norm = norm2 > 0 ? sqrt(norm2) : 0;
        double derivative;
        const double length = norm > 0 ? md_batch_length(b, norm, &derivative) : 0;
        if (length > 0)
            slope += length * (q[1] + t * q[2]) / (norm * b->gamma);
    }
    for (size_t i = 0; i < b->n; i++)
        line->rho[i] = b->rho[i] + t * b->direction[i];
    md_batch_scores(b, line->rho, line->scores, line->slope);
    return slope - md_batch_dot(line->scores, b->direction, b->n);
}

/* The largest step that stays inside the domain of a loss whose conjugate is used as it is. */
static double longest_step(const md_batch *b)
{
    double longest = INFINITY;
    for (size_t i = 0; b->smooth_loss && i < b->n; i++) {
        double low;
        double high;
        b->problem->loss->domain(b->problem->loss_state, b->problem->y[i], &low, &high);
        const double d = b->direction[i];
        const double room = d > 0 ? high - b->rho[i] : low - b->rho[i];
        if (d != 0 && room / d < longest)
            longest = room / d;
    }
    return INSIDE * longest;
}

/* A step t with a small slope; 1 if it will do. */
static double search(const struct line *line, double first_slope)
{
    const double enough = FLAT * fabs(first_slope);
    const double longest = longest_step(line->b);
    double low = 0;
    double high = INFINITY;
    double low_slope = first_slope;
    double high_slope = 0;
    double t = longest < 1 ? longest : 1;
    for (int trial = 0; trial < MOST_TRIALS; trial++) {
        const double slope = slope_at(line, t);
        if (fabs(slope) <= enough || (slope < 0 && t >= longest))
            return t;
        if (slope > 0) {
            high = t;
            high_slope = slope;
        } else {
            low = t;
            low_slope = slope;
        }
        if (high == INFINITY) {
            t = 2 * t < longest ? 2 * t : longest;
            continue;
        }
        const double secant = low + (high - low) * low_slope / (low_slope - high_slope);
        const double margin = 0.1 * (high - low);
        t = secant > low + margin && secant < high - margin ? secant : (low + high) / 2;
    }
    return low > 0 ? low : t;
}

/* ---- a step ---- */

static double weigh_member(void *context, size_t i, double norm2)
{
    const md_batch *b = context;
    const md_member *member = &b->members[i];
    const double square =
        member->aKa + b->gamma * (2 * member->cross + b->gamma * (norm2 > 0 ? norm2 : 0));
    const double norm = square > 0 ? sqrt(square) : 0;
    double derivative;
    const double length = norm > 0 ? md_batch_length(b, norm, &derivative) : 0;
    return length > 0 ? b->gamma * length / norm : 0;
}

/* K x at the end of the full step, and the kernels' part of the Hessian there. */
static medley_status look_ahead(md_batch *b, medley_error *error)
{
    for (size_t i = 0; i < b->n; i++)
        b->trial[i] = b->rho[i] + b->direction[i];
    for (size_t i = 0; !b->smooth_penalty && i < b->count; i++)
        b->members[i].cross =
            b->members[i].aKa > 0 ? md_batch_dot(b->trial, b->Ka + i * b->n, b->n) : 0;
    return md_store_multiply_and_sum(b->store, md_batch_members(b, false), b->trial, weigh_member,
                                     b, b->Kx, b->norm2, b->sum, error);
}

/* ||v + gamma t d||^2 of every member. */
static void prepare_line(md_batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        md_member *member = &b->members[i];
        const double *Kr = b->Kr + i * b->n;
        const double *Kx = b->Kx + i * b->n;
        const double dKr = md_batch_dot(b->direction, Kr, b->n);
        const double dKx = md_batch_dot(b->direction, Kx, b->n);
        double dKa = 0;
        if (!b->smooth_penalty && member->aKa > 0)
            dKa = md_batch_dot(b->direction, b->Ka + i * b->n, b->n);
        member->line[0] = member->norm * member->norm;
        member->line[1] = b->gamma * (dKa + b->gamma * dKr);
        member->line[2] = b->gamma * b->gamma * (dKx - dKr);
    }
}

static medley_status take_step(md_batch *b, medley_error *error)
{
    const size_t n = b->n;
    const medley_status status = look_ahead(b, error);
    if (status < 0)
        return status;
    prepare_line(b);
    const struct line line = {.b = b, .rho = b->trial, .scores = b->new_z, .slope = b->z_slope};
    const double t = search(&line, md_batch_dot(b->gradient, b->direction, n));
    md_batch_add(b->rho, t, b->direction, n);
    b->sum_ready = t == 1;
    if (t == 1) {
        double *swap = b->Kr;
        b->Kr = b->Kx;
        b->Kx = swap;
    } else {
        for (size_t j = 0; j < b->count * n; j++)
            b->Kr[j] += t * (b->Kx[j] - b->Kr[j]);
    }
    b->newton_steps++;
    return MEDLEY_OK;
}

/* ---- when to stop ---- */

/* How far the proximal step would go from here: sum ||a' - a||^2 / gamma + ||z' - z||^2 / gamma_z.
 */
static double proximal_distance(const md_batch *b)
{
    double distance = 0;
    for (size_t i = 0; !b->smooth_penalty && i < b->count; i++) {
        const md_member *member = &b->members[i];
        if (!(member->ratio > 0) && !(member->aKa > 0))
            continue;
        const double *Ka = b->Ka + i * b->n;
        const double vKa =
            member->aKa > 0 ? member->aKa + b->gamma * md_batch_dot(b->rho, Ka, b->n) : 0;
        distance +=
            (member->length * member->length - 2 * member->ratio * vKa + member->aKa) / b->gamma;
    }
    for (size_t i = 0; !b->smooth_loss && i < b->n; i++)
        distance += (b->new_z[i] - b->z[i]) * (b->new_z[i] - b->z[i]) / b->gamma_z;
    return distance;
}

/* Nothing is left of the gradient but rounding. */
static bool is_noise(const md_batch *b)
{
    double mean = 0;
    double scale = 0;
    double largest = 0;
    for (size_t i = 0; i < b->n; i++)
        mean += b->gradient[i] / (double)b->n;
    for (size_t i = 0; i < b->n; i++) {
        scale = fmax(scale, fmax(fabs(b->f[i]), fabs(b->new_z[i])));
        largest = fmax(largest, fabs(b->gradient[i] - mean));
    }
    return isfinite(scale) && largest <= ROUNDING * scale;
}

static bool is_solved(const md_batch *b, double decrement)
{
    if (b->smooth_loss)
        return decrement <= b->inner_target * fabs(b->best_primal);
    return decrement <= ACCURACY * proximal_distance(b);
}

medley_status md_batch_minimise(md_batch *b, medley_error *error)
{
    for (size_t step = 0; step < (b->smooth_penalty ? MOST_DIRECT_STEPS : MOST_STEPS); step++) {
        md_batch_evaluate(b);
        md_batch_try_model(b);
        if (is_noise(b) || (step > 0 && is_solved(b, md_batch_old_decrement(b))))
            return MEDLEY_OK;
        double decrement;
        medley_status status = md_batch_direction(b, &decrement, error);
        if (status < 0)
            return status;
        if (!(decrement > 0) || (step > 0 && is_solved(b, decrement)))
            return MEDLEY_OK;
        status = take_step(b, error);
        if (status < 0)
            return status;
    }
    b->gave_up = b->smooth_penalty;
    md_batch_evaluate(b);
    md_batch_try_model(b);
    return MEDLEY_OK;
}
