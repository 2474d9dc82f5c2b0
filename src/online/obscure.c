/* SPDX-License-Identifier: BSD-3-Clause */
/* OBSCURE: online-batch strongly convex multiple kernel learning (Orabona, Jie, Caputo, CVPR 2010,
 * Algs. 1 and 2). It minimises
 *
 *     lambda/2 ||w||_{2,p}^2 + mean loss(w; x, y),     1 < p <= 2,
 *
 * by p-norm mirror descent (dual.h) in two stages. The online stage is a perceptron that adds eta z
 * for every example with a loss; where data can be separated it ends by itself. Its norm and its
 * loss give R >= ||w*||_{2,p}. The batch stage sets out from there and descends the objective
 * within the ball of radius R, with rates q / (lambda t + s_t): s_t is small where Pegasos' rates,
 * q / (lambda t), would do, and makes them independent of lambda where they would be too large. For
 * other strongly convex penalties the batch stage is that of obscure_proximal.c.
 *
 * What differs from the paper:
 * - eta is 2 for kernels with K(x,x) = 1, as in the paper, and in proportion for others;
 * - a round may have several examples, and is then one of their mean loss;
 * - a run may set out from other weights in the batch stage, as if it had taken some rounds: s_t is
 *   then what it would be after these rounds with gradients like the first;
 * - rates may cool down at the end of a run;
 * - losses and structures are any: z is minus the gradient of the loss. */
#include "online/obscure.h"

#include "online/run.h"

/* That of the penalty: p is the norm's, or there is none. */
static const md_regulariser *regulariser_of(const md_online *online)
{
    return isnan(online->settings.dual.p) ? &md_proximal : &md_p_norm;
}

static double first_rate(const md_online_problem *problem, const md_online_settings *settings)
{
    if (!isnan(settings->dual.eta))
        return settings->dual.eta;
    /* rows count, not examples, since a longer sequence also has more to lose */
    const double largest = md_online_largest(problem).row;
    return largest > 0 && isfinite(largest) ? 2 / largest : 2;
}

static void restart(md_online *online)
{
    regulariser_of(online)->restart(online);
}

static void from_weights(md_online *online)
{
    if (regulariser_of(online)->from_weights != NULL)
        regulariser_of(online)->from_weights(online);
}

static void set_scales(md_online *online)
{
    regulariser_of(online)->set_scales(online);
}

/* Alg. 1, line 12; Alg. 2, line 2. */
static medley_status begin(md_online *online, medley_error *error)
{
    ((md_obscure *)online->state)->skipped = (double)online->skipped;
    return online->stage == 0 ? MEDLEY_OK : regulariser_of(online)->begin(online, error);
}

/* Without a loss on any example the online stage changes nothing any more. */
static bool is_over(const md_online *online, bool idle)
{
    return online->stage == 0 && idle;
}

/* Alg. 1, lines 7 to 9. */
static void online_stage(md_online *online, const md_round *round)
{
    md_obscure *obscure = online->state;
    for (size_t i = 0; i < round->size; i++)
        obscure->mistakes += online->loss[i] >= 1;
    if (round->gradients > 0 &&
        md_dual_step(online, round->gradients, 1 / (double)round->size * online->rate))
        set_scales(online);
}

/* ---- the p-norm ---- */

/* Lines 8 and 9 of Alg. 2; z: ||z_t||_{2,q}. */
static void slow_down(md_obscure *obscure, double lambda, double z)
{
    md_dual *dual = &obscure->dual;
    const double d = lambda * dual->rounds + dual->s; /* line 8 */
    const double slope = (lambda / dual->q * dual->length + z) / dual->radius;
    const double root = sqrt(dual->q) * slope;
    if (obscure->skipped > 0 && z > 0) { /* s^2 grows by about root^2 / 2 in a round */
        dual->s = root * sqrt(obscure->skipped / 2);
        obscure->skipped = 0;
    }
    /* line 9: 0.5 (sqrt(d^2 + root^2) - d), without the difference */
    dual->s += 0.5 * root * root / (hypot(d, root) + d);
}

/* Alg. 2. */
static void descend(md_online *online, const md_round *round)
{
    md_obscure *obscure = online->state;
    md_dual *dual = &obscure->dual;
    const double lambda = online->settings.lambda;
    const size_t count = round->gradients;
    const double share = 1 / (double)round->size;
    dual->rounds += 1; /* line 3 */
    const double z = count > 0 ? share * md_dual_gradient_length(online, count) : 0;
    slow_down(obscure, lambda, z); /* lines 8, 9 */
    const double eta =
        dual->q / (lambda * dual->rounds + dual->s) * md_online_cooling(online); /* line 10 */
    md_dual_rescale(online, 1 - lambda * eta / dual->q);                         /* line 11 */
    if (count > 0)
        md_dual_add(online, count, share * eta); /* and line 13, which line 12 leaves as it is */
    md_dual_project(online);                     /* line 12 */
}

/* The proof of Theorem 2 for any u, which leaves eta (U - L) below eta ||u|| sqrt(q (2/eta + z^2)
 * U). */
static double most_updates(md_online *online, double loss)
{
    const double q = ((md_dual *)online->state)->q;
    const double z =
        md_longest_gradient(online, q, md_penalty_block_weights(online->problem.penalty));
    const double u = md_dual_weights_norm(online);
    const double d = q * u * u * (2 / online->rate + z * z);
    return loss + d / 2 + sqrt(d * d / 4 + d * loss);
}

static md_bound bound_of_theorem(const md_online *online)
{
    return md_dual_bound(online, true);
}

const md_regulariser md_p_norm = {
    .restart = md_dual_restart,
    .from_weights = md_dual_from_weights,
    .set_scales = md_dual_set_scales,
    .begin = md_dual_begin_descent,
    .descend = descend,
    .bound = bound_of_theorem,
    .most_updates = most_updates,
};

/* ---- the rule ---- */

static void take_round(md_online *online, md_round *round)
{
    if (!md_online_find_gradients(online, round)) /* Alg. 1, lines 4 to 6; Alg. 2, lines 4 to 7 */
        return;
    if (online->stage == 0)
        online_stage(online, round);
    else
        regulariser_of(online)->descend(online, round);
}

static md_bound bound(const md_online *online)
{
    return online->stage == 0 ? (md_bound){NAN, NAN} : regulariser_of(online)->bound(online);
}

static md_mistakes count_mistakes(md_online *online, double loss)
{
    return (md_mistakes){.count = ((const md_obscure *)online->state)->mistakes,
                         .most_updates = regulariser_of(online)->most_updates(online, loss)};
}

const md_rule md_rule_obscure = {
    .about = {.name = "obscure",
              .summary = "mirror descent in two stages, online and batch, by a p-norm (OBSCURE)",
              .takes = MD_LOOP_TAKES | MD_ALL_BLOCKS | MD_TAKES_BOUND | MD_TAKES_STEPS |
                       MD_TAKES_STAGES | MD_TAKES_NORM | MD_TAKES_PENALTY},
    .traits = {.default_C = 1,
               .few_changes = true,
               .any_penalty = true,
               .strongly_convex = true,
               .penalty = md_dual_penalty,
               .suits = md_dual_suits},
    .smaller = {"eta", "C"},
    .state_size = sizeof(md_obscure),
    .first_rate = first_rate,
    .restart = restart,
    .from_weights = from_weights,
    .begin = begin,
    .end_epoch = set_scales,
    .bound = bound,
    .mistakes = count_mistakes,
    .is_over = is_over,
    .round = take_round,
};
