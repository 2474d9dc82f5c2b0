/* SPDX-License-Identifier: BSD-3-Clause */
/* Laws of every rule of the online loop, on sequences and blocks of every kind: one seed gives one
 * state, whatever the number of threads and whatever was learnt before; a state that is copied out
 * and in again goes on as if nothing had happened; the objective falls. */
#include "online/chain_problem.h"
#include "online/state_copy.h"

/* Enough blocks, labels and rows that scores and steps are shared out. */
#ifdef MEDLEY_SANITIZED
enum { EPOCHS = 3, FEWEST_THREADS = 3, EXAMPLES = 10 };
#else
enum { EPOCHS = 5, FEWEST_THREADS = 1, EXAMPLES = 30 };
#endif
static const struct chain_size large = {
    .labels = 27, .examples = EXAMPLES, .longest = 12, .id_blocks = 44};
static const struct chain_size small = {.labels = 3, .examples = 20, .longest = 6, .id_blocks = 4};
enum { SECOND_STAGE = 2, OTHER_SEED = 12 };

/* Under the sanitizers a program with one rule more has that one left to try. */
static size_t first_rule(void)
{
    size_t r = 0;
#if defined(MEDLEY_OUTSIDE) && defined(MEDLEY_SANITIZED)
    while (md_rules[r + 1] != NULL)
        r++;
#endif
    return r;
}

static md_online_settings settings_of(const md_rule *rule, uint64_t seed, size_t threads)
{
    return (md_online_settings){
        .rule = rule,
        .rates = {.eta0 = 0.3, .schedule = MD_RATE_SQRT, .radius = NAN, .prox_every = 2},
        .dual = {.p = 1.25, .eta = NAN},
        .lambda = 0.01,
        .average = true,
        .batch = 4,
        .seed = seed,
        .threads = threads};
}

static void make(struct chain_learner *learner, const struct chain_problem *problem,
                 const char *loss, const md_online_settings *settings)
{
    char penalty[64] = "mkl";
    medley_options *options = NULL;
    assert_int_equal(medley_options_create(&options, NULL), MEDLEY_OK);
    if (settings->rule->traits.penalty != NULL)
        settings->rule->traits.penalty(penalty, sizeof penalty, options);
    medley_options_free(options);
    chain_learner_make(learner, problem, loss, penalty, settings);
    md_online_restart(&learner->online, learner->online.rate);
}

static void learn(md_online *online, size_t first, size_t end)
{
    medley_error error = {0};
    const bool stages = online->settings.rule->is_over != NULL;
    for (size_t e = first; e < end; e++) {
        if (e == 0 || (e == SECOND_STAGE && stages))
            assert_int_equal(md_online_begin_stage(online, e > 0, e, &error), MEDLEY_OK);
        double objective;
        assert_int_equal(md_online_epoch(online, e, &error), MEDLEY_OK);
        if (online->settings.rule->measure != NULL)
            assert_int_equal(online->settings.rule->measure(online, &objective, &error), MEDLEY_OK);
    }
    assert_false(online->diverged);
}

static struct copy state_of(md_online *online)
{
    struct copy copy = {0};
    md_online_visit_state(online, copy_visit, &copy);
    return copy;
}

static const char *loss_of(const md_rule *rule)
{
    return rule->is_smooth ? "logistic" : "hinge";
}

/* From nothing. */
static struct copy state_after(const md_rule *rule, const struct chain_problem *problem,
                               uint64_t seed, size_t threads)
{
    struct chain_learner learner;
    const md_online_settings settings = settings_of(rule, seed, threads);
    make(&learner, problem, loss_of(rule), &settings);
    learn(&learner.online, 0, EPOCHS);
    const struct copy copy = state_of(&learner.online);
    chain_learner_clear(&learner);
    return copy;
}

static void rules_have_names_of_their_own(void **state)
{
    (void)state;
    for (size_t r = 0; md_rules[r] != NULL; r++) {
        assert_true(strlen(md_rules[r]->about.name) > 0 && strlen(md_rules[r]->about.summary) > 0);
        assert_non_null(md_rules[r]->round);
        assert_non_null(md_rules[r]->smaller[0]);
        assert_true((md_rules[r]->is_over != NULL) == (md_rules[r]->smaller[1] != NULL));
        for (size_t other = 0; other < r; other++)
            assert_string_not_equal(md_rules[r]->about.name, md_rules[other]->about.name);
    }
}

