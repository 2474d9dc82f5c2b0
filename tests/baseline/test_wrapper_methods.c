/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods that are there for comparison, from data to model: they find what spicy finds, and
 * the baselines take the batch solver where it suits and the online learner where that is meant. */
#include "fit/fitting.h"

#include "optim/linear_program.h"

#define BANK "kernel=linear kernel=rbf(sigma2=20) kernel=rbf(sigma2=5) scale=standard "

static const medley_summary *summary_of(const medley_model *model)
{
    return medley_model_summary(model);
}

/* Some need linear programs. */
static bool is_there(const char *method)
{
    return md_linear_program_missing() == NULL ||
           (strcmp(method, "silp") != 0 && strcmp(method, "levelmkl") != 0);
}

static void they_find_what_spicy_finds(void **state)
{
    (void)state;
    static const char *const methods[] = {"gauss-seidel", "simplemkl", "hessianmkl", "levelmkl",
                                          "silp"};
    static const char *const losses[] = {"hinge", "logistic"};
    medley_dataset *data = make_data("ringnorm", 60, 1);
    for (size_t l = 0; l < 2; l++) {
        char text[256];
        snprintf(text, sizeof text, BANK "method=spicy C=1 gap=1e-7 loss=%s", losses[l]);
        medley_model *spicy = fit(data, NULL, text);
        const double optimum = summary_of(spicy)->objective;
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            if (!is_there(methods[m]))
                continue;
            snprintf(text, sizeof text, BANK "method=%s C=1 gap=1e-3 loss=%s max-iter=5000",
                     methods[m], losses[l]);
            medley_model *model = fit(data, NULL, text);
            const medley_summary *s = summary_of(model);
            assert_string_equal(s->method, methods[m]);
            assert_true(s->converged && s->gap <= 1e-3 && s->iterations > 0);
            assert_true(s->objective <= optimum * 1.0011 && s->objective >= optimum * (1 - 1e-6));
            assert_true(s->dual <= optimum * (1 + 1e-6));
            for (size_t e = 0; e < s->epoch_count; e++)
                assert_true(s->epochs[e].dual <= s->epochs[e].objective * (1 + 1e-9));
            medley_model_free(model);
        }
        medley_model_free(spicy);
    }
    medley_dataset_free(data);
}

/* The square of the block 1-norm: weights are on the simplex, as in the papers. */
static void they_find_what_spicy_finds_on_the_simplex(void **state)
{
    (void)state;
    static const char *const methods[] = {"simplemkl", "hessianmkl", "levelmkl", "silp"};
    static const char *const losses[] = {"hinge", "logistic", "hinge"};
    static const char *const strengths[] = {"0.3", "0.3", "0.003"};
    medley_dataset *data = make_data("ringnorm", 60, 1);
    for (size_t l = 0; l < 3; l++) {
        char text[256];
        snprintf(text, sizeof text, BANK "method=spicy penalty=mkl spicy-C=%s gap=1e-6 loss=%s",
                 strengths[l], losses[l]);
        medley_model *spicy = fit(data, NULL, text);
        const double optimum = summary_of(spicy)->objective;
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            if (!is_there(methods[m]))
                continue;
            snprintf(text, sizeof text,
                     BANK "method=%s penalty=mkl spicy-C=%s gap=1e-3 loss=%s max-iter=5000",
                     methods[m], strengths[l], losses[l]);
            medley_model *model = fit(data, NULL, text);
            const medley_summary *s = summary_of(model);
            if (!(s->converged && s->gap <= 1e-3))
                fail_msg("%s, %s, %s: gap %g", methods[m], losses[l], strengths[l], s->gap);
            assert_true(s->objective <= optimum * 1.0011 && s->objective >= optimum * (1 - 2e-6));
            assert_true(s->dual <= optimum * (1 + 1e-6));
            medley_model_free(model);
        }
        medley_model_free(spicy);
    }
    medley_dataset_free(data);
}

