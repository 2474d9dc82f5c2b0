/* SPDX-License-Identifier: BSD-3-Clause */
/* The two baselines: what they return is the optimum of a single kernel, the mean of all or the one
 * that a search of our own finds best on the held-out rows. */
#include "batch/batch_case.h"

#include "baseline/wrappers.h"
#include <math.h>

static void open_random(batch_case *c, size_t kind, size_t penalty, uint64_t seed)
{
    const batch_choice choice = {.rows = 18 + 2 * (seed % 5),
                                 .kernels = 2 + seed % 4,
                                 .loss = {(enum plain_loss_kind)kind, 0.1},
                                 .penalty = &plain_penalties[penalty],
                                 .wide = true,
                                 .seed = seed};
    draw_case(c, &choice);
    open_case(c);
    set_strength(c, 0.1);
    c->problem.gap = 1e-4;
}

/* Primal value of coefficients a of a kernel alone. */
static double single_value(const batch_case *c, const double *matrix, const double *a, double bias)
{
    double value = 0;
    double norm2 = 0;
    for (size_t i = 0; i < c->n; i++) {
        const double f = plain_dot(matrix + i * c->n, a, c->n);
        value += plain_loss_value(&c->choice.loss, c->y[i], f + bias);
        norm2 += f * a[i];
    }
    return value + c->problem.strength * plain_g(c->choice.penalty, norm2 > 0 ? sqrt(norm2) : 0);
}

/* The optimum of one kernel, to be compared with. */
static double single_optimum(const batch_case *c, const double *matrix)
{
    md_batch_problem problem = c->problem;
    md_batch_solution s = {0};
    check_ok(md_packed_of_matrix(&problem.packed, matrix, c->n, 1, NULL), NULL);
    problem.gap = 1e-8;
    check_ok(md_batch_solve(&s, &problem, NULL, NULL), NULL);
    const double primal = s.primal;
    md_batch_solution_clear(&s);
    md_packed_free(problem.packed);
    return primal;
}

static void check_certificate(const batch_case *c, const md_batch_solution *s, double value,
                              double optimum)
{
    assert_true(s->converged && s->gap <= c->problem.gap);
    assert_true(fabs(value - s->primal) <= 1e-9 * value);
    assert_true(s->dual <= optimum * (1 + 1e-7) && s->primal >= optimum * (1 - 1e-7));
    assert_true(s->primal <= optimum * (1 + 1.1 * c->problem.gap));
}

/* ---- the average ---- */

static void check_average(batch_case *c)
{
    const size_t n = c->n;
    const double share = 1 / (double)c->count;
    double *mean = md_calloc(n * n, sizeof *mean);
    double *a = md_calloc(n, sizeof *a);
    md_batch_solution s = {0};
    medley_error error = {0};
    assert_true(mean != NULL && a != NULL);
    for (size_t m = 0; m < c->count; m++)
        for (size_t i = 0; i < n * n; i++)
            mean[i] += share * case_matrix(c, m)[i];
    check_ok(md_batch_average(&s, &c->problem, NULL, &error), &error);
    assert_true(s.active == c->count || s.active == 0);
    for (size_t i = 0; i < n && s.active > 0; i++)
        a[i] = s.coefficient[i] / share;
    for (size_t m = 0; m < s.active; m++) {
        assert_int_equal(s.kernel[m], m);
        assert_memory_equal(s.coefficient + m * n, s.coefficient, n * sizeof(double));
        assert_true(fabs(s.norm[m] - share * plain_norm(c, m, a)) <= 1e-9 * (1 + s.norm[m]));
    }
    check_certificate(c, &s, single_value(c, mean, a, s.bias), single_optimum(c, mean));
    assert_true(s.step_count == 0 || s.steps[s.step_count - 1].active == s.active);
    md_batch_solution_clear(&s);
    free(mean);
    free(a);
}

static void the_average_is_the_mean_kernel(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < LOSSES; kind++)
        for (size_t p = 0; p < PENALTIES; p++) {
            batch_case c;
            open_random(&c, kind, p, 10 * kind + p);
            if (strcmp(c.choice.penalty->text, "block(q=3)") != 0)
                check_average(&c);
            close_case(&c);
        }
}

