/* SPDX-License-Identifier: BSD-3-Clause */
/* Machines that share a matrix, on all rows and on some: their objective against the optimum of the
 * batch solver, which is certified, what they say against plain formulas, and the edges. */
#include "batch/batch_case.h"

#include "baseline/svm_set.h"
#include <math.h>

enum { ROWS = 40, MACHINES = 6 };

struct machines {
    double *y; /* [MACHINES][n] */
    size_t *rows[MACHINES];
    double *kernel, *coefficient, *score;
    md_svm list[MACHINES];
    md_svm_set set;
};

/* Every machine has labels of its own; all but the first two leave out some rows. */
static void draw_machines(struct machines *s, batch_case *c, double strength, double gap)
{
    const size_t n = c->n;
    *s = (struct machines){.y = md_calloc(MACHINES * n, sizeof *s->y),
                           .kernel = md_copy(case_matrix(c, 0), n * n * sizeof(double)),
                           .coefficient = md_calloc(MACHINES * n, sizeof(double)),
                           .score = md_calloc(MACHINES * n, sizeof(double))};
    assert_true(s->y != NULL && s->kernel != NULL && s->coefficient != NULL && s->score != NULL);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            s->kernel[i * n + j] = NAN; /* to be filled in */
    for (size_t k = 0; k < MACHINES; k++) {
        double *y = s->y + k * n;
        size_t count = 0;
        s->rows[k] = md_calloc(n, sizeof *s->rows[k]);
        assert_non_null(s->rows[k]);
        for (size_t i = 0; i < n; i++) {
            y[i] = md_random_below(&c->random, 8) == 0 ? -c->y[i] : c->y[i];
            if (k < 2 || md_random_below(&c->random, 4) > 0)
                s->rows[k][count++] = i;
        }
        y[s->rows[k][0]] = 1;
        y[s->rows[k][1]] = -1;
        s->list[k] = (md_svm){.y = y, .rows = k == 0 ? NULL : s->rows[k], .count = count};
    }
    s->set = (md_svm_set){.kernel = s->kernel,
                          .n = n,
                          .strength = strength,
                          .gap = gap,
                          .threads = 1,
                          .machines = s->list,
                          .count = MACHINES,
                          .coefficient = s->coefficient,
                          .score = s->score};
}

static void clear_machines(struct machines *s)
{
    for (size_t k = 0; k < MACHINES; k++)
        free(s->rows[k]);
    free(s->y);
    free(s->kernel);
    free(s->coefficient);
    free(s->score);
}

static void open_hinge(batch_case *c, size_t rows, uint64_t seed)
{
    static const struct plain_penalty l2 = {.text = "l2"};
    const batch_choice choice = {.rows = rows,
                                 .kernels = 1,
                                 .loss = {.kind = HINGE},
                                 .penalty = &l2,
                                 .seed = seed,
                                 .most_rank = 1 + seed % rows};
    draw_case(c, &choice);
    open_case(c);
}

static size_t row_at(const md_svm *machine, size_t i)
{
    return machine->rows != NULL ? machine->rows[i] : i;
}

/* The optimum of a machine, by the batch solver on the rows it learns from. */
static double optimum_of(const struct machines *s, const md_svm *machine)
{
    const size_t k = machine->count;
    double *part = md_calloc(k * k, sizeof *part);
    double *y = md_calloc(k, sizeof *y);
    assert_true(part != NULL && y != NULL);
    for (size_t i = 0; i < k; i++) {
        y[i] = machine->y[row_at(machine, i)];
        for (size_t j = 0; j < k; j++)
            part[i * k + j] = s->kernel[row_at(machine, i) * s->set.n + row_at(machine, j)];
    }
    md_packed *packed = NULL;
    md_batch_solution solution = {0};
    medley_error error = {0};
    check_ok(md_packed_of_matrix(&packed, part, k, 1, &error), &error);
    const md_batch_problem problem = {.packed = packed,
                                      .loss = md_margin_loss_find("hinge"),
                                      .y = y,
                                      .penalty = md_penalty_find("l2")->scalar,
                                      .penalty_state = md_penalty_find("l2")->fixed,
                                      .strength = s->set.strength,
                                      .gap = 1e-8,
                                      .max_iterations = 500,
                                      .threads = 1};
    check_ok(md_batch_solve(&solution, &problem, NULL, &error), &error);
    assert_true(solution.gap <= 1e-7);
    const double optimum = solution.primal;
    md_batch_solution_clear(&solution);
    md_packed_free(packed);
    free(part);
    free(y);
    return optimum;
}

