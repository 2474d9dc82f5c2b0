/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrapper methods reach the optimum that the batch solver finds, whoever solves their problems of
 * one kernel; their certificates hold by plain formulas, all the way. */
#include "batch/batch_case.h"

#include "baseline/wrappers.h"
#include "optim/linear_program.h"
#include <math.h>
#include <stdio.h>

#ifdef MEDLEY_SANITIZED
enum { SEEDS = 1 };
#else
enum { SEEDS = 3 };
#endif

static const struct plain_penalty group_lasso = {"group-lasso", LASSO, 0};

enum { METHODS = 5, WAYS = 2 * METHODS };
struct way {
    const char *name;
    md_batch_solver run;
    bool by_libsvm;
};
static const struct way ways[WAYS] = {{"gauss-seidel, newton", md_batch_gauss_seidel, false},
                                      {"simplemkl, newton", md_batch_simplemkl, false},
                                      {"hessianmkl, newton", md_batch_hessianmkl, false},
                                      {"levelmkl, newton", md_batch_levelmkl, false},
                                      {"silp, newton", md_batch_silp, false},
                                      {"gauss-seidel, libsvm", md_batch_gauss_seidel, true},
                                      {"simplemkl, libsvm", md_batch_simplemkl, true},
                                      {"hessianmkl, libsvm", md_batch_hessianmkl, true},
                                      {"levelmkl, libsvm", md_batch_levelmkl, true},
                                      {"silp, libsvm", md_batch_silp, true}};

/* Methods that this build does not have are not run. */
static bool is_there(const struct way *way)
{
    return md_linear_program_missing() == NULL ||
           (way->run != md_batch_silp && way->run != md_batch_levelmkl);
}

static medley_status run_way(const struct way *way, md_batch_solution *s,
                             const md_batch_problem *problem, const md_batch_solution *start,
                             md_one_kernel_solver inner, medley_error *error)
{
    md_batch_problem given = *problem;
    given.inner = inner;
    return way->run(s, &given, start, error);
}

static void open_random(batch_case *c, size_t kind, const struct plain_penalty *penalty,
                        uint64_t seed)
{
    const batch_choice choice = {.rows = 15 + 3 * (seed % 4),
                                 .kernels = 2 + seed % 4,
                                 .loss = {(enum plain_loss_kind)kind, 0.1},
                                 .penalty = penalty,
                                 .wide = true,
                                 .seed = seed};
    draw_case(c, &choice);
    open_case(c);
    set_strength(c, seed % 3 ? 0.3 : 0.03);
    c->problem.gap = 1e-3;
    c->problem.max_iterations = 20000;
}

/* Which solver of one kernel, or NULL: this way is not for this case. */
static md_one_kernel_solver inner_of(const struct way *way, const batch_case *c)
{
    const bool any = way->run == md_batch_gauss_seidel;
    const bool linear = c->choice.penalty->kind == LASSO;
    if ((!any && !linear) || !is_there(way))
        return NULL;
    return way->by_libsvm ? md_one_kernel_libsvm(&c->problem) : md_one_kernel_newton;
}

/* Every model is d_m times the same coefficients with d >= 0, and primal and dual value are what
 * the formulas say. */
static void check_solution(const batch_case *c, const md_batch_solution *s)
{
    const struct plain_loss *loss = &c->choice.loss;
    double *f = md_calloc(c->n, sizeof *f);
    double *Ka = md_calloc(c->n, sizeof *Ka);
    double penalty = 0;
    double value = 0;
    double dual = 0;
    assert_true(f != NULL && Ka != NULL);
    assert_int_equal(s->rows, c->n);
    for (size_t i = 0; i < s->active; i++) {
        const double *a = s->coefficient + i * c->n;
        assert_true(i == 0 || s->kernel[i] > s->kernel[i - 1]);
        const double ratio =
            plain_dot(a, s->coefficient, c->n) / plain_dot(s->coefficient, s->coefficient, c->n);
        assert_true(ratio > 0);
        for (size_t r = 0; r < c->n; r++)
            assert_true(fabs(a[r] - ratio * s->coefficient[r]) <=
                        1e-12 * ratio * (1 + fabs(s->coefficient[r])));
        plain_multiply(c, s->kernel[i], a, Ka);
        const double norm = plain_norm(c, s->kernel[i], a);
        assert_true(fabs(norm - s->norm[i]) <= 1e-9 * (1 + norm));
        penalty += plain_g(c->choice.penalty, norm);
        for (size_t r = 0; r < c->n; r++)
            f[r] += Ka[r];
    }
    double sum = 0;
    for (size_t r = 0; r < c->n; r++) {
        value += plain_loss_value(loss, c->y[r], f[r] + s->bias);
        dual -= plain_loss_conjugate(loss, c->y[r], s->rho[r]);
        sum += s->rho[r];
    }
    /* a norm at its limit may be above it by rounding */
    for (size_t m = 0; m < c->count; m++)
        dual -= plain_g_conjugate(c->choice.penalty, c->problem.strength,
                                  plain_norm(c, m, s->rho) * (1 - 1e-9));
    assert_true(fabs(sum) <= 1e-9 * (double)c->n);
    assert_true(fabs(value + c->problem.strength * penalty - s->primal) <= 1e-9 * s->primal);
    /* norms may have been bounded where they were not worth a pass */
    const double slack = (0.05 * c->problem.gap + 1e-7) * s->primal;
    if (!(s->dual <= dual + 1e-7 * s->primal && s->dual >= dual - slack))
        fail_msg("dual value %.12g, by formulas %.12g", s->dual, dual);
    assert_true(fabs(s->gap - fmax(0, s->primal - s->dual) / s->primal) <= 1e-12);
    free(f);
    free(Ka);
}

