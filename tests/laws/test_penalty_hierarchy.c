/* SPDX-License-Identifier: BSD-3-Clause */
/* Hierarchical groups: value and prox against direct sums over the members of each group. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "penalty/hierarchy.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MOST = 12 };

struct tree_case {
    md_hierarchy hierarchy;
    size_t parent[MOST], group[MOST];
    double weight[MOST], b[MOST];
    double tau;
};

static void draw_tree(struct tree_case *c, md_random *random)
{
    *c = (struct tree_case){0};
    const size_t groups = 1 + md_random_below(random, MOST);
    const size_t blocks = 1 + md_random_below(random, MOST);
    for (size_t g = 0; g < groups; g++) {
        c->parent[g] =
            g == 0 || md_random_below(random, 6) == 0 ? MD_NO_GROUP : md_random_below(random, g);
        c->weight[g] = md_random_below(random, 5) == 0 ? 0 : md_random_uniform(random);
    }
    for (size_t m = 0; m < blocks; m++) {
        c->group[m] =
            md_random_below(random, 8) == 0 ? MD_NO_GROUP : md_random_below(random, groups);
        c->b[m] = md_random_below(random, 6) == 0 ? 0 : fabs(md_random_normal(random));
    }
    c->tau = exp(md_random_normal(random) - 1);
    c->hierarchy = (md_hierarchy){groups, c->parent, c->weight, blocks, c->group};
}

static bool is_member(const struct tree_case *c, size_t block, size_t group)
{
    for (size_t g = c->group[block]; g != MD_NO_GROUP; g = c->parent[g])
        if (g == group)
            return true;
    return false;
}

static double direct_norm(const struct tree_case *c, const double *x, size_t group)
{
    double squares = 0;
    for (size_t m = 0; m < c->hierarchy.block_count; m++)
        squares += is_member(c, m, group) ? x[m] * x[m] : 0;
    return sqrt(squares);
}

static double direct_value(const struct tree_case *c, const double *x)
{
    double value = 0;
    for (size_t g = 0; g < c->hierarchy.group_count; g++)
        value += c->weight[g] * direct_norm(c, x, g);
    return value;
}

static double objective(const struct tree_case *c, const double *x)
{
    double squares = 0;
    for (size_t m = 0; m < c->hierarchy.block_count; m++)
        squares += (x[m] - c->b[m]) * (x[m] - c->b[m]);
    return squares / 2 + c->tau * direct_value(c, x);
}

static void value_is_the_sum_over_groups(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 1);
    for (int trial = 0; trial < 200; trial++) {
        struct tree_case c;
        double scratch[MOST];
        draw_tree(&c, &random);
        assert_int_equal(md_hierarchy_check(&c.hierarchy, NULL), MEDLEY_OK);
        assert_true(fabs(md_hierarchy_value(&c.hierarchy, c.b, scratch) - direct_value(&c, c.b)) <
                    1e-13);
    }
}

/* One shrink after the other, deepest groups first, as the theorem says it. */
static void shrink_one_by_one(const struct tree_case *c, double *x)
{
    for (size_t g = c->hierarchy.group_count; g-- > 0;) {
        const double norm = direct_norm(c, x, g);
        const double scale = norm > 0 ? fmax(0, 1 - c->tau * c->weight[g] / norm) : 1;
        for (size_t m = 0; m < c->hierarchy.block_count; m++)
            x[m] *= is_member(c, m, g) ? scale : 1;
    }
}

static void prox_is_exact_for_trees(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 2);
    for (int trial = 0; trial < 200; trial++) {
        struct tree_case c;
        double scratch[MOST];
        double p[MOST];
        double direct[MOST];
        double x[MOST] = {0};
        draw_tree(&c, &random);
        memcpy(p, c.b, sizeof p);
        memcpy(direct, c.b, sizeof direct);
        md_hierarchy_prox(&c.hierarchy, c.tau, p, scratch);
        shrink_one_by_one(&c, direct);
        const double least = objective(&c, p);
        for (size_t m = 0; m < c.hierarchy.block_count; m++) {
            assert_true(fabs(p[m] - direct[m]) < 1e-14);
            assert_true(p[m] >= 0 && p[m] <= c.b[m]);
        }
        for (int move = 0; move < 50; move++) {
            const double size = pow(10, -5 * md_random_uniform(&random));
            double distance = 0;
            for (size_t m = 0; m < c.hierarchy.block_count; m++) {
                x[m] = fmax(0, p[m] + size * md_random_normal(&random));
                distance += (x[m] - p[m]) * (x[m] - p[m]);
            }
            /* growth by strong convexity; 1e-12 for rounding */
            assert_true(objective(&c, x) >= least + distance / 2 - 1e-12);
        }
    }
}

