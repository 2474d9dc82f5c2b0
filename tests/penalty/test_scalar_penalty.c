/* SPDX-License-Identifier: BSD-3-Clause */
/* Penalties as sums of one function of each norm: against the penalty itself, and each function
 * against search among values, finite differences and the equalities of Fenchel and Moreau. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "golden.h"
#include "penalty/penalty.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const texts[] = {
    "group-lasso",    "l2",      "elastic",        "elastic(t=0)", "elastic(t=1)", "elastic(0.1)",
    "elastic(t=0.9)", "block",   "block(q=1.001)", "block(q=1.1)", "block(q=2)",   "block(q=3)",
    "block(q=10)",    "0.25*l2", "3*block(q=1.3)"};
enum { TEXTS = sizeof texts / sizeof *texts };

struct scalar_case {
    const char *text;
    md_penalty *penalty;
    const md_scalar_penalty *scalar;
    const void *state;
    double factor, tau;
    md_random random;
};

static void for_all_scalars(void (*law)(struct scalar_case *c), uint64_t seeds)
{
    for (size_t i = 0; i < TEXTS; i++)
        for (uint64_t seed = 0; seed < seeds; seed++) {
            struct scalar_case c = {.text = texts[i]};
            assert_int_equal(md_penalty_create(&c.penalty, texts[i], NULL), MEDLEY_OK);
            c.scalar = md_penalty_scalar(c.penalty, &c.state, &c.factor);
            assert_non_null(c.scalar);
            md_random_seed(&c.random, seed);
            c.tau = exp(1.5 * md_random_normal(&c.random));
            law(&c);
            md_penalty_free(c.penalty);
        }
}

static double draw_norm(struct scalar_case *c)
{
    return fabs(md_random_normal(&c->random)) * exp(md_random_normal(&c->random));
}

static void assert_near(const struct scalar_case *c, const char *what, double y, double found,
                        double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s, tau %g, y %g: %s is %.17g, expected %.17g", c->text, c->tau, y, what, found,
                 expected);
}

static bool has_finite_conjugate(const struct scalar_case *c)
{
    const double slope = c->scalar->slope_at_zero(c->state);
    return isfinite(c->scalar->conjugate(c->state, 1, 2 * slope + 1, NULL, NULL));
}

/* ---- against the penalty ---- */

static void check_same_as_penalty(struct scalar_case *c)
{
    double b[4] = {0, draw_norm(c), draw_norm(c), draw_norm(c)};
    double scratch[12];
    double sum = 0;
    for (size_t m = 0; m < 4; m++)
        sum += c->scalar->value(c->state, b[m]);
    const double whole = md_penalty_value(c->penalty, b, 4);
    assert_near(c, "sum", b[1], c->factor * sum, whole, 1e-14 * whole);
    double shrunk[4];
    double derivative;
    for (size_t m = 0; m < 4; m++)
        shrunk[m] = c->scalar->prox(c->state, c->tau * c->factor, b[m], &derivative);
    md_penalty_prox(c->penalty, c->tau, b, 4, scratch);
    for (size_t m = 0; m < 4; m++)
        assert_near(c, "prox", b[m], shrunk[m], b[m], 1e-15 * (1 + b[m]));
    assert_true(c->scalar->value(c->state, 0) == 0);
}

static void the_sum_is_the_penalty(void **state)
{
    (void)state;
    for_all_scalars(check_same_as_penalty, 50);
}

static void only_single_terms_are_scalar(void **state)
{
    (void)state;
    static const char *const others[] = {"mkl", "l1", "none", "squared-block", "l2+group-lasso"};
    md_penalty *penalty = NULL;
    const void *inner;
    double factor;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(md_penalty_create(&penalty, others[i], NULL), MEDLEY_OK);
        assert_null(md_penalty_scalar(penalty, &inner, &factor));
        md_penalty_free(penalty);
    }
    static const double weight[2] = {1, 2};
    assert_int_equal(md_penalty_create(&penalty, "0.5*l2", NULL), MEDLEY_OK);
    assert_non_null(md_penalty_scalar(penalty, &inner, &factor));
    assert_true(factor == 0.5);
    assert_int_equal(md_penalty_set_weights(penalty, weight, 2, NULL), MEDLEY_OK);
    assert_non_null(md_penalty_scalar(penalty, &inner, &factor)); /* of weighted norms */
    md_penalty_free(penalty);
}

