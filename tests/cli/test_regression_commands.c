/* SPDX-License-Identifier: BSD-3-Clause */
/* predict, eval and inspect on models that no online method makes: regressions and certified models
 * of two labels. The commands run in processes of their own, as they do for users. */
#include "cli.h"
#include "model/model_cases.h"

#include <sys/wait.h>

enum { TRAINING = 20, NEW = 4, WORDS_MOST = 12 };

static const struct model_case numbers = {DENSE, "kernel=linear kernel=rbf(sigma2=2)", NUMBERS};
static const struct model_case two_labels = {DENSE, "kernel=linear kernel=rbf(sigma2=2)",
                                             TWO_LABELS};

/* A model file, data for it, and what the last command said. */
struct stage {
    char model[PATH_SIZE], data[PATH_SIZE], said[PATH_SIZE];
    double value[NEW]; /* that are predicted */
    char *text;        /* standard output and standard error */
};

static void write_model(struct stage *stage, const struct model_case *given)
{
    medley_error error = {0};
    medley_model *model = case_model(given, TRAINING);
    medley_dataset *fresh = case_dense(TRAINING, NEW);
    medley_prediction *prediction = predict(model, fresh);
    for (size_t r = 0; r < NEW && prediction->value != NULL; r++)
        stage->value[r] = prediction->value[r];
    assert_int_equal(medley_model_save(model, stage->model, &error), MEDLEY_OK);
    medley_prediction_free(prediction);
    medley_dataset_free(fresh);
    medley_model_free(model);
}

/* Rows of numbers and a last column. */
static void write_data(struct stage *stage, const char *const *labels)
{
    FILE *file = fopen(stage->data, "w");
    assert_non_null(file);
    for (size_t r = 0; r < NEW; r++) {
        double x[CASE_COLUMNS];
        char unused[2];
        case_row(TRAINING + r, x, unused);
        for (size_t c = 0; c < CASE_COLUMNS; c++)
            fprintf(file, "%.17g,", x[c]);
        fprintf(file, "%s\n", labels[r]);
    }
    assert_int_equal(fclose(file), 0);
}

static const char *const targets[NEW] = {"1.5", "-2", "0.25", "3"};

static void stage_open(struct stage *stage, const struct model_case *given)
{
    *stage = (struct stage){0};
    temporary_path(stage->model);
    temporary_path(stage->data);
    temporary_path(stage->said);
    write_model(stage, given);
    write_data(stage, targets);
}

static void stage_close(struct stage *stage)
{
    unlink(stage->model);
    unlink(stage->data);
    unlink(stage->said);
    free(stage->text);
}

/* Runs "predict --json ..." with the model; returns the exit code. */
static int run(struct stage *stage, const char *line)
{
    char copy[256];
    char *words[WORDS_MOST] = {(char *)"medley"};
    char *rest = NULL;
    int count = 1;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[count++] = strcmp(word, "MODEL") == 0  ? stage->model
                         : strcmp(word, "DATA") == 0 ? stage->data
                                                     : word;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (freopen(stage->said, "w", stdout) == NULL || dup2(fileno(stdout), 2) < 0)
            _exit(99);
        const int code = cli_main(count, words);
        fflush(NULL);
        _exit(code);
    }
    int status;
    size_t length;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    free(stage->text);
    stage->text = read_bytes(stage->said, &length);
    stage->text[length] = '\0';
    return WEXITSTATUS(status);
}

static void says(const struct stage *stage, const char *phrase)
{
    if (strstr(stage->text, phrase) == NULL)
        fail_msg("'%s' does not say '%s'", stage->text, phrase);
}

static void says_not(const struct stage *stage, const char *phrase)
{
    if (strstr(stage->text, phrase) != NULL)
        fail_msg("'%s' says '%s'", stage->text, phrase);
}