/* Its objective from its coefficients, and its scores, by plain formulas. */
static void check_words(const struct machines *s, const batch_case *c, size_t k)
{
    const md_svm *machine = &s->list[k];
    double *a = md_calloc(2 * c->n, sizeof *a);
    double *f = a + c->n;
    double primal = 0;
    assert_non_null(a);
    for (size_t i = 0; i < c->n; i++)
        a[i] = s->coefficient[i * MACHINES + k];
    plain_multiply(c, 0, a, f);
    primal += s->set.strength / 2 * plain_dot(a, f, c->n);
    for (size_t i = 0; i < machine->count; i++) {
        const size_t r = row_at(machine, i);
        primal += fmax(0, 1 - machine->y[r] * (f[r] + machine->bias));
    }
    assert_true(fabs(primal - machine->primal) <= 1e-9 * (1 + primal));
    for (size_t i = 0; i < c->n; i++) {
        const double score = f[i] + machine->bias;
        assert_true(fabs(s->score[i * MACHINES + k] - score) <= 1e-9 * (1 + fabs(score)));
    }
    for (size_t i = 0, next = 0; i < c->n; i++) {
        const bool learns = next < machine->count && row_at(machine, next) == i;
        next += learns;
        assert_true(learns || a[i] == 0);
    }
    free(a);
}

static void they_find_the_optimum(void **state)
{
    (void)state;
    static const double gaps[] = {1e-2, 1e-4, 1e-7}; /* the last is for our own solver */
    static const double strengths[] = {0.02, 0.5, 30};
    for (uint64_t seed = 1; seed <= 9; seed++) {
        const double gap = gaps[seed % 3];
        batch_case c;
        struct machines s;
        medley_error error = {0};
        open_hinge(&c, ROWS, seed);
        draw_machines(&s, &c, strengths[seed / 3 % 3], gap);
        check_ok(md_svm_solve(&s.set, &error), &error);
        for (size_t k = 0; k < MACHINES; k++) {
            const double optimum = optimum_of(&s, &s.list[k]);
            check_words(&s, &c, k);
            if (!s.list[k].solved || !(s.list[k].primal <= optimum * (1 + 1.01 * gap) + 1e-9) ||
                !(s.list[k].primal >= optimum * (1 - 1e-6)) ||
                !(s.list[k].dual <= optimum * (1 + 1e-6) + 1e-9))
                fail_msg("seed %d, machine %zu: %.10g and %.10g, optimum %.10g", (int)seed, k,
                         s.list[k].primal, s.list[k].dual, optimum);
        }
        clear_machines(&s);
        close_case(&c);
    }
}

/* Those that need not be exact are near, and do not keep the others from being so. */
static void some_may_be_rough(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        batch_case c;
        struct machines s;
        medley_error error = {0};
        open_hinge(&c, ROWS, 20 + seed);
        draw_machines(&s, &c, 0.1, seed == 5 ? 1e-7 : 1e-4);
        for (size_t k = 1; k < MACHINES; k += 2)
            s.list[k].rough = true;
        check_ok(md_svm_solve(&s.set, &error), &error);
        for (size_t k = 0; k < MACHINES; k++) {
            const double optimum = optimum_of(&s, &s.list[k]);
            check_words(&s, &c, k);
            assert_true(s.list[k].solved);
            assert_true(s.list[k].primal <= optimum * (k % 2 ? 1.03 : 1 + 1.01e-4) + 1e-9);
            assert_true(s.list[k].dual <= optimum * (1 + 1e-6) + 1e-9);
        }
        clear_machines(&s);
        close_case(&c);
    }
}

