/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of training, saving, loading and measuring a parser fails once, one after the
 * other: each time the call says so and leaves nothing behind. Where the allocator cannot be
 * replaced (sanitizers bring their own) there is nothing to test. */
#include "failing_allocations.h"
#include "model/parser_case.h"

#if CAN_FAIL

struct subject {
    medley_dataset *train, *dev;
    medley_options *options;
    medley_model *model;
    char path[PATH_SIZE];
};

typedef medley_status operation(struct subject *subject, medley_error *error);

static medley_status do_fit(struct subject *subject, medley_error *error)
{
    medley_model *model = NULL;
    const medley_status status =
        medley_fit(&model, subject->train, subject->dev, subject->options, NULL, error);
    assert_true((status == MEDLEY_OK) == (model != NULL));
    medley_model_free(model);
    return status;
}

static medley_status do_save(struct subject *subject, medley_error *error)
{
    return medley_model_save(subject->model, subject->path, error);
}

static medley_status do_load(struct subject *subject, medley_error *error)
{
    medley_model *model = NULL;
    const medley_status status = medley_model_load(&model, subject->path, error);
    assert_true((status == MEDLEY_OK) == (model != NULL));
    medley_model_free(model);
    return status;
}

static medley_status do_evaluate(struct subject *subject, medley_error *error)
{
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    const medley_status status =
        medley_evaluate(&evaluation, subject->model, subject->dev, 1, error);
    medley_evaluation_clear(&evaluation);
    return status;
}

/* Fails allocation 1, 1 + step, 1 + 2 step ... until the operation gets by without reaching it. */
static void fail_one_by_one(struct subject *subject, operation *operate, size_t step)
{
    medley_error error = {0};
    assert_int_equal(operate(subject, &error), MEDLEY_OK); /* and warms up what is made once */
    for (size_t k = 1;; k += step) {
        error = (medley_error){0};
        has_failed = false;
        const long before = live;
        countdown = k;
        const medley_status status = operate(subject, &error);
        countdown = 0;
        if (live != before)
            fail_msg("allocation %zu: %ld blocks are left", k, live - before);
        if (!has_failed) {
            assert_int_equal(status, MEDLEY_OK);
            assert_true(k > 10);
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
        const char *options;
        size_t step; /* the labeller takes thousands of allocations, most of them alike */
    } cases[] = {{"epochs=1 unlabelled=yes average=yes penalty=l1 lambda=0.001", 1},
                 {"epochs=1", 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct subject subject = {.train = treebank(small_treebank),
                                  .dev = treebank(other_treebank)};
        subject.options = parser_options(cases[i].options);
        subject.model = fit_parser(subject.train, NULL, cases[i].options);
        temporary_path(subject.path);
        fail_one_by_one(&subject, do_fit, cases[i].step);
        fail_one_by_one(&subject, do_save, 1);
        fail_one_by_one(&subject, do_load, cases[i].step);
        fail_one_by_one(&subject, do_evaluate, cases[i].step);
        unlink(subject.path);
        medley_options_free(subject.options);
        medley_model_free(subject.model);
        medley_dataset_free(subject.train);
        medley_dataset_free(subject.dev);
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