/* The number behind a key of JSON. */
static double number_at(const struct stage *stage, const char *key)
{
    const char *found = strstr(stage->text, key);
    assert_non_null(found);
    return strtod(found + strlen(key), NULL);
}

/* ---- predict ---- */

static void predict_writes_numbers(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, &numbers);
    for (int table = 0; table < 2; table++) {
        assert_int_equal(run(&stage, table ? "predict --scores --model MODEL DATA"
                                           : "predict --model MODEL DATA"),
                         CLI_OK);
        char *line = stage.text;
        if (table) {
            assert_memory_equal(line, "value\n", 6);
            line += 6;
        }
        for (size_t r = 0; r < NEW; r++)
            assert_true(strtod(line, &line) == stage.value[r]);
        assert_string_equal(line, "\n");
    }
    stage_close(&stage);
}

static void predict_prints_json(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, &numbers);
    assert_int_equal(run(&stage, "predict --json --scores --model MODEL DATA"), CLI_OK);
    says(&stage, "{\"examples\":4,\"predictions\":[");
    says_not(&stage, "labels");
    says_not(&stage, "scores");
    char *cursor = strstr(stage.text, "[") + 1;
    for (size_t r = 0; r < NEW; r++, cursor++)
        assert_true(strtod(cursor, &cursor) == stage.value[r]);
    stage_close(&stage);
}

static void what_numbers_do_not_have_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"predict --proba --model MODEL DATA",
                                        "predict --best 2 --model MODEL DATA",
                                        "predict --constrain --model MODEL DATA"};
    struct stage stage;
    stage_open(&stage, &numbers);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(run(&stage, lines[i]), CLI_USAGE);
        says(&stage, "the model is a regression: it predicts numbers");
    }
    assert_int_equal(run(&stage, "predict --proba --json --model MODEL DATA"), CLI_USAGE);
    says(&stage, "{\"error\":{");
    stage_close(&stage);
}

/* ---- eval ---- */

static void eval_measures_numbers(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, &numbers);
    double squares = 0;
    double spread = 0;
    for (size_t r = 0; r < NEW; r++) {
        squares += pow(strtod(targets[r], NULL) - stage.value[r], 2);
        spread += pow(strtod(targets[r], NULL) - 0.6875, 2);
    }
    assert_int_equal(run(&stage, "eval --json --model MODEL DATA"), CLI_OK);
    says(&stage, "{\"task\":\"regression\",\"examples\":4,\"parts\":4,\"rmse\":");
    assert_true(fabs(number_at(&stage, "\"rmse\":") - sqrt(squares / NEW)) < 1e-12);
    assert_true(fabs(number_at(&stage, "\"r2\":") - (1 - squares / spread)) < 1e-12);
    static const char *const others[] = {"accuracy", "confusion", "labels", "exact_match"};
    for (size_t i = 0; i < 4; i++)
        says_not(&stage, others[i]);
    says(&stage, "\"per_second\":");
    char expected[64];
    assert_int_equal(run(&stage, "eval --model MODEL DATA"), CLI_OK);
    snprintf(expected, sizeof expected, "rmse %.6g, R2 %.4f (4 rows)\n", sqrt(squares / NEW),
             1 - squares / spread);
    says(&stage, expected);
    says(&stage, "rows a second");
    says_not(&stage, "accuracy");
    stage_close(&stage);
}

static void eval_says_why_there_is_no_r2(void **state)
{
    (void)state;
    static const char *const equal[NEW] = {"2", "2", "2", "2"};
    struct stage stage;
    stage_open(&stage, &numbers);
    write_data(&stage, equal);
    assert_int_equal(run(&stage, "eval --json --model MODEL DATA"), CLI_OK);
    says(&stage, "\"r2\":null");
    assert_int_equal(run(&stage, "eval --model MODEL DATA"), CLI_OK);
    says(&stage, "R2 not defined: the numbers in the data have no variance (4 rows)");
    stage_close(&stage);
}

