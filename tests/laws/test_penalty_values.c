/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for the value of every penalty of the registry: it is convex, reported weights follow
 * its slopes, and what learners conclude from "uniform" and "absorbed" is true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "laws/penalty_case.h"
#include <string.h>

/* Rounding in sums of 40 terms of size up to 1e3 or so, relative to the size of the result. */
static const double ROUNDING = 1e-11;

static double dot(const double *x, const double *y, size_t count)
{
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        sum += x[m] * y[m];
    return sum;
}

static void check(bool holds, const struct penalty_case *c, const char *law, double left,
                  double right)
{
    if (!holds)
        fail_msg("%s: %s: %.17g against %.17g", c->name, law, left, right);
}

/* Omega((x+y)/2) <= (Omega(x)+Omega(y))/2 - sigma/8 ||x-y||^2 with the penalty's own sigma. */
static void is_convex(struct penalty_case *c)
{
    double y[CASE_MOST_BLOCKS] = {0};
    double middle[CASE_MOST_BLOCKS] = {0};
    double least = 1;
    for (size_t m = 0; c->weight != NULL && m < c->count; m++)
        least = m == 0 ? c->weight[0] : fmin(least, c->weight[m]);
    const double sigma =
        c->class->strong_convexity ? c->class->strong_convexity(&c->state, least) : 0;
    assert_true(sigma >= 0);
    for (int trial = 0; trial < 20; trial++) {
        draw_norms(&c->random, c->b, c->count);
        draw_norms(&c->random, y, c->count);
        double squares = 0;
        for (size_t m = 0; m < c->count; m++) {
            middle[m] = (c->b[m] + y[m]) / 2;
            squares += (c->b[m] - y[m]) * (c->b[m] - y[m]);
        }
        const double mean = (case_whole_value(c, c->b) + case_whole_value(c, y)) / 2;
        const double value = case_whole_value(c, middle);
        check(value <= mean - sigma / 8 * squares + ROUNDING * (1 + mean), c, "convex", value,
              mean - sigma / 8 * squares);
    }
}

static void value_is_convex_along_segments(void **state)
{
    (void)state;
    for_all_cases(is_convex);
}

/* With weights d a penalty is the one without at d b, and its conjugate that without at n / d. */
static void sees_weighted_norms(struct penalty_case *c)
{
    double x[CASE_MOST_BLOCKS] = {0};
    double n[CASE_MOST_BLOCKS] = {0};
    if (c->class->absorbed != NULL)
        return; /* which has no weights */
    for (size_t m = 0; m < c->count; m++) {
        c->d[m] += 0.1;
        x[m] = c->d[m] * c->b[m];
        n[m] = c->b[m] / c->d[m];
    }
    c->weight = c->d;
    const double weighted = case_value(c, c->b);
    const double conjugate =
        c->class->conjugate == NULL ? 0 : c->class->conjugate(&c->state, c->b, c->d, c->count);
    c->weight = NULL;
    const double plain = case_value(c, x);
    check(fabs(weighted - plain) <= ROUNDING * plain, c, "Omega(d b)", weighted, plain);
    if (c->class->conjugate == NULL)
        return;
    const double other = c->class->conjugate(&c->state, n, NULL, c->count);
    check(conjugate == other || fabs(conjugate - other) <= ROUNDING * other, c, "conjugate of n/d",
          conjugate, other);
}

static void weights_multiply_norms(void **state)
{
    (void)state;
    for_all_cases(sees_weighted_norms);
}

static void value_of_zero_is_zero(void **state)
{
    (void)state;
    const double zero[3] = {0};
    for (size_t i = 0; md_penalties[i] != NULL; i++) {
        struct penalty_case c;
        draw_case(&c, md_penalties[i], 3, 1);
        assert_true(case_value(&c, zero) == 0);
    }
}

static double value_and_absorbed(const md_penalty *penalty, const double *b, size_t count)
{
    return md_penalty_value(penalty, b, count) +
           md_penalty_absorbed(penalty) * dot(b, b, count) / 2;
}

/* beta_m is proportional to b_m / (dOmega/db_m), here by central differences; to b_m where Omega
 * does not depend on the norms. */
static void kernel_weights_are_norms_over_slopes(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    const double b[COUNT] = {0.5, 0, 1.25, 2};
    const double step = 1e-5;
    for (size_t i = 0; md_penalties[i] != NULL; i++) {
        md_penalty *penalty = NULL;
        double beta[COUNT];
        double expected[COUNT];
        double sum = 0;
        assert_int_equal(md_penalty_create(&penalty, md_penalties[i]->name, NULL), MEDLEY_OK);
        md_penalty_weights(penalty, b, COUNT, beta);
        for (size_t m = 0; m < COUNT; m++) {
            double x[COUNT];
            memcpy(x, b, sizeof x);
            x[m] = b[m] + step;
            const double above = value_and_absorbed(penalty, x, COUNT);
            x[m] = fmax(0, b[m] - step);
            const double slope = (above - value_and_absorbed(penalty, x, COUNT)) / (2 * step);
            expected[m] = b[m] > 0 ? b[m] / (slope > 0 ? slope : 1) : 0;
            sum += expected[m];
        }
        for (size_t m = 0; m < COUNT; m++) /* central differences: error of order step^2 */
            assert_true(fabs(beta[m] - expected[m] / sum) < 1e-8);
        const double zero[COUNT] = {0};
        md_penalty_weights(penalty, zero, COUNT, beta);
        assert_true(beta[0] == 0 && beta[COUNT - 1] == 0);
        md_penalty_free(penalty);
    }
}

