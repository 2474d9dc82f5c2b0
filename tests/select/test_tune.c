/* SPDX-License-Identifier: BSD-3-Clause */
/* Tuning: what it tells, what it refuses, trials that fail, threads, observers. */
#include "select/tuning_case.h"

static medley_status try_tune(medley_tuning **tuning, const medley_dataset *data, const char *text,
                              const medley_choice *choices, size_t count,
                              const medley_tune_options *how, const medley_observer *observer,
                              medley_error *error)
{
    medley_options *options = make_options(text);
    const medley_status status =
        medley_tune(tuning, data, options, choices, count, how, observer, error);
    medley_options_free(options);
    return status;
}

static void the_table_says_what_was_tried(void **state)
{
    (void)state;
    static const medley_choice choices[] = {{"penalty", "group-lasso,block(q=1.5)"},
                                            {"C", "0.01,0.1,1"}};
    medley_dataset *data = make_data("ringnorm", 80, 2);
    medley_tuning *tuning = tune_text(data, "method=spicy threads=2", choices, 2, 4, NULL);
    assert_string_equal(tuning->measure, "accuracy");
    assert_true(tuning->higher_is_better && !tuning->kernels_shared);
    assert_int_equal(tuning->option_count, 2);
    assert_string_equal(tuning->options[0], "penalty");
    assert_string_equal(tuning->options[1], "C");
    assert_int_equal(tuning->trial_count, 6);
    assert_int_equal(tuning->fold_count, 4);
    assert_int_equal(tuning->threads, 2);
    assert_string_equal(tuning->trials[4].values[0], "block(q=1.5)");
    assert_string_equal(tuning->trials[4].values[1], "0.1");
    for (size_t t = 0; t < 6; t++) {
        const medley_trial *trial = &tuning->trials[t];
        double sum = 0;
        for (size_t f = 0; f < 4; f++)
            sum += trial->fold[f];
        assert_true(fabs(trial->mean - sum / 4) < 1e-12);
        assert_true(fabs(trial->standard_error - trial->deviation / 2) < 1e-12);
        assert_true(trial->mean <= tuning->trials[tuning->best].mean + 1e-12);
        assert_true(trial->seconds > 0);
    }
    assert_true(tuning->seconds_total >= tuning->seconds_kernels);
    medley_tuning_free(tuning);
    medley_dataset_free(data);
}

static void options_of_a_trial_make_the_final_model(void **state)
{
    (void)state;
    static const medley_choice choices[] = {{"C", "0.2,2"}, {"kernel", "linear|rbf(sigma2=7)"}};
    medley_dataset *data = make_data("ringnorm", 60, 2);
    medley_options *options = make_options("kernel=bias penalty=l2 method=spicy");
    medley_tuning *tuning = tune_with(data, options, choices, 2, 3, NULL);
    medley_options *chosen = NULL;
    medley_model *model = NULL;
    medley_error error = {0};
    assert_int_equal(medley_tuning_options(&chosen, tuning, 3, options, &error), MEDLEY_OK);
    assert_int_equal(medley_fit(&model, data, NULL, chosen, NULL, &error), MEDLEY_OK);
    const medley_summary *s = medley_model_summary(model);
    assert_true(fabs(s->C - 2) < 1e-9);
    assert_int_equal(s->block_count, 2);
    assert_string_equal(s->blocks[1].name, "rbf(sigma2=7)@all");
    assert_string_equal(s->penalty, "l2");
    medley_options_free(chosen);
    chosen = NULL;
    assert_int_equal(medley_tuning_options(&chosen, tuning, 4, options, &error), MEDLEY_USAGE);
    assert_null(chosen);
    medley_model_free(model);
    medley_tuning_free(tuning);
    medley_options_free(options);
    medley_dataset_free(data);
}

/* Trials 2 and 3 cannot be: the method refuses the penalty. */
static void trials_that_fail_leave_the_others_alone(void **state)
{
    (void)state;
    static const medley_choice choices[] = {{"penalty", "group-lasso,mkl+squared-block,nonsense"},
                                            {"C", "0.1,1"}};
    medley_dataset *data = make_data("ringnorm", 60, 2);
    medley_tuning *tuning = tune_text(data, "method=spicy", choices, 2, 3, NULL);
    for (size_t t = 0; t < 6; t++) {
        const medley_trial *trial = &tuning->trials[t];
        assert_true((trial->problem != NULL) == (t >= 2));
        assert_true(isnan(trial->mean) == (t >= 2) && isnan(trial->deviation) == (t >= 2));
    }
    assert_non_null(strstr(tuning->trials[2].problem, "penalty"));
    assert_non_null(strstr(tuning->trials[4].problem, "nonsense"));
    assert_true(tuning->best < 2 && tuning->one_error < 2);
    medley_tuning_free(tuning);
    medley_dataset_free(data);
}

