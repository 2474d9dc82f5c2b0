/* SPDX-License-Identifier: BSD-3-Clause */
/* The confidence interval of R^2: when there is none, and that nineteen of twenty hold the truth.
 */
#include "report_case.h"

#include "base/random.h"
#include "report/report.h"

enum { ROWS = 200, DRAWS = 2000 };

/* Targets of variance 1 + NOISE^2, predicted but for the noise: R^2 = 1 / (1 + NOISE^2). */
static const double NOISE = 0.5;

static void draw(double *target, double *value, size_t rows, md_random *random)
{
    for (size_t r = 0; r < rows; r++) {
        value[r] = md_random_normal(random);
        target[r] = value[r] + NOISE * md_random_normal(random);
    }
}

static double r2_of(const double *target, const double *value, size_t rows)
{
    double mean = 0;
    double errors = 0;
    double squares = 0;
    for (size_t r = 0; r < rows; r++)
        mean += target[r] / (double)rows;
    for (size_t r = 0; r < rows; r++) {
        errors += (target[r] - value[r]) * (target[r] - value[r]);
        squares += (target[r] - mean) * (target[r] - mean);
    }
    return 1 - errors / squares;
}

static md_confidence_interval interval_of(double *target, double *value, size_t rows)
{
    medley_prediction prediction = {.rows = rows, .value = value};
    const md_report report = {.measured = true,
                              .target = target,
                              .prediction = &prediction,
                              .evaluation.r2 = r2_of(target, value, rows)};
    return md_report_fit_interval(&report);
}

static void nineteen_of_twenty_intervals_hold_the_truth(void **state)
{
    (void)state;
    double target[ROWS];
    double value[ROWS];
    size_t held = 0;
    md_random random;
    md_random_seed(&random, 3);
    for (size_t d = 0; d < DRAWS; d++) {
        draw(target, value, ROWS, &random);
        const md_confidence_interval interval = interval_of(target, value, ROWS);
        held += interval.low <= 1 / (1 + NOISE * NOISE) && 1 / (1 + NOISE * NOISE) <= interval.high;
    }
    assert_in_range(held, DRAWS * 92 / 100, DRAWS * 97 / 100);
}

static void few_rows_and_constant_numbers_have_none(void **state)
{
    (void)state;
    double target[ROWS] = {0};
    double value[ROWS];
    md_random random;
    md_random_seed(&random, 4);
    draw(target, value, ROWS, &random);
    assert_true(isfinite(interval_of(target, value, 30).low));
    assert_true(isnan(interval_of(target, value, 29).low));
    memset(target, 0, sizeof target);
    assert_true(isnan(interval_of(target, value, ROWS).low));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nineteen_of_twenty_intervals_hold_the_truth),
        cmocka_unit_test(few_rows_and_constant_numbers_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
