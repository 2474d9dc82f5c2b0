/* SPDX-License-Identifier: BSD-3-Clause */
/* Models that predict numbers: how far they are from the right ones, what cannot be asked of them,
 * and how the numbers are written. */
#include "model/model_cases.h"

enum { TRAINING = 20, NEW = 5 };

static const struct model_case numbers = {DENSE, "kernel=linear kernel=rbf(sigma2=2)", NUMBERS};

static medley_dataset *with_labels(const char *const *labels)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    double x[NEW * CASE_COLUMNS];
    char unused[2];
    for (size_t r = 0; r < NEW; r++)
        case_row(TRAINING + r, x + r * CASE_COLUMNS, unused);
    assert_int_equal(medley_dataset_from_dense(&dataset, x, NEW, CASE_COLUMNS, labels, &error),
                     MEDLEY_OK);
    return dataset;
}

/* ---- evaluation ---- */

static void errors_are_measured_against_the_mean(void **state)
{
    (void)state;
    static const char *const texts[NEW] = {"1.5", "-2", "1e1", "0.125", "1.50"};
    static const double targets[NEW] = {1.5, -2, 10, 0.125, 1.5};
    medley_model *model = case_model(&numbers, TRAINING);
    medley_dataset *dataset = with_labels(texts);
    medley_prediction *prediction = predict(model, dataset);
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_error error = {0};
    assert_int_equal(medley_evaluate(&evaluation, model, dataset, 1, &error), MEDLEY_OK);
    double squares = 0;
    double spread = 0;
    for (size_t r = 0; r < NEW; r++) {
        squares += pow(prediction->value[r] - targets[r], 2);
        spread += pow(targets[r] - 2.225, 2);
    }
    assert_true(fabs(evaluation.rmse - sqrt(squares / NEW)) < 1e-12);
    assert_true(fabs(evaluation.r2 - (1 - squares / spread)) < 1e-12);
    assert_true(isnan(evaluation.accuracy) && isnan(evaluation.exact_match));
    assert_null(evaluation.confusion);
    assert_int_equal(evaluation.examples, NEW);
    assert_int_equal(evaluation.parts, NEW);
    assert_int_equal(evaluation.labels + evaluation.unknown_labels + evaluation.correct, 0);
    medley_evaluation_clear(&evaluation);
    medley_prediction_free(prediction);
    medley_dataset_free(dataset);
    medley_model_free(model);
}

/* R2 compares with the mean of the targets: predicting it gives 0, and where it is always right
 * nothing can be said. */
static void equal_targets_have_no_r2(void **state)
{
    (void)state;
    static const char *const varied[NEW] = {"1", "2", "3", "4", "5"};
    static const char *const equal[NEW] = {"0.1", "0.1", "0.1", "0.1", "0.1"};
    struct plain plain;
    plain_start(&plain, &numbers, TRAINING);
    plain_fill(&plain, NUMBERS, 1);
    memset(plain.norm, 0, sizeof plain.norm);
    plain.bias[0] = 3;
    medley_model *model = plain_build(&plain);
    for (int i = 0; i < 2; i++) {
        medley_dataset *dataset = with_labels(i == 0 ? varied : equal);
        medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
        medley_error error = {0};
        assert_int_equal(medley_evaluate(&evaluation, model, dataset, 1, &error), MEDLEY_OK);
        assert_true(i == 0 ? fabs(evaluation.r2) < 1e-15 : isnan(evaluation.r2));
        assert_true(fabs(evaluation.rmse - (i == 0 ? sqrt(2) : 2.9)) < 1e-12);
        medley_evaluation_clear(&evaluation);
        medley_dataset_free(dataset);
    }
    medley_model_free(model);
    plain_clear(&plain);
}

static void classifiers_have_no_rmse(void **state)
{
    (void)state;
    medley_model *model = case_model(&model_cases[0], TRAINING);
    medley_dataset *dataset = case_dense(TRAINING, NEW);
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_error error = {0};
    assert_int_equal(medley_evaluate(&evaluation, model, dataset, 1, &error), MEDLEY_OK);
    assert_true(isnan(evaluation.rmse) && isnan(evaluation.r2) && !isnan(evaluation.accuracy));
    medley_evaluation_clear(&evaluation);
    medley_dataset_free(dataset);
    medley_model_free(model);
}

static void labels_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    static const char *const mixed[NEW] = {"1", "2", "three", "4", "5"};
    static const char *const infinite[NEW] = {"1", "2", "3", "inf", "5"};
    static const char *const fine[NEW] = {"1", "2", "3", "4", "5"};
    const struct {
        const char *const *labels;
        bool one_missing;
        medley_status code;
        const char *phrase;
    } cases[] = {
        {mixed, false, MEDLEY_BAD_INPUT, "row 3 has the label 'three', which is no number"},
        {infinite, false, MEDLEY_BAD_INPUT, "row 4 has the label 'inf', which is no number"},
        {fine, true, MEDLEY_BAD_INPUT, "row 2 has no label"},
        {NULL, false, MEDLEY_USAGE, "there are no labels to compare with"},
    };
    medley_model *model = case_model(&numbers, TRAINING);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_dataset *dataset = with_labels(cases[i].labels);
        medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
        medley_error error = {0};
        free(dataset->source);
        dataset->source = strdup("some.csv");
        if (cases[i].one_missing)
            dataset->label[1] = -1;
        assert_int_equal(medley_evaluate(&evaluation, model, dataset, 1, &error), cases[i].code);
        if (strstr(error.message, cases[i].phrase) == NULL)
            fail_msg("'%s' does not say '%s'", error.message, cases[i].phrase);
        assert_string_equal(error.file, "some.csv");
        medley_dataset_free(dataset);
    }
    medley_model_free(model);
}

