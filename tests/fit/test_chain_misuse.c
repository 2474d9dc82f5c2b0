/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences and templates that are odd or wrong: each wrong use is refused with its code and a
 * sentence that says what to do, each odd one is learnt from all the same. */
#include "fit/tagging.h"

static const char *const TAGGED = "a p X\nb q Y\nc p X\n\nb p Y\na q X\n\nc q Z\n\n";

/* Fits and checks the refusal; returns the error for more looks at it. */
static medley_error refuse(const medley_dataset *train, const char *text, medley_status code,
                           const char *phrase)
{
    medley_model *untouched = (medley_model *)&code;
    medley_model *model = untouched;
    medley_error error = {0};
    medley_options *options = make_options(text);
    const medley_status status = medley_fit(&model, train, NULL, options, NULL, &error);
    if (status != code || error.code != code || strstr(error.message, phrase) == NULL)
        fail_msg("'%s': status %d instead of %d, '%s' instead of '%s'", text, (int)status,
                 (int)code, error.message, phrase);
    assert_ptr_equal(model, untouched);
    medley_options_free(options);
    return error;
}

/* ---- options that do not go together ---- */

static void options_that_contradict_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        medley_status code;
        const char *phrase;
    } cases[] = {
        {"order=2 bigram=none", MEDLEY_USAGE, "`order=2` looks at neighbouring labels"},
        {"bigram-ends=yes bigram=none", MEDLEY_USAGE, "`bigram-ends` looks at neighbouring labels"},
        {"keep=3", MEDLEY_USAGE, "`keep` needs `from=MODEL`"},
        {"from=some.medley", MEDLEY_USAGE, "`from` needs `keep=N`"},
        {"keep=2 from=/no/such/model", MEDLEY_FAILED, "cannot open"},
        {"keep=2 from=/no/such/model blocks=U00", MEDLEY_USAGE, "give `keep` or `blocks`"},
        {"blocks=U77", MEDLEY_USAGE, "there is no block 'U77'"},
        {"hash-bits=8 min-count=2", MEDLEY_USAGE, ""},
        {"min-count=1000", MEDLEY_USAGE, "smaller `min-count`"},
        {"method=average", MEDLEY_USAGE, "`template` is about methods spom"},
        {"method=best", MEDLEY_USAGE, "`template` is about methods spom"},
        {"task=binary", MEDLEY_BAD_INPUT, "3 different labels found"},
    };
    medley_dataset *train = read_tagged(TAGGED);
    char path[PATH_SIZE];
    write_file(path, "U00:%x[0,0]\nB\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s template=%s", cases[i].options, path);
        refuse(train, text, cases[i].code, cases[i].phrase);
    }
    unlink(path);
    medley_dataset_free(train);
}

static void rows_that_stand_alone_are_no_chain(void **state)
{
    (void)state;
    medley_dataset *rows = make_data("waveform", 30, 1);
    refuse(rows, "task=chain", MEDLEY_BAD_INPUT, "`task=chain` expects sequences");
    refuse(rows, "template=chunk", MEDLEY_BAD_INPUT, "");
    static const char *const contexts[] = {"bigram=learned", "order=2", "bigram-scale=2",
                                           "bigram-ends=yes"};
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++)
        refuse(rows, contexts[i], MEDLEY_USAGE, "is about task");
    refuse(rows, "min-count=2", MEDLEY_USAGE, "`min-count` needs `template=");
    refuse(rows, "average-from=0.5", MEDLEY_USAGE, "`average-from` needs `average`");
    refuse(rows, "method=average block-scale=linear*=2", MEDLEY_USAGE, "no place");
    medley_dataset_free(rows);
}

static void words_need_templates(void **state)
{
    (void)state;
    medley_dataset *train = read_tagged(TAGGED);
    refuse(train, "", MEDLEY_USAGE, "tagged words need feature templates");
    refuse(train, "kernel=linear", MEDLEY_USAGE, "tagged words need feature templates");
    refuse(train, "template=/no/such/file", MEDLEY_FAILED, "");
    medley_dataset_free(train);
}

/* ---- templates ---- */

