/* SPDX-License-Identifier: BSD-3-Clause */
/* SpicyMKL (Suzuki and Tomioka, Machine Learning, 2011). Numbers of equations, sections and tables
 * are the paper's.
 *
 * The problem (eq. 7, 42), with a bias b that has no penalty:
 *
 *     minimise  P(a, b) = sum_i l(y_i, z_i) + C sum_m g(||a_m||),    z = sum_m K_m a_m + b 1
 *
 * where ||a_m||^2 = a_m' K_m a_m, and g(x) is x for the block 1-norm, (1-t) x + t/2 x^2 for the
 * elastic net, x^q / q for the block q-norm, or a sum of such functions. C = lambda N is called
 * strength in the code. The dual problem (eq. 48) is in rho, which equals -dl/dz at the optimum:
 *
 *     maximise  D(rho) = -sum_i l*(-rho_i) - sum_m (C g)*(||rho||_m),    1'rho = 0
 *
 * Proximal minimisation (eq. 8, 37) goes from a model (a_t, z_t) to the best one that is near it:
 *
 *     minimise  P(a, b) + sum_m ||a_m - a_m,t||^2 / (2 gamma) + ||z - z_t||^2 / (2 gamma_z)
 *
 * That is no easier than P, but its dual is: the augmented Lagrangian of D is a smooth function of
 * rho alone, to which only active kernels contribute (section 3.3). Up to constants it is
 *
 *     phi(rho) = sum_i max_z ( -rho_i z - l(y_i, z) - (z - z_i,t)^2 / (2 gamma_z) )
 *              + sum_m max_a ( rho'K_m a - C g(||a||) - ||a - a_m,t||^2 / (2 gamma) )
 *
 * The maxima are attained at z(rho) = prox(z_t - gamma_z rho) of the loss and at prox(v_m) of the
 * penalty, v_m = a_m,t + gamma rho, which only shrinks v_m (eq. 13). The algorithm (Tables 1, 2):
 *
 *     line 1   gamma: a growing sequence            footnote 2       next_growth
 *     line 2   rho <- argmin phi, 1'rho = 0         eq. 10, 41, 47   md_spicy_minimise (newton.c)
 *     line 3   a_m <- prox(v_m), z <- z(rho)        eq. 11, 28-31    proximal_update
 *     line 4   repeat 2 and 3 until the gap is small   section 6.1   solve_set
 *
 * What was changed, and why:
 *
 * - Slack variables. Losses with kinks have slack vectors in the paper (xi and zeta, eq. 28-41).
 *   Here they are one vector of scores z; for the hinge loss y z = 1 - xi + zeta. It needs only
 *   the prox of the loss, is the same for all losses, and leaves rho without box constraints.
 * - Bias. It has no proximity term (eq. 12, 29): rho sums to 0 throughout, and every model has
 *   the bias that is best for its scores.
 * - Smooth duals (section 4.3). If (C g)* is smooth, it stands in phi itself and a stays 0; if l*
 *   is smooth too, one outer iteration is enough. If it is too steep for Newton's method, the run
 *   starts again with proximal steps.
 * - gamma. It grows, fourfold if nobody says otherwise, while inner problems are easy, and shrinks
 * when they are hard and when kernels join, so that Newton's method starts near the minimum.
 *   A run that gets stuck is tried once more with a gamma that grows slowly.
 * - Kinks. Newton's method finds the rows at kinks of the loss one by one; some hundred steps. So
 *   phi has the loss with its kinks rounded off (margin_loss.h), sharper with every outer
 *   iteration, as interior-point methods do it. Values and gaps are those of the loss itself.
 * - Accuracy. phi is minimised only as far as the proximal step is worth (newton.c), and the best
 *   model of all Newton steps is kept, not the last one (best_model.c).
 * - Working set. Lines 2 to 4 run on some hundred kernels (working_set.c). Then the dual point is
 *   checked against all kernels that bounds and gap-safe screening do not exclude (screen.c), and
 *   violators join the set.
 * - Certificate. The gap is that of the returned model: P from its coefficients alone, D at the
 *   best multiple of a dual point (certificate.c).
 *
 * Misprints in the paper: eq. 22 lacks a factor 1/2, eq. 32 a square, and the first term of eq. 26
 * has the wrong sign. */
