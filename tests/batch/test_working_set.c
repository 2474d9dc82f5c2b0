/* SPDX-License-Identifier: BSD-3-Clause */
/* Many more kernels than rows: working sets are chosen, pruned and screened, and the optimum is
 * that over all kernels, and that of the kernels which have weight alone. */
#include "batch/check_solution.h"

enum { ROWS = 12, MANY = 1500 };

static const double shares[] = {0.9, 0.5, 0.1, 0.01};
enum { SHARES = sizeof shares / sizeof *shares };

/* The same problem with the kernels of the solution and no others. */
static void check_alone(const batch_case *c, const md_batch_solution *s)
{
    batch_choice choice = c->choice;
    batch_case alone;
    md_batch_solution other;
    choice.kernels = s->active;
    draw_case(&alone, &choice);
    memcpy(alone.y, c->y, ROWS * sizeof *c->y);
    for (size_t i = 0; i < s->active; i++)
        memcpy(case_matrix(&alone, i), case_matrix(c, s->kernel[i]), sizeof(double[ROWS][ROWS]));
    open_case(&alone);
    alone.problem.strength = c->problem.strength;
    alone.problem.gap = c->problem.gap;
    solve_and_check(&alone, NULL, &other);
    check_close(c, s, "the optimum", s->primal, other.primal, 3 * c->problem.gap * s->primal);
    md_batch_solution_clear(&other);
    close_case(&alone);
}

static void open_many(batch_case *c, size_t loss, size_t penalty, uint64_t seed)
{
    const batch_choice choice = {.rows = ROWS,
                                 .kernels = MANY,
                                 .loss = {.kind = loss, .epsilon = 0.1},
                                 .penalty = &plain_penalties[penalty],
                                 .wide = seed % 2,
                                 .seed = seed};
    draw_case(c, &choice);
    for (size_t i = 0; i < (size_t)ROWS * ROWS; i++) /* one that is dropped at once */
        case_matrix(c, MANY / 2)[i] *= 1e-9;
    open_case(c);
    c->problem.gap = 1e-7;
}

static void the_optimum_is_over_all_kernels(void **state)
{
    (void)state;
    for (size_t l = 0; l < LOSSES; l++)
        for (size_t p = 0; p < 2; p++) {
            batch_case c;
            md_batch_solution s;
            md_batch_solution warm = {0};
            open_many(&c, l, p, 5 + l);
            for (size_t i = 0; i < SHARES; i++) {
                set_strength(&c, shares[i]);
                solve_and_check(&c, NULL, &s);
                assert_true(s.active < MANY / 2 && s.passes > 0);
                if (s.active > 0)
                    check_alone(&c, &s);
                if (i > 0) { /* along the path */
                    md_batch_solution next;
                    solve_and_check(&c, &warm, &next);
                    check_close(&c, &next, "the optimum", next.primal, s.primal,
                                3 * c.problem.gap * s.primal);
                    md_batch_solution_clear(&next);
                }
                md_batch_solution_clear(&warm);
                warm = s;
            }
            md_batch_solution_clear(&warm);
            close_case(&c);
        }
}

/* All kernels have weight. */
static void a_penalty_that_leaves_nothing_out(void **state)
{
    (void)state;
    for (size_t l = 0; l < LOSSES; l++) {
        batch_case c;
        md_batch_solution s;
        open_many(&c, l, 5, 20 + l);
        set_strength(&c, 0.3);
        solve_and_check(&c, NULL, &s);
        assert_int_equal(s.active, MANY);
        md_batch_solution_clear(&s);
        close_case(&c);
    }
}

/* A budget for a hundredth of them. */
static void kernels_beyond_the_budget(void **state)
{
    (void)state;
    batch_case c;
    md_batch_solution s;
    md_batch_solution other;
    open_many(&c, LOGISTIC, 0, 8);
    set_strength(&c, 0.1);
    solve_and_check(&c, NULL, &s);
    make_store(&c, 2, md_packed_bytes(c.packed) / 100);
    assert_false(md_packed_is_resident(c.packed));
    solve_and_check(&c, NULL, &other);
    check_close(&c, &other, "the optimum", other.primal, s.primal, 1e-12 * s.primal);
    assert_int_equal(other.active, s.active);
    md_batch_solution_clear(&s);
    md_batch_solution_clear(&other);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_optimum_is_over_all_kernels),
        cmocka_unit_test(a_penalty_that_leaves_nothing_out),
        cmocka_unit_test(kernels_beyond_the_budget),
    };
    dirty_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