/* The larger norm never has the smaller weight, whatever the penalty and its parameters. */
static void kernel_weights_rise_with_norms(void **state)
{
    (void)state;
    static const char *const texts[] = {"block(q=1.001)",
                                        "block(q=1.5)",
                                        "block(q=2)",
                                        "block(q=2.001)",
                                        "block(q=3)",
                                        "block(q=10)",
                                        "squared-block(q=1)",
                                        "mkl",
                                        "l2",
                                        "squared-block(q=3)",
                                        "elastic(t=0.3)",
                                        "none",
                                        "squared-block(q=10)",
                                        "block(q=3)+0.1*l2"};
    const double b[] = {1e-3, 0.5, 1, 2, 30};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        md_penalty *penalty = NULL;
        double beta[5];
        assert_int_equal(md_penalty_create(&penalty, texts[i], NULL), MEDLEY_OK);
        md_penalty_weights(penalty, b, 5, beta);
        for (size_t m = 1; m < 5; m++)
            if (beta[m] < beta[m - 1] * (1 - 1e-12))
                fail_msg("%s: %g has weight %g, %g has %g", texts[i], b[m - 1], beta[m - 1], b[m],
                         beta[m]);
        md_penalty_free(penalty);
    }
}

static void kernel_weights_sum_to_one(void **state)
{
    (void)state;
    static const char *const texts[] = {"block(q=10)", "squared-block(q=1)",
                                        "mkl+0.1*l2",  "elastic(t=0)",
                                        "l1",          "sparse-group(s=0)"};
    const double b[] = {1e-60, 3, 1e150, 1e-300, 0, 7};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        md_penalty *penalty = NULL;
        double beta[6];
        double sum = 0;
        assert_int_equal(md_penalty_create(&penalty, texts[i], NULL), MEDLEY_OK);
        md_penalty_weights(penalty, b, 6, beta);
        for (size_t m = 0; m < 6; m++) {
            assert_true(beta[m] >= 0);
            sum += beta[m];
        }
        assert_true(fabs(sum - 1) < 1e-14);
        assert_true(beta[4] == 0);
        md_penalty_free(penalty);
    }
}

/* A penalty that calls itself uniform treats all blocks alike where they weigh the same: late
 * thresholds rely on it. */
static void is_uniform(struct penalty_case *c)
{
    double p[CASE_MOST_BLOCKS] = {0};
    c->weight = NULL;
    case_prox(c, c->tau, c->b, p);
    size_t largest = 0;
    for (size_t m = 0; m < c->count; m++)
        largest = c->b[m] > c->b[largest] ? m : largest;
    for (size_t m = 0; c->class->uniform && m < c->count; m++)
        check(fabs(p[m] * c->b[largest] - p[largest] * c->b[m]) <= ROUNDING, c, "uniform", p[m],
              p[largest]);
}

static void uniform_penalties_shrink_all_blocks_alike(void **state)
{
    (void)state;
    for_all_cases(is_uniform);
    static const struct {
        const char *text;
        double absorbed;
        bool uniform;
    } cases[] = {{"l1", 0, true},
                 {"l1+l2", 0, true},
                 {"l1+0.5*absorbed-l2", 0.5, true},
                 {"2*absorbed-l2+mkl", 2, false},
                 {"absorbed-l2+0.25*absorbed-l2", 1.25, true},
                 {"sparse-group", 0, false}};
    const double weight[] = {1, 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        md_penalty *penalty = NULL;
        assert_int_equal(md_penalty_create(&penalty, cases[i].text, NULL), MEDLEY_OK);
        assert_int_equal(md_penalty_is_uniform(penalty), cases[i].uniform);
        assert_true(md_penalty_absorbed(penalty) == cases[i].absorbed);
        assert_int_equal(md_penalty_set_weights(penalty, weight, 2, NULL), MEDLEY_OK);
        assert_false(md_penalty_is_uniform(penalty));
        md_penalty_free(penalty);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_is_convex_along_segments),
        cmocka_unit_test(weights_multiply_norms),
        cmocka_unit_test(value_of_zero_is_zero),
        cmocka_unit_test(kernel_weights_are_norms_over_slopes),
        cmocka_unit_test(kernel_weights_rise_with_norms),
        cmocka_unit_test(kernel_weights_sum_to_one),
        cmocka_unit_test(uniform_penalties_shrink_all_blocks_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
