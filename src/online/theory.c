/* SPDX-License-Identifier: BSD-3-Clause */
/* What SPOM's proposition 3 speaks of: G, which no gradient of a loss is longer than, and F, the
 * diameter of the ball that weights are kept in. With rates eta0/sqrt(t) the regret after T rounds
 * is at most (F^2/(2 eta0) + G^2 eta0) sqrt(T) (eq. 16), least for eta0 = F / (sqrt(2) G). */
#include "online/run.h"

/* Of an example: z is a difference of two outputs, and has at each row two labels at most. */
static double longest_gradient(const md_online_problem *p, md_example example)
{
    double sum = 0;
    for (size_t i = 0; i < example.length; i++) {
        double square = 0;
        for (size_t m = 0; m < p->block_count; m++)
            square += fmax(0, p->blocks[m]->class->self(p->blocks[m], example.row + i));
        sum += sqrt(2 * square);
    }
    return sum;
}

md_theory md_online_theory(const md_online *online)
{
    const md_online_problem *p = &online->problem;
    md_theory theory = {.diameter = 2 * online->settings.rates.radius};
    for (size_t e = 0; e < p->example_count; e++)
        theory.gradient = fmax(theory.gradient, longest_gradient(p, p->examples[e]));
    theory.rate = theory.diameter / (sqrt(2) * theory.gradient);
    return theory;
}

medley_regret md_run_regret(const md_online *online, const md_run_result *result)
{
    const md_online_settings *s = &online->settings;
    const double rate = result->eta0;
    const double rounds = (double)online->problem.visit_count;
    if (!(online->settings.rule->about.takes & MD_TAKES_RATES) || online->skipped > 0 ||
        s->rates.schedule != MD_RATE_SQRT || !isfinite(s->rates.radius) || !(rate > 0))
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