static void check_steps(const batch_case *c, const md_batch_solution *s)
{
    for (size_t i = 0; i < s->step_count; i++) {
        const md_batch_step *step = &s->steps[i];
        assert_true(step->dual <= step->primal * (1 + 1e-9));
        assert_true(step->loss <= step->primal && step->active <= c->count);
        if (i == 0)
            continue;
        assert_true(step->primal <= step[-1].primal);
        assert_true(step->dual >= step[-1].dual);
        assert_true(step->seconds >= step[-1].seconds);
    }
}

/* Weights by the rule of the paper, normalised. */
static void weights_of(const batch_case *c, const md_batch_solution *s, double *weight)
{
    double *norm = md_calloc(c->count, sizeof *norm);
    assert_non_null(norm);
    for (size_t i = 0; i < s->active; i++)
        norm[s->kernel[i]] = s->norm[i];
    md_penalty_weights(c->penalty, norm, c->count, weight);
    free(norm);
}

static void check_against_optimum(const batch_case *c, const md_batch_solution *s,
                                  const md_batch_solution *optimum, const char *name)
{
    if (!s->converged || !(s->gap <= c->problem.gap))
        fail_msg("%s, %s, %s: gap %g after %zu steps", name, c->choice.penalty->text,
                 plain_loss_names[c->choice.loss.kind], s->gap, s->step_count);
    assert_true(s->primal >= optimum->dual * (1 - 1e-12));
    assert_true(s->primal <= optimum->primal * (1 + 1.01 * c->problem.gap));
    assert_true(s->dual <= optimum->primal * (1 + 1e-12));
}

static void check_case(batch_case *c)
{
    md_batch_solution optimum = {0};
    medley_error error = {0};
    md_batch_problem exact = c->problem;
    exact.gap = 1e-8;
    check_ok(md_batch_solve(&optimum, &exact, NULL, &error), &error);
    for (size_t w = 0; w < WAYS; w++) {
        const md_one_kernel_solver inner = inner_of(&ways[w], c);
        md_batch_solution s = {0};
        if (inner == NULL)
            continue;
        check_ok(run_way(&ways[w], &s, &c->problem, NULL, inner, &error), &error);
        check_solution(c, &s);
        check_steps(c, &s);
        check_against_optimum(c, &s, &optimum, ways[w].name);
        md_batch_solution_clear(&s);
    }
    md_batch_solution_clear(&optimum);
}

/* ---- the square of the block 1-norm, with weights on the simplex ---- */

static double squared_value(const batch_case *c, const md_batch_solution *s)
{
    double *f = md_calloc(2 * c->n, sizeof *f);
    double sum = 0;
    double value = 0;
    assert_non_null(f);
    for (size_t i = 0; i < s->active; i++) {
        plain_multiply(c, s->kernel[i], s->coefficient + i * c->n, f + c->n);
        for (size_t r = 0; r < c->n; r++)
            f[r] += f[c->n + r];
        sum += plain_norm(c, s->kernel[i], s->coefficient + i * c->n);
    }
    for (size_t r = 0; r < c->n; r++)
        value += plain_loss_value(&c->choice.loss, c->y[r], f[r] + s->bias);
    free(f);
    return value + c->problem.strength * sum * sum / 2;
}

/* Any dual point bounds the optimum from below. */
static double squared_dual(const batch_case *c, const double *rho)
{
    double dual = 0;
    double largest = 0;
    for (size_t r = 0; r < c->n; r++)
        dual -= plain_loss_conjugate(&c->choice.loss, c->y[r], rho[r]);
    for (size_t m = 0; m < c->count; m++)
        largest = fmax(largest, plain_norm(c, m, rho));
    return dual - largest * largest / (2 * c->problem.strength);
}