/* Kernels of another size: the same models for the same share of that C. */
static void the_scale_of_C_follows_the_kernels(void **state)
{
    (void)state;
    static const size_t square = 3; /* elastic(t=1) */
    double C[2];
    double loss[2];
    for (int large = 0; large < 2; large++) {
        batch_case c;
        double without_slope;
        md_batch_solution s = {0};
        const batch_choice choice = {.rows = 30,
                                     .kernels = 3,
                                     .loss = {LOGISTIC, 0},
                                     .penalty = &plain_penalties[square],
                                     .wide = true,
                                     .seed = 2};
        draw_case(&c, &choice);
        for (size_t i = 0; large && i < c.count * c.n * c.n; i++)
            c.K[i] *= 1e4;
        open_case(&c);
        check_ok(md_batch_average_strength(&c.problem, &C[large], &without_slope, NULL), NULL);
        assert_true(C[large] > 0 && without_slope == C[large]);
        c.problem.strength = 0.1 * C[large];
        c.problem.gap = 1e-8;
        check_ok(md_batch_average(&s, &c.problem, NULL, NULL), NULL);
        loss[large] = s.loss;
        md_batch_solution_clear(&s);
        close_case(&c);
    }
    assert_true(fabs(C[1] / C[0] - 1e4) <= 1e-2);
    assert_true(fabs(loss[1] - loss[0]) <= 1e-3 * loss[0]);
}

/* ---- the best ---- */

struct fifth {
    size_t learnt[64], held[64];
    size_t exported_count, held_count;
    double y[64];
};

static void divide(const batch_case *c, struct fifth *fifth)
{
    size_t seen[2] = {0, 0};
    *fifth = (struct fifth){0};
    for (size_t i = 0; i < c->n; i++) {
        const size_t label = c->choice.loss.kind < SQUARED && c->y[i] > 0;
        if (++seen[label] % 5 == 0)
            fifth->held[fifth->held_count++] = i;
        else
            fifth->learnt[fifth->exported_count++] = i;
    }
    for (size_t i = 0; i < fifth->exported_count; i++)
        fifth->y[i] = c->y[fifth->learnt[i]];
}

/* Rows right and loss of kernel m on what is held out. */
static void try_kernel(const batch_case *c, const struct fifth *fifth, size_t m, size_t *right,
                       double *loss)
{
    const size_t n = fifth->exported_count;
    const double *matrix = case_matrix(c, m);
    double *part = md_calloc(n * n, sizeof *part);
    md_batch_problem problem = c->problem;
    md_batch_solution s = {0};
    assert_non_null(part);
    for (size_t i = 0; i < n * n; i++)
        part[i] = matrix[fifth->learnt[i / n] * c->n + fifth->learnt[i % n]];
    check_ok(md_packed_of_matrix(&problem.packed, part, n, 1, NULL), NULL);
    problem.y = fifth->y;
    problem.strength *= (double)n / (double)c->n;
    problem.gap = 1e-6;
    check_ok(md_batch_solve(&s, &problem, NULL, NULL), NULL);
    *right = 0;
    *loss = 0;
    for (size_t h = 0; h < fifth->held_count; h++) {
        const size_t row = fifth->held[h];
        double f = s.bias;
        for (size_t i = 0; s.active > 0 && i < n; i++)
            f += matrix[row * c->n + fifth->learnt[i]] * s.coefficient[i];
        *right += c->choice.loss.kind < SQUARED && c->y[row] * f > 0;
        *loss += plain_loss_value(&c->choice.loss, c->y[row], f);
    }
    md_batch_solution_clear(&s);
    md_packed_free(problem.packed);
    free(part);
}