/* ---- slopes ---- */

static void check_slope_at_zero(struct scalar_case *c)
{
    const double slope = c->scalar->slope_at_zero(c->state);
    double derivative;
    if (strstr(c->text, "1.001") == NULL) { /* there the slope turns up only beyond all numbers */
        const double step = 1e-30;
        assert_true(fabs(c->scalar->value(c->state, step) / step - slope) < 0.01);
    }
    if (slope > 0) {
        assert_true(c->scalar->prox(c->state, c->tau, c->tau * slope, &derivative) == 0);
        assert_true(c->scalar->prox(c->state, c->tau, c->tau * slope * (1 + 1e-9), &derivative) >
                    0);
    } else if (strstr(c->text, "1.001") == NULL) {
        assert_true(c->scalar->prox(c->state, c->tau, 1e-6 * c->tau, &derivative) > 0);
    }
}

static void blocks_stay_at_zero_up_to_the_slope_there(void **state)
{
    (void)state;
    for_all_scalars(check_slope_at_zero, 10);
}

static void smoothness_depends_on_the_parameter(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool smooth;
    } cases[] = {{"group-lasso", false},
                 {"elastic(t=0)", false},
                 {"elastic(t=0.01)", true},
                 {"elastic(t=1)", true},
                 {"l2", true},
                 {"block", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        md_penalty *penalty = NULL;
        const void *inner;
        double factor;
        assert_int_equal(md_penalty_create(&penalty, cases[i].text, NULL), MEDLEY_OK);
        const md_scalar_penalty *scalar = md_penalty_scalar(penalty, &inner, &factor);
        assert_int_equal(scalar->smooth_conjugate(inner), cases[i].smooth);
        md_penalty_free(penalty);
    }
}

/* ---- conjugates ---- */

struct line {
    const struct scalar_case *c;
    double y;
};

static double negative_conjugand(void *context, double x)
{
    const struct line *line = context;
    return line->c->tau * line->c->scalar->value(line->c->state, x) - x * line->y;
}

/* q near 1 has suprema at astronomical norms: those are left to Fenchel's equality. */
static bool is_searchable(const struct scalar_case *c, double y, double *slope)
{
    const double slack = y - c->tau * c->scalar->slope_at_zero(c->state);
    if (!has_finite_conjugate(c)) {
        *slope = 0;
        return slack <= 0;
    }
    c->scalar->conjugate(c->state, c->tau, y, slope, NULL);
    return *slope < 1e3;
}

static void check_conjugate(struct scalar_case *c)
{
    const double y = 2 * draw_norm(c);
    struct line line = {c, y};
    double slope;
    const double value = c->scalar->conjugate(c->state, c->tau, y, NULL, NULL);
    if (!is_searchable(c, y, &slope)) {
        if (!has_finite_conjugate(c))
            assert_true(isinf(value));
        return;
    }
    const double x = golden_least(negative_conjugand, &line, 0, 2 * slope + 1);
    const double expected = fmax(0, -negative_conjugand(&line, x));
    assert_near(c, "conjugate", y, value, expected, 1e-13 * (expected + y * (1 + slope)));
}

static void conjugates_are_the_suprema(void **state)
{
    (void)state;
    for_all_scalars(check_conjugate, 200);
}

/* tau g(x) + conjugate(y) >= x y, with equality at x = the conjugate's slope. */
static void check_fenchel(struct scalar_case *c)
{
    const double y = draw_norm(c);
    const double other = draw_norm(c);
    double slope = 0;
    const double conjugate = c->scalar->conjugate(c->state, c->tau, y, &slope, NULL);
    assert_true(c->tau * c->scalar->value(c->state, other) + conjugate >=
                other * y * (1 - 1e-13) - 1e-300);
    if (!has_finite_conjugate(c) || slope > 1e100)
        return;
    const double sum = c->tau * c->scalar->value(c->state, slope) + conjugate;
    assert_near(c, "value + conjugate", y, sum, slope * y, 2e-12 * slope * y);
}

