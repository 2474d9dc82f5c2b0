/* SPDX-License-Identifier: BSD-3-Clause */
/* OBSCURE with penalties other than the p-norm (Alg. 3): what theta becomes is what it is said to
 * be, the rounds lose no more than Lemma 1 says, and the online stage errs no more often than is
 * proved, of the p-norm too. */
#include "online/obscure.h"
#include "online/run.h"
#include "online/small_problem.h"

static const char *const penalties[] = {"elastic(t=0.5)", "elastic(t=0.1)",     "l2",
                                        "elastic-mkl",    "0.3*elastic(t=0.9)", "block(q=2)"};
enum { PENALTIES = sizeof penalties / sizeof *penalties };

static void proximal_make(struct learner *learner, const struct small_problem *problem,
                          const char *penalty, double lambda, uint64_t seed)
{
    const struct choice choice = {.loss = "hinge",
                                  .penalty = penalty,
                                  .explicit_weights = seed % 2,
                                  .settings = {.rule = &md_rule_obscure,
                                               .dual = {.p = NAN, .eta = 0.5},
                                               .lambda = lambda,
                                               .batch = 1,
                                               .seed = seed,
                                               .threads = 1}};
    learner_make(learner, problem, &choice);
    md_online_restart(&learner->online, 0.5);
}

static const md_obscure *state_of(const struct learner *learner)
{
    return learner->online.state;
}

/* ---- the dual map ---- */

/* A Omega(b) + S/2 sum b^2 - sum n b, n the norms of theta. */
static double value_at(const struct learner *learner, const double *b)
{
    const md_obscure *s = state_of(learner);
    double value = s->strength * md_penalty_value(learner->penalty, b, BLOCKS);
    for (size_t m = 0; m < BLOCKS; m++)
        value += b[m] * (s->curvature / 2 * b[m] - learner->blocks[m]->norm);
    return value;
}

/* No weights in the ball, along theta as any optimum is, are better. */
static void check_map(const struct learner *learner, md_random *random)
{
    const double radius = state_of(learner)->dual.radius;
    double b[BLOCKS];
    double square = 0;
    for (size_t m = 0; m < BLOCKS; m++) {
        b[m] = md_block_length(learner->blocks[m]);
        square += b[m] * b[m];
    }
    assert_true(sqrt(square) <= radius * (1 + 1e-9));
    const double best = value_at(learner, b);
    for (size_t trial = 0; trial < 200; trial++) {
        const double size = pow(10, -4 * md_random_uniform(random));
        double other[BLOCKS];
        double length = 0;
        for (size_t m = 0; m < BLOCKS; m++) {
            other[m] = fmax(0, b[m] + size * (1 + b[m]) * md_random_normal(random));
            length += other[m] * other[m];
        }
        for (size_t m = 0; m < BLOCKS && sqrt(length) > radius; m++)
            other[m] *= radius / sqrt(length);
        assert_true(value_at(learner, other) >= best - 1e-7 * (1 + fabs(best)));
    }
}

static void weights_are_the_best_for_theta(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 5);
    size_t at_the_border = 0;
    for (size_t k = 0; k < 2 * PENALTIES; k++) {
        struct small_problem problem;
        struct learner learner;
        medley_error error = {0};
        small_problem_make(&problem, 10 + k);
        proximal_make(&learner, &problem, penalties[k % PENALTIES], k % 2 ? 0.1 : 0.003, k);
        for (size_t e = 0; e < 4; e++) {
            if (e == 2)
                assert_int_equal(md_online_begin_stage(&learner.online, 1, e, &error), MEDLEY_OK);
            md_online_fill_order(&learner.online);
            for (size_t r = 0; r < ROWS; r++) {
                md_round round = {
                    .online = &learner.online, .which = &learner.online.order[r], .size = 1};
                md_rule_obscure.round(&learner.online, &round);
                double square = 0;
                for (size_t m = 0; m < BLOCKS; m++)
                    square += pow(md_block_length(learner.blocks[m]), 2);
                at_the_border += sqrt(square) > (1 - 1e-6) * state_of(&learner)->dual.radius;
                if (r % 9 == 0)
                    check_map(&learner, &random);
            }
        }
        learner_clear(&learner);
        small_problem_clear(&problem);
    }
    assert_true(at_the_border > 0);
}

/* In the online stage w is the gradient of h* at theta, h = Omega + 1/2 ||w||^2, which for the
 * elastic net has h*(n) = sum max(0, n - (1-t))^2 / (2 (1+t)): by finite differences, and with
 * equality in Fenchel's and Young's inequality. */
static void weights_are_the_slope_of_the_conjugate(void **state)
{
    (void)state;
    const double t = 0.5;
    struct small_problem problem;
    struct learner learner;
    medley_error error = {0};
    small_problem_make(&problem, 3);
    proximal_make(&learner, &problem, "elastic(t=0.5)", 0.1, 2);
    assert_int_equal(md_online_epoch(&learner.online, 0, &error), MEDLEY_OK);
    double product = 0;
    double h = 0;
    double conjugate = 0;
    for (size_t m = 0; m < BLOCKS; m++) {
        const double n = learner.blocks[m]->norm;
        const double b = md_block_length(learner.blocks[m]);
        const double above = pow(fmax(0, n + 1e-4 - (1 - t)), 2) / (2 * (1 + t));
        const double below = pow(fmax(0, n - 1e-4 - (1 - t)), 2) / (2 * (1 + t));
        assert_true(fabs(b - (above - below) / 2e-4) <= 1e-4);
        product += n * b;
        h += (1 - t) * b + (1 + t) / 2 * b * b;
        conjugate += pow(fmax(0, n - (1 - t)), 2) / (2 * (1 + t));
    }
    assert_true(product > 0.1);
    assert_true(fabs(h + conjugate - product) <= 1e-9 * product);
    learner_clear(&learner);
    small_problem_clear(&problem);
}