static void refusals_say_why(void **state)
{
    (void)state;
    static const struct {
        const char *options, *option, *values, *measure, *says;
        size_t folds;
    } cases[] = {
        {"method=spicy", "penalty", "nonsense,mkl+squared-block", NULL, "nonsense", 3},
        {"method=none", "C", "1,2", NULL, "method 'none'", 3},
        {"kernel=what", "C", "1,2", NULL, "kernel 'what'", 3},
        {"C=1", "lambda", "1,2", NULL, "one of", 3},
        {"", "C", "1,x", NULL, "`C='x'`", 3},
        {"", "sea", "1,2", NULL, "option 'sea'", 3},
        {"", "C", "1,,2", NULL, "empty", 3},
        {"", "C", "1,2", "beauty", "measure 'beauty'", 3},
        {"", "C", "1,2", "rmse", "`task=regression`", 3},
        {"", "C", "1,2", "las", "`task=tree`", 3},
        {"", "C", "1,2", "f1", "chunks", 3},
        {"", "C", "1,2", "exact-match", "sequences", 3},
        {"task=regression", "C", "1,2", "accuracy", "rmse", 3},
        {"", "C", "1,2", NULL, "at least 2", 1},
        {"", "C", "1,2", NULL, "parts", 41},
    };
    medley_dataset *data = make_data("ringnorm", 40, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const medley_choice choice = {cases[i].option, cases[i].values};
        medley_tune_options how = MEDLEY_TUNE_OPTIONS_INIT;
        medley_tuning *tuning = NULL;
        medley_error error = {0};
        how.folds = cases[i].folds;
        how.measure = cases[i].measure;
        assert_true(try_tune(&tuning, data, cases[i].options, &choice, 1, &how, NULL, &error) < 0);
        assert_null(tuning);
        if (strstr(error.message, cases[i].says) == NULL)
            fail_msg("case %zu: %s", i, error.message);
    }
    medley_dataset_free(data);
}

static void data_without_labels_are_refused(void **state)
{
    (void)state;
    static const double values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const medley_choice choice = {"C", "1,2"};
    medley_dataset *data = NULL;
    medley_tuning *tuning = NULL;
    medley_error error = {0};
    medley_tune_options how = MEDLEY_TUNE_OPTIONS_INIT;
    how.folds = 2;
    assert_int_equal(medley_dataset_from_dense(&data, values, 8, 1, NULL, &error), MEDLEY_OK);
    assert_true(try_tune(&tuning, data, "", &choice, 1, &how, NULL, &error) < 0);
    assert_non_null(strstr(error.message, "labels"));
    assert_true(try_tune(&tuning, data, "", NULL, 0, &how, NULL, &error) < 0);
    medley_dataset_free(data);
}

/* One row of a second label: the fold that holds it out has nothing to learn. With a third label
 * there is something, and the row counts as wrong. */
static void rare_labels_are_no_crash(void **state)
{
    (void)state;
    enum { ROWS = 12 };
    double values[ROWS];
    const char *labels[ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        values[r] = (double)(r % 5);
        labels[r] = r == 0 ? "rare" : "common";
    }
    static const medley_choice choice = {"C", "1,2"};
    medley_error error = {0};
    medley_tuning *tuning = NULL;
    medley_dataset *data = NULL;
    medley_tune_options how = MEDLEY_TUNE_OPTIONS_INIT;
    how.folds = 4;
    assert_int_equal(medley_dataset_from_dense(&data, values, ROWS, 1, labels, &error), MEDLEY_OK);
    assert_int_equal(try_tune(&tuning, data, "", &choice, 1, &how, NULL, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "two labels"));
    medley_dataset_free(data);
    for (size_t r = 1; r < ROWS; r += 2)
        labels[r] = "other";
    assert_int_equal(medley_dataset_from_dense(&data, values, ROWS, 1, labels, &error), MEDLEY_OK);
    how.folds = ROWS; /* one row each */
    tuning = tune_text(data, "epochs=2 eta0=1", &choice, 1, ROWS, NULL);
    assert_true(tuning->trials[0].problem == NULL && tuning->trials[0].mean < 1);
    medley_tuning_free(tuning);
    medley_dataset_free(data);
}

