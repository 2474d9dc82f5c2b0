/* SPDX-License-Identifier: BSD-3-Clause */
/* Training with --calibrate: the model is the same, its probabilities are better, and they come
 * from rows that were not trained on; every method, interrupted runs, checkpoints, too little data.
 */
#include "data/dataset.h"
#include "fit/tagging.h"
#include "setup/setup.h"

/* ---- the division ---- */

static void a_fifth_of_each_label_is_held_out(void **state)
{
    (void)state;
    medley_dataset *train = make_data("waveform", 200, 1);
    for (size_t which = 1; which <= 5; which++) {
        md_division division;
        medley_error error = {0};
        const md_division_rule rule = {.by_label = true, .which = which};
        size_t seen[3] = {0};
        size_t visit = 0;
        size_t held = 0;
        assert_int_equal(md_division_make(&division, train, &rule, &error), MEDLEY_OK);
        for (size_t r = 0; r < 200; r++)
            if (seen[train->label[r]]++ % 5 == which - 1)
                assert_int_equal(division.held[held++], r);
            else
                assert_int_equal(division.visit[visit++], r);
        assert_int_equal(division.held_count, held);
        assert_int_equal(division.visit_count, visit);
        md_division_clear(&division);
    }
    medley_dataset_free(train);
}

static void sequences_are_held_out_whole(void **state)
{
    (void)state;
    medley_dataset *train = alternating_tags(23, 1);
    md_division division;
    medley_error error = {0};
    const md_division_rule rule = {.sequences = true, .which = 3};
    assert_int_equal(md_division_make(&division, train, &rule, &error), MEDLEY_OK);
    assert_int_equal(division.held_count, 5); /* 3rd, 8th, 13th, 18th and 23rd */
    assert_int_equal(division.visit_count, 18);
    for (size_t h = 0; h < 5; h++)
        assert_int_equal(division.held[h], 2 + 5 * h);
    md_division_clear(&division);
    medley_dataset_free(train);
}

/* ---- what it does to models ---- */

static medley_evaluation measure(const medley_model *model, const medley_dataset *dataset)
{
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_error error = {0};
    medley_evaluate_options wanted = MEDLEY_EVALUATE_OPTIONS_INIT;
    wanted.probabilities = true;
    if (medley_evaluate_with(&evaluation, model, dataset, &wanted, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return evaluation;
}

static void with_calibrate(char text[512], const char *options)
{
    assert_in_range(snprintf(text, 512, "%s calibrate=yes", options), 1, 511);
}

/* The same scores bit by bit, and a lower log loss on new data. */
static void check_gain(const medley_dataset *train, const medley_dataset *test, const char *options)
{
    char text[512];
    with_calibrate(text, options);
    medley_model *plain = fit(train, NULL, options);
    medley_model *calibrated = fit(train, NULL, text);
    medley_prediction *before = predict(plain, test);
    medley_prediction *after = predict(calibrated, test);
    assert_memory_equal(before->score, after->score,
                        before->rows * before->labels * sizeof *before->score);
    medley_evaluation raw = measure(plain, test);
    medley_evaluation better = measure(calibrated, test);
    assert_true(isnan(medley_model_summary(plain)->temperature));
    assert_true(medley_model_summary(calibrated)->temperature > 0);
    if (!(better.log_loss < raw.log_loss) || !(better.calibration_error < 0.12))
        fail_msg("%s: log loss %g, was %g; calibration error %g", options, better.log_loss,
                 raw.log_loss, better.calibration_error);
    assert_true(better.accuracy == raw.accuracy);
    medley_evaluation_clear(&raw);
    medley_evaluation_clear(&better);
    medley_prediction_free(before);
    medley_prediction_free(after);
    medley_model_free(plain);
    medley_model_free(calibrated);
}

static void every_method_has_better_probabilities(void **state)
{
    (void)state;
    static const char *const several[] = {
        "epochs=10",
        "epochs=10 kernel=rbf kernel=linear memory=20K", /* rows of kernels come and go */
        "epochs=10 average=yes kernel=rbf kernel=linear(explicit,norm=none)",
        "method=average epochs=10",
        "method=best epochs=10 kernel=rbf kernel=linear",
        "method=obscure",
        "method=spicy gap=0.05",
    };
    static const char *const two[] = {
        "method=spom epochs=10",
        "method=spicy",
        "method=average",
        "method=best kernel=rbf kernel=linear",
        "method=gauss-seidel gap=0.1",
    };
    medley_dataset *train = make_data("waveform", 300, 1);
    medley_dataset *test = make_data("waveform", 500, 2);
    char text[128];
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        snprintf(text, sizeof text, "scale=standard normalize=diag threads=2 C=0.05 %s",
                 several[i]);
        check_gain(train, test, text);
    }
    medley_dataset_free(train);
    medley_dataset_free(test);
    train = make_data("ringnorm", 150, 1);
    test = make_data("ringnorm", 400, 2);
    for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
        snprintf(text, sizeof text, "scale=standard normalize=diag %s", two[i]);
        check_gain(train, test, text);
    }
    medley_dataset_free(train);
    medley_dataset_free(test);
}

