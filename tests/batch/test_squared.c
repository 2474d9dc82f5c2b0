/* SPDX-License-Identifier: BSD-3-Clause */
/* Squared norms, strength/2 (sum ||a||^q)^(2/q): both sides of the gap by plain loops over kernel
 * values, which proves the optimum whatever the way to it; and the optimum by another method. */
#include "batch/certificate.h"
#include "batch/check_solution.h"

static const struct root {
    struct plain_penalty penalty;
    double q;
} roots[] = {{{"group-lasso", LASSO, 0}, 1},         {{"block(q=1.05)", BLOCK, 1.05}, 1.05},
             {{"block(q=1.25)", BLOCK, 1.25}, 1.25}, {{"block(q=1.5)", BLOCK, 1.5}, 1.5},
             {{"block(q=2)", BLOCK, 2}, 2},          {{"block(q=4)", BLOCK, 4}, 4}};
enum { ROOTS = sizeof roots / sizeof *roots };

static void open_squared(batch_case *c, size_t loss, const struct root *root, size_t rows,
                         size_t kernels, uint64_t seed)
{
    const batch_choice choice = {.rows = rows,
                                 .kernels = kernels,
                                 .loss = {.kind = loss, .epsilon = 0.1},
                                 .penalty = &root->penalty,
                                 .wide = true,
                                 .seed = seed};
    draw_case(c, &choice);
    open_case(c);
    c->problem.square = root->q;
    c->problem.gap = 1e-6;
}

/* (sum x^q)^(1/q) or the largest. */
static double plain_all(double q, const double *x, size_t count)
{
    double sum = 0;
    double largest = 0;
    for (size_t m = 0; m < count; m++) {
        sum += pow(x[m], q);
        largest = fmax(largest, x[m]);
    }
    return isinf(q) ? largest : pow(sum, 1 / q);
}

static void solve(batch_case *c, const md_batch_solution *start, md_batch_solution *s)
{
    medley_error error = {0};
    check_ok(md_batch_solve(s, &c->problem, start, &error), &error);
}

static void check_both_sides(const batch_case *c, const md_batch_solution *s)
{
    const double q = c->problem.square;
    double *f = solution_scores(c, s);
    struct scored scored = {c, f};
    double *norm = md_calloc(c->count + 1, sizeof *norm);
    assert_non_null(norm);
    for (size_t i = 0; i < s->active; i++)
        norm[i] = plain_norm(c, s->kernel[i], s->coefficient + i * c->n);
    const double all = plain_all(q, norm, s->active);
    const double primal = loss_with_bias(&scored, s->bias) + c->problem.strength * all * all / 2;
    double sum = 0;
    double dual = 0;
    for (size_t i = 0; i < c->n; i++) {
        sum += s->rho[i];
        dual -= plain_loss_conjugate(&c->choice.loss, c->y[i], s->rho[i]);
    }
    for (size_t m = 0; m < c->count; m++)
        norm[m] = plain_norm(c, m, s->rho);
    const double most = plain_all(q > 1 ? q / (q - 1) : INFINITY, norm, c->count);
    dual -= most * most / 2 / c->problem.strength;
    check_close(c, s, "the sum of rho", sum, 0, 1e-9 * (double)c->n);
    check_close(c, s, "the primal value", s->primal, primal, 1e-8 * primal);
    check_close(c, s, "the dual value", s->dual, dual, 1e-8 * primal);
    check_close(c, s, "the gap", s->gap, (primal - dual) / primal, 1e-8);
    if (!s->converged || !(primal - dual <= 1.01 * c->problem.gap * primal))
        fail_solution(c, s, "the gap", s->gap, c->problem.gap);
    free(norm);
    free(f);
}

/* ---- certificates ---- */

static void every_squared_norm_is_certified(void **state)
{
    static const double shares[] = {100, 1, 0.1, 0.01, 1e-3};
    (void)state;
    for (size_t l = 0; l < LOSSES; l++)
        for (size_t r = 0; r < ROOTS; r++)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                batch_case c;
                open_squared(&c, l, &roots[r], 5 + 12 * seed, seed == 2 ? 3 : 15, 100 * l + seed);
                double large;
                check_ok(md_batch_large_square(&c.problem, &large, NULL), NULL);
                for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
                    md_batch_solution s;
                    c.problem.strength = shares[i] * large;
                    solve(&c, NULL, &s);
                    check_both_sides(&c, &s);
                    md_batch_solution_clear(&s);
                }
                close_case(&c);
            }
}

/* ---- the optimum by another method ---- */

/* A x = b by elimination with pivots, A[n][n] and b are lost. */
static void eliminate(double *A, double *b, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            pivot = fabs(A[i * n + k]) > fabs(A[pivot * n + k]) ? i : pivot;
        for (size_t j = 0; j < n; j++) {
            const double swapped = A[k * n + j];
            A[k * n + j] = A[pivot * n + j];
            A[pivot * n + j] = swapped;
        }
        const double swapped = b[k];
        b[k] = b[pivot];
        b[pivot] = swapped;
        for (size_t i = 0; i < n; i++) {
            const double share = i == k ? 0 : A[i * n + k] / A[k * n + k];
            for (size_t j = k; j < n; j++)
                A[i * n + j] -= share * A[k * n + j];
            b[i] -= share * b[k];
        }
    }
    for (size_t k = 0; k < n; k++)
        b[k] /= A[k * n + k];
}