static void values_and_conjugates_meet_at_the_slope(void **state)
{
    (void)state;
    for_all_scalars(check_fenchel, 300);
}

static void check_conjugate_derivatives(struct scalar_case *c)
{
    if (!has_finite_conjugate(c))
        return;
    const double y = draw_norm(c) + 1e-3;
    const double step = 1e-6 * y;
    double slope;
    double curvature;
    double above;
    double below;
    double curvatures[2];
    const double value = c->scalar->conjugate(c->state, c->tau, y, &slope, &curvature);
    const double up = c->scalar->conjugate(c->state, c->tau, y + step, &above, &curvatures[0]);
    const double down = c->scalar->conjugate(c->state, c->tau, y - step, &below, &curvatures[1]);
    if (slope > 1e100 || fabs(curvatures[0] - curvatures[1]) > 0.1 * curvature)
        return; /* at the end of numbers, or at a kink */
    const double noise = 1e-15 * 1e6;
    assert_near(c, "slope", y, slope, (up - down) / (2 * step), 1e-6 * slope + noise * value / y);
    assert_near(c, "curvature", y, curvature, (above - below) / (2 * step),
                1e-6 * curvature + noise * slope / y + 1e-300);
}

static void conjugates_have_the_slopes_and_curvatures_they_tell(void **state)
{
    (void)state;
    for_all_scalars(check_conjugate_derivatives, 300);
}

/* No infinite or undefined number comes back where the conjugate is smooth. */
static void check_extremes(struct scalar_case *c)
{
    static const double norms[] = {0, DBL_MIN, 1e-300, 1e-100, 1e-9, 1, 1e9, 1e60};
    if (!has_finite_conjugate(c))
        return;
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        double slope;
        double curvature;
        const double value = c->scalar->conjugate(c->state, c->tau, norms[i], &slope, &curvature);
        assert_true(isfinite(value) && isfinite(slope) && isfinite(curvature));
        assert_true(value >= 0 && slope >= 0 && curvature >= 0);
        double derivative;
        const double x = c->scalar->prox(c->state, c->tau, norms[i], &derivative);
        assert_true(x >= 0 && x <= norms[i] && derivative >= 0 && derivative <= 1);
    }
}

static void nothing_overflows(void **state)
{
    (void)state;
    for_all_scalars(check_extremes, 20);
}

static void the_curvature_at_zero_is_large_where_it_is_infinite(void **state)
{
    (void)state;
    md_penalty *penalty = NULL;
    const void *inner;
    double factor;
    double slope;
    double curvature;
    assert_int_equal(md_penalty_create(&penalty, "block(q=3)", NULL), MEDLEY_OK);
    const md_scalar_penalty *scalar = md_penalty_scalar(penalty, &inner, &factor);
    assert_true(scalar->conjugate(inner, 1, 0, &slope, &curvature) == 0);
    assert_true(slope == 0 && curvature > 1e50 && isfinite(curvature));
    md_penalty_free(penalty);
}

/* ---- proximity operators ---- */

static double prox_objective(void *context, double x)
{
    const struct line *line = context;
    return line->c->tau * line->c->scalar->value(line->c->state, x) + x * (x / 2 - line->y);
}

static void check_prox(struct scalar_case *c)
{
    const double y = draw_norm(c);
    struct line line = {c, y};
    double derivative;
    const double x = c->scalar->prox(c->state, c->tau, y, &derivative);
    const double found = golden_least(prox_objective, &line, 0, y);
    assert_near(c, "prox", y, x, found, 1e-7 * (1 + y));
    assert_true(prox_objective(&line, x) <= prox_objective(&line, found) + 1e-15 * (1 + y * y));
}

static void prox_is_the_minimiser(void **state)
{
    (void)state;
    for_all_scalars(check_prox, 300);
}

