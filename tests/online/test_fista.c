/* SPDX-License-Identifier: BSD-3-Clause */
/* Accelerated proximal gradients reach optima that are found by listing all outputs
 * (listed_problem.h), with every structure, smooth loss and kind of penalty; on the way they are as
 * near as the theorem says; and the lower bounds that come along hold. */
#include "online/trial.h"

#include "penalty/bound.h"

/* Sums come last: what listing finds for them is no optimum. */
static const char *const penalties[] = {"l2",
                                        "group-lasso",
                                        "mkl",
                                        "absorbed-l2",
                                        "block(q=1.5)",
                                        "squared-block(q=1.25)",
                                        "elastic(t=0.4)",
                                        "elastic-mkl(s=0.3)",
                                        "mkl+l2",
                                        "l2+0.5*group-lasso",
                                        "0.5*absorbed-l2+mkl"};
enum { PENALTIES = sizeof penalties / sizeof *penalties, SUMS = 3, MOST_EPOCHS = 3000 };

static const md_rule *const rule = &md_rule_fista;

static double one_epoch(struct trial *t, size_t epoch)
{
    double objective;
    medley_error error = {0};
    assert_int_equal(md_online_epoch(&t->online, epoch, &error), MEDLEY_OK);
    assert_int_equal(rule->measure(&t->online, &objective, &error), MEDLEY_OK);
    return objective;
}

/* Epochs until the gap is reached, or there is nothing left to gain. F never rises. */
static size_t descend(struct trial *t, double gap)
{
    double before = INFINITY;
    t->online.settings.gap = gap;
    for (size_t e = 0; e < MOST_EPOCHS; e++) {
        const double now = one_epoch(t, e);
        if (!(now <= before + 1e-6))
            fail_msg("%s: from %.12g to %.12g", t->name, before, now);
        before = now;
        if (rule->gap(&t->online) <= gap || rule->is_settled(&t->online))
            return e + 1;
    }
    fail_msg("%s: the gap is %g after %d epochs", t->name, rule->gap(&t->online), MOST_EPOCHS);
    return 0;
}

static size_t check(md_space space, const md_loss *loss, size_t p, double C, uint64_t seed)
{
    static struct trial t; /* large */
    vector theta;
    double bound;
    trial_make(&t, space, loss, penalties[p], C, seed);
    trial_begin(&t, rule, 1 + seed % 4);
    const bool sum = p >= PENALTIES - SUMS;
    const double least = sum ? INFINITY : least_objective(&t.objective);
    const size_t epochs = descend(&t, sum ? 1e-4 : 1e-7); /* bounds of sums take long */
    trial_weights(&t, theta);
    const double objective = objective_at(&t.objective, theta);
    assert_int_equal(md_online_bound(&t.online, &bound, NULL), MEDLEY_OK);
    const double optimum = fmin(least, objective);
    if (!(objective <= least * (1 + 1e-6)))
        fail_msg("%s: objective %.12g, optimum below %.12g", t.name, objective, least);
    if (!(bound <= optimum * (1 + 1e-9) && bound >= optimum * (1 - 1e-3)))
        fail_msg("%s: bound %.12g, optimum below %.12g", t.name, bound, optimum);
    trial_clear(&t);
    return epochs;
}

