/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugates of penalties, which only see norms, and the bounds of objectives made of them: against
 * the inequality of Fenchel and Young, suprema that the proximal point method climbs to, penalties
 * that are sums of others, and grids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "penalty/bound.h"
#include "penalty_case.h"
#include <string.h>

static double case_conjugate(const struct penalty_case *c, const double *n)
{
    return c->class->conjugate(&c->state, n, c->weight, c->count);
}

static double product(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        sum += a[m] * b[m];
    return sum;
}

static md_penalty *make(const char *text)
{
    md_penalty *penalty = NULL;
    assert_int_equal(md_penalty_create(&penalty, text, NULL), MEDLEY_OK);
    return penalty;
}

/* ---- the penalties of the table ---- */

static void check_inequality(struct penalty_case *c)
{
    double n[CASE_MOST_BLOCKS];
    if (c->class->conjugate == NULL)
        return;
    for (int i = 0; i < 50; i++) {
        const double factor = exp(2 * md_random_normal(&c->random));
        draw_norms(&c->random, n, c->count);
        draw_norms(&c->random, c->b, c->count);
        for (size_t m = 0; m < c->count; m++)
            n[m] *= factor;
        const double most = case_whole_value(c, c->b) + case_conjugate(c, n);
        const double least = product(n, c->b, c->count);
        if (!(least <= most * (1 + 1e-12)))
            fail_msg("%s: product %.17g, value + conjugate %.17g", c->name, least, most);
    }
    memset(n, 0, sizeof n);
    assert_true(case_conjugate(c, n) == 0);
}

static void products_are_at_most_value_plus_conjugate(void **state)
{
    (void)state;
    for_all_cases(check_inequality);
}

/* b = prox(b + tau n) climbs to the supremum of n b - Omega(b), or beyond all bounds. */
static double climb(const struct penalty_case *c, const double *n)
{
    enum { STEPS = 900 };
    double b[CASE_MOST_BLOCKS] = {0};
    const double tau = 100;
    for (int step = 0; step < STEPS; step++) {
        for (size_t m = 0; m < c->count; m++)
            b[m] += tau * n[m];
        case_prox(c, tau, b, b);
        for (size_t m = 0; m < c->count && c->class->absorbed != NULL; m++)
            b[m] /= 1 + tau * c->class->absorbed(&c->state);
    }
    return product(n, b, c->count) - case_whole_value(c, b);
}

static void check_supremum(struct penalty_case *c)
{
    if (c->class->conjugate == NULL || c->count > 7)
        return;
    if (c->class->params != NULL && strcmp(c->class->params->name, "q") == 0 &&
        c->state.alignment < 1.15) /* suprema beyond what steps can reach */
        return;
    double n[CASE_MOST_BLOCKS];
    for (size_t m = 0; m < c->count; m++)
        n[m] = c->b[m] / 2;
    const double conjugate = case_conjugate(c, n);
    const double found = climb(c, n);
    if (isinf(conjugate) ? !(found > 1) : !(fabs(found - conjugate) <= 1e-4 * (1 + conjugate)))
        fail_msg("%s: conjugate %.17g, supremum %.17g", c->name, conjugate, found);
}

static void conjugates_are_suprema(void **state)
{
    (void)state;
    for_all_cases(check_supremum);
}

/* Halves of squares of norms have conjugates of the same kind. */
static void check_homogeneity(struct penalty_case *c)
{
    if (c->class->conjugate == NULL)
        return;
    double twice[CASE_MOST_BLOCKS];
    for (size_t m = 0; m < c->count; m++)
        twice[m] = 2 * c->b[m];
    const double value = 4 * case_whole_value(c, c->b);
    if (fabs(case_whole_value(c, twice) - value) > 1e-14 * value)
        return;
    const double conjugate = 4 * case_conjugate(c, c->b);
    const double found = case_conjugate(c, twice);
    assert_true(found == conjugate || fabs(found - conjugate) <= 1e-12 * conjugate);
}

