/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs and libraries of different versions: every struct that begins with its size may be
 * shorter by its last field, or longer by fields that are zero; errors need no initialisation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "medley/medley.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXTRA = 24 };

/* A copy of a struct in a heap block of exactly as many bytes, so that sanitizers see who reads or
 * writes beyond it. */
static void *sized(const void *whole, size_t whole_size, size_t size)
{
    unsigned char *copy = calloc(1, size);
    assert_non_null(copy);
    memcpy(copy, whole, whole_size < size ? whole_size : size);
    memcpy(copy, &size, sizeof size);
    return copy;
}

#define SHORTER(s, field) sized(&(s), sizeof(s), offsetof(__typeof__(s), field))
#define LONGER(s)         sized(&(s), sizeof(s), sizeof(s) + EXTRA)
#define ASSERT_OK(call)   assert_int_equal(call, MEDLEY_OK)

static medley_error error; /* filled with rubbish by setup */

static medley_dataset *waves(void)
{
    medley_generate_options how = MEDLEY_GENERATE_OPTIONS_INIT;
    medley_dataset *data = NULL;
    how.rows = 60;
    ASSERT_OK(medley_generate(&data, "waveform", &how, &error));
    return data;
}

static medley_model *learnt(const medley_dataset *data)
{
    medley_model *model = NULL;
    ASSERT_OK(medley_fit(&model, data, NULL, NULL, NULL, &error));
    return model;
}

/* What a version of generate options, reading options or tables gives. */
static void inputs_of_other_versions_are_taken(void **state)
{
    (void)state;
    medley_generate_options generate = MEDLEY_GENERATE_OPTIONS_INIT;
    medley_read_options read = MEDLEY_READ_OPTIONS_INIT;
    const float values[] = {1, 2, 3, 4};
    medley_table table = MEDLEY_TABLE_INIT;
    generate.rows = 10;
    table.rows = 2;
    table.columns = 2;
    table.type = MEDLEY_FLOAT32;
    table.values = values;
    void *versions[][3] = {
        {SHORTER(generate, noise), SHORTER(read, text_columns), SHORTER(table, borrow)},
        {LONGER(generate), LONGER(read), LONGER(table)}};
    for (int v = 0; v < 2; v++) {
        medley_dataset *data = NULL;
        ASSERT_OK(medley_generate(&data, "ringnorm", versions[v][0], &error));
        assert_int_equal(medley_dataset_rows(data), 10);
        medley_dataset_free(data);
        ASSERT_OK(medley_dataset_parse(&data, "1,a\n2,b\n", 8, "x.csv", versions[v][1], &error));
        medley_dataset_free(data);
        ASSERT_OK(medley_dataset_create(&data, &error));
        ASSERT_OK(medley_dataset_put_table(data, versions[v][2], &error));
        assert_int_equal(medley_dataset_columns(data), 2);
        medley_dataset_free(data);
        for (int i = 0; i < 3; i++)
            free(versions[v][i]);
    }
}

static bool count_calls(void *context, const medley_progress *progress)
{
    assert_non_null(progress->stage);
    ++*(int *)context;
    return true;
}

static bool let_go(void *context, medley_model *model)
{
    ++*(int *)context;
    medley_model_free(model);
    return true;
}

static void observers_of_other_versions_are_told(void **state)
{
    (void)state;
    int calls = 0;
    const medley_observer observer = {sizeof observer, &calls, count_calls};
    void *versions[] = {SHORTER(observer, progress), LONGER(observer)};
    medley_dataset *data = waves();
    for (int v = 0; v < 2; v++) {
        medley_model *model = NULL;
        calls = 0;
        ASSERT_OK(medley_fit(&model, data, NULL, NULL, versions[v], &error));
        assert_int_equal(calls > 0, v == 1); /* the short one has no function */
        medley_model_free(model);
        free(versions[v]);
    }
    medley_dataset_free(data);
}