static void one_seed_gives_one_state_with_any_number_of_threads(void **state)
{
    (void)state;
    for (int as = AS_KERNEL; as <= AS_WEIGHTS; as += AS_WEIGHTS - AS_KERNEL) {
        struct chain_problem problem;
        chain_problem_make(&problem, large, (columns_as)as, 5);
        for (size_t r = first_rule(); md_rules[r] != NULL; r++) {
            struct copy first = state_after(md_rules[r], &problem, 5, 1);
            struct copy other = state_after(md_rules[r], &problem, OTHER_SEED, 1);
            for (size_t threads = FEWEST_THREADS; threads <= 3; threads++) {
                struct copy again = state_after(md_rules[r], &problem, 5, threads);
                assert_same_copy(&first, &again);
                free(again.bytes);
            }
            if (md_rules[r]->in_order)
                assert_same_copy(&first, &other);
            else
                assert_memory_not_equal(first.bytes, other.bytes, first.length);
            free(first.bytes);
            free(other.bytes);
        }
        chain_problem_clear(&problem);
    }
}

static void a_restarted_run_is_a_fresh_one(void **state)
{
    (void)state;
    for (size_t r = first_rule(); md_rules[r] != NULL; r++) {
        struct chain_problem problem;
        struct chain_learner learner;
        const md_online_settings settings = settings_of(md_rules[r], 7, 1);
        chain_problem_make(&problem, small, AS_KERNEL, 6);
        make(&learner, &problem, loss_of(md_rules[r]), &settings);
        const double rate = learner.online.rate;
        md_online_restart(&learner.online, 3 * rate);
        learn(&learner.online, 0, 3);
        md_online_restart(&learner.online, rate);
        learn(&learner.online, 0, EPOCHS);
        struct copy used = state_of(&learner.online);
        struct copy fresh = state_after(md_rules[r], &problem, 7, 1);
        assert_same_copy(&used, &fresh);
        free(used.bytes);
        free(fresh.bytes);
        chain_learner_clear(&learner);
        chain_problem_clear(&problem);
    }
}

/* Within the first stage and within the second one. */
static void a_copied_state_goes_on_as_if_nothing_had_happened(void **state)
{
    (void)state;
    for (size_t r = first_rule(); md_rules[r] != NULL; r++)
        for (size_t at = 1; at < EPOCHS; at++) {
            struct chain_problem problem;
            struct chain_learner learner[2];
            const md_online_settings settings = settings_of(md_rules[r], 7, 1);
            chain_problem_make(&problem, small, at % 2 ? AS_KERNEL : AS_WEIGHTS, 6);
            for (size_t i = 0; i < 2; i++)
                make(&learner[i], &problem, "logistic", &settings);
            learn(&learner[0].online, 0, at);
            struct copy start = state_of(&learner[0].online);
            start.back = true;
            md_online_visit_state(&learner[1].online, copy_visit, &start);
            assert_int_equal(start.position, start.length);
            struct copy copies[2];
            for (size_t i = 0; i < 2; i++) {
                learn(&learner[i].online, at, EPOCHS);
                copies[i] = state_of(&learner[i].online);
                chain_learner_clear(&learner[i]);
            }
            assert_same_copy(&copies[0], &copies[1]);
            free(start.bytes);
            free(copies[0].bytes);
            free(copies[1].bytes);
            chain_problem_clear(&problem);
        }
}

static void the_objective_falls(void **state)
{
    (void)state;
    static const char *const losses[] = {"hinge", "logistic"};
    static const size_t epochs[] = {0, 5, 60};
    for (size_t r = first_rule(); md_rules[r] != NULL; r++)
        for (size_t l = md_rules[r]->is_smooth; l < 2; l++) {
            struct chain_problem problem;
            struct chain_learner learner;
            double objective[3];
            const md_online_settings settings = settings_of(md_rules[r], 7, 1);
            chain_problem_make(&problem, small, AS_KERNEL, 6);
            make(&learner, &problem, losses[l], &settings);
            for (size_t i = 0; i < 3; i++) {
                learn(&learner.online, i > 0 ? epochs[i - 1] : 0, epochs[i]);
                assert_int_equal(md_online_objective(&learner.online, &objective[i], NULL, NULL),
                                 MEDLEY_OK);
            }
            if (!(objective[2] < objective[1] && objective[2] < 0.8 * objective[0]))
                fail_msg("%s, %s: %g, %g, %g", md_rules[r]->about.name, losses[l], objective[0],
                         objective[1], objective[2]);
            chain_learner_clear(&learner);
            chain_problem_clear(&problem);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_have_names_of_their_own),
        cmocka_unit_test(one_seed_gives_one_state_with_any_number_of_threads),
        cmocka_unit_test(a_restarted_run_is_a_fresh_one),
        cmocka_unit_test(a_copied_state_goes_on_as_if_nothing_had_happened),
        cmocka_unit_test(the_objective_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
