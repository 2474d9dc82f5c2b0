/* SPDX-License-Identifier: BSD-3-Clause */
/* Lower bounds of objectives from the gradients of a run, for every structure, loss and penalty
 * that has one: never above the optimum, which is found by listing all outputs, and near it where
 * runs come near it. */
#include "online/trial.h"

#include "penalty/bound.h"

static const char *const penalties[] = {"mkl",
                                        "l2",
                                        "absorbed-l2",
                                        "group-lasso",
                                        "block(q=1.5)",
                                        "squared-block(q=1.25)",
                                        "elastic(t=0.4)",
                                        "elastic-mkl(s=0.3)",
                                        "0.5*absorbed-l2+mkl",
                                        "0.3*group-lasso+absorbed-l2"};
enum { PENALTIES = sizeof penalties / sizeof *penalties };

static double trial_bound(struct trial *t, size_t epochs)
{
    medley_error error = {0};
    double bound = NAN;
    for (size_t e = 0; e < epochs; e++)
        assert_int_equal(md_online_epoch(&t->online, e, &error), MEDLEY_OK);
    assert_false(t->online.diverged);
    assert_int_equal(md_online_bound(&t->online, &bound, &error), MEDLEY_OK);
    return bound;
}

/* ---- over all structures, losses and penalties ---- */

struct tally {
    size_t count;
    double gap; /* of the optimum found here to the bound, summed */
};

/* After few epochs and after many: the bound is below the optimum, however far it is from it. */
static void check_bound(struct tally *tally, md_space space, const md_loss *loss,
                        const char *penalty, uint64_t seed)
{
    static const size_t epochs[] = {1, 5, 60};
    static struct trial t; /* large */
    const double C = seed % 2 ? 0.3 : 3;
    double least = NAN;
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs; i++) {
        trial_make(&t, space, loss, penalty, C, seed);
        trial_begin(&t, &md_rule_spom, 1 + seed % 3);
        least = i == 0 ? least_objective(&t.objective) : least;
        const double bound = trial_bound(&t, epochs[i]);
        if (!(bound >= 0 && bound <= least * (1 + 1e-9)))
            fail_msg("%s, %zu epochs: bound %.12g, objective %.12g", t.name, epochs[i], bound,
                     least);
        if (epochs[i] == 60) {
            tally->count++;
            tally->gap += 1 - bound / least;
        }
        trial_clear(&t);
    }
}

static void check_space(md_space space)
{
    for (size_t l = 0; md_losses[l] != NULL; l++) {
        struct tally tally = {0};
        for (size_t p = 0; p < PENALTIES; p++)
            check_bound(&tally, space, md_losses[l], penalties[p], 10 * l + p);
        const double gap = tally.gap / (double)tally.count;
        print_message("%s, order %zu, %s: mean gap %.3g\n", space.structure->name,
                      space.shape.order, md_losses[l]->name, gap);
        assert_true(gap < 0.05); /* what is much smaller is not worth much */
    }
}

static void bounds_of_classes_hold(void **state)
{
    (void)state;
    check_space((md_space){md_structure_find("multiclass"), shapes[0]});
}

static void bounds_of_chains_hold(void **state)
{
    (void)state;
    for (size_t s = 0; s < 5; s++)
        check_space((md_space){md_structure_find("chain"), shapes[s]});
}

static void bounds_of_trees_hold(void **state)
{
    (void)state;
    for (size_t s = 5; s < SHAPES; s++)
        check_space((md_space){md_structure_find("tree"), shapes[s]});
    check_space((md_space){md_structure_find("tree"), shapes[0]});
}

static void bounds_of_outside_structures_hold(void **state)
{
    (void)state;
    medley_structure pairs = chain_structure();
    check_space((md_space){&md_structure_custom, {.labels = LABELS, .custom = &pairs}});
}

/* Wrong labels that cost a half, as only the program's function knows. */
static int decode_at_half_cost(void *context, const medley_example *x, const float *score,
                               const int32_t *gold, int32_t *y, double *cost, void *workspace)
{
    float augmented[MOST_PARTS];
    const size_t rows = x->length * x->labels;
    memcpy(augmented, score, (rows + x->labels * x->labels) * sizeof *score);
    for (size_t p = 0; p < rows; p++)
        augmented[p] += (int32_t)(p % x->labels) != gold[p / x->labels] ? 0.5F : 0;
    const int status = chain_decode(context, x, augmented, y, workspace);
    *cost = 0;
    for (size_t i = 0; i < x->length; i++)
        *cost += y[i] != gold[i] ? 0.5 : 0;
    return status;
}

