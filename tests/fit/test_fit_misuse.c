/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong uses of medley_fit: each is refused with its code and a sentence that says what to do, and
 * leaves the caller's pointer alone. */
#include "fit/fitting.h"

/* Fits and checks the refusal. */
static void refuse_data(const medley_dataset *train, const medley_dataset *dev, const char *text,
                        medley_status code, const char *phrase)
{
    medley_model *untouched = (medley_model *)&code;
    medley_model *model = untouched;
    medley_error error = {0};
    medley_options *options = make_options(text);
    const medley_status status = medley_fit(&model, train, dev, options, NULL, &error);
    if (status != code || error.code != code || strstr(error.message, phrase) == NULL)
        fail_msg("'%s': status %d instead of %d, '%s' instead of '%s'", text, (int)status,
                 (int)code, error.message, phrase);
    assert_ptr_equal(model, untouched);
    assert_int_equal(medley_fit(&model, train, dev, options, NULL, NULL), code); /* no error kept */
    medley_options_free(options);
}

static void options_that_do_not_exist_or_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        medley_status code;
        const char *phrase;
    } cases[] = {
        {"method=spon", MEDLEY_USAGE,
         "there is no method 'spon'; did you mean 'spom'? known: spom"},
        {"method=zzzzzzz", MEDLEY_USAGE, "there is no method 'zzzzzzz'; known: spom"},
        {"loss=hinje", MEDLEY_USAGE, "there is no loss 'hinje'; did you mean 'hinge'?"},
        {"loss=zzzzzzz", MEDLEY_USAGE, "there is no loss 'zzzzzzz'; known: hinge"},
        {"penalty=grup-lasso", MEDLEY_USAGE, "group-lasso"},
        {"penalty=mkl+", MEDLEY_USAGE, "empty term"},
        {"kernel=rbg", MEDLEY_USAGE, "there is no kernel 'rbg'"},
        {"kernel=rbf(sigma=1)@nowhere", MEDLEY_USAGE, "there is no view 'nowhere'"},
        {"kernels=/no/such/file", MEDLEY_FAILED, "cannot be read"},
        {"C=1 lambda=0.1", MEDLEY_USAGE, "give one of `lambda`, `C` and `spicy-C`"},
        {"C=1 spicy-C=1", MEDLEY_USAGE, "give one of"},
        {"eta0=fast", MEDLEY_USAGE,
         "`eta0='fast'` is neither auto, paper nor theory, nor a positive number"},
        {"method=spom eta0=theory radius=none", MEDLEY_USAGE, "needs a ball"},
        {"method=spom eta0=theory schedule=constant", MEDLEY_USAGE, "rates that fall"},
        {"eta0=-1", MEDLEY_USAGE, "eta0='-1'"},
        {"eta0=none", MEDLEY_USAGE, "eta0='none'"},
        {"eta0=inf", MEDLEY_USAGE, "eta0='inf'"},
        {"radius=wide", MEDLEY_USAGE, "`radius='wide'` is neither none nor auto nor a positive"},
        {"radius=0", MEDLEY_USAGE, "radius='0'"},
        {"penalty=l1", MEDLEY_USAGE, "looks at single weights"},
        {"penalty=sparse-group kernel=linear(explicit) kernel=rbf(auto)", MEDLEY_USAGE,
         "use linear(explicit) or another penalty"},
        {"kernel=linear(explicit,norm=diag)", MEDLEY_USAGE, "cannot have norm=diag"},
        {"kernel=linear(explicit) normalize=center", MEDLEY_USAGE, "cannot have norm=center"},
        {"kernel=rbf(auto,explicit)", MEDLEY_USAGE, "cannot be explicit"},
        {"method=average kernel=linear(explicit)", MEDLEY_NOT_SUPPORTED, "works on kernels"},
        {"task=binary", MEDLEY_BAD_INPUT, "3 different labels found, `task=binary` expects two"},
        {"eta0=1e200 schedule=constant penalty=none radius=none", MEDLEY_FAILED,
         "training diverged in epoch 1"},
    };
    medley_dataset *train = make_data("waveform", 60, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_data(train, NULL, cases[i].options, cases[i].code, cases[i].phrase);
    medley_dataset_free(train);
}