static void sequences_have_better_marginals(void **state)
{
    (void)state;
    char options[512];
    char path[PATH_SIZE];
    medley_dataset *train = switching_tags(80, 1);
    medley_dataset *test = switching_tags(80, 2);
    with_template(options, path, "U:%x[0,0]\nB:%x[0,0]\n", "penalty=l2 C=0.1 threads=2");
    check_gain(train, test, options);
    unlink(path);
    medley_dataset_free(train);
    medley_dataset_free(test);
}

/* Logistic losses gain nothing to speak of, and lose as little. */
static void logistic_losses_may_be_calibrated_too(void **state)
{
    (void)state;
    static const char *const options[] = {"method=spom loss=logistic epochs=20 lambda=0.001",
                                          "method=spicy loss=logistic spicy-C=0.01"};
    medley_dataset *train = make_data("waveform", 300, 3);
    medley_dataset *test = make_data("waveform", 500, 4);
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        with_calibrate(text, options[i]);
        medley_model *model = fit(train, NULL, text);
        medley_evaluation found = measure(model, test);
        assert_true(found.calibration_error < 0.06);
        medley_evaluation_clear(&found);
        medley_model_free(model);
    }
    medley_dataset_free(train);
    medley_dataset_free(test);
}

static void threads_do_not_change_the_file(void **state)
{
    (void)state;
    static const char *const options[] = {"epochs=5", "method=spicy", "template=chunk epochs=3"};
    for (size_t i = 0; i < 3; i++) {
        medley_dataset *train = i == 2 ? alternating_tags(40, 1) : make_data("waveform", 100, 1);
        char *bytes[2];
        size_t length[2];
        for (size_t t = 0; t < 2; t++) {
            char text[128];
            snprintf(text, sizeof text, "calibrate=yes threads=%zu %s", t + 1, options[i]);
            medley_model *model = fit(train, NULL, text);
            bytes[t] = model_bytes(model, &length[t]);
            medley_model_free(model);
        }
        assert_int_equal(length[0], length[1]);
        assert_memory_equal(bytes[0], bytes[1], length[0]);
        free(bytes[0]);
        free(bytes[1]);
        medley_dataset_free(train);
    }
}

/* ---- where the scores come from ---- */

/* The whole way by hand: a dataset of the rows that are trained on, a model of it, its scores of
 * the others, the fit. */
