/* SPDX-License-Identifier: BSD-3-Clause */
/* Dual ascent reaches the gap that is asked for, with every structure, loss and penalty; what it
 * proves holds against optima that are found by listing all outputs (listed_problem.h). */
#include "online/trial.h"

#include "online/duals.h"
#include "penalty/bound.h"
#include "penalty/link.h"

static const char *const penalties[] = {"squared-block(q=1.25)",
                                        "l2",
                                        "squared-block(q=1.05)",
                                        "0.5*squared-block(q=2)",
                                        "mkl",
                                        "group-lasso",
                                        "block(q=1.5)",
                                        "elastic(t=0.4)",
                                        "elastic-mkl(s=0.3)"};
enum { PENALTIES = sizeof penalties / sizeof *penalties };

/* Epochs until the gap is reached, at most `most`. */
static size_t climb(struct trial *t, double gap, size_t most)
{
    const md_rule *rule = &md_rule_frank_wolfe;
    medley_error error = {0};
    double objective;
    t->online.settings.gap = gap;
    for (size_t e = 0; e < most; e++) {
        assert_int_equal(md_online_epoch(&t->online, e, &error), MEDLEY_OK);
        assert_int_equal(rule->measure(&t->online, &objective, &error), MEDLEY_OK);
        if (rule->gap(&t->online) <= gap)
            return e + 1;
    }
    fail_msg("%s: the gap is %g after %zu epochs", t->name, rule->gap(&t->online), most);
    return most;
}

static double check(md_space space, const md_loss *loss, const char *penalty, double C,
                    uint64_t seed)
{
    static struct trial t;                                                /* large */
    const double gap = strcmp(penalty, "group-lasso") == 0 ? 1e-2 : 2e-3; /* it has no curvature */
    vector theta;
    double bound;
    trial_make(&t, space, loss, penalty, C, 2 * seed); /* even: no block has a term of its own */
    trial_begin(&t, &md_rule_frank_wolfe, 1 + seed % 4);
    const double least = least_objective(&t.objective);
    const size_t epochs = climb(&t, gap, 5000);
    trial_weights(&t, theta);
    const double objective = objective_at(&t.objective, theta);
    md_rule_frank_wolfe.distributions(&t.online);
    assert_int_equal(md_online_bound(&t.online, &bound, NULL), MEDLEY_OK);
    const double optimum =
        fmin(least, objective); /* no less; hinges are found roughly by listing */
    if (!(bound <= optimum * (1 + 1e-9) && bound >= optimum * (1 - 1.1 * gap)))
        fail_msg("%s: bound %.12g, optimum below %.12g", t.name, bound, optimum);
    if (!(objective <= least * (1 + 1.1 * gap)))
        fail_msg("%s: objective %.12g, optimum below %.12g", t.name, objective, least);
    trial_clear(&t);
    return (double)epochs;
}

static void check_space(md_space space)
{
    for (size_t l = 0; md_losses[l] != NULL; l++) {
        double epochs = 0;
        for (size_t p = 0; p < PENALTIES; p++)
            epochs += check(space, md_losses[l], penalties[p], p % 2 ? 3 : 0.5, 10 * l + p);
        print_message("%s, order %zu, %s: %.0f epochs\n", space.structure->name, space.shape.order,
                      md_losses[l]->name, epochs / PENALTIES);
    }
}

static void optima_of_classes_are_reached(void **state)
{
    (void)state;
    check_space((md_space){md_structure_find("multiclass"), shapes[0]});
}

static void optima_of_chains_are_reached(void **state)
{
    (void)state;
    for (size_t s = 0; s < 5; s++)
        check_space((md_space){md_structure_find("chain"), shapes[s]});
}

static void optima_of_trees_are_reached(void **state)
{
    (void)state;
    for (size_t s = 5; s < SHAPES; s++)
        check_space((md_space){md_structure_find("tree"), shapes[s]});
}

static void optima_of_outside_structures_are_reached(void **state)
{
    (void)state;
    medley_structure pairs = chain_structure();
    check_space((md_space){&md_structure_custom, {.labels = LABELS, .custom = &pairs}});
}

/* ---- links ---- */

/* w maximises <v, w> - lambda (Omega(w) + mu/2 sum b^2): no other vector nearby has more. */
static void links_give_the_weights_that_belong_to_a_dual_vector(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 5);
    for (size_t p = 0; p < PENALTIES; p++) {
        MD_OWNED(md_penalty_free) md_penalty *penalty = NULL;
        assert_int_equal(md_penalty_create(&penalty, penalties[p], NULL), MEDLEY_OK);
        const bool smooth = md_penalty_link_kind(penalty) == MD_SMOOTH_LINK;
        assert_true(smooth == (p < 4));
        for (int trial = 0; trial < 200; trial++) {
            enum { COUNT = 5 };
            double n[COUNT], scale[COUNT], w[COUNT], scratch[3 * COUNT];
            const double lambda = exp(md_random_normal(&random));
            const double mu = smooth ? 0 : exp(md_random_normal(&random));
            double value = 0;
            for (size_t m = 0; m < COUNT; m++)
                n[m] = trial % 3 == 0 && m == 1 ? 0 : exp(md_random_normal(&random));
            md_penalty_link(penalty, lambda, mu, n, COUNT, scale, scratch);
            for (int other = 0; other < 20; other++) {
                double sum = 0;
                for (size_t m = 0; m < COUNT; m++) {
                    const double by = other == 0 ? 0 : 0.05 * md_random_normal(&random);
                    w[m] = fmax(0, n[m] * scale[m] + by);
                    sum += n[m] * w[m] - lambda * mu / 2 * w[m] * w[m];
                }
                sum -= lambda * md_penalty_value(penalty, w, COUNT);
                value = other == 0 ? sum : value;
                assert_true(sum <= value + 1e-9 * (1 + fabs(value)));
            }
        }
    }
}

static void sums_and_inner_terms_have_no_link(void **state)
{
    (void)state;
    static const char *const none[] = {"mkl+l2", "l1", "sparse-group", "absorbed-l2"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        MD_OWNED(md_penalty_free) md_penalty *penalty = NULL;
        assert_int_equal(md_penalty_create(&penalty, none[i], NULL), MEDLEY_OK);
        assert_int_equal(md_penalty_link_kind(penalty), MD_NO_LINK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optima_of_classes_are_reached),
        cmocka_unit_test(optima_of_chains_are_reached),
        cmocka_unit_test(optima_of_trees_are_reached),
        cmocka_unit_test(optima_of_outside_structures_are_reached),
        cmocka_unit_test(links_give_the_weights_that_belong_to_a_dual_vector),
        cmocka_unit_test(sums_and_inner_terms_have_no_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
