/* SPDX-License-Identifier: BSD-3-Clause */
/* What needs all rows of a loss at once: the bias against scanning, the projection by its
 * conditions of optimality, the dual of the model without kernels by the duality gap. */
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

enum { MOST = 60 };

struct rows {
    struct loss_case *c;
    size_t n;
    double y[MOST], value[MOST];
};

/* Targets of which many may be the same, or all. */
static void draw_rows(struct rows *rows, struct loss_case *c)
{
    rows->c = c;
    rows->n = 1 + md_random_below(&c->random, md_random_below(&c->random, 2) ? 4 : MOST);
    const size_t kind = md_random_below(&c->random, 5);
    for (size_t i = 0; i < rows->n; i++) {
        rows->y[i] = draw_target(c);
        if (!c->loss->classifies && kind == 1)
            rows->y[i] = (double)md_random_below(&c->random, 3);
        if (kind == 0)
            rows->y[i] = rows->y[0];
        rows->value[i] = 2 * md_random_normal(&c->random);
        if (kind == 2)
            rows->value[i] = (double)md_random_below(&c->random, 3) - 1;
    }
}

/* ---- the bias ---- */

static double loss_of_bias(void *context, double bias)
{
    const struct rows *rows = context;
    double sum = 0;
    for (size_t i = 0; i < rows->n; i++)
        sum += rows->c->loss->value(&rows->c->state, rows->y[i], rows->value[i] + bias);
    return sum;
}

static double loss_of_zero_scores(const struct rows *rows)
{
    struct rows empty = *rows;
    memset(empty.value, 0, sizeof empty.value);
    const double found = golden_least(loss_of_bias, &empty, -1000, 1000);
    const struct loss_case *c = rows->c;
    const double best = md_best_bias(c->loss, &c->state, empty.y, empty.value, empty.n);
    return fmin(loss_of_bias(&empty, found), loss_of_bias(&empty, best));
}

static void check_bias(struct loss_case *c)
{
    struct rows rows;
    draw_rows(&rows, c);
    const double bias = md_best_bias(c->loss, &c->state, rows.y, rows.value, rows.n);
    const double found = golden_least(loss_of_bias, &rows, -1000, 1000);
    const double least = loss_of_bias(&rows, found);
    const double mine = loss_of_bias(&rows, bias);
    assert_true(isfinite(bias));
    if (!(mine <= least * (1 + 1e-13) + 1e-14))
        fail_msg("%s, %zu rows: bias %.17g costs %.17g, %.17g costs %.17g", c->loss->name, rows.n,
                 bias, mine, found, least);
}

static void no_bias_is_better_than_the_best(void **state)
{
    (void)state;
    for_all_losses(check_bias, 400);
}

static void biases_by_hand(void **state)
{
    (void)state;
    static const double y[5] = {1, 2, 4, 8, 100};
    static const double zero[5] = {0};
    static const double labels[4] = {1, 1, 1, -1};
    const double epsilon = 0;
    const md_margin_loss *tube = md_margin_loss_find("epsilon");
    const md_margin_loss *squared = md_margin_loss_find("squared");
    const md_margin_loss *logistic = md_margin_loss_find("logistic");
    assert_true(fabs(md_best_bias(tube, &epsilon, y, zero, 5) - 4) < 1e-15);
    assert_true(fabs(md_best_bias(squared, NULL, y, zero, 5) - 23) < 1e-13);
    assert_true(fabs(md_best_bias(logistic, NULL, labels, zero, 4) - log(3)) < 1e-15);
    assert_true(md_best_bias(logistic, NULL, labels, zero, 3) > 30); /* all labels the same */
    assert_true(md_best_bias(logistic, NULL, labels, zero, 0) == 0);
}

/* A class of one row among very many, scores far off. */
static void the_bias_is_found_far_away(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    const md_margin_loss *logistic = md_margin_loss_find("logistic");
    double *y = malloc(2 * MANY * sizeof *y);
    assert_non_null(y);
    double *f = y + MANY;
    for (size_t i = 0; i < MANY; i++) {
        y[i] = i > 0 ? 1 : -1;
        f[i] = 1e6;
    }
    const double bias = md_best_bias(logistic, NULL, y, f, MANY);
    assert_true(fabs(bias + 1e6 - log(MANY - 1)) < 1e-9);
    free(y);
}

/* ---- the projection ---- */

/* Sum 0, inside, and one shift explains every row: where rho is inside its domain it is the given
 * value less the shift, at the lower end that is not above it, at the upper end not below. */
static void assert_projected(const struct rows *rows, const double *rho)
{
    struct loss_case *c = rows->c;
    double sum = 0;
    double largest = 1;
    double least_shift = -INFINITY;
    double most_shift = INFINITY;
    for (size_t i = 0; i < rows->n; i++) {
        const md_interval domain = c->loss->domain(&c->state, rows->y[i]);
        double low = domain.low;
        double high = domain.high;
        assert_true(rho[i] >= low && rho[i] <= high);
        sum += rho[i];
        largest = fmax(largest, fabs(rows->value[i]));
        const double shift = rows->value[i] - rho[i];
        if (rho[i] > low)
            most_shift = fmin(most_shift, shift);
        if (rho[i] < high)
            least_shift = fmax(least_shift, shift);
    }
    if (!(fabs(sum) <= 4 * DBL_EPSILON * largest * (double)rows->n))
        fail_msg("%s, %zu rows: the sum is %g", c->loss->name, rows->n, sum);
    if (!(least_shift <= most_shift + 1e-13 * largest))
        fail_msg("%s, %zu rows: shifts %.17g and %.17g", c->loss->name, rows->n, least_shift,
                 most_shift);
}

