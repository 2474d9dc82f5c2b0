/* SPDX-License-Identifier: BSD-3-Clause */
/* Losses of one number: slopes by finite differences, conjugates and proximity operators by search
 * among values alone, and the equalities of Fenchel and Moreau. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "loss/loss_of_one_number.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_near(const struct loss_case *c, const char *what, double found, double expected,
                        double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s, parameter %g: %s is %.17g, expected %.17g", c->loss->name, c->state, what,
                 found, expected);
}

static double draw_score(struct loss_case *c, double y)
{
    const double spread = md_random_below(&c->random, 4) ? 2 : 20;
    return (c->loss->classifies ? 0 : y) + spread * md_random_normal(&c->random);
}

/* Inside the domain, at times very near its ends. */
static double draw_dual(struct loss_case *c, double y)
{
    const md_interval domain = c->loss->domain(&c->state, y);
    double low = domain.low;
    double high = domain.high;
    if (isinf(low))
        return 3 * md_random_normal(&c->random);
    const double u = md_random_uniform(&c->random);
    const double part = md_random_below(&c->random, 4) ? u : u * u * u * u * u * u;
    return md_random_below(&c->random, 2) ? low + part * (high - low) : high - part * (high - low);
}

/* ---- value and slope ---- */

/* A convex function whose one-sided differences enclose the slope. */
static void check_slope(struct loss_case *c)
{
    const double y = draw_target(c);
    const double f = draw_score(c, y);
    const double step = 1e-6 * (1 + fabs(f));
    const double value = c->loss->value(&c->state, y, f);
    const double slope = c->loss->slope(&c->state, y, f);
    const double above = (c->loss->value(&c->state, y, f + step) - value) / step;
    const double below = (value - c->loss->value(&c->state, y, f - step)) / step;
    const double noise = 4 * DBL_EPSILON * (value + fabs(y) + fabs(f)) / step;
    assert_true(value >= 0);
    if (!(slope <= above + noise && slope >= below - noise))
        fail_msg("%s: slope %.17g at y %g, f %g, differences %.17g and %.17g", c->loss->name, slope,
                 y, f, below, above);
    if (above - below < 1e-3 && above - below >= 0) /* no kink here */
        assert_near(c, "slope", slope, (above + below) / 2, noise + 1e-5);
}

static void slopes_are_those_of_the_values(void **state)
{
    (void)state;
    for_all_losses(check_slope, 3000);
}

static void values_by_hand(void **state)
{
    (void)state;
    const double epsilon = 0.25;
    const md_margin_loss *logistic = md_margin_loss_find("logistic");
    const md_margin_loss *hinge = md_margin_loss_find("hinge");
    const md_margin_loss *squared = md_margin_loss_find("squared");
    const md_margin_loss *tube = md_margin_loss_find("epsilon");
    assert_null(md_margin_loss_find("absolute"));
    assert_true(fabs(logistic->value(NULL, 1, 0) - log(2)) < 1e-16);
    assert_true(logistic->value(NULL, -1, 800) == 800);
    assert_true(logistic->value(NULL, 1, 800) == 0);
    assert_true(fabs(logistic->value(NULL, 1, 50) - exp(-50)) < 1e-35);
    assert_true(logistic->slope(NULL, 1, -800) == -1 && logistic->slope(NULL, -1, -800) == 0);
    assert_true(hinge->value(NULL, -1, 3) == 4 && hinge->value(NULL, 1, 3) == 0);
    assert_true(hinge->slope(NULL, -1, -1) == 0.5 && hinge->slope(NULL, 1, 1) == -0.5);
    assert_true(squared->value(NULL, 1, 3) == 2 && squared->slope(NULL, 1, 3) == 2);
    assert_true(tube->value(&epsilon, 1, 3) == 1.75 && tube->value(&epsilon, 1, 1.125) == 0);
    assert_true(tube->slope(&epsilon, 1, 1.25) == 0.5 && tube->slope(&epsilon, 1, 0.75) == -0.5);
    assert_true(tube->slope(&epsilon, 1, 0.5) == -1 && tube->slope(&epsilon, 1, 1.125) == 0);
    const double none = 0;
    assert_true(tube->slope(&none, 1, 1) == 0 && tube->slope(&none, 1, 1.5) == 1);
}

