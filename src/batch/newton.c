/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner problem: minimise phi(rho) among rho that sum to 0, by Newton's method with a line
 * search (SpicyMKL sections 3.3 and 3.5.1). phi is convex and smooth, so the line search looks for
 * a small slope, not for a small value as Armijo's rule does: near the minimum slopes have correct
 * digits where differences of values have none. Along the direction every norm is a root of a
 * quadratic, so a trial costs O(members + rows). */
#include "batch/spicy.h"

#include "base/parallel.h"
#include "linalg/vectors.h"

enum { MOST_STEPS = 100, MOST_DIRECT_STEPS = 30, MOST_TRIALS = 40 };

static const double ACCURACY = 0.03;  /* of the inner problem: the decrement against how far the
                                         proximal step goes (Rockafellar's criterion B) */
static const double FLAT = 0.3;       /* slope left by the line search */
static const double INSIDE = 0.995;   /* of the way to the end of the loss's domain */
static const double ROUNDING = 1e-13; /* of scores */

/* ---- the line search ---- */

/* d phi / dt at rho + t direction, which is left in trial, with its scores in new_z. */
static double slope_at(md_spicy *s, double t)
{
    double slope = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double *q = s->members[i].line;
        const double norm2 = q[0] + t * (2 * q[1] + t * q[2]);
        const double norm = norm2 > 0 ? sqrt(norm2) : 0;
        double derivative;
        const double length = norm > 0 ? md_spicy_length(s, norm, &derivative) : 0;
        if (length > 0)
            slope += length * (q[1] + t * q[2]) / (norm * s->gamma);
    }
    for (size_t i = 0; i < s->n; i++)
        s->trial[i] = s->rho[i] + t * s->direction[i];
    md_spicy_scores(s, s->trial, s->new_z, s->z_slope);
    return slope - md_dot(s->new_z, s->direction, s->n);
}

/* The largest step that stays inside the domain of a loss whose conjugate is used as it is. */
static double longest_step(const md_spicy *s)
{
    double longest = INFINITY;
    for (size_t i = 0; s->smooth_loss && i < s->n; i++) {
        const md_interval domain =
            s->problem->loss->domain(s->problem->loss_state, s->problem->y[i]);
        const double d = s->direction[i];
        const double room = (d > 0 ? domain.high : domain.low) - s->rho[i];
        if (d != 0 && room / d < longest)
            longest = room / d;
    }
    return INSIDE * longest;
}

