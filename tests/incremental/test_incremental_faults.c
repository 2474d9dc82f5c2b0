/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of learning piece by piece fails once, one after the other: each time the call
 * says so, nothing is left behind, and the same call again ends in the same model, to the bit. */
#include "failing_allocations.h"
#include "incremental/pieces.h"

#if CAN_FAIL

enum { PIECES = 3 };

struct course {
    medley_options *options;
    medley_dataset *piece[PIECES];
    medley_model *first; /* behind the first piece */
};

static void check_failure(size_t k, medley_status status, const medley_error *error)
{
    if (status != MEDLEY_FAILED || error->message[0] == '\0')
        fail_msg("allocation %zu: status %d, '%s'", k, (int)status, error->message);
}

/* Of the labels of the second piece nothing is known yet. */
static void check_first(medley_learner *learner, const struct course *course)
{
    medley_model *model = model_of(learner);
    assert_int_equal(medley_model_label_count(model), 2);
    compare_models(course->first, model, course->piece[0], 0);
    medley_model_free(model);
}

/* Allocation k fails; what it hits is called once more. NULL once there are no so many. */
static medley_model *attend(const struct course *course, size_t k, bool *reached)
{
    medley_learner *learner = NULL;
    medley_model *model = NULL;
    has_failed = false;
    countdown = k;
    for (size_t step = 0; step < PIECES + 2;) {
        medley_error error = {0};
        const medley_status status =
            step == 0        ? medley_learner_create(&learner, course->options, &error)
            : step <= PIECES ? medley_learner_partial_fit(learner, course->piece[step - 1], &error)
                             : medley_learner_model(&model, learner, &error);
        if (status != MEDLEY_OK) {
            check_failure(k, status, &error);
            if (step == 2)
                check_first(learner, course);
        }
        step += status == MEDLEY_OK;
    }
    countdown = 0;
    *reached = has_failed;
    medley_learner_free(learner);
    return model;
}

static void try_course(const struct course *course)
{
    bool reached;
    medley_model *expected = attend(course, 0, &reached); /* and warms up what is made once */
    for (size_t k = 1;; k++) {
        const long before = live;
        medley_model *model = attend(course, k, &reached);
        for (size_t p = 0; p < PIECES; p++)
            compare_models(expected, model, course->piece[p], 0);
        medley_model_free(model);
        if (live != before)
            fail_msg("allocation %zu: %ld blocks are left", k, live - before);
        if (!reached) {
            assert_true(k > 100);
            break;
        }
    }
    medley_model_free(expected);
}

/* The second piece brings labels, and sparse ones bring columns. */
static void failing_allocations_leave_learners_as_they_were(void **state)
{
    (void)state;
    static const char *const options[] = {
        "threads=1 kernel=linear kernel=rbf(auto,norm=diag) scale=standard memory=1M",
        "threads=1 kernel=linear(explicit) kernel=rbf(auto) scale=standard memory=400",
        "threads=1 kernel=linear order=2 bigram-ends=yes loss=logistic memory=1M"};
    for (size_t i = 0; i < 3; i++) {
        medley_dataset *few = draw_rows((struct rows_kind){
            .rows = 12, .labels = 2, .sparse = i == 1, .sequences = i == 2, .seed = i});
        medley_dataset *more = draw_rows((struct rows_kind){
            .rows = 24, .labels = 4, .sparse = i == 1, .sequences = i == 2, .seed = 9 + i});
        if (i == 1)
            more->tables[0].features.columns += 3;
        const size_t part = count_examples(more) / 2;
        const struct course course = {
            .options = make_options(options[i]),
            .piece = {few, cut(more, 0, part), cut(more, part, count_examples(more) - part)},
            .first = learn_at_once(few, options[i])};
        try_course(&course);
        medley_model_free(course.first);
        medley_options_free(course.options);
        for (size_t p = 0; p < PIECES; p++)
            medley_dataset_free(course.piece[p]);
        medley_dataset_free(more);
    }
}

#else

static void failing_allocations_leave_learners_as_they_were(void **state)
{
    (void)state;
    print_message("the allocator cannot be replaced here\n");
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_allocations_leave_learners_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