static void held_out_rows_are_not_trained_on(void **state)
{
    (void)state;
    static const char *const options =
        "method=spom kernel=poly(degree=2) kernel=linear eta0=0.1 epochs=5 lambda=0.01";
    char text[512];
    medley_error error = {0};
    medley_dataset *train = make_data("waveform", 200, 1);
    medley_dataset *others = NULL;
    medley_dataset *held = NULL;
    md_division division;
    md_calibration expected;
    const md_division_rule rule = {.by_label = true, .which = 3};
    assert_int_equal(md_division_make(&division, train, &rule, &error), MEDLEY_OK);
    assert_int_equal(
        md_dataset_select(&others, train, division.visit, division.visit_count, NULL, &error),
        MEDLEY_OK);
    assert_int_equal(
        md_dataset_select(&held, train, division.held, division.held_count, NULL, &error),
        MEDLEY_OK);
    medley_model *model = fit(others, NULL, options);
    medley_prediction *scores = predict(model, held);
    const md_held_rows rows = {
        .score = scores->score, .label = held->label, .rows = scores->rows, .labels = 3};
    assert_int_equal(md_calibration_fit(&expected, &rows, &error), MEDLEY_OK);
    medley_model_free(model);
    with_calibrate(text, options);
    model = fit(train, NULL, text);
    assert_true(fabs(model->calibration.factor / expected.factor - 1) < 1e-3);
    for (size_t l = 0; l < 3; l++)
        assert_true(fabs(model->calibration.offset[l] - expected.offset[l]) < 1e-3);
    md_calibration_clear(&expected);
    medley_prediction_free(scores);
    medley_model_free(model);
    md_division_clear(&division);
    medley_dataset_free(train);
    medley_dataset_free(others);
    medley_dataset_free(held);
}

/* Kernel values that are not kept score held-out rows all the same. */
static void kernels_on_the_fly_are_calibrated_alike(void **state)
{
    (void)state;
    static const char *const memory[] = {"1G", "20K"};
    double factor[2];
    medley_dataset *train = make_data("waveform", 300, 1);
    for (size_t i = 0; i < 2; i++) {
        char text[128];
        snprintf(text, sizeof text,
                 "kernel=rbf kernel=poly eta0=0.1 normalize=diag epochs=5 calibrate=yes memory=%s",
                 memory[i]);
        medley_model *model = fit(train, NULL, text);
        factor[i] = model->calibration.factor;
        medley_model_free(model);
    }
    assert_true(fabs(factor[0] / factor[1] - 1) < 1e-3);
    medley_dataset_free(train);
}

/* Ready-made kernels of unit diagonal need K(x,x) of rows whose columns are not there. */
static void precomputed_kernels_are_divided(void **state)
{
    (void)state;
    static const char *const options[] = {"method=spicy normalize=diag",
                                          "method=spom normalize=diag epochs=5",
                                          "method=spicy normalize=center storage=float64"};
    enum { ROWS = 60 };
    for (size_t i = 0; i < 3; i++) {
        char text[512];
        medley_error error = {0};
        medley_dataset *train = make_data("ringnorm", ROWS, 1);
        md_precomputed *gram = NULL;
        assert_int_equal(md_dataset_new_gram(&gram, train, "K", NULL), MEDLEY_OK);
        const md_matrix *x = &train->tables[0].features;
        assert_int_equal(md_matrix_init_dense(&gram->values, ROWS, ROWS, &error), MEDLEY_OK);
        for (size_t r = 0; r < ROWS; r++)
            for (size_t s = 0; s < ROWS; s++) {
                float product = 1;
                for (size_t c = 0; c < x->columns; c++)
                    product += x->dense[r * x->columns + c] * x->dense[s * x->columns + c];
                gram->values.dense[r * ROWS + s] = product * product;
            }
        with_calibrate(text, options[i]);
        medley_model *model = fit(train, NULL, text);
        assert_true(medley_model_summary(model)->temperature > 0);
        medley_model_free(model);
        medley_dataset_free(train);
    }
}

/* ---- runs ---- */

struct stages {
    size_t rates, calibrations;
    const char *stop_at; /* a stage, or NULL */
};

static bool count_stages(void *context, const medley_progress *progress)
{
    struct stages *stages = context;
    stages->rates += strncmp(progress->stage, "trying eta0", 11) == 0;
    stages->calibrations += strcmp(progress->stage, "calibration") == 0;
    return stages->stop_at == NULL || strcmp(progress->stage, stages->stop_at) != 0;
}

