/* SPDX-License-Identifier: BSD-3-Clause */
/* What surrounds a run of the batch solver: limits and watchers that end it early, threads and
 * memory that must not matter, allocations that fail. */
#include "batch/check_solution.h"

static const batch_choice choices[] = {
    {.rows = 40, .kernels = 20, .loss = {.kind = LOGISTIC}, .penalty = &plain_penalties[0]},
    {.rows = 40, .kernels = 20, .loss = {.kind = HINGE}, .penalty = &plain_penalties[0]},
    {.rows = 40, .kernels = 20, .loss = {.kind = HINGE}, .penalty = &plain_penalties[1]},
    {.rows = 40, .kernels = 20, .loss = {.kind = SQUARED}, .penalty = &plain_penalties[5]},
    {.rows = 40, .kernels = 20, .loss = {EPSILON, 0.1}, .penalty = &plain_penalties[0]},
    {.rows = 40, .kernels = 20, .loss = {EPSILON, 0.1}, .penalty = &plain_penalties[5]},
};
enum { CHOICES = sizeof choices / sizeof *choices };

static void open_choice(batch_case *c, size_t i)
{
    batch_choice choice = choices[i];
    choice.seed = 7 + i;
    draw_case(c, &choice);
    open_case(c);
    set_strength(c, 0.05);
}

/* ---- ended early ---- */

static void check_limits(batch_case *c)
{
    for (size_t most = 1; most < 5; most++) {
        md_batch_solution s;
        medley_error error = {0};
        c->problem.max_iterations = most;
        check_ok(md_batch_solve(&s, &c->problem, NULL, &error), &error);
        check_certificate(c, &s);
        assert_true(s.step_count <= most && s.step_count > 0);
        assert_false(s.stopped);
        check_close(c, &s, "the primal value", s.primal, s.steps[s.step_count - 1].primal,
                    1e-8 * s.primal);
        md_batch_solution_clear(&s);
    }
}

static void a_limit_leaves_a_valid_certificate(void **state)
{
    (void)state;
    static const double shares[] = {0.97, 0.05, 0.001};
    for (size_t i = 0; i < CHOICES; i++)
        for (size_t k = 0; k < 3; k++) {
            batch_case c;
            open_choice(&c, i);
            set_strength(&c, shares[k]);
            c.problem.gap = 1e-9;
            check_limits(&c);
            close_case(&c);
        }
}

/* Theorem 1: the distance to the optimum falls by a constant factor with proximal steps of constant
 * length, and by ever more with longer ones. So iterations to a small gap are few if gamma grows.
 */
static size_t iterations_to(batch_case *c, double growth)
{
    md_batch_solution s;
    medley_error error = {0};
    c->problem.first_gamma = 0.3;
    c->problem.growth = growth;
    check_ok(md_batch_solve(&s, &c->problem, NULL, &error), &error);
    check_certificate(c, &s);
    assert_true(s.converged);
    const size_t count = s.step_count;
    md_batch_solution_clear(&s);
    return count;
}

static void longer_steps_converge_faster(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        batch_case c;
        open_choice(&c, i);
        c.problem.gap = 1e-2;
        const size_t constant = iterations_to(&c, 1);
        const size_t growing = iterations_to(&c, 4);
        c.problem.gap = 1e-5; /* three more digits */
        assert_true(growing < constant);
        assert_true(iterations_to(&c, 4) <= growing + 4);
        assert_true(iterations_to(&c, 1) > constant + 4);
        close_case(&c);
    }
}

/* One iteration is not enough to find anything better than no kernels: that is returned. */
static void the_empty_model_may_be_the_best_so_far(void **state)
{
    (void)state;
    static const double shares[] = {0.97, 0.3, 0.05, 0.01};
    for (size_t l = 0; l < LOSSES; l++)
        for (size_t k = 0; k < 4; k++) {
            const batch_choice choice = {.rows = 17,
                                         .kernels = 6,
                                         .loss = {.kind = l, .epsilon = 0.1},
                                         .penalty = &plain_penalties[4],
                                         .wide = true,
                                         .seed = 194};
            batch_case c;
            draw_case(&c, &choice);
            open_case(&c);
            set_strength(&c, shares[k]);
            c.problem.gap = 1e-9;
            check_limits(&c);
            close_case(&c);
        }
}

struct watcher {
    size_t calls, stop_at;
    double primal, dual;
};

/* Values never get worse. */
static bool look(void *context, const md_batch_step *step)
{
    struct watcher *w = context;
    assert_true(w->calls == 0 || (step->primal <= w->primal && step->dual >= w->dual));
    assert_true(step->dual <= step->primal * (1 + 1e-9) && step->loss <= step->primal);
    assert_true(step->seconds >= 0);
    w->primal = step->primal;
    w->dual = step->dual;
    return ++w->calls != w->stop_at;
}