static void every_way_reaches_the_optimum_on_the_simplex(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < LOSSES; kind++)
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            for (size_t w = 0; w < WAYS; w++) {
                batch_case c;
                md_batch_solution s = {0};
                open_random(&c, kind, &group_lasso, seed);
                c.problem.strength *= seed == 1 ? 0.1 : 0.01;
                c.problem.square = 1;
                const md_one_kernel_solver inner = inner_of(&ways[w], &c);
                const bool again = ways[w].by_libsvm && seed > 0; /* once is enough */
                if (inner != NULL && !again && ways[w].run != md_batch_gauss_seidel) {
                    check_ok(run_way(&ways[w], &s, &c.problem, NULL, inner, NULL), NULL);
                    if (!s.converged || !(s.gap <= c.problem.gap))
                        fail_msg("%s, %s, seed %d: gap %g", ways[w].name, plain_loss_names[kind],
                                 (int)seed, s.gap);
                    assert_true(fabs(squared_value(&c, &s) - s.primal) <= 1e-9 * s.primal);
                    assert_true(s.dual <= squared_dual(&c, s.rho) + 1e-7 * s.primal);
                    assert_true(s.dual <= s.primal * (1 + 1e-9));
                }
                md_batch_solution_clear(&s);
                close_case(&c);
            }
}

static void every_way_reaches_the_optimum(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < LOSSES; kind++)
        for (size_t p = 0; p < PENALTIES; p++)
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                batch_case c;
                if (strcmp(plain_penalties[p].text, "block(q=3)") == 0)
                    continue;
                open_random(&c, kind, &plain_penalties[p], 3 * p + seed);
                check_case(&c);
                close_case(&c);
            }
}

/* Losses that are strictly convex have one optimum: so have the kernel weights. */
static void kernel_weights_agree(void **state)
{
    (void)state;
    static const size_t kinds[] = {LOGISTIC, SQUARED};
    for (size_t k = 0; k < 2; k++)
        for (uint64_t seed = 0; seed < SEEDS + 1; seed++) {
            batch_case c;
            double weights[2][8];
            md_batch_solution s = {0};
            open_random(&c, kinds[k], &group_lasso, seed);
            c.problem.gap = 1e-7;
            check_ok(md_batch_solve(&s, &c.problem, NULL, NULL), NULL);
            weights_of(&c, &s, weights[0]);
            md_batch_solution_clear(&s);
            for (size_t w = 0; w < 3; w++) { /* level sets take very long to so small a gap */
                check_ok(run_way(&ways[w], &s, &c.problem, NULL, md_one_kernel_newton, NULL), NULL);
                weights_of(&c, &s, weights[1]);
                md_batch_solution_clear(&s);
                for (size_t m = 0; m < c.count; m++)
                    if (!(fabs(weights[0][m] - weights[1][m]) <= 5e-3))
                        fail_msg("%s, seed %d: weight %zu is %g, expected %g", ways[w].name,
                                 (int)seed, m, weights[1][m], weights[0][m]);
            }
            close_case(&c);
        }
}

/* ---- the ways in and out ---- */

static void without_a_wish_a_solver_is_chosen(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < LOSSES; kind++) {
        batch_case c;
        md_batch_solution s = {0};
        open_random(&c, kind, &group_lasso, kind);
        check_ok(md_batch_gauss_seidel(&s, &c.problem, NULL, NULL), NULL);
        assert_true(s.converged && s.newton_steps == s.step_count && s.passes > s.step_count);
        md_batch_solution_clear(&s);
        check_ok(md_batch_simplemkl(&s, &c.problem, NULL, NULL), NULL);
        assert_true(s.converged && s.newton_steps > s.step_count);
        md_batch_solution_clear(&s);
        close_case(&c);
    }
}

static void a_large_C_needs_no_step(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < LOSSES; kind++)
        for (size_t w = 0; w < METHODS; w++) {
            batch_case c;
            md_batch_solution s = {0};
            if (!is_there(&ways[w]))
                continue;
            open_random(&c, kind, &group_lasso, 1);
            set_strength(&c, 1.01);
            check_ok(run_way(&ways[w], &s, &c.problem, NULL, NULL, NULL), NULL);
            check_solution(&c, &s);
            assert_true(s.converged && s.active == 0 && s.step_count == 0);
            md_batch_solution_clear(&s);
            close_case(&c);
        }
}

static bool stop_at_third(void *context, const md_batch_step *step)
{
    (void)step;
    return ++*(int *)context < 3;
}

