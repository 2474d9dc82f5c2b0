/* SPDX-License-Identifier: BSD-3-Clause */
/* The least point of convex functions of one number whose minimiser is known: smooth, kinked,
 * bounded on one side, in small and huge intervals, and at what number of steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "optim/optim.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct curve {
    double point; /* of the minimum */
    size_t looks;
    double (*slope)(double distance);
};

static double look(void *context, double t)
{
    struct curve *curve = context;
    curve->looks++;
    return curve->slope(t - curve->point);
}

static double square(double d)
{
    return d;
}

static double fourth_power(double d)
{
    return d * d * d;
}

static double kink(double d)
{
    return d < 0 ? -1 : 1;
}

static double uneven_kink(double d)
{
    return d < 0 ? -1e-9 + d : 5 + exp(fmin(d, 300));
}

static double barrier(double d) /* the domain ends one below the minimum */
{
    return d <= -1 ? -INFINITY : 1 - 1 / (1 + d);
}

static double wall(double d) /* an end of the domain where the slope is not 0 */
{
    return d < 0 ? -INFINITY : 3 + d;
}

static double logistic(double d)
{
    return tanh(d / 2);
}

static double root(double d)
{
    return copysign(sqrt(fabs(d)), d);
}

static double (*const slopes[])(double) = {square,  fourth_power, kink,     uneven_kink,
                                           barrier, wall,         logistic, root};

static double check(double (*slope)(double), double point, double low, double high)
{
    struct curve curve = {.point = point, .slope = slope};
    const double found = md_least_point(look, &curve, low, high);
    /* slopes are known as well as t - point, but d^3 vanishes before d does and 1 + d rounds */
    const double blur = slope == fourth_power ? 1e-100 : slope == barrier ? 1e-15 : 0;
    if (!(fabs(found - point) <= 4 * DBL_EPSILON * fabs(point) + blur + 1e-300))
        fail_msg("in [%g, %g]: %.17g instead of %.17g", low, high, found, point);
    if (curve.looks > 300)
        fail_msg("in [%g, %g]: %zu looks for %g", low, high, curve.looks, point);
    return (double)curve.looks;
}

static void known_minima_are_found(void **state)
{
    (void)state;
    static const double points[] = {0, 1, -1, 0.3, 1e-7, -1e-30, 12345.678, -1e20};
    for (size_t s = 0; s < sizeof slopes / sizeof *slopes; s++)
        for (size_t p = 0; p < sizeof points / sizeof *points; p++) {
            const double point = points[p];
            const double reach = 2 * fabs(point) + 1;
            check(slopes[s], point, point - reach, point + 3 * reach);
            check(slopes[s], point, -1e100, 1e100);
            check(slopes[s], point, -INFINITY, point + reach);
            check(slopes[s], point, point - reach, INFINITY);
            check(slopes[s], point, -INFINITY, INFINITY);
            check(slopes[s], point, point, point + reach);
            check(slopes[s], point, point - reach, point);
            check(slopes[s], point, point, point);
        }
}

static void random_minima_are_found(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 3);
    for (int round = 0; round < 2000; round++) {
        const double point = md_random_normal(&random) * exp(5 * md_random_normal(&random));
        const double below = exp(5 * md_random_normal(&random));
        const double above = exp(5 * md_random_normal(&random));
        const size_t which = md_random_below(&random, sizeof slopes / sizeof *slopes);
        check(slopes[which], point, point - below, point + above);
    }
}

static void the_ends_are_minima_where_the_slope_says_so(void **state)
{
    (void)state;
    struct curve curve = {.point = 0, .slope = square};
    assert_true(md_least_point(look, &curve, 2, 5) == 2);
    assert_true(md_least_point(look, &curve, 2, INFINITY) == 2);
    assert_true(md_least_point(look, &curve, -5, -2) == -2);
    assert_true(md_least_point(look, &curve, -INFINITY, -2) == -2);
}

static double always_falling(double d)
{
    (void)d;
    return -1;
}

static double always_rising(double d)
{
    (void)d;
    return 1;
}

static void a_minimum_at_infinity_is_told(void **state)
{
    (void)state;
    struct curve curve = {.point = 0, .slope = always_falling};
    assert_true(md_least_point(look, &curve, 0, INFINITY) == INFINITY);
    assert_true(md_least_point(look, &curve, -INFINITY, INFINITY) == INFINITY);
    assert_true(md_least_point(look, &curve, -INFINITY, 7) == 7);
    curve.slope = always_rising;
    assert_true(md_least_point(look, &curve, -INFINITY, 0) == -INFINITY);
    assert_true(md_least_point(look, &curve, -7, INFINITY) == -7);
}

/* Secants must do most of the work on smooth slopes, and jumps cost no more than halving. */
static void few_looks_are_needed(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 5);
    double smooth = 0;
    double jumping = 0;
    for (int round = 0; round < 200; round++) {
        const double point = md_random_normal(&random);
        smooth += check(logistic, point, -20, 20) / 200;
        jumping += check(kink, point, -20, 20) / 200;
    }
    assert_true(smooth < 20);
    assert_true(jumping < 100);
}

/* ---- golden section ---- */

static double value_of(int kind, double d)
{
    return kind == 0 ? d * d : kind == 1 ? fabs(d) : d < 0 ? -d : 3 * d + d * d * d;
}

/* Every look makes the interval shorter by the golden section, and it keeps the least point. */
static void golden_sections_close_in_on_the_least_point(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 7);
    for (int round = 0; round < 300; round++) {
        const double length = exp(5 * md_random_normal(&random));
        const double point = length * md_random_uniform(&random);
        md_golden golden = md_golden_over(length);
        size_t looks = 0;
        for (; golden.high - golden.low > 1e-3 * length; looks++) {
            const double at = md_golden_ask(&golden);
            assert_true(at > golden.low && at < golden.high);
            md_golden_tell(&golden, value_of(round % 3, at - point));
            assert_true(golden.low <= point && point <= golden.high);
        }
        assert_int_equal(looks, 2 + 14 + 1); /* 0.618^15 < 1e-3 < 0.618^14 */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_minima_are_found),
        cmocka_unit_test(random_minima_are_found),
        cmocka_unit_test(the_ends_are_minima_where_the_slope_says_so),
        cmocka_unit_test(a_minimum_at_infinity_is_told),
        cmocka_unit_test(few_looks_are_needed),
        cmocka_unit_test(golden_sections_close_in_on_the_least_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