/* No other bias is better, and that of a whole interval is its middle. */
static void the_bias_is_the_best(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        batch_case c;
        struct machines s;
        medley_error error = {0};
        open_hinge(&c, 15, seed);
        draw_machines(&s, &c, seed % 2 ? 1 : 1e6, 1e-2);
        check_ok(md_svm_solve(&s.set, &error), &error);
        for (size_t k = 0; k < MACHINES; k++) {
            const md_svm *machine = &s.list[k];
            double below = 0;
            double above = 0;
            for (double shift = 1e-3; shift < 4; shift *= 1.5) {
                double left = 0;
                double right = 0;
                for (size_t i = 0; i < machine->count; i++) {
                    const size_t r = row_at(machine, i);
                    const double score = s.score[r * MACHINES + k];
                    left += fmax(0, 1 - machine->y[r] * (score - shift));
                    right += fmax(0, 1 - machine->y[r] * (score + shift));
                }
                assert_true(left >= machine->loss - 1e-9 && right >= machine->loss - 1e-9);
                below = left <= machine->loss + 1e-9 ? shift : below;
                above = right <= machine->loss + 1e-9 ? shift : above;
            }
            assert_true(fabs(below - above) <= 0.6 * fmax(below, above));
        }
        clear_machines(&s);
        close_case(&c);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    batch_case c;
    struct machines one;
    struct machines more;
    open_hinge(&c, ROWS, 4);
    const md_random random = c.random;
    draw_machines(&one, &c, 0.1, 1e-3);
    c.random = random;
    draw_machines(&more, &c, 0.1, 1e-3);
    more.set.threads = 3;
    assert_int_equal(md_svm_solve(&one.set, NULL), MEDLEY_OK);
    assert_int_equal(md_svm_solve(&more.set, NULL), MEDLEY_OK);
    assert_memory_equal(one.coefficient, more.coefficient, ROWS * MACHINES * sizeof(double));
    assert_memory_equal(one.score, more.score, ROWS * MACHINES * sizeof(double));
    clear_machines(&one);
    clear_machines(&more);
    close_case(&c);
}

static void one_label_needs_no_coefficients(void **state)
{
    (void)state;
    batch_case c;
    struct machines s;
    open_hinge(&c, ROWS, 5);
    draw_machines(&s, &c, 0.1, 1e-3);
    for (size_t i = 0; i < ROWS; i++) {
        s.y[i] = -1;
        s.y[ROWS + i] = 1;
    }
    s.list[2].count = 0;
    assert_int_equal(md_svm_solve(&s.set, NULL), MEDLEY_OK);
    for (size_t k = 0; k < 3; k++) {
        assert_true(s.list[k].solved && s.list[k].primal == 0 && s.list[k].dual == 0);
        assert_true(s.list[k].bias == (k == 1 ? 1 : -1));
        for (size_t i = 0; i < ROWS; i++) {
            assert_true(s.coefficient[i * MACHINES + k] == 0);
            assert_true(s.score[i * MACHINES + k] == s.list[k].bias);
        }
    }
    assert_true(s.list[3].solved && s.list[3].primal > 0);
    clear_machines(&s);
    close_case(&c);
}

struct watcher {
    size_t calls, last;
    size_t stop_at;
};

static bool look(void *context, size_t done)
{
    struct watcher *watcher = context;
    assert_true(done >= watcher->last && done <= MACHINES);
    watcher->last = done;
    return ++watcher->calls != watcher->stop_at;
}

/* What is not done has a bias; what is done is as it would have been. */
static void they_can_be_stopped(void **state)
{
    (void)state;
    for (size_t stop_at = 0; stop_at < 2; stop_at++) {
        batch_case c;
        struct machines s;
        struct watcher watcher = {.stop_at = stop_at};
        open_hinge(&c, ROWS, 6);
        draw_machines(&s, &c, 0.1, 1e-2);
        s.set.watch = look;
        s.set.context = &watcher;
        assert_int_equal(md_svm_solve(&s.set, NULL), MEDLEY_OK);
        assert_true(watcher.calls >= 1 && s.set.stopped == (stop_at > 0));
        for (size_t k = 0; k < MACHINES; k++) {
            assert_true(stop_at > 0 || s.list[k].solved);
            if (watcher.last < MACHINES && k + 1 == MACHINES)
                assert_true(!s.list[k].solved && s.score[k] == s.list[k].bias);
        }
        clear_machines(&s);
        close_case(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_find_the_optimum),
        cmocka_unit_test(some_may_be_rough),
        cmocka_unit_test(the_bias_is_the_best),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(one_label_needs_no_coefficients),
        cmocka_unit_test(they_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