/* ---- Lemma 1 ---- */

/* What the rounds lose, penalty and loss of each before its step, less what u would have lost in
 * them: u = 0, and the last weights. */
static void rounds_lose_no_more_than_is_proved(void **state)
{
    (void)state;
    enum { EPOCHS = 12 };
    for (size_t k = 0; k < 3 * PENALTIES; k++) {
        struct small_problem problem;
        struct learner learner;
        medley_error error = {0};
        double norm[BLOCKS];
        const double lambda = k % 3 == 0 ? 0.001 : k % 3 == 1 ? 0.03 : 0.3;
        double lost = 0;
        double last;
        small_problem_make(&problem, 40 + k);
        proximal_make(&learner, &problem, penalties[k % PENALTIES], lambda, k);
        md_online *online = &learner.online;
        assert_int_equal(md_online_epoch(online, 0, &error), MEDLEY_OK);
        assert_int_equal(md_online_begin_stage(online, 1, 1, &error), MEDLEY_OK);
        md_online_fill_order(online);
        for (size_t r = 0; r < EPOCHS * (size_t)ROWS; r++) {
            md_round round = {.online = online, .which = &online->order[r % ROWS], .size = 1};
            for (size_t m = 0; m < BLOCKS; m++)
                norm[m] = md_block_length(learner.blocks[m]);
            lost += lambda * md_penalty_value(learner.penalty, norm, BLOCKS);
            online->loss_sum = 0;
            md_rule_obscure.round(online, &round);
            lost += online->loss_sum;
        }
        assert_int_equal(md_online_objective(online, &last, NULL, &error), MEDLEY_OK);
        const double rounds = state_of(&learner)->dual.rounds;
        const double most = state_of(&learner)->regret;
        assert_true(rounds == EPOCHS * ROWS);
        assert_true(lost - rounds * last <= most);
        assert_true(lost - rounds <= most); /* every row of three labels loses 1 at u = 0 */
        learner_clear(&learner);
        small_problem_clear(&problem);
    }
}

/* ---- the online stage ---- */

/* u: what some epochs of the online stage, or of both, have come to, of any length. p: NaN for
 * another penalty. */
static void check_mistakes(uint64_t seed, double p, const char *penalty, size_t second)
{
    enum { FIRST = 3 };
    struct small_problem problem;
    struct learner learner;
    medley_error error = {0};
    medley_epoch epochs[FIRST] = {{0}};
    md_run_result result = {.epochs = epochs, .epoch_count = FIRST};
    double loss;
    double objective;
    small_problem_make(&problem, seed);
    proximal_make(&learner, &problem, penalty, 0.02, seed);
    md_online *online = &learner.online;
    online->settings.dual.p = p;
    const double rates[] = {0.1, 0.7, 5};
    md_online_restart(online, rates[seed % 3]);
    for (size_t e = 0; e < FIRST + second; e++) {
        if (e == FIRST)
            assert_int_equal(md_online_begin_stage(online, 1, e, &error), MEDLEY_OK);
        const size_t before = online->updates;
        assert_int_equal(md_online_epoch(online, e, &error), MEDLEY_OK);
        if (e < FIRST)
            epochs[e].updates = online->updates - before;
    }
    md_online_take_weights(online);
    assert_int_equal(md_online_objective(online, &objective, &loss, &error), MEDLEY_OK);
    const medley_mistakes found = md_run_mistakes(online, &result, loss);
    assert_true(found.rounds == FIRST * ROWS && found.updates > 0);
    assert_true(found.mistakes > 0 && found.mistakes <= found.updates);
    if (!((double)found.updates <= found.bound && found.bound >= found.loss))
        fail_msg("seed %d, p %g, %s: %zu updates, at most %g", (int)seed, p, penalty, found.updates,
                 found.bound);
    if (!isnan(p)) { /* theorem 2, where nothing is lost */
        double norm[BLOCKS];
        for (size_t m = 0; m < BLOCKS; m++)
            norm[m] = learner.blocks[m]->norm;
        const double q = p / (p - 1);
        const double u = md_dual_norm(norm, BLOCKS, p);
        const double z = md_longest_gradient(online, q, NULL);
        const double expected = 2 * q * (1 / online->rate + z * z / 2) * u * u;
        const double most = md_rule_obscure.mistakes(online, 0).most_updates;
        assert_true(fabs(most - expected) <= 1e-9 * expected);
    }
    online->settings.batch = 2; /* of which nothing is known */
    assert_true(md_run_mistakes(online, &result, loss).rounds == 0);
    online->settings.batch = 1;
    learner_clear(&learner);
    small_problem_clear(&problem);
}

static void mistakes_are_as_few_as_proved(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        check_mistakes(seed, NAN, penalties[seed % PENALTIES], seed % 4 * 5);
        check_mistakes(seed, 1.25, "squared-block(q=1.25)", seed % 4 * 5);
        check_mistakes(seed, 2, "squared-block(q=2)", seed % 4 * 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_the_best_for_theta),
        cmocka_unit_test(weights_are_the_slope_of_the_conjugate),
        cmocka_unit_test(rounds_lose_no_more_than_is_proved),
        cmocka_unit_test(mistakes_are_as_few_as_proved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