/* More labels: each one against the rest. */
static void they_know_more_than_two_labels(void **state)
{
    (void)state;
    medley_dataset *data = make_data("waveform", 60, 1);
    medley_model *spicy = fit(data, NULL, BANK "method=spicy C=1 gap=1e-6");
    medley_model *turns = fit(data, NULL, BANK "method=gauss-seidel C=1 gap=1e-3 max-iter=5000");
    const double optimum = summary_of(spicy)->objective;
    assert_true(fabs(summary_of(turns)->objective / optimum - 1) <= 1.1e-3);
    assert_true(fabs(accuracy_of(spicy, data) - accuracy_of(turns, data)) <= 0.05);
    medley_model_free(spicy);
    medley_model_free(turns);
    medley_dataset_free(data);
}

static void an_average_has_equal_weights(void **state)
{
    (void)state;
    medley_dataset *data = make_data("ringnorm", 80, 1);
    medley_dataset *fresh = make_data("ringnorm", 300, 2);
    medley_model *model = fit(data, NULL, BANK "method=average");
    const medley_summary *s = summary_of(model);
    assert_string_equal(s->method, "average");
    assert_string_equal(s->penalty, "l2");
    assert_true(s->converged && s->gap <= 0.01 && s->dual <= s->objective);
    assert_int_equal(s->active_blocks, 3);
    for (size_t b = 0; b < s->block_count; b++)
        assert_true(fabs(s->blocks[b].weight - 1.0 / 3) <= 1e-12);
    assert_true(accuracy_of(model, fresh) >= 0.8);
    medley_model_free(model);
    model = fit(data, NULL, BANK "method=average penalty=group-lasso spicy-C=0.5");
    assert_string_equal(summary_of(model)->penalty, "group-lasso");
    assert_true(summary_of(model)->gap <= 0.01);
    medley_model_free(model);
    medley_dataset_free(data);
    medley_dataset_free(fresh);
}

static void the_best_is_one_kernel(void **state)
{
    (void)state;
    medley_dataset *data = make_data("ringnorm", 80, 1);
    medley_dataset *fresh = make_data("ringnorm", 300, 2);
    medley_model *model = fit(data, NULL, BANK "method=best");
    const medley_summary *s = summary_of(model);
    assert_string_equal(s->method, "best");
    assert_true(s->converged && s->gap <= 0.01);
    assert_int_equal(s->active_blocks, 1);
    for (size_t b = 0; b < s->block_count; b++)
        assert_true(s->blocks[b].norm == 0 || strncmp(s->blocks[b].name, "rbf", 3) == 0);
    assert_true(accuracy_of(model, fresh) >= 0.8);
    medley_model_free(model);
    medley_dataset_free(data);
    medley_dataset_free(fresh);
}

/* ---- which form of a baseline ---- */

static bool is_batch(const medley_dataset *train, const medley_dataset *dev, const char *method,
                     const char *more)
{
    char text[256];
    snprintf(text, sizeof text, BANK "method=%s %s", method, more);
    medley_model *model = fit(train, dev, text);
    assert_string_equal(summary_of(model)->method, method);
    const bool batch = !isnan(summary_of(model)->gap);
    medley_model_free(model);
    return batch;
}

static void baselines_have_two_forms(void **state)
{
    (void)state;
    static const char *const methods[] = {"average", "best"};
    medley_dataset *two = make_data("twonorm", 40, 1);
    medley_dataset *dev = make_data("twonorm", 20, 2);
    medley_dataset *three = make_data("waveform", 40, 1);
    for (size_t m = 0; m < 2; m++) {
        assert_true(is_batch(two, NULL, methods[m], "C=1"));
        assert_true(is_batch(two, NULL, methods[m], "C=1 penalty=l2 loss=logistic"));
        assert_true(is_batch(two, NULL, methods[m], "C=1 penalty=elastic(t=0.5)"));
        assert_false(is_batch(two, NULL, methods[m], "C=1 epochs=3"));
        assert_false(is_batch(two, NULL, methods[m], "C=1 eta0=1"));
        assert_false(is_batch(two, NULL, methods[m], "C=1 penalty=mkl epochs=3"));
        assert_false(is_batch(two, NULL, methods[m], "C=1 task=multiclass eta0=1"));
        assert_false(is_batch(two, dev, methods[m], "C=1 eta0=1"));
        assert_false(is_batch(three, NULL, methods[m], "C=1 eta0=1"));
    }
    medley_dataset_free(two);
    medley_dataset_free(dev);
    medley_dataset_free(three);
}

