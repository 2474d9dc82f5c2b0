/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers around structured Pegasos come near the optima that listing all outputs finds, for
 * classes, chains and trees; so does the machine inside for fixed weights, whose theta gives the
 * slopes of what it leaves; weights are where they belong after every epoch, and a copied state
 * goes on wherever it was copied. */
#include "online/state_copy.h"
#include "online/trial.h"

#include "baseline/inner_pegasos.h"
#include "baseline/reduced_gradient.h"

static struct trial t; /* large */

static void make(const md_rule *rule, md_space space, const char *penalty, double C, uint64_t seed)
{
    trial_make(&t, space, md_loss_find("hinge"), penalty, C, seed);
    assert_true(rule->check == NULL ||
                rule->check(&(const md_problem){.penalty = t.penalty}, NULL) == MEDLEY_OK);
    trial_begin(&t, rule, 1);
}

static void learn(size_t first, size_t end)
{
    medley_error error = {0};
    for (size_t e = first; e < end; e++)
        assert_int_equal(md_online_epoch(&t.online, e, &error), MEDLEY_OK);
}

/* Learns, and says what objective the model has that would be returned. */
static double objective_after(size_t epochs)
{
    const md_rule *rule = t.online.settings.rule;
    double best = INFINITY;
    for (size_t e = 0; e < epochs; e++) {
        const bool last = e + 1 == epochs;
        vector w;
        learn(e, e + 1);
        trial_weights(&t, w);
        if (rule->is_candidate != NULL ? rule->is_candidate(&t.online) : last)
            best = fmin(best, objective_at(&t.objective, w));
    }
    return best;
}

/* ---- optima ---- */

static const md_rule *const rules[] = {&md_rule_gauss_seidel_pegasos, &md_rule_simplemkl_pegasos};
static const char *const penalties[] = {"mkl", "squared-block(q=1.5)", "0.5*mkl"};

/* Odd seeds have a block with a term of its own. */
static void check_space(md_space space)
{
    enum { RUNS = 6, EPOCHS = 1500 };
    for (size_t i = 0; i < RUNS; i++) {
        const md_rule *rule = rules[i % 2];
        make(rule, space, penalties[i % 2 ? i / 2 % 2 * 2 : i / 2], i % 3 ? 2 : 0.3, 40 + i / 2);
        const double least = least_objective(&t.objective);
        const double objective = objective_after(EPOCHS);
        if (!(objective <= 1.02 * least)) /* which listing finds roughly, and never below */
            fail_msg("%s: %s has objective %g, the optimum is %g", t.name, rule->about.name,
                     objective, least);
        trial_clear(&t);
    }
}

static void optima_of_classes_are_near(void **state)
{
    (void)state;
    check_space((md_space){md_structure_find("multiclass"), shapes[0]});
}

static void optima_of_chains_are_near(void **state)
{
    (void)state;
    check_space((md_space){md_structure_find("chain"), shapes[1]});
}

static void optima_of_trees_are_near(void **state)
{
    (void)state;
    check_space((md_space){md_structure_find("tree"), shapes[5]});
}

/* ---- the machine inside ---- */

/* The least value for fixed weights: a penalty 1/2 sum b^2 / d. */
static double least_for(const double *weight)
{
    MD_OWNED(md_penalty_free) md_penalty *l2 = NULL;
    struct objective fixed = t.objective;
    double root[BLOCKS];
    for (size_t m = 0; m < BLOCKS; m++)
        root[m] = 1 / sqrt(weight[m]);
    assert_int_equal(md_penalty_create(&l2, "l2", NULL), MEDLEY_OK);
    assert_int_equal(md_penalty_set_weights(l2, root, fixed.penalised, NULL), MEDLEY_OK);
    fixed.penalty = l2;
    return least_objective(&fixed);
}

static void theta_gives_the_slopes_of_the_least_value(void **state)
{
    (void)state;
    static const double STEP = 0.05;
    md_rule machine = md_rule_gauss_seidel_pegasos;
    machine.before_epoch = NULL; /* weights stay as they are */
    for (uint64_t seed = 0; seed < 2; seed++) {
        make(&machine, (md_space){md_structure_find("chain"), shapes[1]}, "mkl", 0.3, seed);
        for (size_t m = 0; m < t.objective.penalised; m++)
            t.online.own[m] = 0.15 + 0.1 * (double)m;
        md_inner_use_weights(&t.online);
        learn(0, 3000);
        for (size_t m = 0; m < t.objective.penalised; m++) {
            double more[BLOCKS], less[BLOCKS];
            memcpy(more, t.online.own, sizeof more);
            memcpy(less, t.online.own, sizeof less);
            more[m] += STEP;
            less[m] -= STEP;
            const double slope = (least_for(more) - least_for(less)) / (2 * STEP);
            const double norm = t.blocks[m]->norm;
            const double by_theta = -t.objective.lambda / 2 * norm * norm;
            if (!(fabs(by_theta - slope) <= 0.05 * fabs(slope) + 2e-3))
                fail_msg("block %zu: %g by theta, %g by differences", m, by_theta, slope);
        }
        trial_clear(&t);
    }
}

/* ---- weights ---- */

