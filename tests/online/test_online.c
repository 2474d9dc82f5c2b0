/* SPDX-License-Identifier: BSD-3-Clause */
/* The online loop against a direct implementation on dense arrays (SPOM Alg. 1 and 3): for every
 * penalty, loss, schedule, with and without projection and averaging, theta and the objective are
 * the same after every round and after every epoch. */
#include "online/online_reference.h"

enum { SEEDS = 2 };

/* Every loss and schedule, with and without a tight projection, averaging switched along. */
static void compare(const char *penalty, double lambda, bool explicit_weights)
{
    static const char *const losses[] = {"hinge", "logistic"};
    static const md_schedule schedules[] = {MD_RATE_SQRT, MD_RATE_EPOCH, MD_RATE_INVERSE,
                                            MD_RATE_CONSTANT};
    size_t complete = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct small_problem problem;
        small_problem_make(&problem, seed);
        for (size_t i = 0; i < 16; i++) {
            const md_schedule schedule = schedules[i / 2 % 4];
            const struct choice choice = {
                .loss = losses[i % 2],
                .penalty = penalty,
                .explicit_weights = explicit_weights,
                .settings = {.lambda = lambda,
                             .rates.eta0 = schedule == MD_RATE_INVERSE ? 1 : 0.4,
                             .rates.schedule = schedule,
                             .average = seed % 2 == 0,
                             .rates.radius = i < 8 ? INFINITY : 1.1,
                             .batch = 1,
                             .seed = seed,
                             .threads = 1 + i % 2}};
            complete += run_rounds(&problem, &choice);
            complete += run_epochs(&problem, &choice);
        }
        small_problem_clear(&problem);
    }
    assert_true(complete > 55); /* of 64 */
}

static void mkl_coincides_with_the_direct_algorithm(void **state)
{
    (void)state;
    compare("mkl", 0.05, false);
    compare("mkl", 1, true); /* blocks come and go */
    compare("mkl", 1, false);
}

static void l2_coincides_with_the_direct_algorithm(void **state)
{
    (void)state;
    compare("l2", 0.2, false);
    compare("l2", 0.2, true);
}

static void group_lasso_coincides_with_the_direct_algorithm(void **state)
{
    (void)state;
    compare("group-lasso", 0.05, true);
    compare("group-lasso", 0.3, true); /* blocks come and go */
    compare("group-lasso", 0.3, false);
}

static void elastic_coincides_with_the_direct_algorithm(void **state)
{
    (void)state;
    compare("elastic(t=0.3)", 0.1, false);
    compare("elastic(t=0.3)", 0.1, true);
}

static void l1_coincides_with_truncated_gradient(void **state)
{
    (void)state;
    compare("l1", 0.02, true);
}

static void sparse_group_coincides_with_the_direct_algorithm(void **state)
{
    (void)state;
    compare("sparse-group(s=0.4)", 0.03, true);
}

static void no_penalty_coincides_with_zinkevich(void **state)
{
    (void)state;
    compare("none", 0.5, false);
    compare("none", 0.5, true);
}

/* theta <- (1 - eta lambda) theta - eta g with eta = 1/(lambda t): one prox step with rate
 * 1/(lambda t) is one step of Pegasos with t + 1 in place of t. */
static void l2_with_inverse_rates_coincides_with_pegasos(void **state)
{
    (void)state;
    struct small_problem problem;
    struct learner learner;
    const struct choice choice = {.loss = "hinge",
                                  .penalty = "l2",
                                  .settings = {.lambda = 0.1,
                                               .rates.eta0 = 1,
                                               .rates.schedule = MD_RATE_INVERSE,
                                               .rates.radius = INFINITY,
                                               .batch = 1,
                                               .threads = 1}};
    small_problem_make(&problem, 5);
    struct reference pegasos = reference_of(&problem, &choice);
    learner_make(&learner, &problem, &choice);
    for (size_t t = 1; t <= 100; t++) {
        const size_t row = t * 5 % ROWS;
        double score[LABELS];
        double gradient[LABELS];
        visit_rows(&learner, &row, 1);
        const double eta = 1 / (choice.settings.lambda * (double)(t + 1));
        plain_scores(&problem, pegasos.theta, row, score);
        plain_loss("hinge", score, problem.gold[row], gradient);
        for (size_t m = 0; m < BLOCKS; m++)
            plain_scale(pegasos.theta[m], 1 - eta * choice.settings.lambda);
        plain_step(&problem, pegasos.theta, row, gradient, eta);
        assert_same_theta(&learner, &pegasos, pegasos.theta);
    }
    learner_clear(&learner);
    small_problem_clear(&problem);
}

/* ---- restarts, visits, extremes ---- */

static struct choice plain_choice(const char *penalty, double lambda, double eta0)
{
    return (struct choice){.loss = "hinge",
                           .penalty = penalty,
                           .settings = {.lambda = lambda,
                                        .rates.eta0 = eta0,
                                        .rates.schedule = MD_RATE_SQRT,
                                        .rates.radius = INFINITY,
                                        .average = true,
                                        .batch = 1,
                                        .seed = 3,
                                        .threads = 1}};
}

/* What was tried before, at other rates, must not show: not in theta, not in averages, not in the
 * visiting order. */