static void a_wrong_template_is_named_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *templates;
        long line;
        const char *phrase;
    } cases[] = {
        {"U00:%x[0,0]\n# more\nU01:%x[0,2]\n", 3, "column"},
        {"U00:%x[0,0]\n\nB01:%x[0,0]/%x[-1,7]\n", 3, "column"},
        {"U00:%x[0,0]\nU01:%x[0\n", 2, "comma"},
        {"U00:%x[0,0]\nU01:%z[0,0]\n", 2, "unknown macro"},
        {"X00:%x[0,0]\n", 1, "starts with none of"},
    };
    medley_dataset *train = read_tagged(TAGGED);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[PATH_SIZE];
        char text[512];
        with_template(text, path, cases[i].templates, "epochs=1");
        const medley_error error = refuse(train, text, MEDLEY_BAD_INPUT, cases[i].phrase);
        assert_string_equal(error.file, path);
        assert_int_equal(error.line, cases[i].line);
        unlink(path);
    }
    char path[PATH_SIZE];
    char text[512];
    with_template(text, path, "# nothing\n\n", "epochs=1");
    const medley_error error = refuse(train, text, MEDLEY_BAD_INPUT, "");
    assert_string_equal(error.file, path);
    unlink(path);
    medley_dataset_free(train);
}

static void features_that_are_all_cut_leave_the_others(void **state)
{
    (void)state;
    static const char *const runs[] = {"",           "loss=logistic",        "average=yes",
                                       "penalty=l1", "bigram=fixed order=2", "batch=1 penalty=l2"};
    medley_dataset *train = read_tagged(TAGGED);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char options[128];
        snprintf(options, sizeof options, "epochs=20 eta0=1 min-count=3 lambda=0.001 %s", runs[i]);
        /* columns: words occur up to twice, parts of speech three times; a pair never */
        medley_model *model = fit_tagged(
            train, "U00:%x[0,0]\nU01:%x[0,1]\nU02:%x[-9,0]/%x[0,0]\nB00:%x[0,0]\n", options);
        const medley_summary *summary = medley_model_summary(model);
        assert_true(summary->block_count >= 4);
        assert_int_equal(summary->blocks[0].features, 0);
        assert_true(summary->blocks[0].norm == 0);
        assert_true(isfinite(summary->objective));
        size_t length;
        free(model_bytes(model, &length));
        medley_prediction_free(predict(model, train));
        medley_model_free(model);
    }
    medley_dataset_free(train);
}

/* ---- odd sequences ---- */

static void sequences_of_one_row_are_enough(void **state)
{
    (void)state;
    static const char *const templates[] = {"U00:%x[0,0]\n", "U00:%x[0,0]\nB\n",
                                            "U00:%x[0,0]\nB00:%x[0,0]\n",
                                            "*00:%x[0,0]\nB01:%x[-1,0]\n"};
    static const char *const runs[] = {"", "loss=logistic", "order=2 bigram-ends=yes",
                                       "penalty=l1 average=yes", "bigram=fixed batch=1"};
    medley_dataset *train = read_tagged("a p X\n\nb q Y\n\nb p Y\n\na q X\n\n");
    medley_dataset *longer = read_tagged("a p X\nb q Y\na q X\nnew r X\n\nb q Y\n");
    for (size_t t = 0; t < sizeof templates / sizeof *templates; t++)
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
            char options[128];
            snprintf(options, sizeof options, "epochs=10 eta0=1 C=100 %s", runs[i]);
            medley_model *model = fit_tagged(train, templates[t], options);
            assert_true(accuracy_of(model, train) == 1);
            assert_true(accuracy_of(model, longer) >= 0.8);
            size_t length;
            free(model_bytes(model, &length));
            medley_model_free(model);
        }
    medley_dataset_free(train);
    medley_dataset_free(longer);
}

static void labels_never_seen_are_never_right(void **state)
{
    (void)state;
    medley_dataset *train = read_tagged("a p X\nb q Y\n\nb p Y\na q X\n\n");
    medley_dataset *test = read_tagged("a p X\nb q NEW\n\nb p Y\n\n");
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_error error = {0};
    medley_model *model = fit_tagged(train, "U00:%x[0,0]\nB\n", "epochs=20 eta0=1");
    assert_int_equal(medley_evaluate(&evaluation, model, test, 1, &error), MEDLEY_OK);
    assert_int_equal(evaluation.parts, 3);
    assert_int_equal(evaluation.examples, 2);
    assert_int_equal(evaluation.correct, 2);
    assert_int_equal(evaluation.unknown_labels, 1);
    assert_true(fabs(evaluation.exact_match - 0.5) < 1e-12);
    medley_evaluation_clear(&evaluation);
    /* nor can it be kept */
    medley_prediction *prediction = NULL;
    medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
    options.keep_labels = true;
    assert_int_equal(medley_predict_with(&prediction, model, test, &options, &error), MEDLEY_OK);
    assert_string_equal(medley_model_label_name(model, (size_t)prediction->label[1]), "Y");
    medley_prediction_free(prediction);
    medley_model_free(model);
    /* held-out data may have them as well */
    char path[PATH_SIZE];
    char text[512];
    with_template(text, path, "U00:%x[0,0]\nB\n", "epochs=5 eta0=1");
    model = fit(train, test, text);
    unlink(path);
    assert_true(medley_model_summary(model)->epochs[0].dev_accuracy < 1);
    medley_model_free(model);
    medley_dataset_free(train);
    medley_dataset_free(test);
}