/* ---- conjugates ---- */

struct line {
    const struct loss_case *c;
    double y, rho, gamma, u;
};

static double negative_conjugand(void *context, double f)
{
    const struct line *line = context;
    return line->rho * f + line->c->loss->value(&line->c->state, line->y, f);
}

static void check_conjugate(struct loss_case *c)
{
    const double y = draw_target(c);
    const double rho = draw_dual(c, y);
    struct line line = {.c = c, .y = y, .rho = rho};
    const double f = golden_least(negative_conjugand, &line, -2000, 2000);
    const double expected = -negative_conjugand(&line, f);
    assert_near(c, "conjugate", c->loss->conjugate(&c->state, y, rho), expected,
                1e-13 * (1 + fabs(y * rho) + fabs(f)));
}

static void conjugates_are_the_suprema(void **state)
{
    (void)state;
    for_all_losses(check_conjugate, 2000);
}

/* At rho = -slope the conjugate and the value add up to -rho f; elsewhere they are above it. */
static void check_fenchel(struct loss_case *c)
{
    const double y = draw_target(c);
    const double f = draw_score(c, y);
    const double rho = -c->loss->slope(&c->state, y, f);
    const double other = draw_dual(c, y);
    const double value = c->loss->value(&c->state, y, f);
    const double scale = value + fabs(rho * f) + fabs(rho * y) + 1;
    assert_near(c, "value + conjugate", value + c->loss->conjugate(&c->state, y, rho), -rho * f,
                1e-13 * scale);
    assert_true(value + c->loss->conjugate(&c->state, y, other) >=
                -other * f - 1e-13 * (scale + fabs(other) * (fabs(f) + fabs(y) + fabs(other))));
}

static void values_and_conjugates_meet_at_the_slope(void **state)
{
    (void)state;
    for_all_losses(check_fenchel, 3000);
}

static void check_domain(struct loss_case *c)
{
    const double y = draw_target(c);
    const md_interval domain = c->loss->domain(&c->state, y);
    double low = domain.low;
    double high = domain.high;
    assert_true(low <= 0 && high >= 0);
    if (isinf(low)) {
        assert_true(isinf(high));
        return;
    }
    assert_true(isfinite(c->loss->conjugate(&c->state, y, low)));
    assert_true(isfinite(c->loss->conjugate(&c->state, y, high)));
    assert_true(isinf(c->loss->conjugate(&c->state, y, low - 1e-9)));
    assert_true(isinf(c->loss->conjugate(&c->state, y, high + 1e-9)));
    assert_true(c->loss->conjugate(&c->state, y, 0) == 0);
}

static void conjugates_are_infinite_outside_of_the_domain(void **state)
{
    (void)state;
    for_all_losses(check_domain, 20);
}

/* The slope is -f for the f that attains the supremum: the loss has slope -rho there. */
static void check_conjugate_derivatives(struct loss_case *c)
{
    const double y = draw_target(c);
    const double rho = draw_dual(c, y);
    const md_interval domain = c->loss->domain(&c->state, y);
    double low = domain.low;
    double high = domain.high;
    if (!c->loss->smooth_conjugate || rho <= low || rho >= high)
        return;
    const double slope = c->loss->conjugate_slope(&c->state, y, rho);
    const double curvature = c->loss->conjugate_curvature(&c->state, y, rho);
    assert_near(c, "slope at the supremum", c->loss->slope(&c->state, y, -slope), -rho,
                1e-13 * (1 + fabs(y) + fabs(rho)));
    const double room = fmin(1, fmin(rho - low, high - rho));
    const double step = 1e-4 * room;
    const double difference = c->loss->conjugate_slope(&c->state, y, rho + step) -
                              c->loss->conjugate_slope(&c->state, y, rho - step);
    const double noise = 8 * DBL_EPSILON * (fabs(slope) + fabs(y) + fabs(rho / room)) / step;
    assert_near(c, "curvature", curvature, difference / (2 * step), 1e-6 * curvature + noise);
    assert_true(curvature >= c->loss->strong_convexity * (1 - 1e-14));
}

