/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of functions of one norm: proxes and conjugates against their definitions, and penalties
 * that are such sums and a square. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "penalty/scalar_sum.h"
#include <math.h>
#include <stdio.h>

static md_penalty *make(const char *text)
{
    md_penalty *penalty = NULL;
    assert_int_equal(md_penalty_create(&penalty, text, NULL), MEDLEY_OK);
    return penalty;
}

static const char *const specs[] = {"group-lasso+l2",
                                    "0.3*group-lasso+block(q=1.5)",
                                    "block(q=1.05)+2*l2",
                                    "block(q=3)+0.2*group-lasso",
                                    "block(q=1.3)+block(q=6)",
                                    "block(q=10)",
                                    "block(q=1.01)+0.1*block(q=1.2)",
                                    "0.5*l2+elastic(t=0.2)+3*block(q=2.5)",
                                    "group-lasso+2*group-lasso"};

typedef void (*law)(const md_scalar_sum *sum, const char *text, double tau, double y);

static void for_all(law check)
{
    md_random random;
    md_random_seed(&random, 3);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (int trial = 0; trial < 200; trial++) {
            md_penalty_parts parts;
            md_penalty *penalty = make(specs[i]);
            assert_true(md_penalty_split(&parts, penalty));
            assert_null(parts.root);
            parts.sum.unit = trial % 2 ? 1 : 0.2 + md_random_uniform(&random);
            check(&parts.sum, specs[i], exp(2 * md_random_normal(&random)),
                  exp(2 * md_random_normal(&random)));
            md_penalty_free(penalty);
        }
}

static void near_to(const char *text, const char *what, double found, double expected, double error)
{
    if (!(fabs(found - expected) <= error))
        fail_msg("%s, %s: %.17g, not %.17g", text, what, found, expected);
}

/* x + tau g'(x) = y, or y is too small for any x above 0. */
static void check_prox(const md_scalar_sum *sum, const char *text, double tau, double y)
{
    const md_scalar_penalty *g = &md_sum_of_scalars;
    double derivative;
    double ignored;
    const double x = g->prox(sum, tau, y, &derivative);
    if (x > 0)
        near_to(text, "prox", x + tau * g->slope(sum, x), y, 1e-12 * y);
    else
        assert_true(1e-300 + tau * g->slope(sum, 1e-300) >= y * (1 - 1e-15));
    const double h = 1e-6 * y;
    const double up = g->prox(sum, tau, y + h, &ignored);
    const double down = g->prox(sum, tau, y - h, &ignored);
    if (down > 1e-100)
        near_to(text, "derivative of the prox", derivative, (up - down) / (2 * h), 1e-4);
}

static void check_slopes(const md_scalar_sum *sum, const char *text, double tau, double y)
{
    const md_scalar_penalty *g = &md_sum_of_scalars;
    const double h = 1e-5 * y;
    (void)tau;
    near_to(text, "slope", g->slope(sum, y),
            (g->value(sum, y + h) - g->value(sum, y - h)) / (2 * h), 1e-4 * g->slope(sum, y));
    near_to(text, "bend", g->bend(sum, y), (g->slope(sum, y + h) - g->slope(sum, y - h)) / (2 * h),
            1e-4 * g->bend(sum, y) + 1e-9);
}

/* No x gives more than the conjugate, and its slope gives as much. */
static void check_conjugate(const md_scalar_sum *sum, const char *text, double tau, double y)
{
    const md_scalar_penalty *g = &md_sum_of_scalars;
    double slope;
    double curvature;
    const double value = g->conjugate(sum, tau, y, &slope, &curvature);
    if (isinf(value)) {
        assert_string_equal(text, "group-lasso+2*group-lasso");
        assert_true(y > tau * g->slope_at_zero(sum));
        return;
    }
    for (int power = -60; power <= 60; power++) {
        const double x = slope * pow(1.1, power);
        assert_true(x * y - tau * g->value(sum, x) <= value * (1 + 1e-12) + 1e-15);
    }
    near_to(text, "conjugate", slope * y - tau * g->value(sum, slope), value,
            1e-12 * (1 + fabs(value)));
    if (slope > 1e-100 && curvature < 1e100) {
        const double h = 1e-7 * y;
        double up;
        double down;
        g->conjugate(sum, tau, y + h, &up, NULL);
        g->conjugate(sum, tau, y - h, &down, NULL);
        if (down > 0)
            near_to(text, "curvature", curvature, (up - down) / (2 * h), 1e-3 * curvature + 1e-9);
    }
}

