/* SPDX-License-Identifier: BSD-3-Clause */
/* OBSCURE's generic descent (Alg. 3) for penalties other than the p-norm: any Omega of block norms
 * that is strongly convex and has a prox (elastic, elastic-mkl, l2). docs/math.md has the proofs.
 *
 * theta sums gradients, and the weights that belong to it are
 *
 *     w = argmin over ||w|| <= R of -<theta, w> + A Omega(w) + S/2 ||w||^2,
 *
 * the prox of (A/S) Omega at theta/S where the ball is wide enough: every block of w is a multiple
 * of that of theta, of elastic nets a soft threshold of it. The online stage has A = S = 1, so that
 * h = Omega + 1/2 ||w||^2 is the paper's strongly convex function. In the batch stage A is lambda t
 * and S is s_t: its rounds minimise the sum of all g_t so far, Omega as it is and losses by their
 * gradients, plus xi_t/2 ||w - w_t||^2 for each of them, xi_t = s_t - s_{t-1} (A.3's g'_t), where
 * the paper takes a gradient of Omega, too. So alpha = 1, sigma is lambda times the strong
 * convexity of Omega, and L_t = ||z_t||. */
#include "online/obscure.h"

#include "online/run.h"

enum { BALL_STEPS = 60 };
static const double MOST = 1e100; /* of R and of A/S, which stay finite */

static md_obscure *state_of(const md_online *online)
{
    return online->state;
}

/* shrunk = lengths of the blocks of w for curvature S + extra; their length together. */
static double weights_for(md_online *online, double extra)
{
    const md_obscure *obscure = state_of(online);
    const size_t count = online->problem.block_count;
    const double curvature = obscure->curvature + extra;
    for (size_t m = 0; m < count; m++)
        online->shrunk[m] = online->norm[m] / curvature;
    md_penalty_prox(online->problem.penalty, fmin(obscure->strength / curvature, MOST),
                    online->shrunk, count, online->scratch);
    double square = 0;
    for (size_t m = 0; m < count; m++)
        square += online->shrunk[m] * online->shrunk[m];
    return sqrt(square);
}

/* Within the ball: its multiplier is more curvature. ||theta|| / R is enough, since the prox does
 * not make anything longer. */
static void stay_in_ball(md_online *online)
{
    const double radius = state_of(online)->dual.radius;
    double square = 0;
    for (size_t m = 0; m < online->problem.block_count; m++)
        square += online->norm[m] * online->norm[m];
    double low = 0;
    double high = sqrt(square) / radius;
    for (int i = 0; i < BALL_STEPS && low < high; i++) {
        const double middle = 0.5 * (low + high);
        if (weights_for(online, middle) > radius)
            low = middle;
        else
            high = middle;
    }
    weights_for(online, high);
}

static void set_scales(md_online *online)
{
    const md_online_problem *p = &online->problem;
    const md_obscure *obscure = state_of(online);
    for (size_t m = 0; m < p->block_count; m++)
        online->norm[m] = p->blocks[m]->norm;
    if (obscure->curvature > 0 && weights_for(online, 0) > obscure->dual.radius)
        stay_in_ball(online);
    for (size_t m = 0; m < p->block_count; m++)
        p->blocks[m]->dual_scale =
            obscure->curvature > 0 && online->norm[m] > 0 ? online->shrunk[m] / online->norm[m] : 0;
}

/* A run that continues holds the weights themselves: A = 0. */
static void restart(md_online *online)
{
    *state_of(online) = (md_obscure){
        .dual.radius = INFINITY, .curvature = 1, .strength = online->skipped > 0 ? 0 : 1};
    set_scales(online);
}

/* The optimum's penalty is no more than the objective as it is, over lambda (eq. 10). The blocks
 * then hold w_1, which the first round takes in with weight xi_1. */
static medley_status begin(md_online *online, medley_error *error)
{
    md_obscure *obscure = state_of(online);
    double objective;
    double loss;
    MEDLEY_TRY(md_online_objective(online, &objective, &loss, error));
    const double lambda = online->settings.lambda;
    const double radius = md_online_radius(&online->problem, lambda, objective);
    if (isnan(radius))
        return md_fail_memory(error, online->problem.block_count * sizeof(double));
    md_online_take_weights(online);
    *obscure = (md_obscure){.dual.radius = fmin(radius, MOST),
                            .skipped = obscure->skipped,
                            .curvature = 1,
                            .regret = objective - loss,
                            .mistakes = obscure->mistakes};
    return MEDLEY_OK;
}

