/* SPDX-License-Identifier: BSD-3-Clause */
/* Random small problems of the batch solver: certificates, conditions of optimality, the optimum by
 * another method, no kernels above the largest C, warm starts. */
#include "batch/check_solution.h"

#ifdef MEDLEY_SANITIZED
enum { SEEDS = 2 };
#else
enum { SEEDS = 6 };
#endif

/* From above the strength that leaves all kernels out to very little of it. */
static const double shares[] = {1.1, 0.7, 0.3, 0.05, 0.01, 0.001};
enum { SHARES = sizeof shares / sizeof *shares };

static batch_choice draw_choice(size_t loss, size_t penalty, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, 1000 * seed + 10 * loss + penalty);
    const size_t most_rows = seed % 3 == 0 ? 6 : 40;
    return (batch_choice){.rows = 2 + md_random_below(&random, most_rows - 1),
                          .kernels = 1 + md_random_below(&random, seed % 2 ? 30 : 4),
                          .loss = {.kind = loss, .epsilon = md_random_below(&random, 3) ? 0.1 : 0},
                          .penalty = &plain_penalties[penalty],
                          .wide = md_random_below(&random, 2),
                          .seed = 1000 * seed + 10 * loss + penalty};
}

static void for_all_choices(void (*law)(batch_case *c), size_t seeds)
{
    for (size_t l = 0; l < LOSSES; l++)
        for (size_t p = 0; p < PENALTIES; p++)
            for (uint64_t seed = 1; seed <= seeds; seed++) {
                const batch_choice choice = draw_choice(l, p, seed);
                batch_case c;
                draw_case(&c, &choice);
                open_case(&c);
                c.problem.gap = choice.wide ? 1e-8 : 1e-7;
                law(&c);
                close_case(&c);
            }
}

/* ---- certificates ---- */

static void check_path(batch_case *c)
{
    for (size_t i = 0; i < SHARES; i++) {
        md_batch_solution s;
        set_strength(c, shares[i]);
        solve_and_check(c, NULL, &s);
        md_batch_solution_clear(&s);
    }
}

static void every_solution_is_certified_and_optimal(void **state)
{
    (void)state;
    for_all_choices(check_path, SEEDS);
}

static void check_loose(batch_case *c)
{
    static const double gaps[] = {0.3, 0.01, 1e-4};
    for (size_t i = 0; i < 3; i++) {
        md_batch_solution s;
        set_strength(c, 0.1);
        c->problem.gap = gaps[i];
        solve_and_check(c, NULL, &s);
        md_batch_solution_clear(&s);
    }
}

static void loose_solutions_are_certified_too(void **state)
{
    (void)state;
    for_all_choices(check_loose, SEEDS);
}

/* Kernels that left the working set come back, and once that went on for ever; and where many
 * rounds need one iteration each, proximity must not become ever tighter. */
