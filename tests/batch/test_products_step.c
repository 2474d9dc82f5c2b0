/* SPDX-License-Identifier: BSD-3-Clause */
/* Newton steps by products with kernels that are computed when they are needed: the same optimum
 * as with matrices, certified; and the mixture that products are with, against plain sums. */
#include "batch/check_solution.h"
#include "batch/spicy.h"
#include "optim/optim.h"

#ifdef MEDLEY_SANITIZED
enum { SEEDS = 1 };
#else
enum { SEEDS = 4 };
#endif

static batch_choice draw_choice(size_t loss, size_t penalty, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, 100 * seed + 10 * loss + penalty);
    return (batch_choice){.rows = 2 + md_random_below(&random, 90),
                          .kernels = 1 + md_random_below(&random, 8),
                          .loss = {.kind = loss, .epsilon = 0.1},
                          .penalty = &plain_penalties[penalty],
                          .wide = seed % 2,
                          .threads = 1 + seed % 3,
                          .memory = seed % 3 == 0 ? 0 : 20000,
                          .by_rows = true,
                          .mixture = seed % 2 ? 1 << 20 : 0,
                          .most_rank = seed % 4 == 1 ? 5 : 0,
                          .seed = 100 * seed + 10 * loss + penalty};
}

static void solutions_by_products_are_certified_and_optimal(void **state)
{
    (void)state;
    static const double shares[] = {1.1, 0.3, 0.03};
    for (size_t l = 0; l < LOSSES; l++)
        for (size_t p = 0; p < PENALTIES; p++)
            for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                const batch_choice choice = draw_choice(l, p, seed);
                batch_case c;
                draw_case(&c, &choice);
                open_case(&c);
                c.problem.gap = choice.wide ? 1e-6 : 1e-5;
                for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
                    md_batch_solution s;
                    set_strength(&c, shares[i]);
                    solve_and_check(&c, NULL, &s);
                    md_batch_solution_clear(&s);
                }
                close_case(&c);
            }
}

/* The same problem, with and without matrices. */
static void both_ways_have_one_optimum(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        double primal[2];
        for (int by_rows = 0; by_rows < 2; by_rows++) {
            batch_choice choice = draw_choice(seed % 2 ? LOGISTIC : HINGE, 0, seed);
            choice.rows = 200;
            choice.wide = true;
            choice.by_rows = by_rows;
            batch_case c;
            md_batch_solution s;
            draw_case(&c, &choice);
            open_case(&c);
            c.problem.gap = 1e-6;
            set_strength(&c, 0.05);
            solve_and_check(&c, NULL, &s);
            primal[by_rows] = s.primal;
            md_batch_solution_clear(&s);
            close_case(&c);
        }
        assert_true(fabs(primal[1] - primal[0]) <= 1e-6 * primal[0]);
    }
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    double *first = NULL;
    size_t length = 0;
    for (size_t threads = 1; threads <= 3; threads++) {
        batch_choice choice = draw_choice(LOGISTIC, 0, 3);
        choice.rows = 150;
        choice.threads = threads;
        batch_case c;
        md_batch_solution s;
        draw_case(&c, &choice);
        open_case(&c);
        c.problem.gap = 1e-4;
        set_strength(&c, 0.05);
        check_ok(md_batch_solve(&s, &c.problem, NULL, NULL), NULL);
        assert_true(s.converged && s.active > 0);
        if (threads == 1) {
            length = s.active * s.rows;
            first = md_copy(s.coefficient, length * sizeof *first);
            assert_non_null(first);
        }
        assert_int_equal(s.active * s.rows, length);
        assert_memory_equal(s.coefficient, first, length * sizeof *first);
        md_batch_solution_clear(&s);
        close_case(&c);
    }
    free(first);
}

/* ---- the mixture ---- */

static void check_mixture(batch_case *c, md_mixture *mixture, const double *weight)
{
    const size_t n = c->n;
    double *sum = md_calloc(n * n, sizeof *sum);
    double *x = md_calloc(3 * n, sizeof *x);
    assert_true(sum != NULL && x != NULL);
    double *y = x + n;
    double *diagonal = y + n;
    double size = 0;
    for (size_t m = 0; m < c->count; m++)
        for (size_t i = 0; i < n * n; i++)
            sum[i] += weight[m] * case_matrix(c, m)[i];
    for (size_t i = 0; i < n; i++) {
        x[i] = md_random_normal(&c->random);
        size = fmax(size, sum[i * n + i]);
    }
    check_ok(md_mixture_multiply(mixture, x, y, NULL), NULL);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(y[i] - plain_dot(sum + i * n, x, n)) <= 1e-5 * size * (double)n);
    check_ok(md_mixture_diagonal(mixture, diagonal, NULL), NULL);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(diagonal[i] - sum[i * n + i]) <= 1e-5 * size);
    check_ok(md_mixture_column(mixture, n / 2, y, NULL), NULL);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(y[i] - sum[n / 2 * n + i]) <= 1e-5 * size);
    free(sum);
    free(x);
}

static void a_mixture_is_the_weighted_sum(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        batch_choice choice = draw_choice(LOGISTIC, 0, seed);
        choice.rows = 10 + 60 * (size_t)seed;
        choice.kernels = 11;
        batch_case c;
        md_mixture *mixture = NULL;
        double weight[11];
        draw_case(&c, &choice);
        open_case(&c);
        for (size_t m = 0; m < 11; m++)
            weight[m] = m % 4 == 2 ? 0 : md_random_uniform(&c.random);
        check_ok(md_mixture_create(&mixture, c.packed, choice.mixture, NULL), NULL);
        for (int again = 0; again < 2; again++) {
            check_ok(md_mixture_set(mixture, (md_chosen){.count = 11}, weight, NULL), NULL);
            check_mixture(&c, mixture, weight);
            weight[again] = 0;
        }
        md_mixture_free(mixture);
        close_case(&c);
    }
}

int main(void)
{
    dirty_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_by_products_are_certified_and_optimal),
        cmocka_unit_test(both_ways_have_one_optimum),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(a_mixture_is_the_weighted_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
