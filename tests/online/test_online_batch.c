/* SPDX-License-Identifier: BSD-3-Clause */
/* The online loop in rounds of several examples, with blocks that have a term of their own, with a
 * quadratic term that counts as a part of the loss and with thresholds that are put off: against
 * the direct implementation on dense arrays. */
#include "online/online_reference.h"

static void compare(struct choice choice)
{
    static const char *const losses[] = {"hinge", "logistic"};
    static const md_schedule schedules[] = {MD_RATE_SQRT, MD_RATE_EPOCH, MD_RATE_INVERSE};
    static const size_t batches[] = {1, 3, 8, ROWS};
    size_t complete = 0;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct small_problem problem;
        small_problem_make(&problem, 30 + seed);
        for (size_t i = 0; i < 24; i++) {
            const md_schedule schedule = schedules[i % 3];
            choice.loss = losses[i / 3 % 2];
            choice.settings.batch = batches[i / 6];
            choice.settings.rates.schedule = schedule;
            choice.settings.rates.eta0 = schedule == MD_RATE_INVERSE ? 0.5 : 0.1;
            choice.settings.average = seed % 2 == 0;
            choice.settings.rates.radius = i % 4 == 3 ? 1.1 : INFINITY;
            choice.settings.seed = seed;
            choice.settings.threads = 1 + i % 2;
            complete += run_rounds(&problem, &choice);
            complete += run_epochs(&problem, &choice);
        }
        small_problem_clear(&problem);
    }
    assert_true(complete > 80); /* of 96 */
}

static void compare_both(const char *penalty, double lambda, size_t own_terms)
{
    compare((struct choice){.penalty = penalty, .settings.lambda = lambda, .own_terms = own_terms});
    compare((struct choice){.penalty = penalty,
                            .settings.lambda = lambda,
                            .own_terms = own_terms,
                            .explicit_weights = true});
}

static void rounds_of_several_examples_coincide_with_the_direct_algorithm(void **state)
{
    (void)state;
    compare_both("mkl", 0.2, 0);
    compare_both("group-lasso", 0.1, 0);
    compare_both("l2", 0.2, 0);
}

static void blocks_beside_the_penalty_have_an_l2_term_of_their_own(void **state)
{
    (void)state;
    compare_both("mkl", 0.3, 1);
    compare_both("group-lasso", 0.2, 2);
    compare_both("none", 0.2, BLOCKS); /* and nothing else */
}

static void an_absorbed_square_is_a_part_of_the_loss(void **state)
{
    (void)state;
    compare_both("absorbed-l2", 0.2, 0);
    compare_both("absorbed-l2", 0.2, 1);
    compare_both("group-lasso+0.5*absorbed-l2", 0.1, 1);
}

static void averages_may_begin_late(void **state)
{
    (void)state;
    for (size_t from = 1; from < EPOCHS; from += 2) {
        compare(
            (struct choice){.penalty = "mkl", .settings = {.lambda = 0.2, .average_from = from}});
        compare((struct choice){.penalty = "l1+0.5*l2",
                                .settings = {.lambda = 0.04, .average_from = from},
                                .explicit_weights = true});
    }
}

/* An average of no iterates is no average. */
static void theta_stays_where_nothing_was_counted(void **state)
{
    (void)state;
    struct small_problem problem;
    struct learner learner;
    medley_error error = {0};
    dense_theta before;
    dense_theta after;
    const struct choice choice = {.loss = "hinge",
                                  .penalty = "mkl",
                                  .settings = {.lambda = 0.1,
                                               .rates.eta0 = 1,
                                               .rates.schedule = MD_RATE_SQRT,
                                               .average = true,
                                               .average_from = 3,
                                               .rates.radius = INFINITY,
                                               .batch = 1,
                                               .threads = 1}};
    small_problem_make(&problem, 2);
    learner_make(&learner, &problem, &choice);
    for (size_t e = 0; e < 3; e++)
        assert_int_equal(md_online_epoch(&learner.online, e, &error), MEDLEY_OK);
    learner_theta(&learner, &problem, before);
    assert_int_equal(md_online_take_average(&learner.online, &error), MEDLEY_OK);
    learner_theta(&learner, &problem, after);
    assert_memory_equal(before, after, sizeof before);
    learner_clear(&learner);
    small_problem_clear(&problem);
}

static void rows_that_are_nearly_right_are_left_alone(void **state)
{
    (void)state;
    static const double learnt[] = {0.2, 0.5, 0.8};
    for (size_t i = 0; i < 3; i++) {
        const md_online_settings settings = {.lambda = 0.05, .skip_threshold = learnt[i]};
        compare((struct choice){.penalty = "mkl", .settings = settings});
        compare((struct choice){.penalty = "l2", .settings = settings, .explicit_weights = true});
    }
}

/* Where only weights are thresholded, thresholds are put off; a ball or a penalty on norms forbids
 * it. */
static void late_thresholds_make_no_difference(void **state)
{
    (void)state;
    static const char *const penalties[] = {"l1", "l1+0.5*l2", "l1+0.5*absorbed-l2",
                                            "sparse-group(s=0.4)"};
    for (size_t i = 0; i < sizeof penalties / sizeof *penalties; i++)
        for (size_t own_terms = 0; own_terms < 2; own_terms++)
            compare((struct choice){.penalty = penalties[i],
                                    .settings.lambda = 0.04,
                                    .own_terms = own_terms,
                                    .explicit_weights = true});
}

static void only_what_may_be_put_off_is(void **state)
{
    (void)state;
    static const struct {
        const char *penalty;
        double radius;
        bool late;
    } cases[] = {{"l1", INFINITY, true},      {"l1", 3, false},
                 {"l1+l2", INFINITY, true},   {"l1+absorbed-l2", INFINITY, true},
                 {"l1+mkl", INFINITY, false}, {"sparse-group", INFINITY, false},
                 {"l2", INFINITY, false}};
    struct small_problem problem;
    small_problem_make(&problem, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct choice choice = {.loss = "hinge",
                                      .penalty = cases[i].penalty,
                                      .explicit_weights = true,
                                      .settings = {.lambda = 0.1,
                                                   .rates.eta0 = 1,
                                                   .rates.radius = cases[i].radius,
                                                   .batch = 1,
                                                   .threads = 1}};
        struct learner learner;
        learner_make(&learner, &problem, &choice);
        assert_int_equal(md_online_shrinks_late(&learner.online), cases[i].late);
        learner_clear(&learner);
    }
    small_problem_clear(&problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_of_several_examples_coincide_with_the_direct_algorithm),
        cmocka_unit_test(blocks_beside_the_penalty_have_an_l2_term_of_their_own),
        cmocka_unit_test(an_absorbed_square_is_a_part_of_the_loss),
        cmocka_unit_test(averages_may_begin_late),
        cmocka_unit_test(theta_stays_where_nothing_was_counted),
        cmocka_unit_test(rows_that_are_nearly_right_are_left_alone),
        cmocka_unit_test(late_thresholds_make_no_difference),
        cmocka_unit_test(only_what_may_be_put_off_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
