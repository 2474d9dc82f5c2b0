/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrapper methods and baselines with the k-th allocation failing, for every k: they say so and leak
 * nothing. With our own solver of one kernel only: libsvm does not ask whether it got memory. */
#include "failing_allocations.h"

#include "batch/batch_case.h"

#include "baseline/lp_beta.h"
#include "baseline/wrappers.h"

#if CAN_FAIL

/* SILP and LevelMKL are not among them: Clp does not ask either. */
static const md_batch_solver methods[] = {md_batch_gauss_seidel, md_batch_simplemkl,
                                          md_batch_hessianmkl, md_batch_average, md_batch_best};

static void try_method(batch_case *c, size_t method)
{
    c->problem.inner = md_one_kernel_newton;
    size_t failed = 0;
    for (size_t k = 1;; k++) {
        md_batch_solution s;
        medley_error error = {0};
        const long before = live;
        has_failed = false;
        countdown = k;
        const medley_status status = methods[method](&s, &c->problem, NULL, &error);
        countdown = 0;
        if (status == MEDLEY_OK) {
            md_batch_solution_clear(&s);
        } else {
            assert_true(has_failed);
            assert_true(error.message[0] != '\0');
            md_batch_solution_clear(&s);
            failed++;
        }
        check_ok(md_packed_hold(c->packed, (md_chosen){.count = 0}, NULL), NULL);
        if (live != before)
            fail_msg("method %zu, allocation %zu, status %d: %ld blocks are left", method, k,
                     (int)status, live - before);
        if (!has_failed)
            break;
    }
    assert_true(failed > 20);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    for (size_t method = 0; method < sizeof methods / sizeof *methods; method++) {
        const batch_choice choice = {.rows = 10,
                                     .kernels = 3,
                                     .loss = {LOGISTIC, 0},
                                     .penalty = &plain_penalties[0],
                                     .seed = method};
        batch_case c;
        draw_case(&c, &choice);
        open_case(&c);
        set_strength(&c, 0.2);
        c.problem.gap = 0.05;
        c.problem.max_iterations = 3;
        try_method(&c, method);
        close_case(&c);
    }
}

/* A fold of LP-beta whose accuracy cannot be counted is no fold with accuracy 0. */
static void an_accuracy_is_not_made_up(void **state)
{
    (void)state;
    static const double score[] = {1, -1};
    static const int32_t label[] = {1, 0};
    static const size_t rows[] = {0, 1};
    const md_lp_beta scores = {1, 1, (const double *[]){score}, label};
    double accuracy = 7;
    medley_error error = {0};
    countdown = 1;
    const medley_status status =
        md_lp_beta_accuracy(&accuracy, &scores, (const double[]){1}, rows, 2, &error);
    countdown = 0;
    assert_int_equal(status, MEDLEY_FAILED);
    assert_true(accuracy == 7);
    assert_non_null(strstr(error.message, "memory"));
}

#else

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    print_message("this build's allocator cannot be made to fail\n");
    skip();
}

static void an_accuracy_is_not_made_up(void **state)
{
    failing_allocations_are_reported(state);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failing_allocations_are_reported),
                                       cmocka_unit_test(an_accuracy_is_not_made_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