#include "batch/spicy.h"

#include "base/parallel.h"
#include "batch/certificate.h"
#include "linalg/vectors.h"

/* Of gamma in all: beyond this steps get less exact, not longer. Those by factors stay exact, and
 * unscaled data with a weak penalty need them. */
static const double MOST_GROWTH = 1e7, MOST_GROWTH_BY_FACTORS = 1e13;
static const double SOFTENING = 0.3;      /* of kinks, per outer iteration */
static const double CAREFUL_GROWTH = 1.5; /* of gamma, after runs that got stuck */
static const double NEAR = 4;             /* times the error that they make: time to sharpen them */
enum {
    MANY_STEPS = 30,     /* Newton steps after which gamma stays as it is */
    TOO_MANY_STEPS = 60, /* and after which it shrinks */
    MOST_STALLED = 100,  /* outer iterations without progress */
    MOST_ATTEMPTS = 3    /* at a certificate */
};

static bool is_over(const md_spicy *s)
{
    return s->iterations >= s->problem->max_iterations || s->stalled > MOST_STALLED || s->gave_up ||
           s->solution->stopped;
}

/* Line 1: the factor for gamma after an inner problem that took `steps` Newton steps. */
static double next_growth(const md_spicy *s, size_t steps)
{
    const double most = md_spicy_has_low_rank(s) ? MOST_GROWTH_BY_FACTORS : MOST_GROWTH;
    if (steps >= TOO_MANY_STEPS || s->gamma_z > most * s->first_gamma_z)
        return 1 / s->growth;
    return steps >= MANY_STEPS || s->growth * s->gamma_z > most * s->first_gamma_z ? 1 : s->growth;
}

/* a <- prox(v) = ratio v with v = a + gamma rho; K a is updated along with it. */
static void update_coefficients(void *context, size_t i, size_t worker)
{
    md_spicy *s = context;
    (void)worker;
    md_member *member = &s->members[i];
    double *a = s->a + i * s->n;
    double *Ka = s->Ka + i * s->n;
    const double *Kr = s->Kr + i * s->n;
    for (size_t j = 0; j < s->n; j++) {
        a[j] = member->ratio * (a[j] + s->gamma * s->rho[j]);
        Ka[j] = member->ratio * (Ka[j] + s->gamma * Kr[j]);
    }
    member->aKa = member->ratio > 0 ? fmax(0, md_dot(a, Ka, s->n)) : 0;
}

/* The optimum of the softened problem is at most n log(2) softness above that of the problem: until
 * iterations are about so near, or stall, a sharper one would only be harder. */
static void sharpen(md_spicy *s)
{
    const double apart = (double)s->n * M_LN2 * s->softness;
    if (s->set_gap * s->best_primal <= NEAR * apart || s->stalled > 0)
        s->softness = s->softness > s->least_softness ? SOFTENING * s->softness : 0;
}

/* Line 3; the new gamma is for the next iteration. */
static medley_status proximal_update(md_spicy *s, double growth, medley_error *error)
{
    MEDLEY_TRY(md_spicy_keep_best(s, error));
    if (!s->smooth_penalty) /* eq. 11, 28, 38 */
        md_parallel_for(md_spicy_threads(s), s->count, update_coefficients, s);
    memcpy(s->z, s->new_z, s->n * sizeof *s->z); /* eq. 30, 31, 40 */
    s->gamma *= s->smooth_penalty ? 1 : growth;
    s->gamma_z *= growth;
    sharpen(s);
    s->sum_ready = false;
    return MEDLEY_OK;
}

/* Tables 1 and 2 on the working set, until its gap is at most target. */
static medley_status solve_set(md_spicy *s, double target, medley_error *error)
{
    for (s->inner_target = 0.1 * target;; s->inner_target *= 0.1) {
        const size_t before = s->newton_steps;
        double gap;
        MEDLEY_TRY(md_spicy_minimise(s, error)); /* line 2 */
        s->iterations++;
        MEDLEY_TRY(md_spicy_set_gap(s, &gap, error));
        MEDLEY_TRY(md_spicy_record(s, error));
        if (gap <= target || is_over(s)) /* line 4 */
            break;
        const double growth = next_growth(s, s->newton_steps - before); /* line 1 */
        MEDLEY_TRY(proximal_update(s, growth, error));                  /* line 3 */
        if (s->rounds == 0) /* later, kernels that a check brought back would be pruned again */
            MEDLEY_TRY(md_spicy_prune(s, error));
    }
    return MEDLEY_OK;
}