static void check_projection(struct loss_case *c)
{
    struct rows rows;
    double rho[MOST];
    draw_rows(&rows, c);
    memcpy(rho, rows.value, sizeof rho);
    md_project_dual(c->loss, &c->state, rows.y, rho, rows.n);
    assert_projected(&rows, rho);
    double again[MOST];
    memcpy(again, rho, sizeof again);
    md_project_dual(c->loss, &c->state, rows.y, again, rows.n);
    for (size_t i = 0; i < rows.n; i++)
        assert_true(fabs(again[i] - rho[i]) <= 1e-14 * (1 + fabs(rho[i])));
}

static void projections_are_nearest(void **state)
{
    (void)state;
    for_all_losses(check_projection, 1000);
}

static void projections_by_hand(void **state)
{
    (void)state;
    const md_margin_loss *hinge = md_margin_loss_find("hinge");
    static const double y[4] = {1, 1, -1, -1};
    double rho[4] = {5, 5, -9, -9};
    md_project_dual(hinge, NULL, y, rho, 4);
    assert_true(rho[0] == 1 && rho[1] == 1 && rho[2] == -1 && rho[3] == -1);
    double same[2] = {0.5, 0.25};
    md_project_dual(hinge, NULL, y, same, 2);
    assert_true(same[0] == 0 && same[1] == 0);
    md_project_dual(hinge, NULL, y, same, 0); /* nothing to do */
    double pair[2] = {1, 0.5};
    md_project_dual(md_margin_loss_find("squared"), NULL, y, pair, 2);
    assert_true(pair[0] == 0.25 && pair[1] == -0.25);
}

/* ---- without kernels ---- */

/* Weak duality: minus the sum of conjugates is at most the least loss; equal at the optimum. */
static void check_empty_dual(struct loss_case *c)
{
    struct rows rows;
    double rho[MOST];
    draw_rows(&rows, c);
    md_empty_dual(c->loss, &c->state, rows.y, rho, rows.n);
    double sum = 0;
    double dual = 0;
    double scale = 1;
    for (size_t i = 0; i < rows.n; i++) {
        dual -= c->loss->conjugate(&c->state, rows.y[i], rho[i]);
        sum += rho[i];
        scale += fabs(rows.y[i] * rho[i]) + fabs(rho[i]);
    }
    const double primal = loss_of_zero_scores(&rows);
    assert_true(fabs(sum) <= 1e-14 * scale);
    if (!(fabs(primal - dual) <= 1e-13 * scale))
        fail_msg("%s, parameter %g, %zu rows: dual %.17g, primal %.17g", c->loss->name, c->state,
                 rows.n, dual, primal);
}

static void the_empty_dual_has_no_gap(void **state)
{
    (void)state;
    for_all_losses(check_empty_dual, 1000);
}

static void empty_duals_by_hand(void **state)
{
    (void)state;
    const md_margin_loss *hinge = md_margin_loss_find("hinge");
    const md_margin_loss *logistic = md_margin_loss_find("logistic");
    static const double y[5] = {1, 1, -1, 1, -1};
    double rho[5];
    md_empty_dual(hinge, NULL, y, rho, 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(fabs(rho[i] - (y[i] > 0 ? 2.0 / 3 : -1)) < 1e-15);
    md_empty_dual(logistic, NULL, y, rho, 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(fabs(rho[i] - (y[i] > 0 ? 0.4 : -0.6)) < 1e-15);
    md_empty_dual(hinge, NULL, y + 1, rho, 2); /* one row of each class */
    assert_true(rho[0] == 1 && rho[1] == -1);
    md_empty_dual(hinge, NULL, y, rho, 2); /* one class only */
    assert_true(rho[0] == 0 && rho[1] == 0);
    md_empty_dual(logistic, NULL, y, rho, 2);
    assert_true(rho[0] == 0 && rho[1] == 0);
    static const double constant[3] = {7.3, 7.3, 7.3};
    static const double epsilons[2] = {0, 0.1};
    for (size_t e = 0; e < 2; e++) {
        md_empty_dual(md_margin_loss_find("epsilon"), &epsilons[e], constant, rho, 3);
        assert_true(rho[0] == 0 && rho[1] == 0 && rho[2] == 0);
    }
    md_empty_dual(md_margin_loss_find("squared"), NULL, constant, rho, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(rho[i]) < 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(biases_by_hand),
        cmocka_unit_test(no_bias_is_better_than_the_best),
        cmocka_unit_test(the_bias_is_found_far_away),
        cmocka_unit_test(projections_by_hand),
        cmocka_unit_test(projections_are_nearest),
        cmocka_unit_test(empty_duals_by_hand),
        cmocka_unit_test(the_empty_dual_has_no_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