static void check_space(md_space space)
{
    for (size_t l = 0; md_losses[l] != NULL; l++) {
        size_t epochs = 0;
        for (size_t p = l % 2; md_losses[l]->by_marginals && p < PENALTIES; p += 2)
            epochs += check(space, md_losses[l], p, p % 3 ? 3 : 0.5, 10 * l + p / 2);
        print_message("%s, order %zu, %s: %zu epochs\n", space.structure->name, space.shape.order,
                      md_losses[l]->name, epochs / (PENALTIES / 2));
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
    for (size_t s = 1; s < 5; s += 3)
        check_space((md_space){md_structure_find("chain"), shapes[s]});
}

static void optima_of_trees_are_reached(void **state)
{
    (void)state;
    check_space((md_space){md_structure_find("tree"), shapes[5]});
}

/* ---- the theorem ---- */

/* Of f: no more than the mean of the largest ||psi||^2. */
static double lipschitz_of(const struct listed *listed)
{
    double sum = 0;
    for (size_t i = 0; i < listed->visit_count; i++) {
        const size_t e = listed->visit[i];
        double largest = 0;
        for (size_t y = 0; y < listed->outputs[e].count; y++) {
            double square = 0;
            for (size_t j = 0; j < WEIGHTS; j++)
                square += listed->outputs[e].psi[y][j] * listed->outputs[e].psi[y][j];
            largest = fmax(largest, square);
        }
        sum += largest;
    }
    return sum / (double)listed->visit_count;
}

/* Theorem 4.4, where doubling L may make it twice as large as it must be:
 * F(x_k) - F* <= 2 (2 L) ||x*||^2 / (k+1)^2. */
static void every_epoch_is_as_near_as_the_theorem_says(void **state)
{
    (void)state;
    enum { EPOCHS = 60, SEEDS = 6 };
    static struct trial t; /* large */
    const md_space space = {md_structure_find("chain"), shapes[1]};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double objective[EPOCHS];
        vector optimum;
        double square = 0;
        trial_make(&t, space, &md_loss_logistic, penalties[seed % 3], 1000, seed);
        trial_begin(&t, rule, 2);
        for (size_t e = 0; e < EPOCHS; e++)
            objective[e] = one_epoch(&t, e);
        for (size_t e = EPOCHS; e < MOST_EPOCHS && !rule->is_settled(&t.online); e++)
            one_epoch(&t, e);
        trial_weights(&t, optimum);
        for (size_t j = 0; j < WEIGHTS; j++)
            square += optimum[j] * optimum[j];
        const double least = objective_at(&t.objective, optimum);
        for (size_t e = 0; e < EPOCHS; e++) {
            const double k = (double)(e + 1);
            const double most = 4 * lipschitz_of(&t.listed) * square / ((k + 1) * (k + 1));
            if (!(objective[e] - least <= most + 1e-6))
                fail_msg("%s: %g above the optimum after %zu epochs, and not %g", t.name,
                         objective[e] - least, e + 1, most);
        }
        trial_clear(&t);
    }
}

/* ---- what does not matter ---- */

static void seeds_and_rounds_do_not_matter(void **state)
{
    (void)state;
    static struct trial t; /* large */
    const md_space space = {md_structure_find("chain"), shapes[1]};
    vector first, other;
    for (size_t batch = 1; batch <= 5; batch += 4) {
        trial_make(&t, space, &md_loss_logistic, "mkl", 1, 1);
        trial_begin(&t, rule, batch);
        for (size_t e = 0; e < 20; e++)
            one_epoch(&t, e + 100 * batch);
        trial_weights(&t, batch == 1 ? first : other);
        trial_clear(&t);
    }
    assert_memory_equal(first, other, sizeof first);
}

/* ---- prox of sums ---- */

/* No other vector nearby has less of 1/2 ||x - b||^2 + tau Omega(x). */
static void proxes_of_sums_are_exact(void **state)
{
    (void)state;
    enum { COUNT = 5, OTHERS = 40 };
    static const char *const sums[] = {"mkl+l2",
                                       "l2+mkl",
                                       "group-lasso+l2",
                                       "l2+group-lasso",
                                       "mkl+0.3*block(q=1.5)+l2",
                                       "elastic-mkl(s=0.3)"};
    md_random random;
    md_random_seed(&random, 3);
    for (int trial = 0; trial < 300; trial++) {
        MD_OWNED(md_penalty_free) md_penalty *penalty = NULL;
        double b[COUNT], x[COUNT], near[COUNT], scratch[8 * COUNT + 3 * COUNT];
        const double tau = exp(md_random_normal(&random));
        double least = 0;
        assert_int_equal(md_penalty_create(&penalty, sums[trial % 6], NULL), MEDLEY_OK);
        assert_true(md_penalty_exact_scratch(penalty, COUNT) <= sizeof scratch / sizeof *scratch);
        for (size_t m = 0; m < COUNT; m++)
            b[m] = x[m] = m == 1 && trial % 4 == 0 ? 0 : exp(md_random_normal(&random));
        md_penalty_exact_prox(penalty, tau, x, COUNT, scratch);
        for (int other = 0; other < OTHERS; other++) {
            double value = 0;
            for (size_t m = 0; m < COUNT; m++) {
                const double by = other == 0 ? 0 : pow(10, -other % 6) * md_random_normal(&random);
                near[m] = fmax(0, x[m] + by);
                value += (near[m] - b[m]) * (near[m] - b[m]) / 2;
            }
            value += tau * md_penalty_value(penalty, near, COUNT);
            least = other == 0 ? value : least;
            if (!(value >= least - 1e-12 * (1 + least)))
                fail_msg("%s, tau %g: %.15g, and %.15g nearby", sums[trial % 6], tau, least, value);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optima_of_classes_are_reached),
        cmocka_unit_test(optima_of_chains_are_reached),
        cmocka_unit_test(optima_of_trees_are_reached),
        cmocka_unit_test(every_epoch_is_as_near_as_the_theorem_says),
        cmocka_unit_test(seeds_and_rounds_do_not_matter),
        cmocka_unit_test(proxes_of_sums_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
