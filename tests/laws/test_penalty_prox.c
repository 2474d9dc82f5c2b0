/* SPDX-License-Identifier: BSD-3-Clause */
/* Single proximity operators against what is known of them: closed forms, bisection in long double,
 * the paper's sorted algorithm, and penalties that coincide at the ends of their parameters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "laws/mkl_sorted.h"
#include "penalty/block_weight.h"
#include "penalty/penalty.h"
#include "penalty/power_shrink.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Selection and sorting add the same numbers in different orders; the sums of up to 10,000
 * positive numbers then differ by rounding that grows like a random walk. */
static const double REORDERING = 1e-14;

/* ---- mkl: selection against sorting ---- */

enum input_kind { RANDOM_INPUT, TIED_INPUT, SORTED_INPUT, GEOMETRIC_INPUT, INPUT_KINDS };

static void fill_input(md_random *random, enum input_kind kind, double *b, double *d, size_t count)
{
    for (size_t m = 0; m < count; m++) {
        b[m] = fabs(md_random_normal(random));
        if (kind == TIED_INPUT)
            b[m] = (double)md_random_below(random, 3);
        else if (kind == SORTED_INPUT)
            b[m] = (double)m;
        else if (kind == GEOMETRIC_INPUT)
            b[m] = pow(0.9, (double)(m % 5000));
        d[m] = md_random_below(random, 4) == 0 ? 0 : 0.1 + md_random_uniform(random);
    }
}

static void compare_thresholds(double tau, const double *b, const double *weight, size_t count,
                               double *scratch)
{
    const double sorted = mkl_threshold_sorted(tau, b, weight, count, scratch);
    const double selected = md_mkl_threshold(tau, b, weight, count, scratch);
    if (!(fabs(selected - sorted) <= REORDERING * sorted))
        fail_msg("%zu blocks, tau %g: selected %.17g, sorted %.17g", count, tau, selected, sorted);
}

static void mkl_selection_equals_sorting(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 7, 40, 500, 10000};
    static const double taus[] = {0, 1e-300, 1e-6, 1e-3, 0.1, 1, 50, 1e6, 1e300};
    double *memory = md_calloc(4 * 10000, sizeof *memory);
    assert_non_null(memory);
    md_random random;
    md_random_seed(&random, 7);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int kind = 0; kind < INPUT_KINDS; kind++)
            for (size_t t = 0; t < sizeof taus / sizeof *taus; t++) {
                double *b = memory;
                double *d = memory + sizes[s];
                fill_input(&random, (enum input_kind)kind, b, d, sizes[s]);
                compare_thresholds(taus[t], b, d, sizes[s], d + sizes[s]);
                compare_thresholds(taus[t], b, NULL, sizes[s], d + sizes[s]);
            }
    free(memory);
}

static void mkl_example_by_hand(void **state)
{
    (void)state;
    /* d = 1, tau = 1: one block would give t = 1.5 > 1, two t = 4/3 > 1, so block 3 is dropped:
     * t = (3 + 2)/(1 + 2) = 5/3. */
    double b[3] = {3, 2, 1};
    double scratch[9];
    md_mkl_prox(1, b, NULL, 3, b, scratch);
    assert_true(fabs(b[0] - 4.0 / 3) < 4 * DBL_EPSILON);
    assert_true(fabs(b[1] - 1.0 / 3) < 4 * DBL_EPSILON);
    assert_true(b[2] == 0);
    md_mkl_prox(1, b, NULL, 0, b, scratch); /* no blocks at all */
}

static void mkl_shrinks_one_block_like_l2(void **state)
{
    (void)state;
    double b = 3;
    const double weight = 2;
    double scratch[3];
    md_mkl_prox(0.5, &b, &weight, 1, &b, scratch);
    assert_true(fabs(b - 3 / (1 + 0.5 * 4)) < 4 * DBL_EPSILON);
}

/* ---- the scalar equation of block-q ---- */

/* The root of y + k y^(q-1) = 1 by bisection of [0, 1] in log y and long double. */
static double bisected_ratio(double q, long double k)
{
    long double low = -2000;
    long double high = 0;
    for (int i = 0; i < 200; i++) {
        const long double middle = (low + high) / 2;
        if (expl(middle) + k * expl((q - 1) * middle) < 1)
            low = middle;
        else
            high = middle;
    }
    return (double)expl(high);
}