static void conjugates_of_squares_are_squares(void **state)
{
    (void)state;
    for_all_cases(check_homogeneity);
}

static void some_conjugates_are_not_known(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool known;
    } cases[] = {{"mkl", true},           {"group-lasso", true}, {"l2", true},
                 {"absorbed-l2", true},   {"block", true},       {"squared-block", true},
                 {"elastic", true},       {"elastic-mkl", true}, {"0.5*l2+mkl", true},
                 {"sparse-group", false}, {"l1", false},         {"none", false},
                 {"l2+l1", false},        {"mkl+l2+none", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        md_penalty *penalty = make(cases[i].text);
        assert_int_equal(md_penalty_has_conjugate(penalty), cases[i].known);
        md_penalty_free(penalty);
    }
}

/* ---- sums ---- */

enum { BLOCKS = 6 };

/* Two texts of the same penalty. */
static const char *const same[][2] = {
    {"elastic(t=0.3)", "0.7*group-lasso+0.3*l2"},
    {"elastic(t=0.3)", "0.3*l2+0.7*group-lasso"},
    {"elastic-mkl(s=0.2)", "0.2*l2+0.8*mkl"},
    {"elastic-mkl(s=0.2)", "0.8*mkl+0.2*l2"},
    {"3*mkl", "mkl+2*mkl"},
    {"2*group-lasso", "group-lasso+0.4*group-lasso+0.6*group-lasso"},
    {"2*block(q=1.3)", "1.5*block(q=1.3)+0.5*block(q=1.3)"},
    {"2*elastic(t=0.4)", "elastic(t=0.2)+elastic(t=0.6)"},
};

static void sums_of_terms_share(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 5);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        md_penalty *one = make(same[i][0]);
        md_penalty *other = make(same[i][1]);
        for (int turn = 0; turn < 40; turn++) {
            double n[BLOCKS], d[BLOCKS], scratch[2 * BLOCKS];
            draw_norms(&random, n, BLOCKS);
            for (size_t m = 0; m < BLOCKS; m++)
                d[m] = 0.2 + md_random_uniform(&random);
            assert_int_equal(md_penalty_set_weights(one, turn % 2 ? d : NULL, BLOCKS, NULL), 0);
            assert_int_equal(md_penalty_set_weights(other, turn % 2 ? d : NULL, BLOCKS, NULL), 0);
            const double expected = md_penalty_conjugate(one, n, BLOCKS, scratch);
            const double found = md_penalty_conjugate(other, n, BLOCKS, scratch);
            const bool is_near = isinf(expected)
                                     ? isinf(found)
                                     : found >= expected * (1 - 1e-12) &&
                                           found <= expected * (i == 7 ? 1.2 : 1 + 1e-6) + 1e-12;
            if (!is_near)
                fail_msg("%s: %.17g, %s: %.17g", same[i][0], expected, same[i][1], found);
        }
        md_penalty_free(one);
        md_penalty_free(other);
    }
}

/* ---- bounds ---- */

static const char *const texts[] = {"mkl",
                                    "group-lasso",
                                    "l2",
                                    "absorbed-l2",
                                    "block(q=1.3)",
                                    "block(q=1.01)",
                                    "squared-block(q=1.05)",
                                    "squared-block(q=1)",
                                    "squared-block(q=3)",
                                    "elastic(t=0.1)",
                                    "elastic(t=0)",
                                    "elastic-mkl(s=0.3)",
                                    "0.3*group-lasso+l2",
                                    "mkl+0.5*block"};
enum { TEXTS = sizeof texts / sizeof *texts };

/* s cbar - lambda Omega*(s n / lambda), blocks from `penalised` on under an l2 term of their own.
 */
static double bound_at(const md_penalty *penalty, double s, double lambda, double cbar,
                       const double *norms, size_t penalised)
{
    double n[BLOCKS], scratch[2 * BLOCKS];
    double own = 0;
    for (size_t m = 0; m < BLOCKS; m++) {
        n[m] = s * norms[m] / lambda;
        own += m < penalised ? 0 : n[m] * n[m] / 2;
    }
    return s * cbar - lambda * (md_penalty_conjugate(penalty, n, penalised, scratch) + own);
}