/* The rows that are looked at have numbers, others of the file need not. */
static void rows_that_are_left_out_need_no_numbers(void **state)
{
    (void)state;
    static const char *const mixed[NEW] = {"1", "2", "three", "4", "5"};
    static const size_t rows[] = {0, 1, 3};
    medley_model *model = case_model(&numbers, TRAINING);
    medley_dataset *dataset = with_labels(mixed);
    medley_dataset *some = NULL;
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_error error = {0};
    assert_int_equal(md_dataset_select(&some, dataset, rows, 3, NULL, &error), MEDLEY_OK);
    assert_int_equal(medley_evaluate(&evaluation, model, some, 1, &error), MEDLEY_OK);
    assert_true(isfinite(evaluation.rmse) && isfinite(evaluation.r2));
    assert_int_equal(evaluation.examples, 3);
    medley_evaluation_clear(&evaluation);
    medley_dataset_free(some);
    medley_dataset_free(dataset);
    medley_model_free(model);
}

/* ---- what cannot be asked for ---- */

static void numbers_have_no_probabilities_and_no_best_labels(void **state)
{
    (void)state;
    static const char *const phrases[] = {"no probabilities; leave out `proba`",
                                          "not labels; leave out `best`",
                                          "not labels; leave out `constrain`"};
    medley_model *model = case_model(&numbers, TRAINING);
    medley_dataset *fresh = case_dense(TRAINING, NEW);
    for (int i = 0; i < 3; i++) {
        medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
        medley_prediction *prediction = NULL;
        medley_error error = {0};
        options.probabilities = i == 0;
        options.best = i == 1 ? 2 : 0;
        options.keep_labels = i == 2;
        assert_int_equal(medley_predict_with(&prediction, model, fresh, &options, &error),
                         MEDLEY_USAGE);
        assert_null(prediction);
        if (strstr(error.message, phrases[i]) == NULL)
            fail_msg("'%s' does not say '%s'", error.message, phrases[i]);
    }
    medley_dataset_free(fresh);
    medley_model_free(model);
}

/* ---- writing ---- */

static void numbers_are_written_to_the_last_bit(void **state)
{
    (void)state;
    medley_model *model = case_model(&numbers, TRAINING);
    medley_dataset *fresh = case_dense(TRAINING, NEW);
    medley_prediction *prediction = predict(model, fresh);
    medley_error error = {0};
    char path[PATH_SIZE];
    prediction->value[0] = 0.1;
    prediction->value[1] = -1e300;
    temporary_path(path);
    assert_int_equal(medley_prediction_write(prediction, model, fresh, path, &error), MEDLEY_OK);
    FILE *file = fopen(path, "r");
    char line[64];
    assert_non_null(file);
    for (size_t r = 0; r < NEW; r++) {
        assert_non_null(fgets(line, sizeof line, file));
        assert_true(strtod(line, NULL) == prediction->value[r]);
        if (r == 0)
            assert_string_equal(line, "0.1\n");
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    unlink(path);
    assert_int_equal(medley_prediction_write(prediction, model, fresh, "/no/such/folder/x", &error),
                     MEDLEY_FAILED);
    medley_prediction_free(prediction);
    medley_dataset_free(fresh);
    medley_model_free(model);
}

/* Tagged text gets one more column, as it does with labels. */
static void numbers_are_written_in_the_format_of_the_data(void **state)
{
    (void)state;
    medley_model *model = case_model(&numbers, TRAINING);
    medley_dataset *fresh = case_dense(TRAINING, NEW);
    medley_dataset *words = case_tagged(0, NEW);
    medley_prediction *prediction = predict(model, fresh);
    medley_error error = {0};
    char path[PATH_SIZE];
    size_t length;
    for (size_t r = 0; r < NEW; r++)
        prediction->value[r] = 0.5 + (double)r;
    temporary_path(path);
    assert_int_equal(medley_prediction_write(prediction, model, words, path, &error), MEDLEY_OK);
    char *text = read_bytes(path, &length);
    text[length] = '\0';
    char first[64];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(text, "\n"), text);
    assert_string_equal(first + strlen(first) - 6, " a 0.5");
    free(text);
    unlink(path);
    medley_prediction_free(prediction);
    medley_dataset_free(fresh);
    medley_dataset_free(words);
    medley_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_measured_against_the_mean),
        cmocka_unit_test(equal_targets_have_no_r2),
        cmocka_unit_test(classifiers_have_no_rmse),
        cmocka_unit_test(labels_that_are_no_numbers_are_refused),
        cmocka_unit_test(rows_that_are_left_out_need_no_numbers),
        cmocka_unit_test(numbers_have_no_probabilities_and_no_best_labels),
        cmocka_unit_test(numbers_are_written_to_the_last_bit),
        cmocka_unit_test(numbers_are_written_in_the_format_of_the_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