static void eval_names_the_row_that_is_no_number(void **state)
{
    (void)state;
    static const char *const mixed[NEW] = {"2", "3", "many", "2"};
    struct stage stage;
    stage_open(&stage, &numbers);
    write_data(&stage, mixed);
    assert_int_equal(run(&stage, "eval --model MODEL DATA"), CLI_BAD_INPUT);
    says(&stage, stage.data);
    says(&stage, "row 3 has the label 'many', which is no number");
    stage_close(&stage);
}

/* ---- inspect ---- */

static void inspect_shows_bias_and_certificate(void **state)
{
    (void)state;
    static const struct model_case *const cases[] = {&numbers, &two_labels};
    for (size_t i = 0; i < 2; i++) {
        struct stage stage;
        stage_open(&stage, cases[i]);
        assert_int_equal(run(&stage, "inspect MODEL"), CLI_OK);
        says(&stage, i == 0 ? "regression, learnt by" : "multiclass with 2 labels, learnt by");
        says(&stage, "certified: objective 0.25, dual 0.2, gap 20 %, 7 iterations, 2 of 2 kernels");
        says(&stage, "support rows, bias ");
        assert_int_equal(run(&stage, "inspect --json MODEL"), CLI_OK);
        says(&stage, "\"objective\":0.25,\"dual\":0.2,\"gap\":0.2,\"iterations\":7,\"bias\":");
        says(&stage, ",\"newton_steps\":11,\"passes\":3,");
        says(&stage, "\"epochs\":[{\"objective\":0.5,\"loss\":0.25,\"dev_accuracy\":null,"
                     "\"seconds\":0},{\"objective\":0.25,\"loss\":0.25,\"dev_accuracy\":null,"
                     "\"seconds\":0,\"dual\":0.2,\"gap\":0.2,\"active\":2}]");
        says(&stage, i == 0 ? "\"labels\":[]" : "\"labels\":[\"a\",\"b\"]");
        stage_close(&stage);
    }
}

/* Methods without a certificate and a bias say nothing of them. */
static void inspect_is_silent_about_what_a_model_does_not_have(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, &model_cases[0]);
    assert_int_equal(run(&stage, "inspect MODEL"), CLI_OK);
    says(&stage, "multiclass with 3 labels, learnt by spom from 20 examples\n");
    says(&stage, " after 4 epochs\n");
    says_not(&stage, "certified");
    says_not(&stage, "bias");
    assert_int_equal(run(&stage, "inspect --json MODEL"), CLI_OK);
    says(&stage, "\"dual\":null,\"gap\":null,");
    says_not(&stage, "bias");
    says_not(&stage, "newton");
    says_not(&stage, "\"active\"");
    stage_close(&stage);
}

/* As for other models: a column of probabilities for each label. */
static void two_labels_have_probabilities(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, &two_labels);
    assert_int_equal(run(&stage, "predict --proba --model MODEL DATA"), CLI_OK);
    assert_memory_equal(stage.text, "label\ta\tb\n", 10);
    const char *line = stage.text + 10;
    for (size_t r = 0; r < NEW; r++, line = strchr(line, '\n') + 1) {
        char *cursor;
        const double first = strtod(line + 2, &cursor);
        const double second = strtod(cursor, NULL);
        assert_true(fabs(first + second - 1) < 1e-5);
        assert_int_equal(line[0], second > first ? 'b' : 'a');
    }
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predict_writes_numbers),
        cmocka_unit_test(predict_prints_json),
        cmocka_unit_test(what_numbers_do_not_have_is_refused),
        cmocka_unit_test(eval_measures_numbers),
        cmocka_unit_test(eval_says_why_there_is_no_r2),
        cmocka_unit_test(eval_names_the_row_that_is_no_number),
        cmocka_unit_test(inspect_shows_bias_and_certificate),
        cmocka_unit_test(inspect_is_silent_about_what_a_model_does_not_have),
        cmocka_unit_test(two_labels_have_probabilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