/* ||z_t|| */
static double gradient_length(const md_online *online, size_t count)
{
    double square = 0;
    for (size_t m = 0; count > 0 && m < online->problem.block_count; m++) {
        const double length = md_dual_block_gradient(online, m, count);
        square += length * length;
    }
    return sqrt(square);
}

/* What w_1 pulls by itself: no more than lambda times a gradient of Omega there. */
static double pull_of_start(md_online *online)
{
    const size_t count = online->problem.block_count;
    double square = 0;
    for (size_t m = 0; m < count; m++) {
        online->norm[m] = online->problem.blocks[m]->norm;
        square += online->norm[m] * online->norm[m];
    }
    const double value = md_penalty_value(online->problem.penalty, online->norm, count);
    return square > 0 ? online->settings.lambda * value / sqrt(square) : 0;
}

/* Line 6: s_t from L_t = z and d = sigma (t-1) + s_{t-1}; the difference is a quotient. */
static void slow_down(md_obscure *obscure, double sigma, double z)
{
    md_dual *dual = &obscure->dual;
    const double root = z / dual->radius;
    const double d = sigma * (dual->rounds - 1) + dual->s;
    if (obscure->skipped > 0 && z > 0) {
        dual->s = root * sqrt(obscure->skipped / 2) + sigma * obscure->skipped;
        obscure->skipped = 0;
    }
    if (root > 0)
        dual->s += 0.5 * root * root / (hypot(d, root) + d);
}

/* theta += xi w_t; in the first round the blocks hold w_1 and theta is 0. */
static void add_weights(md_online *online, double xi, bool first)
{
    for (size_t m = 0; m < online->problem.block_count; m++) {
        md_block *block = online->problem.blocks[m];
        const double factor = (first ? 0 : 1) + xi * block->dual_scale;
        if (factor > 0 && block->norm > 0)
            md_block_rescale(block, factor);
        else if (block->norm > 0)
            block->class->clear(block);
    }
}

static void descend(md_online *online, const md_round *round)
{
    md_obscure *obscure = state_of(online);
    md_dual *dual = &obscure->dual;
    const double sigma =
        online->settings.lambda * md_penalty_strong_convexity(online->problem.penalty);
    const double share = 1 / (double)round->size;
    const bool first = dual->rounds == 0;
    dual->rounds += 1;
    const double z = share * gradient_length(online, round->gradients);
    slow_down(obscure, sigma, z + (first ? pull_of_start(online) : 0)); /* line 6 */

    /* line 7, where rates 1/(sigma t + S) may cool down: then S is more than s_t */
    const double before = first ? 0 : obscure->curvature;
    const double colder = 1 / md_online_cooling(online) - 1;
    obscure->curvature = fmax(before, dual->s + colder * (sigma * dual->rounds + dual->s));
    obscure->strength = online->settings.lambda * dual->rounds;
    const double xi = obscure->curvature - before;
    const double convexity = sigma * (dual->rounds - 1) + obscure->curvature;
    obscure->regret += 2 * xi * dual->radius * dual->radius;
    if (z > 0)
        obscure->regret += 0.5 * z * z / convexity;

    add_weights(online, xi, first); /* line 8 */
    if (round->gradients > 0 && !md_dual_step(online, round->gradients, share))
        return;
    set_scales(online);
}

/* By Lemma 1 and Markov's inequality, as in Theorem 1. */
static md_bound bound(const md_online *online)
{
    static const double DELTA = 0.05;
    const md_obscure *obscure = state_of(online);
    return (md_bound){.radius = obscure->dual.radius,
                      .distance = obscure->dual.rounds > 0
                                      ? obscure->regret / (DELTA * obscure->dual.rounds)
                                      : NAN};
}

/* As for the p-norm, with Fenchel's inequality for c u: eta c (U - L) <= h(c u) + h*(theta), and
 * h*(theta) <= U (eta + eta^2 z^2 / 2), since h* is 1-smooth. c = 2 + eta z^2 leaves half of U. */
static double most_updates(md_online *online, double loss)
{
    const size_t count = online->problem.block_count;
    const double eta = online->rate;
    const double z = md_longest_gradient(online, 2, NULL);
    const double c = 2 + eta * z * z;
    double square = 0;
    for (size_t m = 0; m < count; m++) {
        online->norm[m] = c * online->problem.blocks[m]->norm;
        square += online->norm[m] * online->norm[m];
    }
    const double h = md_penalty_value(online->problem.penalty, online->norm, count) + 0.5 * square;
    return 2 * (h / (eta * c) + loss);
}

const md_regulariser md_proximal = {
    .restart = restart,
    .set_scales = set_scales,
    .begin = begin,
    .descend = descend,
    .bound = bound,
    .most_updates = most_updates,
};