static void working_sets_do_not_go_in_circles(void **state)
{
    (void)state;
    static const struct {
        size_t rows, kernels;
        struct plain_loss loss;
        size_t penalty;
        uint64_t seed;
        double share;
    } cases[] = {
        {3, 23, {SQUARED, 0}, 4, 93024, 0.05},    {3, 21, {SQUARED, 0}, 4, 591024, 0.05},
        {2, 18, {EPSILON, 0.1}, 1, 585031, 0.05}, {2, 18, {EPSILON, 0}, 1, 585031, 0.05},
        {3, 23, {HINGE, 0}, 1, 399011, 0.7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        batch_case c;
        md_batch_solution s;
        const batch_choice choice = {.rows = cases[i].rows,
                                     .kernels = cases[i].kernels,
                                     .loss = cases[i].loss,
                                     .penalty = &plain_penalties[cases[i].penalty],
                                     .wide = cases[i].seed == 591024,
                                     .seed = cases[i].seed};
        draw_case(&c, &choice);
        open_case(&c);
        set_strength(&c, cases[i].share);
        c.problem.gap = 1e-7;
        solve_and_check(&c, NULL, &s);
        assert_true(s.step_count < 100);
        md_batch_solution_clear(&s);
        close_case(&c);
    }
}

/* ---- no kernels ---- */

static void check_empty(batch_case *c)
{
    double largest;
    double without_slope;
    medley_error error = {0};
    check_ok(md_batch_largest_strength(&c->problem, &largest, &without_slope, &error), &error);
    const double at_zero = plain_g_slope(c->choice.penalty, 0);
    assert_int_equal(isfinite(largest), at_zero > 0);
    assert_true(!isfinite(largest) ||
                fabs(largest * at_zero - without_slope) <= 1e-12 * without_slope);
    if (!isfinite(largest) || !(largest > 0))
        return;
    for (int above = 0; above < 2; above++) {
        md_batch_solution s;
        c->problem.strength = largest * (above ? 1 + 1e-6 : 0.99);
        solve_and_check(c, NULL, &s);
        if (above)
            assert_int_equal(s.active, 0); /* and check_certificate has looked at the bias */
        else if (c->choice.loss.kind == LOGISTIC || c->choice.loss.kind == SQUARED)
            assert_true(s.active > 0); /* their dual point is the only one */
        md_batch_solution_clear(&s);
    }
}

static void no_kernels_are_left_above_the_largest_strength(void **state)
{
    (void)state;
    for_all_choices(check_empty, 3);
}

/* ---- another method ---- */

/* Accelerated proximal gradient steps in the primal, restarted where they go uphill. */
struct descent {
    const batch_case *c;
    double *a, *ahead, *Ka; /* [count][n], [count][n], [n] */
    double bias, bias_ahead;
};

static double descent_value(struct descent *d, const double *a, double bias, double *f)
{
    const batch_case *c = d->c;
    double value = 0;
    memset(f, 0, c->n * sizeof *f);
    for (size_t m = 0; m < c->count; m++) {
        plain_multiply(c, m, a + m * c->n, d->Ka);
        const double norm2 = plain_dot(a + m * c->n, d->Ka, c->n);
        value += c->problem.strength * plain_g(c->choice.penalty, norm2 > 0 ? sqrt(norm2) : 0);
        for (size_t i = 0; i < c->n; i++)
            f[i] += d->Ka[i];
    }
    for (size_t i = 0; i < c->n; i++)
        value += plain_loss_value(&c->choice.loss, c->y[i], f[i] += bias);
    return value;
}

/* a, bias := prox(ahead - step gradient(ahead)); ahead := a + momentum (a - before). */
static void descent_step(struct descent *d, double step, double momentum, double *f)
{
    const batch_case *c = d->c;
    double slope_sum = 0;
    descent_value(d, d->ahead, d->bias_ahead, f);
    for (size_t i = 0; i < c->n; i++)
        slope_sum += f[i] = plain_loss_slope(&c->choice.loss, c->y[i], f[i]);
    for (size_t m = 0; m < c->count; m++) {
        double *ahead = d->ahead + m * c->n;
        double *a = d->a + m * c->n;
        for (size_t i = 0; i < c->n; i++)
            ahead[i] -= step * f[i];
        const double norm = plain_norm(c, m, ahead);
        const double ratio =
            norm > 0 ? plain_g_prox(c->choice.penalty, step * c->problem.strength, norm) / norm : 0;
        for (size_t i = 0; i < c->n; i++) {
            const double before = a[i];
            a[i] = ratio * ahead[i];
            ahead[i] = a[i] + momentum * (a[i] - before);
        }
    }
    const double bias = d->bias_ahead - step * slope_sum;
    d->bias_ahead = bias + momentum * (bias - d->bias);
    d->bias = bias;
}

static double least_by_descent(const batch_case *c)
{
    double *f = md_calloc(c->n, sizeof *f);
    struct descent d = {.c = c,
                        .a = md_calloc(c->count * c->n, sizeof(double)),
                        .ahead = md_calloc(c->count * c->n, sizeof(double)),
                        .Ka = md_calloc(c->n, sizeof(double))};
    assert_true(f != NULL && d.a != NULL && d.ahead != NULL && d.Ka != NULL);
    double curvature = (double)c->n; /* of the bias, and of every kernel: at most its trace */
    for (size_t m = 0; m < c->count; m++)
        for (size_t i = 0; i < c->n; i++)
            curvature += case_matrix(c, m)[i * c->n + i];
    const double step = (c->choice.loss.kind == LOGISTIC ? 4 : 1) / curvature;
    double value = descent_value(&d, d.a, d.bias, f);
    double age = 0;
    for (int i = 0; i < 6000; i++) {
        descent_step(&d, step, age / (age + 3), f);
        const double now = descent_value(&d, d.a, d.bias, f);
        age = now > value ? 0 : age + 1;
        value = now;
    }
    free(f);
    free(d.a);
    free(d.ahead);
    free(d.Ka);
    return value;
}

static void check_against_descent(batch_case *c)
{
    if (c->choice.loss.kind != LOGISTIC && c->choice.loss.kind != SQUARED)
        return;
    if (c->n > 6 || c->count > 4)
        return;
    md_batch_solution s;
    set_strength(c, 0.2);
    solve_and_check(c, NULL, &s);
    const double other = least_by_descent(c);
    check_close(c, &s, "the optimum", s.primal, other, 1e-6 * other);
    md_batch_solution_clear(&s);
}

static void the_optimum_is_that_of_another_method(void **state)
{
    (void)state;
    for_all_choices(check_against_descent, 12);
}

/* ---- warm starts ---- */

static size_t cold_steps, warm_steps, steps_at_home;

static void check_warm(batch_case *c)
{
    md_batch_solution cold;
    md_batch_solution warm;
    md_batch_solution start;
    set_strength(c, 0.3);
    solve_and_check(c, NULL, &start);
    c->problem.strength *= 0.9;
    solve_and_check(c, NULL, &cold);
    solve_and_check(c, &start, &warm);
    const double tolerance = 3 * c->problem.gap * cold.primal;
    check_close(c, &warm, "the optimum from a warm start", warm.primal, cold.primal, tolerance);
    cold_steps += cold.newton_steps;
    warm_steps += warm.newton_steps;
    md_batch_solution_clear(&warm);
    md_batch_solution_clear(&start);
    solve_and_check(c, &cold, &warm); /* its own solution */
    check_close(c, &warm, "the optimum from itself", warm.primal, cold.primal, tolerance);
    steps_at_home += warm.newton_steps;
    md_batch_solution_clear(&cold);
    md_batch_solution_clear(&warm);
}

static void a_warm_start_leads_to_the_same_optimum_in_fewer_steps(void **state)
{
    (void)state;
    for_all_choices(check_warm, SEEDS);
    print_message("Newton steps: %zu cold, %zu from a neighbour, %zu from the solution\n",
                  cold_steps, warm_steps, steps_at_home);
    assert_true(warm_steps < cold_steps);
    assert_true(steps_at_home < cold_steps / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_solution_is_certified_and_optimal),
        cmocka_unit_test(loose_solutions_are_certified_too),
        cmocka_unit_test(working_sets_do_not_go_in_circles),
        cmocka_unit_test(no_kernels_are_left_above_the_largest_strength),
        cmocka_unit_test(the_optimum_is_that_of_another_method),
        cmocka_unit_test(a_warm_start_leads_to_the_same_optimum_in_fewer_steps),
    };
    dirty_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