static void bounds_are_the_best_of_a_grid(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 9);
    for (size_t i = 0; i < TEXTS; i++) {
        md_penalty *penalty = make(texts[i]);
        for (int turn = 0; turn < 20; turn++) {
            double norms[BLOCKS], scratch[3 * BLOCKS], scale = NAN;
            const size_t penalised = turn % 3 ? BLOCKS : BLOCKS - 2;
            const double lambda = exp(2 * md_random_normal(&random));
            const double cbar = 3 * md_random_uniform(&random);
            draw_norms(&random, norms, BLOCKS);
            const double bound =
                md_penalty_bound(penalty, lambda, cbar, norms, penalised, BLOCKS, &scale, scratch);
            double best = 0;
            for (int k = 1; k <= 400; k++)
                best = fmax(best, bound_at(penalty, k / 400.0, lambda, cbar, norms, penalised));
            if (!(bound >= best - 1e-9 * (1 + best) && bound <= best + 5e-3 * (cbar + best)))
                fail_msg("%s: bound %.17g, of a grid %.17g", texts[i], bound, best);
            assert_true(scale >= 0 && scale <= 1);
            const double there = bound_at(penalty, scale * (1 - 1e-12), lambda, cbar, norms,
                                          penalised); /* not beyond a wall */
            if (!(fabs(there - bound) <= 1e-9 * (1 + bound)))
                fail_msg("%s: bound %.17g, at its scale %.17g", texts[i], bound, there);
        }
        md_penalty_free(penalty);
    }
}

/* s = min(1, min lambda d / n). */
static void the_bound_of_group_lasso_has_a_formula(void **state)
{
    (void)state;
    static const double norms[] = {0.5, 2, 0.1};
    static const double d[] = {1, 2, 0.1};
    double scratch[9], scale;
    md_penalty *penalty = make("group-lasso");
    assert_int_equal(md_penalty_set_weights(penalty, d, 3, NULL), MEDLEY_OK);
    const double strong = md_penalty_bound(penalty, 1.5, 0.7, norms, 3, 3, &scale, scratch);
    assert_true(strong == 0.7 && scale == 1);
    const double weak = md_penalty_bound(penalty, 0.3, 0.7, norms, 3, 3, &scale, scratch);
    assert_true(fabs(weak - 0.3 * 0.7) <= 1e-14 && fabs(scale - 0.3) <= 1e-14);
    md_penalty_free(penalty);
}

/* A block without weight may be as long as it likes: its part of v must be 0. */
static void blocks_without_weight_leave_no_bound(void **state)
{
    (void)state;
    static const double d[] = {1, 0};
    static const char *const weighted[] = {"mkl",           "l2",     "group-lasso", "block",
                                           "squared-block", "elastic"};
    for (size_t i = 0; i < sizeof weighted / sizeof *weighted; i++) {
        double scratch[6], scale;
        md_penalty *penalty = make(weighted[i]);
        assert_int_equal(md_penalty_set_weights(penalty, d, 2, NULL), MEDLEY_OK);
        assert_true(md_penalty_bound(penalty, 1, 2, (double[]){1, 1e-9}, 2, 2, &scale, scratch) ==
                    0);
        assert_true(scale == 0);
        assert_true(md_penalty_bound(penalty, 1, 2, (double[]){1, 0}, 2, 2, NULL, scratch) > 1);
        md_penalty_free(penalty);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_at_most_value_plus_conjugate),
        cmocka_unit_test(conjugates_are_suprema),
        cmocka_unit_test(conjugates_of_squares_are_squares),
        cmocka_unit_test(some_conjugates_are_not_known),
        cmocka_unit_test(sums_of_terms_share),
        cmocka_unit_test(bounds_are_the_best_of_a_grid),
        cmocka_unit_test(the_bound_of_group_lasso_has_a_formula),
        cmocka_unit_test(blocks_without_weight_leave_no_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