static void conjugates_have_the_slopes_and_curvatures_they_tell(void **state)
{
    (void)state;
    for_all_losses(check_conjugate_derivatives, 3000);
}

/* Half-way values lie below the chord by at least s/8 of the squared distance. */
static void check_strong_convexity(struct loss_case *c)
{
    const double y = draw_target(c);
    const double a = draw_dual(c, y);
    const double b = draw_dual(c, y);
    const double chord =
        (c->loss->conjugate(&c->state, y, a) + c->loss->conjugate(&c->state, y, b)) / 2;
    const double middle = c->loss->conjugate(&c->state, y, (a + b) / 2);
    const double bulge = c->loss->strong_convexity / 8 * (a - b) * (a - b);
    assert_true(middle + bulge <= chord + 1e-13 * (1 + fabs(chord) + fabs(y) + a * a + b * b));
}

static void conjugates_are_as_convex_as_they_tell(void **state)
{
    (void)state;
    for_all_losses(check_strong_convexity, 2000);
}

/* ---- proximity operators ---- */

static double prox_objective(void *context, double z)
{
    const struct line *line = context;
    return line->gamma * line->c->loss->value(&line->c->state, line->y, z) +
           (z - line->u) * (z - line->u) / 2;
}

static double draw_gamma(struct loss_case *c)
{
    return exp(2 * md_random_normal(&c->random));
}

/* Values settle the point to about the root of rounding; the loss's slopes just above and below
 * settle the rest. */
static void check_prox(struct loss_case *c)
{
    const double y = draw_target(c);
    struct line line = {.c = c, .y = y, .gamma = draw_gamma(c), .u = draw_score(c, y)};
    double derivative;
    const double z = c->loss->prox(&c->state, y, line.gamma, line.u, &derivative);
    const double reach = 1 + line.gamma * (1 + fabs(line.u - y));
    const double found = golden_least(prox_objective, &line, line.u - reach, line.u + reach);
    const double scale = 1 + fabs(y) + fabs(line.u) + line.gamma;
    assert_near(c, "prox", z, found, 1e-6 * scale);
    const double margin = 1e-13 * scale;
    assert_true(c->loss->slope(&c->state, y, z - margin) + (z - margin - line.u) / line.gamma <= 0);
    assert_true(c->loss->slope(&c->state, y, z + margin) + (z + margin - line.u) / line.gamma >= 0);
    assert_true(derivative >= 0 && derivative <= 1);
}

static void prox_is_the_minimiser(void **state)
{
    (void)state;
    for_all_losses(check_prox, 3000);
}

/* The softened loss is above the loss by at most log 2 times softness for each kink, so the two
 * proximity operators are near; the equation is that of the soft one; slopes grow. */
static void check_soft_prox(struct loss_case *c)
{
    if (c->loss->soft_slope == NULL)
        return;
    const double y = draw_target(c);
    const double softness = pow(10, -4 * md_random_uniform(&c->random));
    const double gamma = pow(10, 4 * md_random_uniform(&c->random) - 2);
    const double u = draw_score(c, y);
    const double h = 1e-4 * softness;
    double derivative;
    double unused;
    double curvature;
    const double z = md_soft_prox(c->loss, &c->state, y, gamma, softness, u, &derivative);
    const double slope = c->loss->soft_slope(&c->state, y, softness, z, &curvature);
    assert_near(c, "z - u + gamma slope", z - u + gamma * slope, 0, 1e-9 * (1 + fabs(u) + gamma));
    assert_near(c, "the curvature", curvature,
                (c->loss->soft_slope(&c->state, y, softness, z + h, &unused) -
                 c->loss->soft_slope(&c->state, y, softness, z - h, &unused)) /
                    (2 * h),
                1e-4 / softness);
    assert_near(c, "the derivative", derivative, 1 / (1 + gamma * curvature), 1e-12);
    const double kinked = c->loss->prox(&c->state, y, gamma, u, &unused);
    const double apart = sqrt(4 * gamma * 2 * log(2) * softness); /* strongly convex with 1/gamma */
    assert_near(c, "the soft prox", z, kinked, apart + 1e-9 * (1 + fabs(u)));
}