static medley_status watch_fit(medley_model **model, const medley_dataset *train, const char *text,
                               struct stages *stages)
{
    medley_error error = {0};
    medley_options *options = make_options(text);
    const medley_observer observer = {sizeof observer, .context = stages, .progress = count_stages};
    const medley_status status = medley_fit(model, train, NULL, options, &observer, &error);
    medley_options_free(options);
    return status;
}

static void the_rate_is_searched_once(void **state)
{
    (void)state;
    medley_dataset *train = make_data("waveform", 100, 1);
    struct stages plain = {0};
    struct stages calibrated = {0};
    medley_model *model = NULL;
    assert_int_equal(watch_fit(&model, train, "epochs=4", &plain), MEDLEY_OK);
    medley_model_free(model);
    assert_int_equal(watch_fit(&model, train, "epochs=4 calibrate=yes", &calibrated), MEDLEY_OK);
    medley_model_free(model);
    assert_true(plain.rates > 0);
    assert_int_equal(calibrated.rates, plain.rates);
    assert_int_equal(plain.calibrations, 0);
    assert_int_equal(calibrated.calibrations, 4);
    medley_dataset_free(train);
}

static void a_run_that_is_stopped_is_not_calibrated(void **state)
{
    (void)state;
    static const char *const options[] = {"method=spom epochs=4 calibrate=yes",
                                          "method=spicy calibrate=yes"};
    static const char *const stages[] = {"training", "calibration"};
    medley_dataset *train = make_data("ringnorm", 100, 1);
    for (size_t i = 0; i < 4; i++) {
        struct stages stop = {.stop_at = stages[i / 2]};
        medley_model *model = NULL;
        assert_int_equal(watch_fit(&model, train, options[i % 2], &stop), MEDLEY_STOPPED);
        assert_non_null(model);
        assert_true(isnan(medley_model_summary(model)->temperature));
        assert_true(accuracy_of(model, train) > 0.5);
        medley_model_free(model);
    }
    medley_dataset_free(train);
}

/* The checkpoint is that of the model; a run that goes on from it is calibrated too. */
static void checkpoints_are_left_alone(void **state)
{
    (void)state;
    medley_dataset *train = make_data("waveform", 80, 1);
    char path[PATH_SIZE];
    char *bytes[3];
    size_t length[3];
    temporary_path(path);
    for (size_t i = 0; i < 3; i++) {
        char text[512];
        snprintf(text, sizeof text, "epochs=4 calibrate=yes%s%s%s", i > 0 ? " checkpoint=" : "",
                 i > 0 ? path : "", i == 2 ? " resume=yes" : "");
        medley_model *model = fit(train, NULL, text);
        bytes[i] = model_bytes(model, &length[i]);
        medley_model_free(model);
        assert_int_equal(length[i], length[0]);
        assert_memory_equal(bytes[i], bytes[0], length[0]);
    }
    for (size_t i = 0; i < 3; i++)
        free(bytes[i]);
    unlink(path);
    medley_dataset_free(train);
}

/* ---- little data ---- */

/* Rows with these labels, one letter each; the column tells them apart. */
static medley_dataset *lettered(const char *letters)
{
    const size_t rows = strlen(letters);
    double values[64];
    char names[64][2];
    const char *labels[64];
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    assert_true(rows <= 64);
    for (size_t r = 0; r < rows; r++) {
        values[r] = letters[r] - 'a' + 0.1 * (double)(r % 3);
        names[r][0] = letters[r];
        names[r][1] = '\0';
        labels[r] = names[r];
    }
    assert_int_equal(medley_dataset_from_dense(&dataset, values, rows, 1, labels, &error),
                     MEDLEY_OK);
    return dataset;
}