static void block_equation_is_solved_to_full_precision(void **state)
{
    (void)state;
    static const double exponents[] = {1.001, 1.01, 1.25, 4.0 / 3, 1.5, 1.9, 2, 2.5, 3, 4, 10};
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++)
        for (int step = 0; step < 390; step++) {
            const double q = exponents[i];
            const double log_k = -45 + 0.37 * step;
            const double k = exp(log_k);
            const double expected = bisected_ratio(q, k);
            const double found = md_power_shrink(q, k);
            /* one rounding of k moves the root by the first, one of 1/(q-1) by the second */
            const double condition =
                1 / (expected + (q - 1) * (1 - expected)) + fabs(log(expected + DBL_MIN));
            const double tolerance = 4 * DBL_EPSILON * (1 + condition) * expected + DBL_MIN;
            if (!(fabs(found - expected) <= tolerance))
                fail_msg("q %g, k %g: %.17g, expected %.17g", q, k, found, expected);
            /* the logarithm's own rounding comes on top */
            assert_true(fabs(md_power_shrink_log(q, log(k)) - expected) <=
                        tolerance * (1 + fabs(log_k)));
        }
}

static void shrink(const char *text, double tau, const double *weight, double *b, size_t count)
{
    double scratch[3 * 64];
    md_penalty *penalty = NULL;
    assert_int_equal(md_penalty_create(&penalty, text, NULL), MEDLEY_OK);
    assert_int_equal(md_penalty_set_weights(penalty, weight, count, NULL), MEDLEY_OK);
    md_penalty_prox(penalty, tau, b, count, scratch);
    md_penalty_free(penalty);
}

static void block_equation_reaches_beyond_doubles(void **state)
{
    (void)state;
    /* x + c x^2 = b with b = 1e150, c = 1e300 (k = 1e450): x = sqrt(b/c) = 1e-75. */
    const double y = md_power_shrink_log(3, log(1e300) + log(1e150));
    assert_true(fabs(1e150 * y / 1e-75 - 1) < 1e-12);
    double b[2] = {1e150, 1e-300};
    shrink("block(q=3)", 1e300, NULL, b, 2); /* k = 1e450 and 1 */
    assert_true(fabs(b[0] / 1e-75 - 1) < 1e-12);
    assert_true(fabs(b[1] / 1e-300 - 0.6180339887498949) < 1e-14);
    assert_true(md_power_shrink_log(1.5, -1e4) == 1);
    assert_true(md_power_shrink_log(1.5, 1e4) == 0);
    assert_true(md_power_shrink(1.5, 0) == 1);
}

/* x + c x^(q-1) = b is a quadratic in sqrt(x) for q = 3/2 and in x for q = 3. */
static void block_matches_closed_forms(void **state)
{
    (void)state;
    for (int i = 0; i < 22; i++)
        for (int j = 0; j < 13; j++) {
            const double b = 0.01 * pow(1.7, i);
            const double tau = 1e-3 * pow(3.1, j);
            const double weight = 1.3;
            const double half = tau * pow(weight, 1.5); /* c for q = 3/2, c below for q = 3 */
            const double c = tau * weight * weight * weight;
            const double root = 2 * b / (half + sqrt(half * half + 4 * b));
            double x = b;
            shrink("block", tau, &weight, &x, 1);
            assert_true(fabs(x - root * root) <= 1e-14 * root * root);
            x = b;
            shrink("block(q=3)", tau, &weight, &x, 1);
            const double quadratic = 2 * b / (1 + sqrt(1 + 4 * c * b));
            assert_true(fabs(x - quadratic) <= 1e-14 * quadratic);
        }
}

/* ---- penalties that coincide ---- */

struct same {
    const char *left, *right;
    double tolerance;
};