static void soft_prox_is_near_and_smooth(void **state)
{
    (void)state;
    for_all_losses(check_soft_prox, 3000);
}

static void check_prox_derivative(struct loss_case *c)
{
    const double y = draw_target(c);
    const double gamma = draw_gamma(c);
    const double u = draw_score(c, y);
    const double step = 1e-5;
    double derivative;
    double above;
    double below;
    c->loss->prox(&c->state, y, gamma, u, &derivative);
    const double difference = c->loss->prox(&c->state, y, gamma, u + step, &above) -
                              c->loss->prox(&c->state, y, gamma, u - step, &below);
    if (above == below || fabs(above - below) < 1e-3) /* else a kink lies between */
        assert_near(c, "derivative of the prox", derivative, difference / (2 * step),
                    1e-8 * (1 + fabs(u) + gamma));
}

static void prox_has_the_derivative_it_tells(void **state)
{
    (void)state;
    for_all_losses(check_prox_derivative, 3000);
}

/* u = prox of the loss with gamma + gamma times the dual's prox: the point rho = (z - u)/gamma is
 * the minimiser of the conjugate + gamma/2 (rho + u/gamma)^2; without the constant. */
static double dual_objective(void *context, double rho)
{
    const struct line *line = context;
    return line->c->loss->conjugate(&line->c->state, line->y, rho) +
           rho * (line->gamma / 2 * rho + line->u);
}

static void check_moreau(struct loss_case *c)
{
    const double y = draw_target(c);
    struct line line = {.c = c, .y = y, .gamma = draw_gamma(c), .u = draw_score(c, y)};
    double derivative;
    const double z = c->loss->prox(&c->state, y, line.gamma, line.u, &derivative);
    const double rho = (z - line.u) / line.gamma;
    const md_interval domain = c->loss->domain(&c->state, y);
    double low = domain.low;
    double high = domain.high;
    if (isinf(low)) {
        low = -2 - 2 * fabs(line.u - y) / line.gamma - 2 * fabs(y);
        high = -low;
    }
    const double found = golden_least(dual_objective, &line, low, high);
    const double noise = DBL_EPSILON * (fabs(y) + fabs(line.u) + 1) * (fabs(rho) + 1) / line.gamma;
    assert_near(c, "rho of the prox", rho, found,
                16 * noise + 4 * sqrt(noise)); /* by values only */
}

static void prox_and_conjugate_obey_moreau(void **state)
{
    (void)state;
    for_all_losses(check_moreau, 2000);
}

/* Huge and tiny steps and scores: finite, and still where the slopes balance. */
static void logistic_prox_holds_at_the_extremes(void **state)
{
    (void)state;
    static const double gammas[] = {1e-12, 1e-3, 1, 1e3, 1e8, 1e15};
    static const double scores[] = {0, 1e-9, 1, -1, 40, -40, 800, -800, 1e6, -1e6};
    const md_margin_loss *loss = md_margin_loss_find("logistic");
    for (size_t g = 0; g < sizeof gammas / sizeof *gammas; g++)
        for (size_t s = 0; s < sizeof scores / sizeof *scores; s++)
            for (double y = -1; y <= 1; y += 2) {
                double derivative;
                const double u = scores[s];
                const double z = loss->prox(NULL, y, gammas[g], u, &derivative);
                const double left = z - u;
                const double right = -gammas[g] * loss->slope(NULL, y, z);
                /* z's own rounding moves both sides */
                const double noise = 4 * DBL_EPSILON * fabs(z) * (1 + fabs(right)) +
                                     4 * DBL_EPSILON * (fabs(u) + fabs(right));
                if (!(fabs(left - right) <= noise))
                    fail_msg("gamma %g, u %g, y %g: %.17g and %.17g", gammas[g], u, y, left, right);
                assert_true(derivative >= 0 && derivative <= 1);
            }
}