static void proxes_solve_their_equations(void **state)
{
    (void)state;
    for_all(check_prox);
}

static void slopes_are_differences(void **state)
{
    (void)state;
    for_all(check_slopes);
}

static void conjugates_are_suprema(void **state)
{
    (void)state;
    for_all(check_conjugate);
}

/* Sums that have a name of their own. */
static void some_sums_are_known(void **state)
{
    (void)state;
    static const char *const same[][2] = {{"0.7*group-lasso+0.3*l2", "elastic(t=0.3)"},
                                          {"block(q=1.5)+block(q=1.5)", "2*block(q=1.5)"},
                                          {"0.5*l2+0.5*block(q=2)", "l2"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        md_penalty *one = make(same[i][0]);
        md_penalty *other = make(same[i][1]);
        md_penalty_parts parts;
        const void *inner;
        double factor;
        assert_true(md_penalty_split(&parts, one));
        const md_scalar_penalty *g = md_penalty_scalar(other, &inner, &factor);
        for (double y = 0; y < 20; y = 1.5 * y + 0.01) {
            double left[4] = {0};
            double right[4] = {0};
            left[0] = md_sum_of_scalars.prox(&parts.sum, 0.7, y, &left[1]);
            right[0] = g->prox(inner, 0.7 * factor, y, &right[1]);
            left[2] = md_sum_of_scalars.conjugate(&parts.sum, 0.7, y, &left[3], NULL);
            right[2] = g->conjugate(inner, 0.7 * factor, y, &right[3], NULL);
            for (size_t k = 0; k < 4; k++)
                near_to(same[i][0], "same", left[k], right[k], 1e-11 * (1 + right[k]));
        }
        assert_int_equal(md_sum_of_scalars.smooth_conjugate(&parts.sum),
                         g->smooth_conjugate(inner));
        md_penalty_free(one);
        md_penalty_free(other);
    }
}

/* The parts add up to the penalty. */
static void parts_are_the_penalty(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double q; /* of the square; 0: none, -1: not such a sum */
    } cases[] = {{"l2+mkl", 1},
                 {"elastic-mkl(s=0.3)", 1},
                 {"elastic-mkl(s=1)", 0},
                 {"mkl+2*mkl+block", 1},
                 {"group-lasso+l2", 0},
                 {"0.5*squared-block(q=1.5)+3*l2+elastic", 1.5},
                 {"l1+l2", -1},
                 {"mkl+squared-block(q=1.5)", -1},
                 {"none", -1},
                 {"absorbed-l2+mkl", -1},
                 {"l2+l2+l2+l2+l2+l2+l2+l2+l2", -1}};
    static const double b[] = {0.5, 2, 0, 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        md_penalty *penalty = make(cases[i].text);
        md_penalty_parts parts;
        assert_int_equal(md_penalty_split(&parts, penalty), cases[i].q >= 0);
        if (cases[i].q >= 0) {
            double sum = 0;
            double value = 0;
            assert_true(cases[i].q == (parts.root != NULL ? parts.q : 0));
            for (size_t m = 0; m < 4; m++) {
                value += md_sum_of_scalars.value(&parts.sum, b[m]);
                sum += parts.root ? parts.q * parts.root->value(parts.root_state, b[m]) : 0;
            }
            value += parts.root ? parts.factor / 2 * pow(sum, 2 / parts.q) : 0;
            near_to(cases[i].text, "value", value, md_penalty_value(penalty, b, 4), 1e-13 * value);
        }
        md_penalty_free(penalty);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proxes_solve_their_equations), cmocka_unit_test(slopes_are_differences),
        cmocka_unit_test(conjugates_are_suprema),       cmocka_unit_test(some_sums_are_known),
        cmocka_unit_test(parts_are_the_penalty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