static void refuse(medley_dataset *train, const char *text, medley_status code, const char *phrase)
{
    medley_error error = {0};
    medley_model *model = NULL;
    medley_options *options = make_options(text);
    assert_int_equal(medley_fit(&model, train, NULL, options, NULL, &error), code);
    assert_null(model);
    if (strstr(error.message, phrase) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, phrase);
    medley_options_free(options);
    medley_dataset_free(train);
}

static void rare_labels_are_learnt_and_calibrated(void **state)
{
    (void)state;
    static const char *const data[] = {"aaabbbaabb", "aaaaabbbbbcdd", "abababababababababc"};
    static const char *const methods[] = {"spom", "spicy", "best"};
    for (size_t d = 0; d < 3; d++)
        for (size_t m = 0; m < 3; m++) {
            char text[128];
            snprintf(text, sizeof text, "method=%s calibrate=yes kernel=rbf kernel=linear",
                     methods[m]);
            medley_dataset *train = lettered(data[d]);
            medley_model *model = fit(train, NULL, text);
            medley_evaluation found = measure(model, train);
            assert_true(isfinite(found.log_loss) && found.log_loss < 1.5);
            medley_evaluation_clear(&found);
            medley_model_free(model);
            medley_dataset_free(train);
        }
}

static void too_little_data_is_said(void **state)
{
    (void)state;
    refuse(lettered("aabbaabba"), "calibrate=yes", MEDLEY_BAD_INPUT,
           "holds out a fifth of the rows, and 9 are too few for that; give at least 10 or leave "
           "out `calibrate`");
    refuse(lettered("aaaaaaaaaaaabb"), "calibrate=yes method=spom", MEDLEY_BAD_INPUT,
           "needs at least two labels with 3 rows or more");
    refuse(lettered("abcdefghijklmn"), "calibrate=yes", MEDLEY_BAD_INPUT,
           "give more rows or leave out `calibrate`");
    refuse(alternating_tags(9, 1), "template=chunk calibrate=yes", MEDLEY_BAD_INPUT,
           "holds out a fifth of the sequences, and 9 are too few");
}

static void what_cannot_be_calibrated_is_refused(void **state)
{
    (void)state;
    medley_error error = {0};
    refuse(
        make_data("ringnorm", 30, 1), "task=regression calibrate=yes", MEDLEY_USAGE,
        "`calibrate` is about tasks binary, multiclass, chain and tree and has no place in `task="
        "regression`");
    medley_dataset *rows = make_data("ringnorm", 30, 1);
    rows->sequence_count = 1;
    rows->sequence_start = calloc(2, sizeof *rows->sequence_start);
    assert_non_null(rows->sequence_start);
    rows->sequence_start[1] = 30;
    refuse(rows, "task=multiclass method=spicy calibrate=yes", MEDLEY_NOT_SUPPORTED,
           "these data have sequences");
    medley_dataset *train = make_data("ringnorm", 30, 1);
    medley_options *options = make_options("method=spicy calibrate=yes");
    const medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
    assert_int_equal(medley_fit_path(train, options, &path, NULL, NULL, NULL, &error),
                     MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "has no place in a path"));
    medley_options_free(options);
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fifth_of_each_label_is_held_out),
        cmocka_unit_test(sequences_are_held_out_whole),
        cmocka_unit_test(every_method_has_better_probabilities),
        cmocka_unit_test(sequences_have_better_marginals),
        cmocka_unit_test(logistic_losses_may_be_calibrated_too),
        cmocka_unit_test(threads_do_not_change_the_file),
        cmocka_unit_test(held_out_rows_are_not_trained_on),
        cmocka_unit_test(kernels_on_the_fly_are_calibrated_alike),
        cmocka_unit_test(precomputed_kernels_are_divided),
        cmocka_unit_test(the_rate_is_searched_once),
        cmocka_unit_test(a_run_that_is_stopped_is_not_calibrated),
        cmocka_unit_test(checkpoints_are_left_alone),
        cmocka_unit_test(rare_labels_are_learnt_and_calibrated),
        cmocka_unit_test(too_little_data_is_said),
        cmocka_unit_test(what_cannot_be_calibrated_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
