/* SPDX-License-Identifier: BSD-3-Clause */
/* Slopes of penalties of one norm: against differences of the values, and the kernel weights that
 * follow from them against those that are reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "penalty/penalty.h"
#include <math.h>

static const char *const texts[] = {"group-lasso",  "l2",           "elastic", "elastic(t=0)",
                                    "elastic(t=1)", "elastic(0.1)", "block",   "block(q=1.1)",
                                    "block(q=2)",   "block(q=3)"};
enum { TEXTS = sizeof texts / sizeof *texts, NORMS = 4 };

static void slopes_are_those_of_the_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        md_penalty *penalty = NULL;
        const void *inner;
        double factor;
        assert_int_equal(md_penalty_create(&penalty, texts[i], NULL), MEDLEY_OK);
        const md_scalar_penalty *scalar = md_penalty_scalar(penalty, &inner, &factor);
        for (double x = 1e-3; x < 1e3; x *= 1.7) {
            const double step = 1e-5 * x;
            const double difference =
                (scalar->value(inner, x + step) - scalar->value(inner, x - step)) / (2 * step);
            const double slope = scalar->slope(inner, x);
            if (!(fabs(slope - difference) <= 1e-8 * slope))
                fail_msg("%s at %g: slope %.15g, difference %.15g", texts[i], x, slope, difference);
        }
        assert_true(scalar->slope(inner, 1e-300) >= scalar->slope_at_zero(inner) * (1 - 1e-15));
        md_penalty_free(penalty);
    }
}

/* b over the slope, or b where that ratio would fall as b rises (the last of the penalties). */
static void kernel_weights_are_norms_over_slopes(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 3);
    for (size_t i = 0; i < TEXTS; i++) {
        md_penalty *penalty = NULL;
        const void *inner;
        double factor;
        double norm[NORMS];
        double weight[NORMS];
        double expected[NORMS];
        double sum = 0;
        assert_int_equal(md_penalty_create(&penalty, texts[i], NULL), MEDLEY_OK);
        const md_scalar_penalty *scalar = md_penalty_scalar(penalty, &inner, &factor);
        for (size_t m = 0; m < NORMS; m++) {
            norm[m] = exp(2 * md_random_normal(&random));
            expected[m] = i + 1 < TEXTS ? norm[m] / scalar->slope(inner, norm[m]) : norm[m];
            sum += expected[m];
        }
        md_penalty_weights(penalty, norm, NORMS, weight);
        for (size_t m = 0; m < NORMS; m++)
            assert_true(fabs(weight[m] - expected[m] / sum) <= 1e-13);
        md_penalty_free(penalty);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_are_those_of_the_values),
        cmocka_unit_test(kernel_weights_are_norms_over_slopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