/* A step t with a small slope; 1 if that is one. */
static double search(md_spicy *s, double first_slope)
{
    const double enough = FLAT * fabs(first_slope);
    const double longest = longest_step(s);
    double low = 0;
    double high = INFINITY;
    double low_slope = first_slope;
    double high_slope = 0;
    double t = longest < 1 ? longest : 1;
    for (int trial = 0; trial < MOST_TRIALS; trial++) {
        const double slope = slope_at(s, t);
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
    const md_spicy *s = context;
    const md_member *member = &s->members[i];
    const double square =
        member->aKa + s->gamma * (2 * member->cross + s->gamma * (norm2 > 0 ? norm2 : 0));
    const double norm = square > 0 ? sqrt(square) : 0;
    double derivative;
    const double length = norm > 0 ? md_spicy_length(s, norm, &derivative) : 0;
    return length > 0 ? s->gamma * length / norm : 0;
}

/* K x at the end of the full step, and the kernels' part of the Hessian there. */
static medley_status look_ahead(md_spicy *s, medley_error *error)
{
    for (size_t i = 0; i < s->n; i++)
        s->trial[i] = s->rho[i] + s->direction[i];
    for (size_t i = 0; !s->smooth_penalty && i < s->count; i++)
        s->members[i].cross = s->members[i].aKa > 0 ? md_dot(s->trial, s->Ka + i * s->n, s->n) : 0;
    s->summed = s->mixture == NULL && !md_spicy_has_low_rank(s);
    if (!s->summed)
        return md_packed_multiply(s->packed, md_spicy_members(s, false), s->trial, s->Kx, error);
    return md_packed_multiply_and_sum(s->packed, md_spicy_members(s, false), s->trial, weigh_member,
                                      s, s->Kx, s->norm2, s->sum, error);
}

/* ||v + gamma t d||^2 of a member. */
static void prepare_line(void *context, size_t i, size_t worker)
{
    const md_spicy *s = context;
    md_member *member = &s->members[i];
    const double *Kr = s->Kr + i * s->n;
    const double *Kx = s->Kx + i * s->n;
    const double dKr = md_dot(s->direction, Kr, s->n);
    const double dKx = md_dot(s->direction, Kx, s->n);
    double dKa = 0;
    (void)worker;
    if (!s->smooth_penalty && member->aKa > 0)
        dKa = md_dot(s->direction, s->Ka + i * s->n, s->n);
    member->line[0] = member->norm * member->norm;
    member->line[1] = s->gamma * (dKa + s->gamma * dKr);
    member->line[2] = s->gamma * s->gamma * (dKx - dKr);
}

/* The way from K rho to K x, of a member. */
struct part_of_step {
    const md_spicy *s;
    double t;
};

static void move_member(void *context, size_t i, size_t worker)
{
    const struct part_of_step *part = context;
    const size_t n = part->s->n;
    double *Kr = part->s->Kr + i * n;
    const double *Kx = part->s->Kx + i * n;
    (void)worker;
    for (size_t j = 0; j < n; j++)
        Kr[j] += part->t * (Kx[j] - Kr[j]);
}

static medley_status take_step(md_spicy *s, medley_error *error)
{
    const size_t n = s->n;
    MEDLEY_TRY(look_ahead(s, error));
    md_parallel_for(md_spicy_threads(s), s->count, prepare_line, s);
    const double t = search(s, md_dot(s->gradient, s->direction, n));
    md_add_scaled(s->rho, t, s->direction, n);
    s->sum_ready = t == 1 && s->summed;
    struct part_of_step part = {s, t};
    if (t == 1)
        md_swap(&s->Kr, &s->Kx);
    else
        md_parallel_for(md_spicy_threads(s), s->count, move_member, &part);
    s->newton_steps++;
    return MEDLEY_OK;
}

/* ---- when to stop ---- */

/* How far the proximal step would go from here: sum ||a' - a||^2 / gamma + ||z' - z||^2 / gamma_z.
 */
static double proximal_distance(const md_spicy *s)
{
    double distance = 0;
    for (size_t i = 0; !s->smooth_penalty && i < s->count; i++) {
        const md_member *member = &s->members[i];
        if (!(member->ratio > 0) && !(member->aKa > 0))
            continue;
        const double *Ka = s->Ka + i * s->n;
        const double vKa = member->aKa > 0 ? member->aKa + s->gamma * md_dot(s->rho, Ka, s->n) : 0;
        distance +=
            (member->length * member->length - 2 * member->ratio * vKa + member->aKa) / s->gamma;
    }
    for (size_t i = 0; !s->smooth_loss && i < s->n; i++)
        distance += (s->new_z[i] - s->z[i]) * (s->new_z[i] - s->z[i]) / s->gamma_z;
    return distance;
}

/* Nothing is left of the gradient but rounding. */
static bool is_noise(const md_spicy *s)
{
    double mean = 0;
    double scale = 0;
    double largest = 0;
    for (size_t i = 0; i < s->n; i++)
        mean += s->gradient[i] / (double)s->n;
    for (size_t i = 0; i < s->n; i++) {
        scale = fmax(scale, fmax(fabs(s->f[i]), fabs(s->new_z[i])));
        largest = fmax(largest, fabs(s->gradient[i] - mean));
    }
    return isfinite(scale) && largest <= ROUNDING * scale;
}

static bool is_solved(const md_spicy *s, double decrement)
{
    if (s->smooth_loss)
        return decrement <= s->inner_target * fabs(s->best_primal);
    return decrement <= ACCURACY * proximal_distance(s);
}

medley_status md_spicy_minimise(md_spicy *s, medley_error *error)
{
    for (size_t step = 0; step < (s->smooth_penalty ? MOST_DIRECT_STEPS : MOST_STEPS); step++) {
        md_spicy_evaluate(s);
        md_spicy_try_model(s);
        if (is_noise(s) || (step > 0 && is_solved(s, md_spicy_old_decrement(s))))
            return MEDLEY_OK;
        double decrement;
        MEDLEY_TRY(md_spicy_direction(s, &decrement, error));
        if (!(decrement > 0) || (step > 0 && is_solved(s, decrement)))
            return MEDLEY_OK;
        MEDLEY_TRY(take_step(s, error));
    }
    s->gave_up = s->smooth_penalty;
    md_spicy_evaluate(s);
    md_spicy_try_model(s);
    return MEDLEY_OK;
}