/* ---- what a loss says of itself ---- */

/* f is the log of the odds of +1 if it is the best score where +1 has the probability
 * 1 / (1 + exp(-f)). */
static void check_link(struct loss_case *c)
{
    if (!c->loss->classifies) {
        assert_false(c->loss->logistic_link);
        return;
    }
    bool best = true;
    for (size_t trial = 0; trial < 20; trial++) {
        const double f = 3 * md_random_normal(&c->random);
        const double p = 1 / (1 + exp(-f));
        const double slope =
            p * c->loss->slope(&c->state, 1, f) + (1 - p) * c->loss->slope(&c->state, -1, f);
        best = best && fabs(slope) <= 1e-12;
    }
    assert_int_equal(c->loss->logistic_link, best);
}

static void the_logistic_link_gives_probabilities(void **state)
{
    (void)state;
    for_all_losses(check_link, 5);
}

/* Support vectors are the rows whose slope is not 0, and then it is 1: the box of the dual. */
static void check_slopes(struct loss_case *c)
{
    bool flat_or_steep = true;
    for (size_t trial = 0; trial < 20; trial++) {
        const double y = draw_target(c);
        const double slope =
            fabs(c->loss->slope(&c->state, y, y + 2 * md_random_normal(&c->random)));
        flat_or_steep = flat_or_steep && (slope == 0 || slope == 1);
    }
    assert_int_equal(c->loss->svm, flat_or_steep);
}

static void support_vector_machines_have_slopes_of_zero_or_one(void **state)
{
    (void)state;
    for_all_losses(check_slopes, 5);
}

/* ---- options ---- */

static void epsilon_is_read_with_and_without_its_name(void **state)
{
    (void)state;
    static const char *const texts[] = {"epsilon(0.25)", "epsilon(epsilon=0.25)", "epsilon"};
    const md_margin_loss *loss = md_margin_loss_find("epsilon");
    for (size_t i = 0; i < 3; i++) {
        md_spec spec;
        double epsilon = NAN;
        assert_int_equal(loss->state_size, sizeof epsilon);
        assert_int_equal(md_spec_parse(&spec, texts[i], NULL), MEDLEY_OK);
        assert_int_equal(md_params_defaults(loss->params, &epsilon, NULL), MEDLEY_OK);
        assert_int_equal(md_params_set_spec(loss->params, &epsilon, "loss epsilon", &spec, NULL),
                         MEDLEY_OK);
        assert_true(epsilon == (i < 2 ? 0.25 : 0.1));
        md_spec_clear(&spec);
    }
    double epsilon = 1;
    medley_error error = {0};
    assert_int_equal(md_params_set(loss->params, &epsilon, "loss", "epsilon", "-1", &error),
                     MEDLEY_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_by_hand),
        cmocka_unit_test(slopes_are_those_of_the_values),
        cmocka_unit_test(conjugates_are_the_suprema),
        cmocka_unit_test(values_and_conjugates_meet_at_the_slope),
        cmocka_unit_test(conjugates_are_infinite_outside_of_the_domain),
        cmocka_unit_test(conjugates_have_the_slopes_and_curvatures_they_tell),
        cmocka_unit_test(conjugates_are_as_convex_as_they_tell),
        cmocka_unit_test(prox_is_the_minimiser),
        cmocka_unit_test(soft_prox_is_near_and_smooth),
        cmocka_unit_test(prox_has_the_derivative_it_tells),
        cmocka_unit_test(prox_and_conjugate_obey_moreau),
        cmocka_unit_test(logistic_prox_holds_at_the_extremes),
        cmocka_unit_test(the_logistic_link_gives_probabilities),
        cmocka_unit_test(support_vector_machines_have_slopes_of_zero_or_one),
        cmocka_unit_test(epsilon_is_read_with_and_without_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