/* One working set after the other, until the gap over all kernels is at most wanted. */
static medley_status solve_rounds(md_spicy *s, double wanted, medley_error *error)
{
    for (;; s->rounds++) {
        MEDLEY_TRY(solve_set(s, md_spicy_set_target(s, wanted), error));
        MEDLEY_TRY(md_spicy_check_all(s, error));
        md_batch_step *step = &s->solution->steps[s->solution->step_count - 1];
        step->dual = s->best_dual;
        step->gap = md_spicy_gap(s);
        if (step->gap <= wanted || is_over(s))
            break;
        MEDLEY_TRY(proximal_update(s, s->gamma_z > s->first_gamma_z ? 1 / s->growth : 1, error));
        MEDLEY_TRY(md_spicy_next_set(s, NULL, error));
    }
    return MEDLEY_OK;
}

/* Rounding can make the certified gap larger than the one tracked by the iterations; then they go
 * on to a smaller one. */
static medley_status solve_certified(md_spicy *s, medley_error *error)
{
    double wanted = s->problem->gap;
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++, wanted /= 4) {
        if (md_spicy_gap(s) > wanted)
            MEDLEY_TRY(solve_rounds(s, wanted, error));
        MEDLEY_TRY(md_spicy_finish(s, error));
        if (s->solution->converged || is_over(s))
            break;
    }
    return MEDLEY_OK;
}

/* How a run may go on: with fewer iterations, and more carefully. */
struct attempt {
    md_batch_problem problem;
    const md_batch_solution *start;
    bool direct; /* smooth duals are used as in section 4.3 */
    bool failed; /* the gap was not reached, not even by rounded values, and there are iterations
                  * left */
};

static medley_status run(md_batch_solution *solution, struct attempt *attempt, medley_error *error)
{
    MD_CLEARED(md_spicy_clear) md_spicy s = {0};
    *solution = (md_batch_solution){0};
    MEDLEY_TRY(md_spicy_init(&s, &attempt->problem, attempt->direct, error));
    s.solution = solution;
    MEDLEY_TRY(md_spicy_begin(&s, attempt->start, error));
    MEDLEY_TRY(solve_certified(&s, error));
    attempt->direct = s.smooth_penalty;
    attempt->problem.max_iterations -= md_min(s.iterations, attempt->problem.max_iterations);
    attempt->failed = attempt->problem.max_iterations > 0 && !solution->converged &&
                      !solution->stopped && !md_batch_reached_rounded(&attempt->problem, solution);
    return MEDLEY_OK;
}

static medley_status run_again(md_batch_solution *solution, struct attempt *attempt,
                               medley_error *error)
{
    MD_CLEARED(md_batch_solution_clear) md_batch_solution second = {0};
    MEDLEY_TRY(run(&second, attempt, error));
    md_batch_keep_better(solution, &second);
    return MEDLEY_OK;
}

medley_status md_batch_solve(md_batch_solution *solution, const md_batch_problem *problem,
                             const md_batch_solution *start, medley_error *error)
{
    struct attempt attempt = {.problem = *problem, .start = start, .direct = true};
    if (problem->square > 0)
        return md_batch_solve_squared(solution, problem, start, error);
    MEDLEY_TRY(run(solution, &attempt, error));
    const bool was_direct = attempt.direct;
    attempt.direct = false;
    if (attempt.failed && was_direct) /* now by proximal steps */
        MEDLEY_TRY(run_again(solution, &attempt, error));
    /* where data are far from scaled, rounding decides whether steps that grow fast arrive */
    if (attempt.failed && !(problem->growth > 0 && problem->growth <= CAREFUL_GROWTH)) {
        attempt.problem.growth = CAREFUL_GROWTH;
        MEDLEY_TRY(run_again(solution, &attempt, error));
    }
    return MEDLEY_OK;
}
