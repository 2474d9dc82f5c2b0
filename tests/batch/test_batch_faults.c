/* SPDX-License-Identifier: BSD-3-Clause */
/* The batch solver with the k-th allocation failing, for every k: it says so, leaks nothing, and
 * where it can do without, it comes to the same. */
#include "failing_allocations.h"

#include "batch/check_solution.h"

#if CAN_FAIL

static void try_problem(batch_case *c, const md_batch_solution *start)
{
    md_batch_solution whole;
    size_t failed = 0;
    solve_and_check(c, start, &whole);
    check_ok(md_packed_hold(c->packed, (md_chosen){.count = 0}, NULL), NULL);
    for (size_t k = 1;; k++) {
        md_batch_solution s;
        medley_error error = {0};
        const long before = live;
        has_failed = false;
        countdown = k;
        const medley_status status = md_batch_solve(&s, &c->problem, start, &error);
        countdown = 0;
        if (status == MEDLEY_OK) {
            check_close(c, &s, "the primal value", s.primal, whole.primal,
                        2 * c->problem.gap * whole.primal);
            md_batch_solution_clear(&s);
        } else {
            assert_true(has_failed);
            assert_true(error.message[0] != '\0');
            md_batch_solution_clear(&s);
            failed++;
        }
        check_ok(md_packed_hold(c->packed, (md_chosen){.count = 0}, NULL),
                 NULL); /* lets go of all */
        if (live != before)
            fail_msg("%s, allocation %zu, status %d: %ld blocks are left",
                     plain_loss_names[c->choice.loss.kind], k, (int)status, live - before);
        if (!has_failed)
            break;
    }
    assert_true(failed > 20);
    md_batch_solution_clear(&whole);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    for (size_t l = 0; l < LOSSES; l++)
        for (size_t p = 0; p < 2; p++) {
            const batch_choice choice = {.rows = 8,
                                         .kernels = 12,
                                         .loss = {.kind = l, .epsilon = 0.1},
                                         .penalty = &plain_penalties[p],
                                         .memory = l % 2 ? 600 : 0,
                                         .seed = 40 + l};
            batch_case c;
            md_batch_solution start;
            draw_case(&c, &choice);
            open_case(&c);
            set_strength(&c, 0.4);
            solve_and_check(&c, NULL, &start);
            set_strength(&c, 0.2);
            try_problem(&c, NULL);
            try_problem(&c, &start);
            md_batch_solution_clear(&start);
            close_case(&c);
        }
}

#else

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    print_message("this build's allocator cannot be made to fail\n");
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failing_allocations_are_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