static void options_of_predictions_of_other_versions_are_taken(void **state)
{
    (void)state;
    medley_dataset *data = waves();
    medley_model *model = learnt(data);
    medley_predict_options predict = MEDLEY_PREDICT_OPTIONS_INIT;
    medley_evaluate_options evaluate = MEDLEY_EVALUATE_OPTIONS_INIT;
    medley_report_options report = MEDLEY_REPORT_OPTIONS_INIT;
    predict.probabilities = true;
    evaluate.probabilities = true;
    void *versions[][3] = {
        {SHORTER(predict, tags), SHORTER(evaluate, tags), SHORTER(report, data_chose)},
        {LONGER(predict), LONGER(evaluate), LONGER(report)}};
    for (int v = 0; v < 2; v++) {
        medley_prediction *prediction = NULL;
        medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
        ASSERT_OK(medley_predict_with(&prediction, model, data, versions[v][0], &error));
        assert_true(prediction->score[0] >= 0 && prediction->score[0] <= 1);
        medley_prediction_free(prediction);
        ASSERT_OK(medley_evaluate_with(&evaluation, model, data, versions[v][1], &error));
        assert_true(evaluation.log_loss >= 0);
        medley_evaluation_clear(&evaluation);
        ASSERT_OK(medley_report_write(model, "/dev/null", versions[v][2], &error));
        for (int i = 0; i < 3; i++)
            free(versions[v][i]);
    }
    medley_model_free(model);
    medley_dataset_free(data);
}

static void options_of_selections_of_other_versions_are_taken(void **state)
{
    (void)state;
    medley_dataset *data = waves();
    medley_tune_options tune = MEDLEY_TUNE_OPTIONS_INIT;
    medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
    const medley_choice choice = {"lambda", "0.01,0.1"};
    tune.folds = 2;
    path.count = 2;
    void *versions[][2] = {{SHORTER(tune, measure), SHORTER(path, ratio)},
                           {LONGER(tune), LONGER(path)}};
    for (int v = 0; v < 2; v++) {
        int taken = 0;
        medley_tuning *tuning = NULL;
        ASSERT_OK(medley_tune(&tuning, data, NULL, &choice, 1, versions[v][0], NULL, &error));
        assert_int_equal(tuning->fold_count, 2);
        medley_tuning_free(tuning);
        ASSERT_OK(medley_fit_path(data, NULL, versions[v][1], let_go, &taken, NULL, &error));
        assert_int_equal(taken, 2);
        free(versions[v][0]);
        free(versions[v][1]);
    }
    medley_dataset_free(data);
}

static void structs_of_other_versions_are_filled(void **state)
{
    (void)state;
    medley_dataset *data = waves();
    medley_model *model = learnt(data);
    const medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    const medley_listing listing = MEDLEY_LISTING_INIT;
    const medley_option_info info = MEDLEY_OPTION_INFO_INIT;
    const char zeros[EXTRA] = {0};
    medley_evaluation *e[] = {SHORTER(evaluation, nonprojective_recall), LONGER(evaluation),
                              SHORTER(evaluation, confusion)};
    for (int v = 0; v < 3; v++) {
        const size_t size = e[v]->struct_size;
        if (v == 1)
            memset(e[v] + 1, 7, EXTRA);
        ASSERT_OK(medley_evaluate(e[v], model, data, 1, &error));
        assert_int_equal(e[v]->struct_size, size);
        assert_true(e[v]->accuracy > 0.5);
        if (v == 1)
            assert_memory_equal(e[v] + 1, zeros, EXTRA);
        medley_evaluation_clear(e[v]);
        assert_int_equal(e[v]->struct_size, size);
        assert_true(e[v]->accuracy == 0);
        free(e[v]);
    }
    medley_listing *l[] = {SHORTER(listing, format), LONGER(listing)};
    medley_option_info *o[] = {SHORTER(info, repeatable), LONGER(info)};
    for (int v = 0; v < 2; v++) {
        assert_true(medley_list(l[v], "kernels", 0));
        assert_string_equal(l[v]->name, "linear");
        assert_true(medley_option_describe(o[v], 0));
        assert_non_null(o[v]->help);
        assert_false(medley_option_describe(o[v], medley_option_count()));
        free(l[v]);
        free(o[v]);
    }
    medley_model_free(model);
    medley_dataset_free(data);
}

static int decode(void *context, const medley_example *example, const float *score, int32_t *output,
                  void *workspace)
{
    (void)context;
    (void)workspace;
    for (size_t r = 0; r < example->length; r++) {
        output[r] = 0;
        for (size_t l = 1; l < example->labels; l++)
            if (score[r * example->labels + l] > score[r * example->labels + (size_t)output[r]])
                output[r] = (int32_t)l;
    }
    return 0;
}

static void structures_of_other_versions_are_taken(void **state)
{
    (void)state;
    medley_structure structure = MEDLEY_STRUCTURE_INIT;
    structure.name = "plain";
    structure.decode = decode;
    void *versions[] = {SHORTER(structure, can_infer_marginals), LONGER(structure)};
    for (int v = 0; v < 2; v++) {
        medley_options *options = NULL;
        ASSERT_OK(medley_options_create(&options, &error));
        ASSERT_OK(medley_options_set_structure(options, versions[v], &error));
        medley_structure_neighbours(versions[v]);
        ASSERT_OK(medley_options_set_structure(options, versions[v], &error));
        medley_options_free(options);
        free(versions[v]);
    }
}

