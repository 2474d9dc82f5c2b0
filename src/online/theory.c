/* SPDX-License-Identifier: BSD-3-Clause */
/* What SPOM's proposition 3 speaks of: G, which no gradient of a loss is longer than, and F, the
 * diameter of the ball that weights are kept in. With rates eta0/sqrt(t) the regret after T rounds
 * is at most (F^2/(2 eta0) + G^2 eta0) sqrt(T) (eq. 16), least for eta0 = F / (sqrt(2) G). Where
 * the loss absorbs sigma/2 ||theta||^2, G has sigma times the radius more (proposition 9.4). And
 * how many updates OBSCURE's online stage may have had (docs/math.md). */
#include "online/dual.h"
#include "online/run.h"
#include "penalty/block_weight.h"

/* z is a difference of two outputs, and has at each row two labels at most. */
double md_longest_gradient(const md_online *online, double q, const double *weight)
{
    const md_online_problem *p = &online->problem;
    double *length = online->scratch;
    double longest = 0;
    for (size_t e = 0; e < p->example_count; e++) {
        double sum = 0;
        for (size_t i = 0; i < p->examples[e].length; i++) {
            for (size_t m = 0; m < p->block_count; m++)
                length[m] = sqrt(2 * fmax(0, p->blocks[m]->class->self(p->blocks[m],
                                                                       p->examples[e].row + i))) /
                            md_block_weight(weight, m);
            sum += md_dual_norm(length, p->block_count, q);
        }
        longest = fmax(longest, sum);
    }
    return longest;
}

md_theory md_online_theory(const md_online *online)
{
    const md_online_settings *s = &online->settings;
    md_theory theory = {.gradient = md_longest_gradient(online, 2, NULL),
                        .diameter = 2 * s->rates.radius};
    const double sigma = s->lambda * md_penalty_absorbed(online->problem.penalty);
    if (sigma > 0)
        theory.gradient += sigma * s->rates.radius;
    theory.rate = theory.diameter / (sqrt(2) * theory.gradient);
    return theory;
}

/* Alg. 1 as it stands: a step and a prox for each example, with rates eta0/sqrt(t), from 0, in a
 * ball, and nothing left out. */
static bool is_as_in_the_paper(const md_online *online)
{
    const md_online_settings *s = &online->settings;
    return (s->rule->about.takes & MD_TAKES_RATES) && s->rates.schedule == MD_RATE_SQRT &&
           isfinite(s->rates.radius) && s->batch == 1 && s->rates.prox_every == 1 &&
           !(s->cool_to > 0) && online->skipped == 0 && online->left_out == 0;
}

medley_regret md_run_regret(const md_online *online, const md_run_result *result)
{
    const double rate = result->eta0;
    const double rounds = (double)online->problem.visit_count;
    if (!is_as_in_the_paper(online) || !(rate > 0))
        return (medley_regret){0};
    const md_theory theory = md_online_theory(online);
    const double F = theory.diameter;
    const double G = theory.gradient;
    medley_regret regret = {.gradient = G, .diameter = F};
    for (size_t e = 0; e < result->epoch_count; e++)
        regret.measured += rounds * (result->epochs[e].objective - result->objective);
    regret.bound = (F * F / (2 * rate) + G * G * rate) * sqrt(rounds * (double)result->epoch_count);
    return regret;
}

/* Of single examples only, and of losses with a margin, which an update is short of. */
medley_mistakes md_run_mistakes(md_online *online, const md_run_result *result, double mean_loss)
{
    const md_rule *rule = online->settings.rule;
    const size_t epochs = online->stage > 0 ? online->stage_began : result->epoch_count;
    if (rule->mistakes == NULL || online->skipped > 0 || online->settings.batch != 1 ||
        !online->problem.loss->has_margin || epochs == 0)
        return (medley_mistakes){0};
    medley_mistakes mistakes = {.rounds = epochs * online->problem.visit_count};
    for (size_t e = 0; e < epochs; e++)
        mistakes.updates += result->epochs[e].updates;
    mistakes.loss = mean_loss * (double)mistakes.rounds;
    const md_mistakes found = rule->mistakes(online, mistakes.loss);
    mistakes.mistakes = (size_t)found.count;
    mistakes.bound = found.most_updates;
    return mistakes;
}

medley_status md_theory_rate(const md_online *online, double *rate, medley_error *error)
{
    if (online->settings.rates.schedule != MD_RATE_SQRT)
        return md_fail(error, MEDLEY_USAGE,
                       "`eta0=theory` is about rates that fall with sqrt(t); give `schedule=sqrt` "
                       "with it");
    *rate = md_online_theory(online).rate;
    if (!(*rate > 0) || !isfinite(*rate))
        return md_fail(error, MEDLEY_USAGE,
                       "`eta0=theory` needs a ball that weights are kept in, and here is none; "
                       "give `radius` a number, or `eta0` another value");
    return MEDLEY_OK;
}
