/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of training, saving, loading and predicting fails once, one after the other:
 * each time the call says so and leaves nothing behind. The allocator is replaced in this program
 * by one that counts and fails on request; where that cannot be done (sanitizers bring their own)
 * there is nothing to test. */
#include "failing_allocations.h"
#include "model/model_cases.h"

#if CAN_FAIL

/* ---- what is tried ---- */

struct subject {
    medley_dataset *train, *dev;
    medley_options *options;
    medley_model *model;
    struct plain *plain; /* what it was built of, or NULL: it was fitted */
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

static medley_status do_build(struct subject *subject, medley_error *error)
{
    medley_model *model = NULL;
    struct plain *plain = subject->plain;
    const medley_status status = md_model_of_coefficients(
        &model, &plain->problem, &plain->coefficients, &plain->result, error);
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

/* Fails allocation 1, 2, 3 ... until the operation needs no more of them. */
static void fail_one_by_one(struct subject *subject, operation *operate)
{
    medley_error error = {0};
    assert_int_equal(operate(subject, &error), MEDLEY_OK); /* and warms up what is made once */
    for (size_t k = 1;; k++) {
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

static void try_case(const struct model_case *given)
{
    struct plain plain;
    char text[256];
    struct subject subject = {.train = case_dataset(given->kind, 0, 9, 9),
                              .dev = case_dataset(given->kind, 9, 4, 9),
                              .model = case_model(given, 9)};
    if (given->origin != FITTED) {
        plain_start(&plain, given, 9);
        plain_fill(&plain, given->origin, 1);
        subject.plain = &plain;
    }
    snprintf(text, sizeof text, "epochs=2 eta0=1 threads=1 %s", given->options);
    subject.options = make_options(text);
    temporary_path(subject.path);
    fail_one_by_one(&subject, subject.plain != NULL ? do_build : do_fit);
    fail_one_by_one(&subject, do_save);
    fail_one_by_one(&subject, do_load);
    fail_one_by_one(&subject, do_evaluate);
    unlink(subject.path);
    if (subject.plain != NULL)
        plain_clear(&plain);
    medley_options_free(subject.options);
    medley_model_free(subject.model);
    medley_dataset_free(subject.train);
    medley_dataset_free(subject.dev);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    static const struct model_case cases[] = {
        {DENSE,
         "kernel=linear(explicit) kernel=rbf(auto) kernel=poly(norm=diag) average=yes "
         "scale=standard",
         FITTED},
        {DENSE, "method=best normalize=center eta0=auto loss=logistic", FITTED},
        {SPARSE, "method=average kernel=linear kernel=rbf(auto) memory=1K", FITTED},
        {GRAMS, "normalize=diag", FITTED},
        {SEQUENCES, "kernel=rbf(auto) order=2 bigram=learned bigram-ends=yes loss=logistic",
         FITTED},
        {TAGGED, "template=chunk penalty=l1 lambda=0.01 average=yes", FITTED},
        {TAGGED, "template=chunk penalty=group-lasso hash-bits=4 loss=logistic", FITTED},
        {SPARSE, "kernel=rbf(auto) kernel=linear normalize=diag", NUMBERS},
        {DENSE, "kernel=rbf(auto) kernel=linear", TWO_LABELS},
        {DENSE, "kernel=rbf(auto) kernel=linear", EACH_LABEL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        try_case(&cases[i]);
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