static void unknown_fields_and_impossible_sizes_are_refused(void **state)
{
    (void)state;
    medley_dataset *data = NULL;
    const medley_generate_options how = MEDLEY_GENERATE_OPTIONS_INIT;
    unsigned char *newer = LONGER(how);
    newer[sizeof how + 3] = 1;
    assert_int_equal(
        medley_generate(&data, "ringnorm", (const medley_generate_options *)newer, &error),
        MEDLEY_NOT_SUPPORTED);
    assert_non_null(strstr(error.message, "newer"));
    free(newer);
    const size_t impossible[] = {0, 3, sizeof(size_t), 1u << 20};
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        medley_generate_options bad = how;
        bad.struct_size = impossible[i];
        assert_int_equal(medley_generate(&data, "ringnorm", &bad, &error), MEDLEY_USAGE);
        assert_non_null(strstr(error.message, "MEDLEY_GENERATE_OPTIONS_INIT"));
    }
    assert_null(data);
    data = waves();
    medley_model *model = learnt(data);
    medley_evaluation unset = {0};
    assert_int_equal(medley_evaluate(&unset, model, data, 1, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "MEDLEY_EVALUATION_INIT"));
    medley_model_free(model);
    medley_dataset_free(data);
}

/* Two columns, which might be a feature and a label, or two features. */
static void models_know_how_to_read_their_data(void **state)
{
    (void)state;
    char path[] = "/tmp/medley-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "1,2\n3,4\n", 8), 8);
    close(file);
    const double values[] = {0, 0, 1, 1, 5, 5, 6, 6};
    const char *const labels[] = {"a", "a", "b", "b"};
    medley_dataset *data = NULL;
    ASSERT_OK(medley_dataset_from_dense(&data, values, 4, 2, labels, &error));
    medley_model *model = learnt(data);
    medley_dataset_free(data);
    ASSERT_OK(medley_dataset_read(&data, path, NULL, &error));
    assert_int_equal(medley_dataset_columns(data), 1);
    medley_dataset_free(data);
    ASSERT_OK(medley_dataset_read_for(&data, model, path, NULL, &error));
    assert_int_equal(medley_dataset_columns(data), 2);
    medley_dataset_free(data);
    medley_model_free(model);
    unlink(path);
}

static void errors_tell_of_the_last_call_only(void **state)
{
    (void)state;
    medley_dataset *data = NULL;
    medley_model *model = NULL;
    memset(&error, 0xff, sizeof error); /* negative code: an error of before, as it were */
    assert_int_equal(medley_model_load(&model, "/no/such/model", &error), MEDLEY_FAILED);
    assert_int_equal(error.code, MEDLEY_FAILED);
    assert_string_equal(error.file, "/no/such/model");
    assert_int_equal(medley_generate(&data, "ringnorn", NULL, &error), MEDLEY_USAGE);
    assert_int_equal(error.code, MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "ringnorn"));
    assert_string_equal(error.file, "");
    assert_int_equal(error.line, 0);
    ASSERT_OK(medley_generate(&data, "ringnorm", NULL, &error));
    assert_int_equal(error.code, MEDLEY_OK);
    assert_string_equal(error.message, "");
    medley_dataset_free(data);
}

static int fill_with_rubbish(void **state)
{
    (void)state;
    memset(&error, 0xff, sizeof error);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(inputs_of_other_versions_are_taken, fill_with_rubbish),
        cmocka_unit_test_setup(observers_of_other_versions_are_told, fill_with_rubbish),
        cmocka_unit_test_setup(options_of_predictions_of_other_versions_are_taken,
                               fill_with_rubbish),
        cmocka_unit_test_setup(options_of_selections_of_other_versions_are_taken,
                               fill_with_rubbish),
        cmocka_unit_test_setup(structs_of_other_versions_are_filled, fill_with_rubbish),
        cmocka_unit_test_setup(structures_of_other_versions_are_taken, fill_with_rubbish),
        cmocka_unit_test_setup(unknown_fields_and_impossible_sizes_are_refused, fill_with_rubbish),
        cmocka_unit_test_setup(models_know_how_to_read_their_data, fill_with_rubbish),
        cmocka_unit_test_setup(errors_tell_of_the_last_call_only, fill_with_rubbish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
