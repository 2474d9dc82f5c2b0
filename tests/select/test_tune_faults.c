/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations of a tuning fail, one after the other: the call says so, or a trial does, and nothing
 * is left behind. */
#include "select/tuning_case.h"

#include "failing_allocations.h"

#if CAN_FAIL

static medley_status tune_once(const medley_dataset *data, const medley_options *options,
                               const medley_choice *choices, bool *complete, medley_error *error)
{
    medley_tuning *tuning = NULL;
    medley_tune_options how = MEDLEY_TUNE_OPTIONS_INIT;
    how.folds = 2;
    const medley_status status = medley_tune(&tuning, data, options, choices, 2, &how, NULL, error);
    assert_true((status == MEDLEY_OK) == (tuning != NULL));
    *complete = tuning != NULL;
    for (size_t t = 0; tuning != NULL && t < tuning->trial_count; t++)
        *complete = *complete && tuning->trials[t].problem == NULL;
    medley_tuning_free(tuning);
    return status;
}

static void fail_each(const char *generator, const char *text, const medley_choice *choices)
{
    medley_dataset *data = make_data(generator, 24, 2);
    medley_options *options = make_options(text);
    medley_error error = {0};
    bool complete;
    assert_int_equal(tune_once(data, options, choices, &complete, &error), MEDLEY_OK);
    assert_true(complete);
    for (size_t k = 1;; k += 1 + k / 100) { /* the first are all different, the others repeat */
        const long before = live;
        error = (medley_error){0};
        has_failed = false;
        countdown = k;
        const medley_status status = tune_once(data, options, choices, &complete, &error);
        countdown = 0;
        assert_int_equal(live, before);
        if (!has_failed)
            break;
        assert_true(status == MEDLEY_OK || (status < 0 && error.message[0] != '\0'));
    }
    medley_options_free(options);
    medley_dataset_free(data);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    static const medley_choice batch[] = {{"loss", "hinge,logistic"}, {"C", "0.1,1"}};
    static const medley_choice online[] = {{"penalty", "mkl,l2"}, {"C", "1,10"}};
    fail_each("ringnorm", "method=spicy threads=1 normalize=center kernel=rbf(sigma2=9)", batch);
    fail_each("waveform",
              "method=spom threads=1 epochs=1 eta0=1 kernel=rbf(sigma2=9) kernel=linear(explicit)",
              online);
}

#else

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failing_allocations_are_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
