/* SPDX-License-Identifier: BSD-3-Clause */
/* Log loss, Brier score and bins, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/reliability.h"
#include <math.h>

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

static void measures_are_those_by_hand(void **state)
{
    (void)state;
    const float rows[3][3] = {{0.5F, 0.25F, 0.25F}, {0, 1, 0}, {0.125F, 0.125F, 0.75F}};
    md_reliability r = {.rows = 3};
    md_reliability_add(&r, rows[0], 3, 0, 0);
    md_reliability_add(&r, rows[1], 3, 0, 1);  /* sure and wrong */
    md_reliability_add(&r, rows[2], 3, -1, 0); /* none of them is right */
    assert_true(near(r.log_loss, (log(2) - 2 * log(1e-15)) / 3));
    assert_true(near(r.brier, ((0.25 + 2 * 0.0625) + 2 + (1 + 2 * 0.015625 + 0.5625)) / 3));
    assert_true(near(md_reliability_error(&r), (0.5 + 1 + 0.125) / 3));
    assert_int_equal(r.bins[7].rows, 1);
    assert_int_equal(r.bins[MD_RELIABILITY_BINS - 1].rows, 1);
    assert_int_equal(r.bins[1].rows, 1);
}

static void rows_of_a_bin_make_up_for_each_other(void **state)
{
    (void)state;
    md_reliability r = {.rows = 4};
    for (int i = 0; i < 4; i++)
        md_reliability_put(&r, 0.75, i < 3);
    assert_true(near(md_reliability_error(&r), 0));
    md_reliability_put(&r, 1, true);
    md_reliability_put(&r, 0, false);
    assert_int_equal(r.bins[0].rows, 1);
    assert_int_equal(r.bins[MD_RELIABILITY_BINS - 1].rows, 1);
    assert_true(near(md_reliability_error(&r), 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_are_those_by_hand),
        cmocka_unit_test(rows_of_a_bin_make_up_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