/* Three rows of a label, as many as calibration needs: one of the four folds leaves them. */
static void folds_that_fail_have_no_share_in_means(void **state)
{
    (void)state;
    enum { ROWS = 24, FOLDS = 4 };
    double values[ROWS];
    const char *labels[ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        values[r] = (double)(r % 5);
        labels[r] = r % 8 == 0 ? "rare" : "common";
    }
    static const medley_choice choices[] = {{"calibrate", "yes,no"}, {"method", "spom,nonsense"}};
    medley_error error = {0};
    medley_dataset *data = NULL;
    assert_int_equal(medley_dataset_from_dense(&data, values, ROWS, 1, labels, &error), MEDLEY_OK);
    medley_tuning *tuning =
        tune_text(data, "kernel=rbf(sigma2=1) penalty=l2 epochs=2", choices, 2, FOLDS, NULL);
    const medley_trial *some = &tuning->trials[0];
    const medley_trial *none = &tuning->trials[1];
    size_t failed = 0;
    for (size_t f = 0; f < FOLDS; f++)
        failed += isnan(some->fold[f]) ? 1 : 0;
    assert_int_equal(failed, 3);
    assert_true(some->problem != NULL && isnan(some->mean));
    assert_true(some->active == 1 && some->seconds > 0);
    assert_true(isnan(none->active) && isnan(none->seconds));
    assert_true(tuning->trials[2].problem == NULL && tuning->trials[2].active == 1);
    medley_tuning_free(tuning);
    medley_dataset_free(data);
}

/* ---- nothing to vary ---- */

