/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths: every model of a path is the one that medley_fit finds for that lambda, the first of the
 * automatic ones is empty, and a warm start saves Newton steps. */
#include "fit/fitting.h"

enum { MOST = 32 };

struct taken {
    medley_model *models[MOST];
    size_t count, wanted;
};

static bool keep(void *context, medley_model *model)
{
    struct taken *taken = context;
    taken->models[taken->count++] = model;
    return taken->count < taken->wanted;
}

static void walk(struct taken *taken, const medley_dataset *train, const char *text,
                 const medley_path_options *path)
{
    medley_error error = {0};
    medley_options *options = make_options(text);
    if (medley_fit_path(train, options, path, keep, taken, NULL, &error) != MEDLEY_OK)
        fail_msg("%s: %s", text, error.message);
    medley_options_free(options);
}

static void release(struct taken *taken)
{
    for (size_t i = 0; i < taken->count; i++)
        medley_model_free(taken->models[i]);
}

static const char *const settings[] = {
    "method=spicy loss=logistic penalty=group-lasso gap=1e-6 normalize=trace",
    "method=spicy loss=hinge penalty=group-lasso gap=1e-6 normalize=trace",
    "method=spicy loss=logistic penalty=elastic(t=0.5) gap=1e-6 normalize=trace",
    "method=spicy loss=hinge penalty=block(q=1.5) gap=1e-6 normalize=trace"};

static void every_model_is_that_of_its_lambda(void **state)
{
    (void)state;
    medley_dataset *train = make_data("ringnorm", 60, 3);
    for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
        struct taken taken = {.wanted = MOST};
        medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
        path.count = 6;
        walk(&taken, train, settings[s], &path);
        assert_int_equal(taken.count, 6);
        size_t warm = 0;
        size_t cold = 0;
        for (size_t i = 0; i < taken.count; i++) {
            const medley_summary *found = medley_model_summary(taken.models[i]);
            char text[256];
            snprintf(text, sizeof text, "%s lambda=%.17g", settings[s], found->lambda);
            medley_model *alone = fit(train, NULL, text);
            const medley_summary *expected = medley_model_summary(alone);
            assert_true(found->gap <= 1e-6);
            assert_true(fabs(found->objective - expected->objective) <= 2e-6 * expected->objective);
            warm += found->newton_steps;
            cold += expected->newton_steps;
            medley_model_free(alone);
        }
        assert_true(warm < cold);
        release(&taken);
    }
    medley_dataset_free(train);
}

static void it_goes_from_nothing_to_more(void **state)
{
    (void)state;
    medley_dataset *train = make_data("ringnorm", 80, 4);
    struct taken taken = {.wanted = MOST};
    medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
    path.count = 8;
    path.ratio = 0.001;
    walk(&taken, train, settings[0], &path);
    assert_int_equal(medley_model_summary(taken.models[0])->active_blocks, 0);
    assert_true(medley_model_summary(taken.models[7])->active_blocks > 0);
    for (size_t i = 1; i < taken.count; i++) {
        const medley_summary *stronger = medley_model_summary(taken.models[i - 1]);
        const medley_summary *weaker = medley_model_summary(taken.models[i]);
        assert_true(weaker->lambda < stronger->lambda);
        assert_true(weaker->objective <= stronger->objective * (1 + 1e-6));
    }
    const double ends = medley_model_summary(taken.models[7])->lambda /
                        medley_model_summary(taken.models[0])->lambda;
    assert_true(fabs(ends - 0.001) < 1e-9);
    release(&taken);
    medley_dataset_free(train);
}

static void given_lambdas_are_taken_and_enough_is_enough(void **state)
{
    (void)state;
    medley_dataset *train = make_data("twonorm", 50, 5);
    static const double lambda[] = {0.1, 0.01, 0.001};
    struct taken taken = {.wanted = 2};
    medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
    path.lambda = lambda;
    path.count = 3;
    walk(&taken, train, settings[1], &path);
    assert_int_equal(taken.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(medley_model_summary(taken.models[i])->lambda == lambda[i]);
    release(&taken);
    medley_dataset_free(train);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    medley_dataset *train = make_data("ringnorm", 30, 6);
    static const double bad[] = {0.1, -1};
    static const double rising[] = {0.1, 0.2};
    static const double endless[] = {INFINITY, 0.1};
    static const struct {
        const char *options;
        medley_path_options path;
    } cases[] = {{"method=average", MEDLEY_PATH_OPTIONS_INIT},
                 {"method=best", MEDLEY_PATH_OPTIONS_INIT},
                 {"method=average epochs=5", MEDLEY_PATH_OPTIONS_INIT},
                 {"method=best epochs=5", MEDLEY_PATH_OPTIONS_INIT},
                 {"method=obscure epochs2=0", MEDLEY_PATH_OPTIONS_INIT},
                 {"method=svm", MEDLEY_PATH_OPTIONS_INIT},
                 {"method=spom penalty=none", MEDLEY_PATH_OPTIONS_INIT},
                 {"method=spom calibrate=true", MEDLEY_PATH_OPTIONS_INIT},
                 {"method=spom checkpoint=nowhere", MEDLEY_PATH_OPTIONS_INIT},
                 {"method=spicy", {1, 5, NULL, 0.1}},
                 {"method=spicy", {sizeof(medley_path_options), 0, NULL, 0.1}},
                 {"method=spom", {sizeof(medley_path_options), 0, bad, 0.1}},
                 {"method=spicy", {sizeof(medley_path_options), 5, NULL, 1.5}},
                 {"method=spom", {sizeof(medley_path_options), 5, NULL, 0}},
                 {"method=spom", {sizeof(medley_path_options), 5, NULL, NAN}},
                 {"method=spicy", {sizeof(medley_path_options), 2, bad, 0.1}},
                 {"method=spom", {sizeof(medley_path_options), 2, endless, 0.1}},
                 {"method=spom", {sizeof(medley_path_options), 2, rising, 0.1}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct taken taken = {.wanted = MOST};
        medley_error error = {0};
        medley_options *options = make_options(cases[i].options);
        assert_true(medley_fit_path(train, options, &cases[i].path, keep, &taken, NULL, &error) <
                    0);
        assert_true(error.message[0] != '\0');
        assert_int_equal(taken.count, 0);
        medley_options_free(options);
    }
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_is_that_of_its_lambda),
        cmocka_unit_test(it_goes_from_nothing_to_more),
        cmocka_unit_test(given_lambdas_are_taken_and_enough_is_enough),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