static void check_prox_derivative(struct scalar_case *c)
{
    const double y = draw_norm(c) + 1e-3;
    const double step = 1e-6 * y;
    double derivative;
    double above;
    double below;
    c->scalar->prox(c->state, c->tau, y, &derivative);
    const double difference = c->scalar->prox(c->state, c->tau, y + step, &above) -
                              c->scalar->prox(c->state, c->tau, y - step, &below);
    if (fabs(above - below) < 1e-3) /* else a kink lies between */
        assert_near(c, "derivative of the prox", y, derivative, difference / (2 * step), 1e-3);
    if (fabs(above - below) < 1e-5)
        assert_near(c, "derivative of the prox", y, derivative, difference / (2 * step), 2e-7);
}

static void prox_has_the_derivative_it_tells(void **state)
{
    (void)state;
    for_all_scalars(check_prox_derivative, 300);
}

/* y = x + z, x the prox and z the prox of the conjugate: x is the conjugate's slope at z. */
static void check_moreau(struct scalar_case *c)
{
    const double y = draw_norm(c);
    double derivative;
    double slope = 0;
    const double x = c->scalar->prox(c->state, c->tau, y, &derivative);
    double z = y - x;
    if (!has_finite_conjugate(c)) /* at the end of the domain, but for rounding */
        z = fmin(z, c->tau * c->scalar->slope_at_zero(c->state));
    const double conjugate = c->scalar->conjugate(c->state, c->tau, z, &slope, NULL);
    const double sum = c->tau * c->scalar->value(c->state, x) + conjugate;
    /* near q = 1 the conjugate multiplies the rounding of z by r = 1001 */
    assert_near(c, "value + conjugate at the prox", y, sum, x * z, 1e-11 * (1e-3 + x * z));
}

static void prox_and_conjugate_obey_moreau(void **state)
{
    (void)state;
    for_all_scalars(check_moreau, 300);
}

/* Half squares of norms, and what is none. */
static void squares_have_roots(void **state)
{
    static const struct {
        const char *text;
        double q, factor; /* q 0: no square */
    } cases[] = {{"mkl", 1, 1},
                 {"2*mkl", 1, 2},
                 {"squared-block", 1.5, 1},
                 {"squared-block(q=1)", 1, 1},
                 {"squared-block(q=4)", 4, 1},
                 {"squared-block(q=1.0001)", 0, 0},
                 {"elastic-mkl", 0, 0},
                 {"mkl+l2", 0, 0},
                 {"group-lasso", 0, 0},
                 {"l2", 0, 0}};
    static const double b[] = {0.3, 0, 2, 0.7};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        md_penalty *penalty = NULL;
        const void *inner = NULL;
        double q = 0;
        double factor = 0;
        assert_int_equal(md_penalty_create(&penalty, cases[i].text, NULL), MEDLEY_OK);
        const md_scalar_penalty *root = md_penalty_root(penalty, &inner, &q, &factor);
        assert_true((root != NULL) == (cases[i].q > 0));
        if (root != NULL) {
            double sum = 0;
            for (size_t m = 0; m < 4; m++)
                sum += q * root->value(inner, b[m]);
            assert_true(q == cases[i].q && factor == cases[i].factor);
            const double value = factor * pow(sum, 2 / q) / 2;
            assert_true(fabs(value - md_penalty_value(penalty, b, 4)) <= 1e-12 * value);
        }
        md_penalty_free(penalty);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_is_the_penalty),
        cmocka_unit_test(only_single_terms_are_scalar),
        cmocka_unit_test(blocks_stay_at_zero_up_to_the_slope_there),
        cmocka_unit_test(smoothness_depends_on_the_parameter),
        cmocka_unit_test(conjugates_are_the_suprema),
        cmocka_unit_test(values_and_conjugates_meet_at_the_slope),
        cmocka_unit_test(conjugates_have_the_slopes_and_curvatures_they_tell),
        cmocka_unit_test(nothing_overflows),
        cmocka_unit_test(the_curvature_at_zero_is_large_where_it_is_infinite),
        cmocka_unit_test(prox_is_the_minimiser),
        cmocka_unit_test(prox_has_the_derivative_it_tells),
        cmocka_unit_test(prox_and_conjugate_obey_moreau),
        cmocka_unit_test(squares_have_roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