static void a_block_without_its_parent_is_impossible(void **state)
{
    (void)state;
    /* a chain 0 - 1 - 2 with one block each: blocks vanish from the leaf upwards */
    const size_t parent[3] = {MD_NO_GROUP, 0, 1};
    const size_t group[3] = {0, 1, 2};
    const double weight[3] = {1, 1, 1};
    const md_hierarchy chain = {3, parent, weight, 3, group};
    for (int step = 0; step < 60; step++) {
        const double tau = 0.05 * step;
        double b[3] = {1, 0.8, 0.9};
        double scratch[3];
        md_hierarchy_prox(&chain, tau, b, scratch);
        assert_true(b[0] > 0 || b[1] == 0);
        assert_true(b[1] > 0 || b[2] == 0);
    }
}

static void extremes_stay_finite(void **state)
{
    (void)state;
    static const double sizes[] = {1e-300, 1e-160, 1, 1e150, 1e300};
    static const double taus[] = {0, 1e-300, 1, 1e300};
    const size_t parent[2] = {MD_NO_GROUP, 0};
    const size_t group[3] = {0, 1, MD_NO_GROUP};
    const double weight[2] = {1, 0};
    const md_hierarchy tree = {2, parent, weight, 3, group};
    for (size_t i = 0; i < 5; i++)
        for (size_t t = 0; t < 4; t++) {
            double b[3] = {sizes[i], sizes[i] / 2, sizes[i]};
            double scratch[2];
            md_hierarchy_prox(&tree, taus[t], b, scratch);
            assert_true(b[0] >= 0 && b[0] <= sizes[i]);
            assert_true(b[1] >= 0 && b[1] <= sizes[i] / 2);
            assert_true(b[2] == sizes[i]); /* in no group */
            if (taus[t] == 0)
                assert_true(b[0] == sizes[i] && b[1] == sizes[i] / 2);
            if (taus[t] > 10 * sizes[i])
                assert_true(b[0] == 0 && b[1] == 0);
        }
    double zero[3] = {0};
    double scratch[2];
    md_hierarchy_prox(&tree, 1, zero, scratch);
    assert_true(zero[0] == 0 && zero[1] == 0 && zero[2] == 0);
    assert_true(md_hierarchy_value(&tree, zero, scratch) == 0);
}

static void bad_trees_are_refused(void **state)
{
    (void)state;
    const size_t good_parent[2] = {MD_NO_GROUP, 0};
    const size_t bad_parent[2] = {1, MD_NO_GROUP};
    const size_t own_parent[2] = {MD_NO_GROUP, 1};
    const double good_weight[2] = {1, 1};
    const double bad_weight[2] = {1, -1};
    const size_t good_group[1] = {1};
    const size_t bad_group[1] = {2};
    const md_hierarchy trees[] = {{2, bad_parent, good_weight, 1, good_group},
                                  {2, own_parent, good_weight, 1, good_group},
                                  {2, good_parent, bad_weight, 1, good_group},
                                  {2, good_parent, good_weight, 1, bad_group}};
    for (size_t i = 0; i < 4; i++) {
        medley_error error = {0};
        assert_int_equal(md_hierarchy_check(&trees[i], &error), MEDLEY_USAGE);
        assert_true(error.message[0] != '\0');
    }
    const md_hierarchy good = {2, good_parent, good_weight, 1, good_group};
    assert_int_equal(md_hierarchy_check(&good, NULL), MEDLEY_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_is_the_sum_over_groups),
        cmocka_unit_test(prox_is_exact_for_trees),
        cmocka_unit_test(a_block_without_its_parent_is_impossible),
        cmocka_unit_test(extremes_stay_finite),
        cmocka_unit_test(bad_trees_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