/* Gauss-Seidel's are lengths over their sum when a call begins; SimpleMKL's keep their sum. */
static void weights_stay_on_the_simplex(void **state)
{
    (void)state;
    for (size_t r = 0; r < 2; r++) {
        make(rules[r], (md_space){md_structure_find("chain"), shapes[1]}, "mkl", 2, 3);
        const size_t count = t.objective.penalised;
        for (size_t e = 0; e < 150; e++) {
            double length[BLOCKS];
            double sum = 0;
            double lengths = 0;
            for (size_t m = 0; m < count; m++)
                lengths += length[m] = md_block_length(t.blocks[m]);
            learn(e, e + 1);
            for (size_t m = 0; m < count; m++) {
                const double weight = t.online.own[m];
                assert_true(weight >= 0 && t.blocks[m]->dual_scale == weight);
                if (r == 0 && e >= 20 && (e - 20) % 3 == 0)
                    assert_true(fabs(weight - length[m] / lengths) < 1e-9);
                sum += weight;
            }
            assert_true(fabs(sum - 1) < 1e-9);
            assert_true(t.blocks[BLOCKS - 1]->dual_scale == (count < BLOCKS ? 1 : t.online.own[3]));
        }
        trial_clear(&t);
    }
}

static void directions_keep_weights_from_falling_below_0(void **state)
{
    (void)state;
    double slope[] = {-1, 2, -3, 0};
    const double weight[] = {0, 0, 0.6, 1};
    size_t which;
    assert_true(md_reduced_direction(slope, weight, 4) == -1);
    assert_true(slope[0] == 0 && slope[1] == 2 && slope[2] == -3 && slope[3] == 0);
    assert_true(fabs(md_reduced_stretch(slope, weight, 4, &which) - 0.2) < 1e-15);
    assert_int_equal(which, 2);
    slope[2] = 0;
    assert_true(isinf(md_reduced_stretch(slope, weight, 4, &which)));
    assert_int_equal(which, 4);
}

static void penalties_that_have_no_weights_are_refused(void **state)
{
    (void)state;
    static const char *const others[] = {"group-lasso", "elastic-mkl", "squared-block(q=3)",
                                         "mkl+l2"};
    for (size_t p = 0; p < sizeof others / sizeof *others; p++)
        for (size_t r = 0; r < 2; r++) {
            MD_OWNED(md_penalty_free) md_penalty *penalty = NULL;
            medley_error error = {0};
            assert_int_equal(md_penalty_create(&penalty, others[p], NULL), MEDLEY_OK);
            assert_int_equal(rules[r]->check(&(const md_problem){.penalty = penalty}, &error),
                             MEDLEY_NOT_SUPPORTED);
            assert_non_null(strstr(error.message, rules[r]->about.name));
            assert_non_null(strstr(error.message, "use `penalty=mkl`"));
        }
}

/* ---- copies ---- */

static void run_from(struct copy *end, const md_rule *rule, struct copy *start, size_t at)
{
    enum { END = 90 };
    make(rule, (md_space){md_structure_find("chain"), shapes[1]}, "mkl", 2, 2);
    learn(0, start->back ? 0 : at);
    md_online_visit_state(&t.online, copy_visit, start);
    assert_true(rule->is_sound == NULL || rule->is_sound(&t.online));
    learn(at, END);
    md_online_visit_state(&t.online, copy_visit, end);
    trial_clear(&t);
}

static void a_copied_state_goes_on_in_the_middle_of_a_line_search(void **state)
{
    (void)state;
    static const size_t places[] = {20, 21, 26, 41, 62};
    for (size_t r = 0; r < 2; r++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            struct copy start = {0}, first = {0}, second = {0};
            run_from(&first, rules[r], &start, places[p]);
            start.back = true;
            run_from(&second, rules[r], &start, places[p]);
            assert_same_copy(&first, &second);
            free(start.bytes);
            free(first.bytes);
            free(second.bytes);
        }
}

/* As a forged checkpoint would have it: numbers may be nonsense, but places are within bounds. */
static void forged_states_never_reach_outside_their_arrays(void **state)
{
    (void)state;
    static const uint64_t values[] = {UINT64_MAX, (uint64_t)1 << 40, 4, 3, 2};
    const md_rule *rule = &md_rule_simplemkl_pegasos;
    size_t refused = 0;
    for (size_t at = 0; at + sizeof *values <= rule->state_size; at += sizeof *values)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            make(rule, (md_space){md_structure_find("chain"), shapes[1]}, "mkl", 2, 2);
            learn(0, 26);
            memcpy((char *)t.online.state + at, &values[v], sizeof values[v]);
            if (rule->is_sound(&t.online))
                learn(26, 40);
            else
                refused++;
            trial_clear(&t);
        }
    assert_true(refused >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optima_of_classes_are_near),
        cmocka_unit_test(optima_of_chains_are_near),
        cmocka_unit_test(optima_of_trees_are_near),
        cmocka_unit_test(theta_gives_the_slopes_of_the_least_value),
        cmocka_unit_test(weights_stay_on_the_simplex),
        cmocka_unit_test(directions_keep_weights_from_falling_below_0),
        cmocka_unit_test(penalties_that_have_no_weights_are_refused),
        cmocka_unit_test(a_copied_state_goes_on_in_the_middle_of_a_line_search),
        cmocka_unit_test(forged_states_never_reach_outside_their_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
