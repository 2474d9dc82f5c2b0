/* SPDX-License-Identifier: BSD-3-Clause */
/* SPOM: online proximal learning of blocks (Martins et al., AISTATS 2011, Algs. 1 and 3). It
 * minimises
 *
 *     lambda Omega(||theta_1||, ..., ||theta_M||) + mean loss(theta; x, y)
 *
 * for any penalty Omega with a prox. A round steps against the gradient of its loss, and the prox
 * then only rescales: b' = prox(b) of the norms b_m = ||theta_m|| gives theta_m *= b'_m / b_m. The
 * norms follow each step by a recurrence that does not touch theta (block.h, step).
 *
 * What differs from the paper:
 * - a round may have several examples, all scored by the same theta: their gradients are added, and
 *   the prox shrinks by as much as it would for each of them;
 * - the prox may come every N rounds only and then shrinks by as much as it would have in all of
 *   them (truncated gradients): what steps in all directions leave of a block that nothing needs is
 *   smaller than that, and the block goes out;
 * - a quadratic term may be absorbed by the loss, and l1 terms threshold inside the blocks first;
 * - the radius follows from the penalty's value, which for mkl and l2 is the paper's gamma;
 * - rates may cool down at the end of a run. */
#include "online/rule.h"

static const double MOST_SHRINK = 1e300; /* of tau = eta lambda, which must stay finite */

struct spom {
    double owed; /* tau of the rounds since the last prox */
    size_t rounds_since_prox;
};

/* No ball where the norms of blocks are not followed (l1): it is a safeguard only. */
static medley_status choose_radius(md_online *online, medley_error *error)
{
    const md_online_problem *p = &online->problem;
    double *radius = &online->settings.rates.radius;
    if (!isnan(*radius))
        return MEDLEY_OK;
    const bool none =
        md_penalty_inner_threshold(p->penalty) > 0 && md_penalty_is_uniform(p->penalty);
    *radius =
        none ? INFINITY : md_online_radius(p, online->settings.lambda, md_online_loss_at_zero(p));
    if (isnan(*radius))
        return md_fail_memory(error, p->penalised * sizeof(double));
    return MEDLEY_OK;
}

static void restart(md_online *online)
{
    *(struct spom *)online->state = (struct spom){0};
}

/* eta_t. inverse: 1/(sigma t) with sigma the strong convexity of lambda Omega; eta0/t if it has
 * none. */
static double rate(const md_online *online)
{
    const md_online_settings *s = &online->settings;
    const double t = (double)online->round;
    if (s->rates.schedule == MD_RATE_CONSTANT)
        return online->rate;
    if (s->rates.schedule == MD_RATE_SQRT)
        return online->rate / sqrt(t);
    if (s->rates.schedule == MD_RATE_EPOCH)
        return online->rate / sqrt(1 + t / (double)online->problem.visit_count);
    const double sigma = s->lambda * md_penalty_strong_convexity(online->problem.penalty);
    return online->rate / ((sigma > 0 ? sigma : 1) * t);
}

static bool is_prox_due(const md_online *online, const md_round *round)
{
    struct spom *spom = online->state;
    const bool due =
        round->is_last || ++spom->rounds_since_prox >= online->settings.rates.prox_every;
    if (due)
        spom->rounds_since_prox = 0;
    return due;
}

/* online->shrunk = prox of online->norm; blocks with an l2 term of their own have that one. */
static void shrink(md_online *online, double tau)
{
    const md_online_problem *p = &online->problem;
    md_penalty_prox(p->penalty, tau, online->shrunk, p->penalised, online->scratch);
    for (size_t m = p->penalised; m < p->block_count; m++)
        online->shrunk[m] /= 1 + tau;
}

static double projection(const md_online *online)
{
    double square = 0;
    for (size_t m = 0; m < online->problem.block_count; m++)
        square += online->shrunk[m] * online->shrunk[m];
    const double norm = sqrt(square);
    const double radius = online->settings.rates.radius;
    return norm > radius ? radius / norm : 1;
}

/* Alg. 3. */
static void take_round(md_online *online, md_round *round)
{
    struct spom *spom = online->state;
    const md_online_problem *p = &online->problem;
    if (!md_online_find_gradients(online, round)) /* lines 5 and 6 */
        return;
    const size_t count = round->gradients;
    const double eta = rate(online) * md_online_cooling(online);
    const double tau = fmin(eta * online->settings.lambda * (double)round->size, MOST_SHRINK);
    const double absorbed = md_penalty_absorbed(p->penalty);
    if (absorbed > 0) /* a part of the loss, whose gradient is a multiple of theta */
        md_online_rescale(online, p->penalised, 1 - tau * absorbed);
    md_online_step(online, count, eta); /* line 7 */

    const bool due = is_prox_due(online, round);
    spom->owed = fmin(spom->owed + tau, MOST_SHRINK);
    const double threshold = due ? spom->owed * md_penalty_inner_threshold(p->penalty) : 0;
    if (threshold > 0 && md_online_norms_are_finite(online))
        md_online_threshold(online, count, eta, threshold);
    if (!md_online_norms_are_finite(online)) {
        online->diverged = true;
        return;
    }
    memcpy(online->shrunk, online->norm, p->block_count * sizeof *online->norm); /* line 8 */
    if (due) {
        shrink(online, spom->owed); /* line 9 */
        spom->owed = 0;
    }
    md_online_finish(online, count, eta, projection(online)); /* lines 10 and 11 */
}

const md_rule md_rule_spom = {
    .about = {.name = "spom",
              .summary = "online proximal learning of all blocks together (SPOM)",
              .takes = MD_LOOP_TAKES | MD_ALL_BLOCKS | MD_TAKES_BOUND | MD_TAKES_PENALTY |
                       MD_TAKES_EPOCHS | MD_TAKES_RATES | MD_TAKES_GROUPS},
    .traits.own_terms = true,
    .leaves_out_blocks = true,
    .smaller = {"eta0"},
    .state_size = sizeof(struct spom),
    .init = choose_radius,
    .restart = restart,
    .round = take_round,
};