static void costs_of_outside_structures_count(void **state)
{
    (void)state;
    static struct trial t;
    medley_structure pairs = chain_structure();
    pairs.decode_with_cost = decode_at_half_cost;
    pairs.marginals = NULL;
    const md_space space = {&md_structure_custom, {.labels = LABELS, .custom = &pairs}};
    for (int climbs = 0; climbs < 2; climbs++) {
        const md_rule *rule = climbs ? &md_rule_frank_wolfe : &md_rule_spom;
        trial_make(&t, space, md_loss_find("hinge"), "l2", 0.3, 4);
        for (size_t e = 0; e < EXAMPLES; e++)
            for (size_t y = 0; y < t.listed.outputs[e].count; y++)
                t.listed.outputs[e].cost[y] /= 2;
        trial_begin(&t, rule, 1);
        const double least = least_objective(&t.objective);
        double bound = climbs ? 0 : trial_bound(&t, 500);
        for (size_t e = 0; e < 500 && climbs; e++)
            assert_int_equal(md_online_epoch(&t.online, e, NULL), MEDLEY_OK);
        if (climbs) {
            rule->distributions(&t.online);
            assert_int_equal(md_online_bound(&t.online, &bound, NULL), MEDLEY_OK);
        }
        if (!(bound <= least * (1 + 1e-9) && bound >= 0.98 * least))
            fail_msg("%s: bound %.12g, objective %.12g", rule->about.name, bound, least);
        trial_clear(&t);
    }
}

/* ---- near the optimum ---- */

/* Strong penalties and long runs: the bound is next to the optimum, and still below. Mirror descent
 * has one penalty, and no blocks with terms of their own. */
static void bounds_of_long_runs_are_tight(void **state)
{
    (void)state;
    static const md_rule *const rules[] = {&md_rule_spom, &md_rule_pegasos, &md_rule_obscure};
    static struct trial t;
    const md_space space = {md_structure_find("chain"), shapes[1]};
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (size_t l = 0; md_losses[l] != NULL; l++) {
            trial_make(&t, space, md_losses[l], "squared-block(q=1.25)", 0.3, 4);
            trial_begin(&t, rules[r], 1);
            assert_int_equal(md_online_begin_stage(&t.online, r == 2, 0, NULL), MEDLEY_OK);
            const double least = least_objective(&t.objective);
            const double bound = trial_bound(&t, 1000);
            print_message("%s, %s: gap %.3g\n", rules[r]->about.name, md_losses[l]->name,
                          1 - bound / least);
            assert_true(bound <= least * (1 + 1e-9));
            assert_true(bound >= least * (1 - 5e-3));
            trial_clear(&t);
        }
}

/* Gradients are gathered as they are, and not as learning uses them: half of all rows would be left
 * out here. */
static void rows_that_learning_leaves_out_count(void **state)
{
    (void)state;
    static struct trial t;
    const md_space space = {md_structure_find("multiclass"), shapes[0]};
    for (uint64_t seed = 2; seed < 22; seed += 2) {
        trial_make(&t, space, md_loss_find("logistic"), "l2", 3, seed);
        trial_begin(&t, &md_rule_spom, 1);
        t.online.settings.skip_threshold = t.online.settings.least_part = 0.4;
        const double least = least_objective(&t.objective);
        const double bound = trial_bound(&t, 100);
        if (!(bound <= least * (1 + 1e-9) && bound >= 0.6 * least))
            fail_msg("%s: bound %.12g, objective %.12g", t.name, bound, least);
        trial_clear(&t);
    }
}

/* No gradient was met. */
static void a_run_without_epochs_has_the_bound_0(void **state)
{
    (void)state;
    static struct trial t;
    trial_make(&t, (md_space){md_structure_find("multiclass"), shapes[0]}, md_losses[0], "mkl", 1,
               2);
    trial_begin(&t, &md_rule_spom, 1);
    assert_true(trial_bound(&t, 0) == 0);
    trial_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_of_classes_hold),
        cmocka_unit_test(bounds_of_chains_hold),
        cmocka_unit_test(bounds_of_trees_hold),
        cmocka_unit_test(bounds_of_outside_structures_hold),
        cmocka_unit_test(costs_of_outside_structures_count),
        cmocka_unit_test(bounds_of_long_runs_are_tight),
        cmocka_unit_test(rows_that_learning_leaves_out_count),
        cmocka_unit_test(a_run_without_epochs_has_the_bound_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
