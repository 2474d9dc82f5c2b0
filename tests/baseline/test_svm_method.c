/* SPDX-License-Identifier: BSD-3-Clause */
/* Method svm from data to model: it finds the certified optimum of other methods on the mean
 * kernel, what it says is what the model predicts, and it refuses what it is not made for. */
#include "fit/fitting.h"

#define BANK "kernel=linear kernel=rbf(sigma2=20) kernel=rbf(sigma2=5) scale=standard "

/* Two labels: the batch form of average has the same objective. */
static void two_labels_have_the_optimum_of_average(void **state)
{
    (void)state;
    static const char *const strengths[] = {"C=10", "C=0.1", "lambda=0.05", "spicy-C=3"};
    medley_dataset *data = make_data("ringnorm", 70, 1);
    for (size_t i = 0; i < 4; i++) {
        char text[256];
        snprintf(text, sizeof text, BANK "method=average loss=hinge gap=1e-7 %s", strengths[i]);
        medley_model *known = fit(data, NULL, text);
        snprintf(text, sizeof text, BANK "method=svm gap=1e-4 %s", strengths[i]);
        medley_model *model = fit(data, NULL, text);
        const medley_summary *s = medley_model_summary(model);
        const double optimum = medley_model_summary(known)->objective;
        assert_true(s->converged && s->gap >= 0 && s->gap <= 1e-4);
        assert_true(s->objective <= optimum * (1 + 1.1e-4) && s->objective >= optimum * (1 - 1e-6));
        assert_true(s->dual <= optimum * (1 + 1e-6));
        assert_true(s->lambda == medley_model_summary(known)->lambda);
        medley_model_free(known);
        medley_model_free(model);
    }
    medley_dataset_free(data);
}

/* More labels are one against the rest, as they are in spicy, whose l2 penalty on one kernel is
 * that of a support vector machine. */
static void more_labels_have_the_optimum_of_spicy(void **state)
{
    (void)state;
    static const char *const gaps[] = {"1e-2", "1e-4", "1e-6"}; /* the last without libsvm */
    medley_dataset *data = make_data("waveform", 80, 2);
    medley_model *known =
        fit(data, NULL, "method=spicy penalty=l2 loss=hinge kernel=rbf(auto) C=10 gap=1e-7");
    const double optimum = medley_model_summary(known)->objective;
    for (size_t i = 0; i < 3; i++) {
        char text[128];
        snprintf(text, sizeof text, "method=svm kernel=rbf(auto) gap=%s", gaps[i]); /* C is 10 */
        medley_model *model = fit(data, NULL, text);
        const medley_summary *s = medley_model_summary(model);
        const double gap = atof(gaps[i]); /* NOLINT(cert-err34-c) */
        assert_true(s->converged && s->C == 10 && s->gap <= gap);
        assert_true(s->objective <= optimum * (1 + 1.1 * gap) &&
                    s->objective >= optimum * (1 - 1e-6));
        assert_int_equal(s->epoch_count, 3);
        medley_model_free(model);
    }
    medley_model_free(known);
    medley_dataset_free(data);
}

/* mean hinge + lambda/2 ||w||^2, of every label, from scores. The squared norm in the mean kernel
 * is the number of kernels times that in all of them. */
static void the_objective_is_that_of_the_model(void **state)
{
    (void)state;
    static const char *const generators[] = {"twonorm", "waveform"};
    for (size_t g = 0; g < 2; g++) {
        medley_dataset *data = make_data(generators[g], 90, 3);
        medley_model *model = fit(data, NULL, BANK "method=svm C=2");
        const medley_summary *s = medley_model_summary(model);
        medley_prediction *prediction = predict(model, data);
        double sum = 0;
        for (size_t r = 0; r < prediction->rows; r++)
            for (size_t k = prediction->labels == 2; k < prediction->labels; k++) {
                const double y = medley_dataset_label(data, r) == (int32_t)k ? 1 : -1;
                sum += fmax(0, 1 - y * (double)prediction->score[r * prediction->labels + k]);
            }
        sum /= (double)prediction->rows;
        for (size_t b = 0; b < s->block_count; b++) {
            sum += s->lambda / 2 * 3 * s->blocks[b].norm * s->blocks[b].norm;
            assert_true(fabs(s->blocks[b].weight - 1.0 / 3) <= 1e-12);
        }
        assert_string_equal(s->penalty, "l2");
        if (!(fabs(sum - s->objective) <= 1e-4 * sum))
            fail_msg("%s: objective %.10g, of the model %.10g", generators[g], s->objective, sum);
        medley_prediction_free(prediction);
        medley_model_free(model);
        medley_dataset_free(data);
    }
}