static void names_are_listed_once(void **state)
{
    (void)state;
    static const char *const names[] = {"spom",      "spicy",      "gauss-seidel",
                                        "simplemkl", "hessianmkl", "levelmkl",
                                        "silp",      "average",    "best"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        medley_listing listing = MEDLEY_LISTING_INIT;
        size_t count = 0;
        for (size_t i = 0; medley_list(&listing, "methods", i); i++)
            count += strcmp(listing.name, names[n]) == 0 && listing.summary != NULL;
        assert_int_equal(count, 1);
    }
}

/* ---- what is refused ---- */

static void expect_refusal(const medley_dataset *data, const char *text, const char *words)
{
    medley_model *model = NULL;
    medley_error error = {0};
    medley_options *options = make_options(text);
    assert_int_equal(medley_fit(&model, data, NULL, options, NULL, &error), MEDLEY_NOT_SUPPORTED);
    assert_null(model);
    if (strstr(error.message, words) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, words);
    medley_options_free(options);
}

static void penalties_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    medley_dataset *data = make_data("twonorm", 20, 1);
    expect_refusal(data, "method=simplemkl penalty=elastic", "group-lasso and mkl only");
    expect_refusal(data, "method=simplemkl penalty=squared-block(q=1.5)",
                   "group-lasso and mkl only");
    expect_refusal(data, "method=simplemkl penalty=block(q=1.5)", "`method=gauss-seidel` or spicy");
    expect_refusal(data, "method=hessianmkl penalty=l2", "`method=hessianmkl` learns with");
    expect_refusal(data, "method=gauss-seidel penalty=block(q=3)", "at most 2");
    expect_refusal(data, "method=gauss-seidel penalty=mkl", "a sum over kernels");
    medley_dataset_free(data);
}

static bool stop_training(void *context, const medley_progress *progress)
{
    (void)context;
    return strcmp(progress->stage, "training") != 0;
}

static void observers_stop_them(void **state)
{
    (void)state;
    static const char *const methods[] = {"gauss-seidel", "simplemkl", "hessianmkl", "levelmkl",
                                          "silp",         "average",   "best"};
    medley_dataset *data = make_data("ringnorm", 60, 1);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        char text[256];
        medley_model *model = NULL;
        medley_error error = {0};
        if (!is_there(methods[m]))
            continue;
        snprintf(text, sizeof text, BANK "method=%s C=1 gap=1e-9", methods[m]);
        medley_options *options = make_options(text);
        const medley_observer observer = {sizeof observer, .progress = stop_training};
        assert_int_equal(medley_fit(&model, data, NULL, options, &observer, &error),
                         MEDLEY_STOPPED);
        assert_non_null(model);
        assert_true(summary_of(model)->dual <= summary_of(model)->objective);
        assert_false(summary_of(model)->converged);
        assert_true(accuracy_of(model, data) >= 0.5);
        medley_model_free(model);
        medley_options_free(options);
    }
    medley_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_find_what_spicy_finds),
        cmocka_unit_test(they_find_what_spicy_finds_on_the_simplex),
        cmocka_unit_test(they_know_more_than_two_labels),
        cmocka_unit_test(an_average_has_equal_weights),
        cmocka_unit_test(the_best_is_one_kernel),
        cmocka_unit_test(baselines_have_two_forms),
        cmocka_unit_test(names_are_listed_once),
        cmocka_unit_test(penalties_that_do_not_fit_are_refused),
        cmocka_unit_test(observers_stop_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