/* Squared loss: for weights d with sum d^(q/(2-q)) = 1 the square is the least of sum ||f||^2 / (2
 * d), and the best f is that of a linear system; then d ~ ||f||^(2-q). Takes turns; the value. */
static double take_turns(const batch_case *c, int turns)
{
    const size_t n = c->n + 1;
    const double q = c->problem.square;
    const double S = c->problem.strength;
    double *A = md_calloc(n * n, sizeof *A);
    double *x = md_calloc(n, sizeof *x);
    double *d = md_calloc(2 * c->count, sizeof *d);
    double *norm = d + c->count;
    double value = INFINITY;
    for (size_t m = 0; m < c->count; m++)
        d[m] = pow((double)c->count, (q - 2) / q);
    for (int turn = 0; turn < turns; turn++) {
        memset(A, 0, n * n * sizeof *A);
        for (size_t i = 0; i < c->n; i++) { /* (K + S) x + b = y, 1'x = 0 */
            for (size_t j = 0; j < c->n; j++)
                for (size_t m = 0; m < c->count; m++)
                    A[i * n + j] += d[m] * case_matrix(c, m)[i * c->n + j];
            A[i * n + i] += S;
            A[i * n + c->n] = A[c->n * n + i] = 1;
            x[i] = c->y[i];
        }
        x[c->n] = 0;
        eliminate(A, x, n);
        for (size_t m = 0; m < c->count; m++)
            norm[m] = d[m] * plain_norm(c, m, x);
        const double all = plain_all(q, norm, c->count);
        value = S * all * all / 2; /* y - f is S x */
        for (size_t i = 0; i < c->n; i++)
            value += S * x[i] * S * x[i] / 2;
        for (size_t m = 0; m < c->count; m++)
            d[m] = pow(norm[m] / all, 2 - q);
    }
    free(A);
    free(x);
    free(d);
    return value;
}

static void taking_turns_ends_at_the_same_value(void **state)
{
    (void)state;
    for (size_t r = 0; r < 4; r++) {
        batch_case c;
        md_batch_solution s;
        open_squared(&c, SQUARED, &roots[r], 14, 4, 7 + r);
        double large;
        check_ok(md_batch_large_square(&c.problem, &large, NULL), NULL);
        c.problem.strength = 0.1 * large;
        solve(&c, NULL, &s);
        const double value = take_turns(&c, 3000);
        check_close(&c, &s, "the primal value", s.primal, value, 1e-5 * value);
        md_batch_solution_clear(&s);
        close_case(&c);
    }
}

/* ---- starts and stops ---- */

static void a_start_saves_steps(void **state)
{
    (void)state;
    batch_case c;
    md_batch_solution first;
    md_batch_solution cold;
    md_batch_solution warm;
    open_squared(&c, LOGISTIC, &roots[0], 40, 12, 3);
    double large;
    check_ok(md_batch_large_square(&c.problem, &large, NULL), NULL);
    c.problem.strength = 0.1 * large;
    solve(&c, NULL, &first);
    c.problem.strength *= 0.9;
    solve(&c, NULL, &cold);
    solve(&c, &first, &warm);
    check_both_sides(&c, &warm);
    check_close(&c, &warm, "the primal value", warm.primal, cold.primal, 2e-6 * cold.primal);
    assert_true(warm.newton_steps <= cold.newton_steps);
    md_batch_solution_clear(&first);
    md_batch_solution_clear(&cold);
    md_batch_solution_clear(&warm);
    close_case(&c);
}

static void iterations_are_limited(void **state)
{
    (void)state;
    batch_case c;
    md_batch_solution s;
    open_squared(&c, HINGE, &roots[0], 40, 12, 3);
    c.problem.strength = 0.01;
    c.problem.max_iterations = 1;
    solve(&c, NULL, &s);
    assert_int_equal(s.step_count, 1);
    assert_false(s.converged);
    assert_true(s.gap > c.problem.gap && s.gap <= 1 && s.rho != NULL);
    md_batch_solution_clear(&s);
    close_case(&c);
}

static bool refuse(void *context, const md_batch_step *step)
{
    size_t *calls = context;
    assert_true(isfinite(step->primal) && step->gap <= 1);
    return ++*calls < 2;
}

static void a_watcher_stops_it(void **state)
{
    (void)state;
    batch_case c;
    md_batch_solution s;
    size_t calls = 0;
    open_squared(&c, HINGE, &roots[2], 40, 12, 3);
    c.problem.strength = 0.01;
    c.problem.watch = refuse;
    c.problem.context = &calls;
    solve(&c, NULL, &s);
    assert_true(s.stopped && calls <= 3);
    md_batch_solution_clear(&s);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_squared_norm_is_certified),
        cmocka_unit_test(taking_turns_ends_at_the_same_value),
        cmocka_unit_test(a_start_saves_steps),
        cmocka_unit_test(iterations_are_limited),
        cmocka_unit_test(a_watcher_stops_it),
    };
    dirty_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