static void threads_and_memory_give_the_same_bytes(void **state)
{
    (void)state;
    static const char *const more[] = {"threads=1", "threads=3"};
    medley_dataset *data = make_data("waveform", 100, 4);
    char *bytes[2];
    size_t length[2];
    for (size_t i = 0; i < 2; i++) {
        char text[256];
        snprintf(text, sizeof text, BANK "method=svm %s", more[i]);
        medley_model *model = fit(data, NULL, text);
        bytes[i] = model_bytes(model, &length[i]);
        medley_model_free(model);
    }
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(bytes[0], bytes[1], length[0]);
    free(bytes[0]);
    free(bytes[1]);
    medley_model *roomy = fit(data, NULL, BANK "method=svm");
    medley_model *small = fit(data, NULL, BANK "method=svm memory=50K");
    assert_true(
        fabs(medley_model_summary(roomy)->objective / medley_model_summary(small)->objective - 1) <=
        1e-9);
    medley_model_free(roomy);
    medley_model_free(small);
    medley_dataset_free(data);
}

static void kernels_may_come_from_a_file(void **state)
{
    (void)state;
    medley_dataset *data = make_data("waveform", 60, 5);
    medley_dataset *given = NULL;
    medley_error error = {0};
    char path[PATH_SIZE];
    size_t count;
    medley_options *options = make_options(BANK);
    temporary_path(path);
    assert_int_equal(medley_write_kernels(&count, data, options, path, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_create(&given, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_add_gram(given, "k", path, &error), MEDLEY_OK);
    FILE *labels = fopen(path, "w");
    assert_non_null(labels);
    for (size_t r = 0; r < 60; r++)
        fprintf(labels, "%s\n",
                medley_dataset_label_name(data, (size_t)medley_dataset_label(data, r)));
    fclose(labels);
    assert_int_equal(medley_dataset_read_labels(given, path, &error), MEDLEY_OK);
    medley_model *direct = fit(data, NULL, BANK "method=svm gap=1e-4");
    medley_model *indirect = fit(given, NULL, "method=svm gap=1e-4");
    assert_int_equal(medley_model_summary(indirect)->block_count, 3);
    assert_true(
        fabs(medley_model_summary(direct)->objective / medley_model_summary(indirect)->objective -
             1) <= 2e-4);
    assert_true(fabs(accuracy_of(direct, data) - accuracy_of(indirect, given)) <= 0.02);
    unlink(path);
    medley_model_free(direct);
    medley_model_free(indirect);
    medley_options_free(options);
    medley_dataset_free(given);
    medley_dataset_free(data);
}

/* ---- refused and stopped ---- */

static void expect_refusal(const medley_dataset *data, const char *text, medley_status code,
                           const char *words)
{
    medley_model *model = NULL;
    medley_error error = {0};
    medley_options *options = make_options(text);
    assert_int_equal(medley_fit(&model, data, NULL, options, NULL, &error), code);
    assert_null(model);
    if (strstr(error.message, words) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, words);
    medley_options_free(options);
}

static bool keep_none(void *context, medley_model *model)
{
    (void)context;
    medley_model_free(model);
    return true;
}

static void what_it_is_not_made_for_is_refused(void **state)
{
    (void)state;
    static const double values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const char *const numbers[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    medley_dataset *data = make_data("twonorm", 20, 1);
    medley_dataset *with_numbers = NULL;
    assert_int_equal(medley_dataset_from_dense(&with_numbers, values, 8, 1, numbers, NULL),
                     MEDLEY_OK);
    expect_refusal(with_numbers, "method=svm task=regression", MEDLEY_NOT_SUPPORTED,
                   "learns labels, not numbers");
    expect_refusal(data, "method=svm loss=logistic", MEDLEY_NOT_SUPPORTED, "hinge");
    expect_refusal(data, "method=svm penalty=group-lasso", MEDLEY_NOT_SUPPORTED, "`penalty=");
    expect_refusal(data, "method=svm epochs=3", MEDLEY_USAGE, "no place in `method=svm`");
    expect_refusal(data, "method=svm template=chunk", MEDLEY_USAGE, "`template`");
    const medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
    medley_options *options = make_options("method=svm");
    medley_error error = {0};
    assert_int_equal(medley_fit_path(data, options, &path, keep_none, NULL, NULL, &error),
                     MEDLEY_NOT_SUPPORTED);
    assert_non_null(strstr(error.message, "no path"));
    medley_options_free(options);
    medley_dataset_free(with_numbers);
    medley_dataset_free(data);
}

static bool stop_training(void *context, const medley_progress *progress)
{
    (void)context;
    return strcmp(progress->stage, "training") != 0;
}

static void it_can_be_stopped(void **state)
{
    (void)state;
    medley_dataset *data = make_data("waveform", 60, 6);
    medley_options *options = make_options(BANK "method=svm threads=1 gap=1e-6");
    const medley_observer observer = {sizeof observer, .progress = stop_training};
    medley_model *model = NULL;
    medley_error error = {0};
    assert_int_equal(medley_fit(&model, data, NULL, options, &observer, &error), MEDLEY_STOPPED);
    assert_non_null(model);
    assert_false(medley_model_summary(model)->converged); /* one of three outputs was learnt */
    medley_prediction *prediction = predict(model, data);
    assert_true(prediction->score[0] != prediction->score[3]);
    assert_true(prediction->score[1] == prediction->score[4]);
    medley_prediction_free(prediction);
    medley_model_free(model);
    medley_options_free(options);
    medley_dataset_free(data);
}

/* With a weak penalty coefficients are large and cancel: rounded kernel values gave figures that no
 * prediction kept, and dual values above the optimum. */
static medley_dataset *overlapping(void)
{
    medley_dataset *data = NULL;
    medley_generate_options how = MEDLEY_GENERATE_OPTIONS_INIT;
    how.rows = 90;
    how.dimension = 2;
    how.noise = 2;
    assert_int_equal(medley_generate(&data, "twonorm", &how, NULL), MEDLEY_OK);
    return data;
}

static void figures_hold_for_the_model_with_a_weak_penalty(void **state)
{
    (void)state;
    static const char *const runs[] = {
        "kernel=rbf(sigma2=1) C=1e4 gap=1e-3", "kernel=rbf(sigma2=1) C=1e4 gap=1e-6",
        "kernel=rbf(sigma2=1) kernel=rbf(sigma2=2) C=1e4 gap=1e-3", "kernel=rbf(sigma2=1e4) C=1e4"};
    medley_dataset *data = overlapping();
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char text[200];
        snprintf(text, sizeof text, "method=svm %s", runs[i]);
        medley_model *model = fit(data, NULL, text);
        const medley_summary *s = medley_model_summary(model);
        medley_prediction *prediction = predict(model, data);
        double objective = 0;
        for (size_t r = 0; r < prediction->rows; r++) {
            const double y = medley_dataset_label(data, r) == 1 ? 1 : -1;
            objective += fmax(0, 1 - y * (double)prediction->score[r * 2 + 1]);
        }
        objective /= (double)prediction->rows;
        for (size_t b = 0; b < s->block_count; b++)
            objective +=
                s->lambda / 2 * (double)s->block_count * s->blocks[b].norm * s->blocks[b].norm;
        if (fabs(objective - s->objective) > 1e-5 * s->objective)
            fail_msg("%s: %.9g is told and %.9g predicted", text, s->objective, objective);
        assert_true(s->converged && s->dual <= s->objective * (1 + 1e-9));
        medley_prediction_free(prediction);
        medley_model_free(model);
    }
    medley_dataset_free(data);
}

static void and_dual_values_are_below_the_optimum(void **state)
{
    (void)state;
    static const char *const methods[] = {"svm",
                                          "svm gap=1e-6",
                                          "lp-beta",
                                          "average loss=hinge gap=1e-3",
                                          "average loss=hinge gap=1e-6",
                                          "best loss=hinge penalty=l2 gap=1e-3",
                                          "best loss=hinge penalty=l2 gap=1e-6"};
    medley_dataset *data = overlapping();
    medley_model *known =
        fit(data, NULL, "method=spicy penalty=l2 loss=hinge kernel=rbf(sigma2=1) C=1e6 gap=1e-6");
    const double optimum = medley_model_summary(known)->objective;
    assert_true(medley_model_summary(known)->converged);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        char text[200];
        medley_model *model = NULL;
        medley_error error = {0};
        snprintf(text, sizeof text, "kernel=rbf(sigma2=1) C=1e6 method=%s", methods[i]);
        medley_options *options = make_options(text);
        const medley_status status = medley_fit(&model, data, NULL, options, NULL, &error);
        medley_options_free(options);
        if (status == MEDLEY_NOT_SUPPORTED) /* without a library for linear programs */
            continue;
        assert_int_equal(status, MEDLEY_OK);
        const medley_summary *s = medley_model_summary(model);
        assert_true(s->dual <= optimum * (1 + 2e-6) && s->objective >= optimum * (1 - 2e-6));
        medley_model_free(model);
    }
    medley_model_free(known);
    medley_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_hold_for_the_model_with_a_weak_penalty),
        cmocka_unit_test(and_dual_values_are_below_the_optimum),
        cmocka_unit_test(two_labels_have_the_optimum_of_average),
        cmocka_unit_test(more_labels_have_the_optimum_of_spicy),
        cmocka_unit_test(the_objective_is_that_of_the_model),
        cmocka_unit_test(threads_and_memory_give_the_same_bytes),
        cmocka_unit_test(kernels_may_come_from_a_file),
        cmocka_unit_test(what_it_is_not_made_for_is_refused),
        cmocka_unit_test(it_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