static void data_to_predict_must_have_the_columns(void **state)
{
    (void)state;
    medley_dataset *train = read_tagged(TAGGED);
    medley_dataset *narrow = read_tagged("a X\nb Y\n\n");
    medley_dataset *rows = make_data("waveform", 10, 1);
    medley_model *model = fit_tagged(train, "U00:%x[0,0]/%x[0,1]\nB\n", "epochs=5 eta0=1");
    const medley_dataset *const wrong[] = {narrow, rows};
    for (size_t i = 0; i < 2; i++) {
        medley_prediction *prediction = NULL;
        medley_error error = {0};
        assert_int_equal(medley_predict(&prediction, model, wrong[i], 1, &error), MEDLEY_BAD_INPUT);
        assert_non_null(strstr(error.message, "column"));
        assert_null(prediction);
    }
    medley_model_free(model);
    medley_dataset_free(train);
    medley_dataset_free(narrow);
    medley_dataset_free(rows);
}

static void a_sequence_of_a_hundred_thousand_rows_is_learnt(void **state)
{
    (void)state;
    enum { ROWS = 100000 };
    md_text text = {0};
    for (size_t i = 0; i < ROWS; i++)
        md_text_addf(&text, "w%zu %s\n", i * 7919 % 13, i * 7919 % 13 < 6 ? "low" : "high");
    md_text_addf(&text, "\nw0 low\nw12 high\n");
    assert_false(text.failed);
    medley_dataset *train = read_tagged(text.data);
    md_text_clear(&text);
    assert_int_equal(medley_dataset_sequences(train), 2);
    static const char *const runs[] = {"epochs=1 eta0=0.01", "epochs=1 eta0=0.01 loss=logistic",
                                       "epochs=1 eta0=0.01 order=2 loss=logistic"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        medley_model *model = fit_tagged(train, "U00:%x[0,0]\nB\nB00:%x[0,0]\n", runs[i]);
        assert_true(isfinite(medley_model_summary(model)->objective));
        medley_prediction *prediction = NULL;
        medley_error error = {0};
        medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
        options.probabilities = true;
        options.best = 2;
        assert_int_equal(medley_predict_with(&prediction, model, train, &options, &error),
                         MEDLEY_OK);
        for (size_t r = 0; r < ROWS; r++)
            assert_true(fabsf(prediction->score[2 * r] + prediction->score[2 * r + 1] - 1) < 1e-3f);
        assert_true(prediction->best_score[1] <= prediction->best_score[0]);
        medley_prediction_free(prediction);
        if (i == 0) /* a single step of the log loss goes too far */
            assert_true(accuracy_of(model, train) > 0.99);
        medley_model_free(model);
    }
    medley_dataset_free(train);
}

/* Templates of pairs of labels alone, where pairs are not looked at: no block is left to learn. */
static void a_run_without_blocks_is_refused(void **state)
{
    (void)state;
    static const char *const runs[] = {"bigram=none eta0=1", "task=multiclass eta0=1",
                                       "bigram=none", "task=multiclass"};
    medley_dataset *train = read_tagged(TAGGED);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char path[PATH_SIZE];
        char text[512];
        with_template(text, path, "B\nB00:%x[0,0]\n", runs[i]);
        refuse(train, text, MEDLEY_USAGE, "");
        unlink(path);
    }
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_contradict_are_refused),
        cmocka_unit_test(rows_that_stand_alone_are_no_chain),
        cmocka_unit_test(words_need_templates),
        cmocka_unit_test(a_wrong_template_is_named_with_its_line),
        cmocka_unit_test(features_that_are_all_cut_leave_the_others),
        cmocka_unit_test(sequences_of_one_row_are_enough),
        cmocka_unit_test(labels_never_seen_are_never_right),
        cmocka_unit_test(data_to_predict_must_have_the_columns),
        cmocka_unit_test(a_sequence_of_a_hundred_thousand_rows_is_learnt),
        cmocka_unit_test(a_run_without_blocks_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
