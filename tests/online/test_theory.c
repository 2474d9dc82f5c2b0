/* SPDX-License-Identifier: BSD-3-Clause */
/* G and F of SPOM's proposition 3, and the rate that follows from them. */
#include "online/run.h"
#include "online/small_problem.h"

static void the_rate_is_that_of_the_proposition(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct small_problem problem;
        struct learner learner;
        medley_error error = {0};
        double longest = 0;
        double rate;
        const struct choice choice = {.loss = "hinge",
                                      .penalty = "mkl",
                                      .settings = {.rule = &md_rule_spom,
                                                   .rates = {.eta0 = 1,
                                                             .schedule = MD_RATE_SQRT,
                                                             .radius = 3,
                                                             .prox_every = 1},
                                                   .lambda = 0.1,
                                                   .batch = 1,
                                                   .seed = seed,
                                                   .threads = 1},
                                      .explicit_weights = seed % 2};
        small_problem_make(&problem, seed);
        learner_make(&learner, &problem, &choice);
        for (size_t r = 0; r < ROWS; r++) { /* two labels: twice the square of the row */
            double square = 0;
            for (size_t m = 0; m < BLOCKS; m++)
                for (size_t c = 0; c < COLUMNS; c++)
                    square += 2 * (double)problem.x[m][r][c] * (double)problem.x[m][r][c];
            longest = fmax(longest, sqrt(square));
        }
        const md_theory theory = md_online_theory(&learner.online);
        assert_true(fabs(theory.gradient - longest) <= 1e-5 * longest);
        assert_true(theory.diameter == 6);
        assert_int_equal(md_theory_rate(&learner.online, &rate, &error), MEDLEY_OK);
        assert_true(fabs(rate - 6 / (sqrt(2) * longest)) <= 1e-5 * rate);
        learner.online.settings.rates.schedule = MD_RATE_CONSTANT;
        assert_int_equal(md_theory_rate(&learner.online, &rate, &error), MEDLEY_USAGE);
        learner.online.settings.rates.schedule = MD_RATE_SQRT;
        learner.online.settings.rates.radius = INFINITY;
        assert_int_equal(md_theory_rate(&learner.online, &rate, &error), MEDLEY_USAGE);
        learner_clear(&learner);
        small_problem_clear(&problem);
    }
}

/* The gradients of a run that is projected onto a small ball, and so keeps its losses. */
static void no_gradient_is_longer(void **state)
{
    (void)state;
    struct small_problem problem;
    struct learner learner;
    medley_error error = {0};
    const struct choice choice = {
        .loss = "hinge",
        .penalty = "mkl",
        .settings = {.rule = &md_rule_spom,
                     .rates = {.eta0 = 1, .schedule = MD_RATE_SQRT, .radius = 0.1, .prox_every = 1},
                     .lambda = 0.1,
                     .batch = 1,
                     .seed = 1,
                     .threads = 1},
        .explicit_weights = true};
    small_problem_make(&problem, 7);
    learner_make(&learner, &problem, &choice);
    md_online_restart(&learner.online, 1);
    assert_int_equal(md_online_epoch(&learner.online, 0, &error), MEDLEY_OK);
    const double most = md_online_theory(&learner.online).gradient;
    size_t found = 0;
    for (size_t r = 0; r < ROWS; r++) {
        md_round round = {.online = &learner.online, .which = &learner.online.order[r], .size = 1};
        double square = 0;
        assert_true(md_online_find_gradients(&learner.online, &round));
        for (size_t m = 0; round.gradients > 0 && m < BLOCKS; m++)
            square += learner.blocks[m]->class->gradient_norm2(learner.blocks[m],
                                                               &learner.online.gradients[0]);
        assert_true(sqrt(square) <= most * (1 + 1e-6));
        found += square > 0;
    }
    assert_true(found > 0);
    learner_clear(&learner);
    small_problem_clear(&problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_is_that_of_the_proposition),
        cmocka_unit_test(no_gradient_is_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
