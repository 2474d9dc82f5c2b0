/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of a calibrated run fails once: each time the run says so and leaves nothing
 * behind. */
#include "failing_allocations.h"
#include "model/model_cases.h"

#if CAN_FAIL

static void fail_one_by_one(const medley_dataset *train, const medley_options *options)
{
    medley_error error = {0};
    medley_model *model = NULL;
    assert_int_equal(medley_fit(&model, train, NULL, options, NULL, &error), MEDLEY_OK);
    medley_model_free(model); /* and what is made once is there */
    for (size_t k = 1;; k++) {
        error = (medley_error){0};
        model = NULL;
        has_failed = false;
        const long before = live;
        countdown = k;
        const medley_status status = medley_fit(&model, train, NULL, options, NULL, &error);
        countdown = 0;
        assert_true((status == MEDLEY_OK) == (model != NULL));
        medley_model_free(model);
        if (live != before)
            fail_msg("allocation %zu: %ld blocks are left", k, live - before);
        if (!has_failed) {
            assert_int_equal(status, MEDLEY_OK);
            return;
        }
        if (status != MEDLEY_OK && (status != MEDLEY_FAILED || error.message[0] == '\0'))
            fail_msg("allocation %zu: status %d, '%s'", k, (int)status, error.message);
    }
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    static const struct {
        case_data kind;
        const char *options;
    } cases[] = {{DENSE, "epochs=2 eta0=1 kernel=linear"},
                 {SEQUENCES, "epochs=2 eta0=1 kernel=linear"},
                 {GRAMS, "method=spicy normalize=diag max-iter=2 gap=0.5"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        medley_dataset *train = case_dataset(cases[i].kind, 0, i == 1 ? 30 : 12, 12);
        snprintf(text, sizeof text, "threads=1 calibrate=yes %s", cases[i].options);
        medley_options *options = make_options(text);
        fail_one_by_one(train, options);
        medley_options_free(options);
        medley_dataset_free(train);
    }
}

#else

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    print_message("the allocator cannot be replaced here\n");
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failing_allocations_are_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