static void without_choices_the_strength_is_varied(void **state)
{
    (void)state;
    static const struct {
        const char *generator, *options, *option;
    } cases[] = {{"ringnorm", "method=spicy", "C"},
                 {"ringnorm", "method=spicy calibrate=yes", "C"},
                 {"ringnorm", "method=spicy lambda=0.03", "lambda"},
                 {"ringnorm", "method=svm kernel=linear spicy-C=0.5", "spicy-C"},
                 {"waveform", "method=spom epochs=2 eta0=1", "C"},
                 {"waveform", "method=obscure epochs1=1 epochs2=1", "C"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_dataset *data = make_data(cases[i].generator, 50, 2);
        medley_tuning *tuning = tune_text(data, cases[i].options, NULL, 0, 2, NULL);
        assert_int_equal(tuning->option_count, 1);
        assert_string_equal(tuning->options[0], cases[i].option);
        assert_true(tuning->trial_count >= 5);
        const double first = strtod(tuning->trials[0].values[0], NULL);
        const double last = strtod(tuning->trials[tuning->trial_count - 1].values[0], NULL);
        assert_true(last / first >= 100);
        for (size_t t = 0; t < tuning->trial_count; t++)
            assert_null(tuning->trials[t].problem);
        medley_tuning_free(tuning);
        medley_dataset_free(data);
    }
}

/* ---- threads and observers ---- */

static void any_number_of_threads_gives_the_same_table(void **state)
{
    (void)state;
    static const medley_choice batch[] = {{"loss", "hinge,logistic"}, {"C", "0.1,1,10"}};
    static const medley_choice online[] = {{"penalty", "mkl,l2"}, {"C", "1,10"}};
    static const char *const threads[] = {"1", "2", "3"};
    for (int c = 0; c < 2; c++) {
        medley_dataset *data = make_data(c ? "waveform" : "ringnorm", 70, 4);
        medley_tuning *first = NULL;
        for (size_t i = 0; i < 3; i++) {
            char text[128];
            snprintf(text, sizeof text, "threads=%s %s", threads[i],
                     c ? "epochs=3 eta0=1" : "method=spicy");
            medley_tuning *tuning = tune_text(data, text, c ? online : batch, 2, 3, "log-loss");
            for (size_t t = 0; first != NULL && t < first->trial_count; t++)
                assert_memory_equal(tuning->trials[t].fold, first->trials[t].fold,
                                    3 * sizeof(double));
            if (first == NULL)
                first = tuning;
            else
                medley_tuning_free(tuning);
        }
        medley_tuning_free(first);
        medley_dataset_free(data);
    }
}

struct watcher {
    size_t calls, last, stop_at;
    bool inside;
};

static bool watch(void *context, const medley_progress *progress)
{
    struct watcher *watcher = context;
    assert_false(watcher->inside); /* never from two threads at once */
    watcher->inside = true;
    watcher->calls++;
    if (strcmp(progress->stage, "tuning") == 0) {
        assert_true(progress->done >= watcher->last);
        assert_int_equal(progress->total, 12);
        watcher->last = progress->done;
    }
    watcher->inside = false;
    return watcher->stop_at == 0 || watcher->calls < watcher->stop_at;
}

/* Are the trials of that fold those of a fold of the whole run? */
static bool is_fold_of(const medley_tuning *tuning, size_t fold, double all[4][3])
{
    for (size_t f = 0; f < 4; f++) {
        size_t same = 0;
        size_t untried = 0;
        for (size_t t = 0; t < 3; t++) {
            const medley_trial *trial = &tuning->trials[t];
            same += trial->fold[fold] == all[f][t];
            untried += isnan(trial->fold[fold]) && isnan(trial->mean) &&
                       strstr(trial->problem, "interrupted before it was tried") != NULL;
        }
        if (same > 0 && same + untried == 3 && (untried == 0 || tuning->fold_count == 1))
            return true;
    }
    return false;
}

static void the_observer_sees_all_and_stops_all(void **state)
{
    (void)state;
    static const medley_choice choices[] = {{"C", "0.1,1,10"}};
    medley_dataset *data = make_data("ringnorm", 60, 4);
    medley_tune_options how = MEDLEY_TUNE_OPTIONS_INIT;
    how.folds = 4;
    size_t calls = 0;
    double all[4][3] = {{0}}; /* what the whole run says, by fold and trial */
    size_t parts = 0;         /* runs that ended with some of the folds */
    for (size_t stop = 0; stop < 40; stop += stop < 10 ? 1 : 9) {
        struct watcher watcher = {.stop_at = stop};
        const medley_observer observer = {sizeof observer, .context = &watcher, .progress = watch};
        medley_tuning *tuning = NULL;
        medley_error error = {0};
        const medley_status status =
            try_tune(&tuning, data, "method=spicy threads=2", choices, 1, &how, &observer, &error);
        if (stop == 0)
            calls = watcher.calls;
        const bool whole = stop == 0 || stop > watcher.calls;
        assert_int_equal(status, whole ? MEDLEY_OK : MEDLEY_STOPPED);
        if (whole)
            assert_int_equal(watcher.last, 12);
        else
            assert_int_equal(watcher.calls, stop);
        assert_true(!whole || (tuning != NULL && tuning->fold_count == 4));
        for (size_t f = 0; stop == 0 && f < 4; f++)
            for (size_t t = 0; t < 3; t++)
                all[f][t] = tuning->trials[t].fold[f];
        for (size_t f = 0; tuning != NULL && f < tuning->fold_count; f++)
            assert_true(is_fold_of(tuning, f, all));
        parts += tuning != NULL && !whole;
        medley_tuning_free(tuning);
    }
    assert_true(calls > 12 && parts > 0);
    medley_dataset_free(data);
}

static bool stop_at_once(void *context, const medley_progress *progress)
{
    (void)context;
    (void)progress;
    return false;
}

/* The user asked to stop, which is what callers are told; the failure is that of trials so far. */
static void stopping_counts_more_than_failing(void **state)
{
    (void)state;
    static const medley_choice choices[] = {{"penalty", "mkl+squared-block,nonsense"}};
    const medley_observer observer = {sizeof observer, .progress = stop_at_once};
    medley_dataset *data = make_data("ringnorm", 60, 2);
    medley_tune_options how = MEDLEY_TUNE_OPTIONS_INIT;
    medley_tuning *tuning = NULL;
    medley_error error = {0};
    how.folds = 3;
    assert_true(try_tune(&tuning, data, "method=spicy", choices, 1, &how, NULL, &error) < 0);
    assert_int_equal(try_tune(&tuning, data, "method=spicy", choices, 1, &how, &observer, &error),
                     MEDLEY_STOPPED);
    assert_null(tuning);
    medley_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_says_what_was_tried),
        cmocka_unit_test(options_of_a_trial_make_the_final_model),
        cmocka_unit_test(trials_that_fail_leave_the_others_alone),
        cmocka_unit_test(refusals_say_why),
        cmocka_unit_test(stopping_counts_more_than_failing),
        cmocka_unit_test(data_without_labels_are_refused),
        cmocka_unit_test(rare_labels_are_no_crash),
        cmocka_unit_test(folds_that_fail_have_no_share_in_means),
        cmocka_unit_test(without_choices_the_strength_is_varied),
        cmocka_unit_test(any_number_of_threads_gives_the_same_table),
        cmocka_unit_test(the_observer_sees_all_and_stops_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