static void a_restart_leaves_no_trace_of_earlier_runs(void **state)
{
    (void)state;
    struct small_problem problem;
    medley_error error = {0};
    small_problem_make(&problem, 8);
    for (int explicit_weights = 0; explicit_weights < 2; explicit_weights++) {
        struct choice choice = plain_choice("mkl", 0.05, 0.5);
        choice.explicit_weights = explicit_weights != 0;
        struct learner fresh;
        struct learner used;
        learner_make(&fresh, &problem, &choice);
        learner_make(&used, &problem, &choice);
        md_online_restart(&used.online, 10);
        for (size_t e = 0; e < 3; e++)
            assert_int_equal(md_online_epoch(&used.online, e, &error), MEDLEY_OK);
        md_online_restart(&used.online, 0.5);
        for (size_t e = 0; e < 3; e++) {
            assert_int_equal(md_online_epoch(&used.online, e, &error), MEDLEY_OK);
            assert_int_equal(md_online_epoch(&fresh.online, e, &error), MEDLEY_OK);
        }
        assert_int_equal(md_online_take_average(&used.online, &error), MEDLEY_OK);
        assert_int_equal(md_online_take_average(&fresh.online, &error), MEDLEY_OK);
        dense_theta a;
        dense_theta b;
        learner_theta(&used, &problem, a);
        learner_theta(&fresh, &problem, b);
        assert_memory_equal(a, b, sizeof a);
        learner_clear(&fresh);
        learner_clear(&used);
    }
    small_problem_clear(&problem);
}

static void examples_that_are_not_visited_do_not_matter(void **state)
{
    (void)state;
    struct small_problem problem;
    medley_error error = {0};
    dense_theta theta[2];
    double objective[2];
    size_t visit[ROWS / 2];
    for (size_t i = 0; i < ROWS / 2; i++)
        visit[i] = 2 * i;
    for (size_t k = 0; k < 2; k++) {
        small_problem_make(&problem, 9);
        for (size_t r = 1; r < ROWS && k == 1; r += 2)
            problem.gold[r] = (problem.gold[r] + 1) % LABELS;
        struct choice choice = plain_choice("l2", 0.05, 0.5);
        struct learner learner;
        learner_make(&learner, &problem, &choice);
        learner.online.problem.visit = visit;
        learner.online.problem.visit_count = ROWS / 2;
        for (size_t e = 0; e < 3; e++)
            assert_int_equal(md_online_epoch(&learner.online, e, &error), MEDLEY_OK);
        assert_int_equal(learner.online.round, 3 * (ROWS / 2));
        assert_int_equal(md_online_objective(&learner.online, &objective[k], NULL, &error),
                         MEDLEY_OK);
        learner_theta(&learner, &problem, theta[k]);
        learner_clear(&learner);
        small_problem_clear(&problem);
    }
    assert_memory_equal(theta[0], theta[1], sizeof theta[0]);
    assert_true(objective[0] == objective[1]);
}

/* An absurd lambda empties the model and an absurd rate is noticed; neither may crash or hang. */
static void extreme_settings_give_zero_or_are_noticed(void **state)
{
    (void)state;
    struct small_problem problem;
    medley_error error = {0};
    static const char *const penalties[] = {"mkl", "l2", "group-lasso", "elastic(t=0.3)", "none"};
    small_problem_make(&problem, 11);
    for (size_t i = 0; i < sizeof penalties / sizeof *penalties; i++)
        for (int huge_rate = 0; huge_rate < 2; huge_rate++) {
            struct choice choice =
                plain_choice(penalties[i], huge_rate ? 1e-3 : 1e300, huge_rate ? 1e200 : 1e10);
            struct learner learner;
            double objective;
            choice.settings.rates.schedule = MD_RATE_CONSTANT;
            learner_make(&learner, &problem, &choice);
            for (size_t e = 0; e < 2; e++)
                assert_int_equal(md_online_epoch(&learner.online, e, &error), MEDLEY_OK);
            assert_int_equal(md_online_objective(&learner.online, &objective, NULL, &error),
                             MEDLEY_OK);
            const bool empty = strcmp(penalties[i], "mkl") == 0; /* b - t is 0 for t next to b */
            if (huge_rate && !empty) {
                assert_true(learner.online.diverged);
                assert_true(isinf(objective));
            } else if (strcmp(penalties[i], "none") != 0) {
                assert_false(learner.online.diverged);
                for (size_t m = 0; m < BLOCKS; m++)
                    assert_true(learner.blocks[m]->norm < 1e-20);
            }
            md_online_restart(&learner.online, 0.1);
            assert_false(learner.online.diverged);
            learner_clear(&learner);
        }
    small_problem_clear(&problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mkl_coincides_with_the_direct_algorithm),
        cmocka_unit_test(l2_coincides_with_the_direct_algorithm),
        cmocka_unit_test(group_lasso_coincides_with_the_direct_algorithm),
        cmocka_unit_test(elastic_coincides_with_the_direct_algorithm),
        cmocka_unit_test(l1_coincides_with_truncated_gradient),
        cmocka_unit_test(sparse_group_coincides_with_the_direct_algorithm),
        cmocka_unit_test(no_penalty_coincides_with_zinkevich),
        cmocka_unit_test(l2_with_inverse_rates_coincides_with_pegasos),
        cmocka_unit_test(a_restart_leaves_no_trace_of_earlier_runs),
        cmocka_unit_test(examples_that_are_not_visited_do_not_matter),
        cmocka_unit_test(extreme_settings_give_zero_or_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