/* The search is content with a gap of 1 %: a rival that is hardly worse may win. */
static void check_best(batch_case *c)
{
    struct fifth fifth;
    size_t right[8];
    double loss[8];
    size_t best = 0;
    md_batch_solution s = {0};
    medley_error error = {0};
    divide(c, &fifth);
    for (size_t m = 0; m < c->count; m++) {
        try_kernel(c, &fifth, m, &right[m], &loss[m]);
        if (right[m] > right[best] || (right[m] == right[best] && loss[m] < loss[best]))
            best = m;
    }
    check_ok(md_batch_best(&s, &c->problem, NULL, &error), &error);
    assert_true(s.active <= 1 && s.rows == c->n);
    if (s.active == 1) {
        const size_t found = s.kernel[0];
        if (found != best && !(right[found] + 1 >= right[best] &&
                               loss[found] <= loss[best] * 1.2 + 0.1 * (double)fifth.held_count))
            fail_msg("%s: kernel %zu (%zu right, loss %g), not %zu (%zu, %g)",
                     plain_loss_names[c->choice.loss.kind], found, right[found], loss[found], best,
                     right[best], loss[best]);
        const double *matrix = case_matrix(c, found);
        check_certificate(c, &s, single_value(c, matrix, s.coefficient, s.bias),
                          single_optimum(c, matrix));
    }
    md_batch_solution_clear(&s);
}

static void the_best_kernel_is_found(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < LOSSES; kind++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            batch_case c;
            open_random(&c, kind, seed % 2, 4 * kind + seed);
            check_best(&c);
            close_case(&c);
        }
}

/* One kernel knows the labels, the others are noise. */
static void the_kernel_that_knows_wins(void **state)
{
    (void)state;
    for (size_t knows = 0; knows < 3; knows++) {
        const batch_choice choice = {.rows = 40,
                                     .kernels = 3,
                                     .loss = {HINGE, 0},
                                     .penalty = &plain_penalties[0],
                                     .wide = true,
                                     .seed = knows};
        batch_case c;
        md_batch_solution s = {0};
        draw_case(&c, &choice);
        for (size_t i = 0; i < c.n * c.n; i++)
            case_matrix(&c, knows)[i] = c.y[i / c.n] * c.y[i % c.n];
        open_case(&c);
        set_strength(&c, 0.1);
        check_ok(md_batch_best(&s, &c.problem, NULL, NULL), NULL);
        assert_int_equal(s.active, 1);
        assert_int_equal(s.kernel[0], knows);
        md_batch_solution_clear(&s);
        close_case(&c);
    }
}

static bool stop_now(void *context, const md_batch_step *step)
{
    (void)step;
    ++*(int *)context;
    return false;
}

static void a_search_that_is_stopped_leaves_a_model(void **state)
{
    (void)state;
    batch_case c;
    md_batch_solution s = {0};
    int calls = 0;
    open_random(&c, LOGISTIC, 0, 3);
    c.problem.gap = 1e-9;
    c.problem.watch = stop_now;
    c.problem.context = &calls;
    check_ok(md_batch_best(&s, &c.problem, NULL, NULL), NULL);
    assert_true(s.stopped && calls == 1);
    assert_int_equal(s.active, 1);
    assert_int_equal(s.kernel[0], 0);
    assert_true(s.dual <= s.primal && isfinite(s.primal));
    md_batch_solution_clear(&s);
    calls = 0;
    check_ok(md_batch_average(&s, &c.problem, NULL, NULL), NULL);
    assert_true(s.stopped && calls == 1);
    md_batch_solution_clear(&s);
    close_case(&c);
}

static void few_rows_are_enough(void **state)
{
    (void)state;
    const batch_choice choice = {.rows = 3,
                                 .kernels = 2,
                                 .loss = {HINGE, 0},
                                 .penalty = &plain_penalties[0],
                                 .wide = true,
                                 .seed = 1};
    batch_case c;
    md_batch_solution s = {0};
    draw_case(&c, &choice);
    open_case(&c);
    set_strength(&c, 0.1);
    check_ok(md_batch_best(&s, &c.problem, NULL, NULL), NULL);
    assert_true(s.converged);
    md_batch_solution_clear(&s);
    check_ok(md_batch_average(&s, &c.problem, NULL, NULL), NULL);
    assert_true(s.converged);
    md_batch_solution_clear(&s);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_average_is_the_mean_kernel),
        cmocka_unit_test(the_scale_of_C_follows_the_kernels),
        cmocka_unit_test(the_best_kernel_is_found),
        cmocka_unit_test(the_kernel_that_knows_wins),
        cmocka_unit_test(a_search_that_is_stopped_leaves_a_model),
        cmocka_unit_test(few_rows_are_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