static void penalties_coincide_at_the_ends_of_their_parameters(void **state)
{
    (void)state;
    static const struct same pairs[] = {
        {"block(q=2)", "l2", 1e-14},
        {"squared-block(q=2)", "l2", 1e-14},
        {"squared-block(q=1)", "mkl", 0},
        {"elastic(t=0)", "group-lasso", 0},
        {"elastic(t=1)", "l2", 1e-14},
        {"elastic-mkl(s=0)", "mkl", 0},
        {"sparse-group(s=1)", "group-lasso", 0},
        {"sparse-group(s=0)", "none", 0},
        {"l1", "none", 0},
        /* the limit q -> 1: b^0.001 is within 1 % of 1 on these numbers */
        {"block(q=1.001)", "group-lasso", 0.02},
        {"squared-block(q=1.001)", "mkl", 0.02},
        /* shrinking a norm and then scaling is the exact elastic prox */
        {"0.5*group-lasso+0.5*l2", "elastic", 1e-14},
    };
    const double weight[5] = {1, 0.5, 0, 2, 1.5};
    const double b[5] = {1, 0.25, 3, 2, 0};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int step = 0; step < 10; step++) {
            const double tau = 0.3 * step;
            double left[5];
            double right[5];
            memcpy(left, b, sizeof left);
            memcpy(right, b, sizeof right);
            shrink(pairs[i].left, tau, weight, left, 5);
            shrink(pairs[i].right, tau, weight, right, 5);
            for (size_t m = 0; m < 5; m++)
                if (!(fabs(left[m] - right[m]) <= pairs[i].tolerance))
                    fail_msg("%s and %s differ: %.17g, %.17g", pairs[i].left, pairs[i].right,
                             left[m], right[m]);
        }
}

/* The two-step elastic MKL of unit weights against l2 and mkl in the limit of one block:
 * both terms are squares, so b' = b/(1 + tau). */
static void elastic_mkl_of_one_block_is_l2(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        const double tau = 0.1 * pow(2, i);
        double b = 1.7;
        shrink("elastic-mkl(s=0.3)", tau, NULL, &b, 1);
        assert_true(fabs(b - 1.7 / (1 + tau)) < 1e-14);
    }
}

/* ---- squared-block: the optimality condition, over many orders of magnitude ---- */

static void squared_block_solves_its_equations(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    static const double exponents[] = {1.01, 1.1, 4.0 / 3, 1.5, 1.9, 2, 3, 6, 10};
    md_random random;
    md_random_seed(&random, 11);
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++)
        for (int trial = 0; trial < 30; trial++) {
            const double q = exponents[i];
            const double tau = exp(4 * md_random_normal(&random));
            const double size = exp(20 * md_random_normal(&random));
            double b[COUNT];
            double x[COUNT];
            double d[COUNT];
            long double sum = 0;
            char text[64];
            snprintf(text, sizeof text, "squared-block(q=%.17g)", q);
            for (size_t m = 0; m < COUNT; m++) {
                x[m] = b[m] = size * exp(2 * md_random_normal(&random));
                d[m] = exp(md_random_normal(&random));
            }
            shrink(text, tau, d, x, COUNT);
            for (size_t m = 0; m < COUNT; m++)
                sum += powl(d[m] * x[m] / size, q);
            const long double norm = powl(sum, 1.0L / q);
            for (size_t m = 0; m < COUNT; m++) {
                const long double y = x[m] / size;
                const long double c = tau * powl(d[m], q) * powl(norm, 2 - q);
                const double tiny = DBL_MIN * fmax(1, b[m]);
                if (x[m] < tiny) { /* only where x^(q-1) = b/c leads below all doubles */
                    assert_true(powl(b[m] / (size * c), 1 / (q - 1)) * size < 2 * tiny);
                    continue;
                }
                const double error = (double)fabsl((y + c * powl(y, q - 1)) / (b[m] / size) - 1);
                if (!(error < 1e-13)) /* about |log c| roundings */
                    fail_msg("q %g, tau %g: relative residual %g", q, tau, error);
            }
        }
}

/* ---- sparse group lasso inside the blocks ---- */

enum { BLOCKS = 2, WIDTH = 3 };

static double sparse_group_objective(const double theta[BLOCKS][WIDTH],
                                     const double origin[BLOCKS][WIDTH], double tau, double s)
{
    double objective = 0;
    for (size_t m = 0; m < BLOCKS; m++) {
        double squares = 0;
        for (size_t j = 0; j < WIDTH; j++) {
            const double move = theta[m][j] - origin[m][j];
            squares += theta[m][j] * theta[m][j];
            objective += move * move / 2 + tau * (1 - s) * fabs(theta[m][j]);
        }
        objective += tau * s * sqrt(squares);
    }
    return objective;
}