static void a_watcher_sees_progress_and_may_end_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHOICES; i++)
        for (size_t stop_at = 0; stop_at < 4; stop_at++) {
            batch_case c;
            md_batch_solution s;
            medley_error error = {0};
            struct watcher w = {.stop_at = stop_at};
            open_choice(&c, i);
            c.problem.watch = look;
            c.problem.context = &w;
            check_ok(md_batch_solve(&s, &c.problem, NULL, &error), &error);
            check_certificate(&c, &s);
            assert_int_equal(w.calls, s.step_count);
            assert_int_equal(s.stopped, stop_at > 0 && w.calls == stop_at);
            assert_true(stop_at == 0 || w.calls <= stop_at);
            if (stop_at == 0)
                assert_true(s.converged);
            md_batch_solution_clear(&s);
            close_case(&c);
        }
}

/* As small as rounding allows, and it ends. */
static void no_gap_at_all_is_asked_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHOICES; i++) {
        batch_case c;
        md_batch_solution s;
        medley_error error = {0};
        open_choice(&c, i);
        c.problem.gap = 0;
        c.problem.max_iterations = 300;
        check_ok(md_batch_solve(&s, &c.problem, NULL, &error), &error);
        check_certificate(&c, &s);
        assert_true(s.gap <= 1e-7);
        md_batch_solution_clear(&s);
        close_case(&c);
    }
}

/* ---- threads and memory ---- */

static void check_same(const batch_case *c, const md_batch_solution *s,
                       const md_batch_solution *other)
{
    /* sums over kernels in other groups are other roundings */
    check_close(c, other, "the primal value", other->primal, s->primal, 1e-10 * s->primal);
    check_close(c, other, "the dual value", other->dual, s->dual, 1e-10 * s->primal);
    assert_int_equal(s->active, other->active);
    assert_int_equal(s->newton_steps, other->newton_steps);
    assert_memory_equal(s->kernel, other->kernel, s->active * sizeof *s->kernel);
    for (size_t i = 0; i < s->active; i++)
        check_close(c, other, "a norm", other->norm[i], s->norm[i], 1e-9 * s->norm[i]);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHOICES; i++) {
        batch_case c;
        md_batch_solution s;
        batch_choice choice = choices[i];
        choice.rows = 130; /* so that there is work for two */
        choice.seed = 3;
        draw_case(&c, &choice);
        open_case(&c);
        set_strength(&c, 0.1);
        solve_and_check(&c, NULL, &s);
        for (size_t threads = 2; threads < 4; threads++) {
            md_batch_solution other;
            make_store(&c, threads, 0);
            solve_and_check(&c, NULL, &other);
            check_same(&c, &s, &other);
            md_batch_solution_clear(&other);
        }
        md_batch_solution_clear(&s);
        close_case(&c);
    }
}

static void memory_does_not_matter(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHOICES; i++) {
        batch_case c;
        md_batch_solution s;
        open_choice(&c, i);
        solve_and_check(&c, NULL, &s);
        const size_t bytes = md_packed_bytes(c.packed);
        static const size_t parts[] = {2, 5, 1000000};
        for (size_t p = 0; p < 3; p++) {
            md_batch_solution other;
            make_store(&c, 1, bytes / parts[p] + 1);
            assert_false(md_packed_is_resident(c.packed));
            solve_and_check(&c, NULL, &other);
            check_same(&c, &s, &other);
            md_batch_solution_clear(&other);
        }
        md_batch_solution_clear(&s);
        close_case(&c);
    }
}

/* ---- many rows ---- */

/* Beyond some rows steps are found by conjugate gradients. */
static void many_rows(void **state)
{
    (void)state;
    const batch_choice choice = {.rows = 1520,
                                 .kernels = 2,
                                 .loss = {.kind = LOGISTIC},
                                 .penalty = &plain_penalties[0],
                                 .threads = 2,
                                 .seed = 17,
                                 .most_rank = 5};
    batch_case c;
    md_batch_solution s;
    draw_case(&c, &choice);
    open_case(&c);
    set_strength(&c, 0.2);
    c.problem.gap = 1e-6;
    solve_and_check(&c, NULL, &s);
    assert_true(s.active > 0);
    md_batch_solution_clear(&s);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_leaves_a_valid_certificate),
        cmocka_unit_test(longer_steps_converge_faster),
        cmocka_unit_test(the_empty_model_may_be_the_best_so_far),
        cmocka_unit_test(a_watcher_sees_progress_and_may_end_it),
        cmocka_unit_test(no_gap_at_all_is_asked_for),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(memory_does_not_matter),
        cmocka_unit_test(many_rows),
    };
    dirty_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