static void values_out_of_range_are_refused_when_they_are_set(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"epochs", "-1"},      {"epochs", "many"},     {"C", "-1"},
        {"lambda", "0"},       {"seed", "-1"},         {"threads", "-2"},
        {"memory", "lots"},    {"schedule", "slow"},   {"task", "singular"},
        {"normalize", "unit"}, {"average", "perhaps"}, {"no-such-option", "1"}};
    medley_options *options = make_options("");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        medley_error error = {0};
        assert_int_equal(medley_options_set(options, wrong[i][0], wrong[i][1], &error),
                         MEDLEY_USAGE);
        assert_non_null(strstr(error.message, wrong[i][0]));
    }
    medley_options_free(options);
}

static medley_dataset *from_labels(const char *const *labels, size_t rows)
{
    double values[128];
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    for (size_t i = 0; i < 2 * rows; i++)
        values[i] = sin((double)i);
    assert_int_equal(medley_dataset_from_dense(&dataset, values, rows, 2, labels, &error),
                     MEDLEY_OK);
    return dataset;
}

static void labels_that_cannot_be_learnt_are_refused(void **state)
{
    (void)state;
    static const char *const same[] = {"yes", "yes", "yes", "yes"};
    medley_dataset *one_class = from_labels(same, 4);
    refuse_data(one_class, NULL, "", MEDLEY_BAD_INPUT,
                "all 4 rows have the label 'yes'; a classifier needs at least two labels");
    medley_dataset_free(one_class);

    medley_dataset *unlabelled = from_labels(NULL, 4);
    refuse_data(unlabelled, NULL, "", MEDLEY_USAGE, "there are no labels to learn from");
    medley_dataset_free(unlabelled);

    char numbers[60][16];
    const char *distinct[60];
    for (size_t i = 0; i < 60; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%zu.5", i);
        distinct[i] = numbers[i];
    }
    medley_dataset *regression = from_labels(distinct, 60);
    refuse_data(regression, NULL, "", MEDLEY_BAD_INPUT, "look like numbers to be predicted");
    medley_dataset_free(regression);

    medley_dataset *empty = NULL;
    medley_error error = {0};
    assert_int_equal(medley_dataset_create(&empty, &error), MEDLEY_OK);
    refuse_data(empty, NULL, "", MEDLEY_BAD_INPUT, "there are no rows to learn from");
    medley_dataset_free(empty);
}

static void held_out_data_must_fit_the_training_data(void **state)
{
    (void)state;
    static const char *const two[] = {"a", "b", "a", "b", "a", "b"};
    static const char *const other[] = {"x", "y", "x", "y", "x", "y"};
    medley_dataset *train = from_labels(two, 6);
    medley_dataset *unlabelled = from_labels(NULL, 6);
    medley_dataset *wide = make_data("waveform", 20, 1);
    refuse_data(train, unlabelled, "", MEDLEY_USAGE, "held-out data need rows with labels");
    refuse_data(train, wide, "", MEDLEY_BAD_INPUT, "21 feature columns found, the model expects 2");
    /* labels nobody has seen are simply never right */
    medley_dataset *foreign = from_labels(other, 6);
    medley_model *model = fit(train, foreign, "epochs=3");
    assert_true(medley_model_summary(model)->epochs[0].dev_accuracy == 0);
    medley_model_free(model);
    medley_dataset_free(foreign);
    medley_dataset_free(wide);
    medley_dataset_free(unlabelled);
    medley_dataset_free(train);
}

/* The smallest data that can be learnt from, with everything. */
static void two_rows_are_enough(void **state)
{
    (void)state;
    static const char *const two[] = {"a", "b"};
    medley_dataset *train = from_labels(two, 2);
    static const char *const runs[] = {"",
                                       "loss=logistic average=yes",
                                       "method=best",
                                       "method=average",
                                       "kernel=linear(explicit)",
                                       "normalize=center kernel=linear",
                                       "task=binary"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        medley_model *model = fit(train, train, runs[i]);
        medley_prediction_free(predict(model, train));
        medley_model_free(model);
    }
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_do_not_exist_or_fit_are_refused),
        cmocka_unit_test(values_out_of_range_are_refused_when_they_are_set),
        cmocka_unit_test(labels_that_cannot_be_learnt_are_refused),
        cmocka_unit_test(held_out_data_must_fit_the_training_data),
        cmocka_unit_test(two_rows_are_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