static void soft_threshold_inside(double theta[BLOCKS][WIDTH], double threshold)
{
    for (size_t m = 0; m < BLOCKS; m++)
        for (size_t j = 0; j < WIDTH; j++)
            theta[m][j] = copysign(fmax(0, fabs(theta[m][j]) - threshold), theta[m][j]);
}

static void shrink_groups(const md_penalty *penalty, double theta[BLOCKS][WIDTH], double tau)
{
    double b[BLOCKS];
    double shrunk[BLOCKS];
    double scratch[3 * BLOCKS];
    for (size_t m = 0; m < BLOCKS; m++)
        b[m] = shrunk[m] =
            sqrt(theta[m][0] * theta[m][0] + theta[m][1] * theta[m][1] + theta[m][2] * theta[m][2]);
    md_penalty_prox(penalty, tau, shrunk, BLOCKS, scratch);
    for (size_t m = 0; m < BLOCKS; m++)
        for (size_t j = 0; j < WIDTH; j++)
            theta[m][j] *= b[m] > 0 ? shrunk[m] / b[m] : 0;
}

static void inner_threshold_then_group_is_the_sparse_group_prox(void **state)
{
    (void)state;
    const double origin[BLOCKS][WIDTH] = {{3, -0.2, 1}, {0.6, 0.5, -0.7}};
    const double tau = 0.8;
    double theta[BLOCKS][WIDTH];
    double reversed[BLOCKS][WIDTH];
    double moved[BLOCKS][WIDTH];
    md_penalty *penalty = NULL;
    assert_int_equal(md_penalty_create(&penalty, "sparse-group(s=0.4)", NULL), MEDLEY_OK);
    const double inside = tau * md_penalty_inner_threshold(penalty);
    assert_true(fabs(inside - 0.48) < 1e-15);
    memcpy(theta, origin, sizeof theta);
    memcpy(reversed, origin, sizeof reversed);
    soft_threshold_inside(theta, inside);
    shrink_groups(penalty, theta, tau);
    shrink_groups(penalty, reversed, tau);
    soft_threshold_inside(reversed, inside);
    assert_true(theta[0][1] == 0);                         /* a coordinate inside a block */
    assert_true(theta[1][0] == 0 && theta[1][2] == 0);     /* a block */
    const double length = sqrt(2.52 * 2.52 + 0.52 * 0.52); /* after the first step */
    assert_true(fabs(theta[0][0] - 2.52 * (1 - 0.32 / length)) < 1e-14);

    const double least = sparse_group_objective(theta, origin, tau, 0.4);
    assert_true(sparse_group_objective(reversed, origin, tau, 0.4) > least + 1e-4);
    md_random random;
    md_random_seed(&random, 3);
    for (int trial = 0; trial < 2000; trial++) {
        const double size = pow(10, -5 * md_random_uniform(&random));
        double distance = 0;
        for (size_t i = 0; i < (size_t)BLOCKS * WIDTH; i++) {
            const double step = size * md_random_normal(&random);
            moved[i / WIDTH][i % WIDTH] = theta[i / WIDTH][i % WIDTH] + step;
            distance += step * step;
        }
        /* growth by strong convexity; 1e-13 for rounding */
        assert_true(sparse_group_objective(moved, origin, tau, 0.4) >=
                    least + distance / 2 - 1e-13 * (1 + distance));
    }
    md_penalty_free(penalty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mkl_selection_equals_sorting),
        cmocka_unit_test(mkl_example_by_hand),
        cmocka_unit_test(mkl_shrinks_one_block_like_l2),
        cmocka_unit_test(block_equation_is_solved_to_full_precision),
        cmocka_unit_test(block_equation_reaches_beyond_doubles),
        cmocka_unit_test(block_matches_closed_forms),
        cmocka_unit_test(penalties_coincide_at_the_ends_of_their_parameters),
        cmocka_unit_test(elastic_mkl_of_one_block_is_l2),
        cmocka_unit_test(squared_block_solves_its_equations),
        cmocka_unit_test(inner_threshold_then_group_is_the_sparse_group_prox),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