static void a_watcher_can_stop_it(void **state)
{
    (void)state;
    for (size_t w = 0; w < METHODS; w++) {
        batch_case c;
        md_batch_solution s = {0};
        int calls = 0;
        if (!is_there(&ways[w]))
            continue;
        open_random(&c, LOGISTIC, &group_lasso, 3);
        c.problem.gap = 1e-10;
        c.problem.watch = stop_at_third;
        c.problem.context = &calls;
        check_ok(run_way(&ways[w], &s, &c.problem, NULL, NULL, NULL), NULL);
        assert_true(s.stopped && !s.converged && calls == 3 && s.step_count == 3);
        check_solution(&c, &s);
        md_batch_solution_clear(&s);
        c.problem.watch = NULL;
        c.problem.max_iterations = 2;
        check_ok(run_way(&ways[w], &s, &c.problem, NULL, NULL, NULL), NULL);
        assert_true(!s.stopped && !s.converged && s.step_count == 2);
        check_solution(&c, &s);
        md_batch_solution_clear(&s);
        close_case(&c);
    }
}

static void a_start_is_a_shorter_way(void **state)
{
    (void)state;
    for (size_t w = 0; w < 2; w++) {
        batch_case c;
        md_batch_solution before = {0};
        md_batch_solution s = {0};
        md_batch_solution cold = {0};
        open_random(&c, LOGISTIC, &group_lasso, 7);
        c.problem.gap = 1e-5;
        check_ok(md_batch_solve(&before, &c.problem, NULL, NULL), NULL);
        c.problem.strength *= 0.98;
        check_ok(run_way(&ways[w], &s, &c.problem, &before, NULL, NULL), NULL);
        check_ok(run_way(&ways[w], &cold, &c.problem, NULL, NULL, NULL), NULL);
        check_solution(&c, &s);
        assert_true(s.converged && cold.converged);
        assert_true(fabs(s.primal - cold.primal) <= 2e-5 * s.primal);
        assert_true(s.newton_steps <= cold.newton_steps);
        md_batch_solution_clear(&before);
        md_batch_solution_clear(&s);
        md_batch_solution_clear(&cold);
        close_case(&c);
    }
}

static void other_penalties_are_refused(void **state)
{
    (void)state;
    for (size_t p = 0; p < PENALTIES; p++) {
        batch_case c;
        md_batch_solution s = {0};
        medley_error error = {0};
        open_random(&c, SQUARED, &plain_penalties[p], p);
        c.problem.max_iterations = 1;
        const char *text = c.choice.penalty->text;
        const bool linear = strcmp(text, "group-lasso") == 0 || strcmp(text, "elastic(t=0)") == 0;
        for (size_t w = 1; w < METHODS; w++) {
            error = (medley_error){0};
            if (!is_there(&ways[w]))
                continue;
            const medley_status status = ways[w].run(&s, &c.problem, NULL, &error);
            assert_int_equal(status, linear ? MEDLEY_OK : MEDLEY_NOT_SUPPORTED);
            assert_true(linear || strstr(error.message, "group-lasso and mkl only") != NULL);
            md_batch_solution_clear(&s);
        }
        const bool steep = strcmp(text, "block(q=3)") == 0;
        error = (medley_error){0};
        assert_true(md_has_kernel_weights(&c.problem) == !steep);
        assert_int_equal(md_batch_gauss_seidel(&s, &c.problem, NULL, &error),
                         steep ? MEDLEY_NOT_SUPPORTED : MEDLEY_OK);
        assert_true(!steep || strstr(error.message, "at most 2") != NULL);
        md_batch_solution_clear(&s);
        close_case(&c);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (size_t w = 0; w < METHODS; w++) {
        batch_case c;
        md_batch_solution s[2] = {{0}};
        if (!is_there(&ways[w]))
            continue;
        open_random(&c, HINGE, &group_lasso, 6);
        for (size_t t = 0; t < 2; t++) {
            make_store(&c, t + 1, 0);
            check_ok(run_way(&ways[w], &s[t], &c.problem, NULL, NULL, NULL), NULL);
        }
        assert_int_equal(s[0].active, s[1].active);
        assert_memory_equal(s[0].coefficient, s[1].coefficient, s[0].active * c.n * sizeof(double));
        assert_true(s[0].dual == s[1].dual);
        md_batch_solution_clear(&s[0]);
        md_batch_solution_clear(&s[1]);
        close_case(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_reaches_the_optimum),
        cmocka_unit_test(every_way_reaches_the_optimum_on_the_simplex),
        cmocka_unit_test(kernel_weights_agree),
        cmocka_unit_test(without_a_wish_a_solver_is_chosen),
        cmocka_unit_test(a_large_C_needs_no_step),
        cmocka_unit_test(a_watcher_can_stop_it),
        cmocka_unit_test(a_start_is_a_shorter_way),
        cmocka_unit_test(other_penalties_are_refused),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
