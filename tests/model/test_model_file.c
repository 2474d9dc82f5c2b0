/* SPDX-License-Identifier: BSD-3-Clause */
/* Models through files: nothing changes on the way, and a file that is not what was written is
 * refused with a sentence or does no harm. */
#include "model/model_cases.h"
#include "model/version2_file.h"

#include <sys/stat.h>

enum { TRAINING = 24, NEW = 13 };

static medley_model *load(const char *path)
{
    medley_model *model = NULL;
    medley_error error = {0};
    if (medley_model_load(&model, path, &error) != MEDLEY_OK)
        fail_msg("%s: %s", path, error.message);
    return model;
}

static bool same_double(double a, double b)
{
    uint64_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1]; /* NaN too */
}

static void assert_same_summary(const medley_model *a, const medley_model *b)
{
    const medley_summary *x = medley_model_summary(a);
    const medley_summary *y = medley_model_summary(b);
    assert_string_equal(x->task, y->task);
    assert_string_equal(x->method, y->method);
    assert_string_equal(x->loss, y->loss);
    assert_string_equal(x->penalty, y->penalty);
    assert_true(same_double(x->lambda, y->lambda) && same_double(x->C, y->C) &&
                same_double(x->spicy_C, y->spicy_C) && same_double(x->eta0, y->eta0) &&
                same_double(x->objective, y->objective) && same_double(x->dual, y->dual) &&
                same_double(x->gap, y->gap) && same_double(x->bias, y->bias));
    assert_int_equal(x->examples, y->examples);
    assert_int_equal(x->parts, y->parts);
    assert_int_equal(x->active_blocks, y->active_blocks);
    assert_int_equal(x->iterations, y->iterations);
    assert_int_equal(x->newton_steps, y->newton_steps);
    assert_int_equal(x->passes, y->passes);
    assert_int_equal(x->support_rows, y->support_rows);
    assert_int_equal(x->seed, y->seed);
    assert_int_equal(x->converged, y->converged);
    assert_int_equal(x->epoch_count, y->epoch_count);
    for (size_t e = 0; e < x->epoch_count; e++) {
        assert_true(same_double(x->epochs[e].objective, y->epochs[e].objective) &&
                    same_double(x->epochs[e].loss, y->epochs[e].loss) &&
                    same_double(x->epochs[e].dev_accuracy, y->epochs[e].dev_accuracy) &&
                    same_double(x->epochs[e].dual, y->epochs[e].dual) &&
                    same_double(x->epochs[e].gap, y->epochs[e].gap));
        assert_int_equal(x->epochs[e].active, y->epochs[e].active);
    }
    assert_int_equal(x->block_count, y->block_count);
    for (size_t m = 0; m < x->block_count; m++) {
        assert_string_equal(x->blocks[m].name, y->blocks[m].name);
        assert_true(same_double(x->blocks[m].weight, y->blocks[m].weight) &&
                    same_double(x->blocks[m].norm, y->blocks[m].norm));
        assert_int_equal(x->blocks[m].features, y->blocks[m].features);
    }
    assert_int_equal(medley_model_label_count(a), medley_model_label_count(b));
    for (size_t l = 0; l < medley_model_label_count(a); l++)
        assert_string_equal(medley_model_label_name(a, l), medley_model_label_name(b, l));
}

static void assert_same_scores(const medley_model *a, const medley_model *b,
                               const medley_dataset *dataset)
{
    medley_prediction *x = predict(a, dataset);
    medley_prediction *y = predict(b, dataset);
    assert_true(same_predictions(x, y));
    medley_prediction_free(x);
    medley_prediction_free(y);
}

static void a_loaded_model_is_the_model_that_was_saved(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODEL_CASES; i++) {
        char path[PATH_SIZE];
        medley_error error = {0};
        size_t lengths[2];
        medley_model *model = case_model(&model_cases[i], TRAINING);
        medley_dataset *fresh = case_dataset(model_cases[i].kind, TRAINING, NEW, TRAINING);
        temporary_path(path);
        assert_int_equal(medley_model_save(model, path, &error), MEDLEY_OK);
        medley_model *loaded = load(path);
        assert_same_summary(model, loaded);
        assert_same_scores(model, loaded, fresh);
        char *before = read_bytes(path, &lengths[0]);
        char *after = model_bytes(loaded, &lengths[1]);
        assert_int_equal(lengths[0], lengths[1]);
        assert_memory_equal(before, after, lengths[0]);
        assert_true(medley_model_summary(loaded)->active_blocks > 0);
        free(before);
        free(after);
        unlink(path);
        medley_model_free(model);
        medley_model_free(loaded);
        medley_dataset_free(fresh);
    }
}

/* Names of columns become names of views, and those stand in the names of kernels. */
static void strange_column_names_survive(void **state)
{
    (void)state;
    static const char csv[] = "length (cm),a@b,\"{x,y}\",p=1..3,sp ce#,label\n"
                              "1,2,3,4,5,a\n2,1,4,3,1,b\n1,3,3,5,5,a\n2,0,4,2,1,b\n";
    medley_dataset *train = NULL;
    medley_error error = {0};
    char path[PATH_SIZE];
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "csv";
    options.label = "label";
    if (read_text(&train, csv, strlen(csv), &options, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    medley_model *model = fit(train, NULL, "views=each kernel=rbf(auto) penalty=l2 eta0=1");
    temporary_path(path);
    assert_int_equal(medley_model_save(model, path, &error), MEDLEY_OK);
    medley_model *loaded = load(path);
    assert_int_equal(medley_model_summary(loaded)->active_blocks, 5);
    assert_same_scores(model, loaded, train);
    unlink(path);
    medley_model_free(model);
    medley_model_free(loaded);
    medley_dataset_free(train);
}

/* The example of docs/formats/model.md; its floats may differ in the last bit on other machines. */
static void the_documented_example_is_what_is_written(void **state)
{
    (void)state;
    static const char csv[] = "x,y,label\n0,1,no\n1,0,yes\n";
    static const struct {
        const char *name;
        uint64_t offset, length;
    } sections[] = {{"story", 0x100, 0x198}, {"kernels", 0x2c0, 0xd8}, {"points", 0x3c0, 0x50},
                    {"bodies", 0x440, 0x60}, {"weights", 0x4c0, 0x20}, {"input", 0x500, 0x68}};
    static const uint64_t input[] = {3, 0x767363, 1, 0, 5, 0x6c6562616c, 2, 0, 2, 1, 'x', 1, 'y'};
    medley_dataset *train = NULL;
    medley_error error = {0};
    size_t length;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "csv";
    assert_int_equal(read_text(&train, csv, strlen(csv), &options, &error), MEDLEY_OK);
    medley_model *model = fit(train, NULL, "kernel=linear epochs=1 eta0=1 C=10");
    char *bytes = model_bytes(model, &length);
    assert_int_equal(length, 1384);
    for (size_t i = 0; i < 6; i++) {
        uint64_t place[2];
        memcpy(place, bytes + 32 + 32 * i + 8, sizeof place);
        assert_string_equal(bytes + 32 + 32 * i, sections[i].name);
        assert_int_equal(place[0], sections[i].offset);
        assert_int_equal(place[1], sections[i].length);
    }
    const float points[] = {0, 1, 1, 0, 1, 1};
    assert_memory_equal(bytes + 0x3e8, points, sizeof points);
    float first;
    memcpy(&first, bytes + 0x470, sizeof first);
    assert_true(fabsf(first - 0.683f) < 0.001f);
    assert_memory_equal(bytes + 0x500, input, sizeof input);
    free(bytes);
    medley_model_free(model);
    medley_dataset_free(train);
}

/* The section of coefficients of a regression. */
static void the_documented_regression_is_what_is_written(void **state)
{
    (void)state;
    const struct model_case given = {DENSE, "kernel=linear", NUMBERS};
    const double body[] = {0.25, -0.75};
    const double bias = 0.5;
    const double one = 1;
    struct plain plain;
    size_t length;
    uint64_t place[2];
    plain_start(&plain, &given, 2);
    plain_fill(&plain, NUMBERS, 1);
    memcpy(plain.body[0], body, sizeof body);
    plain.bias[0] = bias;
    medley_model *model = plain_build(&plain);
    char *bytes = model_bytes(model, &length);
    memcpy(place, bytes + 32 + 32 * 3 + 8, sizeof place);
    uint64_t expected[] = {1, 0, 1, 0, 1, 2, 1, 0, 0, 1, 0, 0, 0};
    memcpy(&expected[3], &bias, sizeof bias);
    memcpy(&expected[7], body, sizeof body);
    memcpy(&expected[12], &one, sizeof one);
    assert_int_equal(place[1], sizeof expected);
    assert_memory_equal(bytes + place[0], expected, sizeof expected);
    free(bytes);
    medley_model_free(model);
    plain_clear(&plain);
}

/* Its last example: templates and their weights. The name of the template file stands in it, so
 * that places are counted from behind. */
static void the_documented_templates_are_what_is_written(void **state)
{
    (void)state;
    static const char words[] = "the D\ndog N\n";
    static const char templates[] = "U:%x[0,0]\nB\n";
    medley_dataset *train = NULL;
    medley_error error = {0};
    char path[PATH_SIZE];
    char text[PATH_SIZE + 64];
    size_t length;
    medley_read_options how = MEDLEY_READ_OPTIONS_INIT;
    how.format = "columns";
    how.text_columns = true;
    assert_int_equal(read_text(&train, words, strlen(words), &how, &error), MEDLEY_OK);
    temporary_path(path);
    write_bytes(path, templates, strlen(templates));
    snprintf(text, sizeof text, "template=%s penalty=l2 epochs=1 eta0=1 C=10", path);
    medley_model *model = fit(train, NULL, text);
    unlink(path);
    char *bytes = model_bytes(model, &length);
    uint64_t place[2];
    memcpy(place, bytes + 32 + 32 * 4 + 8, sizeof place);
    length = place[0] + place[1]; /* where the section ends */
    const float pairs[] = {0, 0.660f, -0.660f, 0};
    const float labels[] = {0.660f, -0.660f, -0.660f, 0.660f};
    float found[4];
    memcpy(found, bytes + length - 16, sizeof found);
    for (size_t i = 0; i < 4; i++)
        assert_true(fabsf(found[i] - pairs[i]) < 0.001f);
    memcpy(found, bytes + length - 72, sizeof found);
    for (size_t i = 0; i < 4; i++)
        assert_true(fabsf(found[i] - labels[i]) < 0.001f);
    const uint64_t dictionary[] = {3, 0x656874, 3, 0x676f64, 2, (uint64_t)1 << 32, 1, 2};
    assert_memory_equal(bytes + length - 176, dictionary, sizeof dictionary);
    free(bytes);
    medley_model_free(model);
    medley_dataset_free(train);
}

/* ---- earlier versions ---- */

/* Loads, predicts what it predicted, and is written as a file of today that predicts the same. */
static void files_of_version_2_are_read(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    medley_error error = {0};
    medley_dataset *rows = NULL;
    const double x[] = {0, 1, 1, 0};
    temporary_path(path);
    write_bytes(path, (const char *)version2_file, sizeof version2_file);
    medley_model *model = load(path);
    assert_int_equal(medley_dataset_from_dense(&rows, x, 2, 2, NULL, &error), MEDLEY_OK);
    medley_prediction *prediction = predict(model, rows);
    assert_int_equal(prediction->labels, 2);
    for (size_t i = 0; i < 4; i++)
        assert_true(fabsf(prediction->score[i] - version2_scores[i]) < 1e-5f);
    assert_string_equal(medley_model_label_name(model, (size_t)prediction->label[1]), "yes");
    const medley_summary *summary = medley_model_summary(model);
    assert_string_equal(summary->method, "average");
    assert_true(isnan(summary->bias) && isnan(summary->gap));
    assert_int_equal(summary->newton_steps + summary->passes, 0);
    assert_int_equal(summary->epoch_count, 2);
    assert_true(summary->epochs[1].objective > 0 && isnan(summary->epochs[1].gap) &&
                isnan(summary->epochs[1].dual) && summary->epochs[1].active == 0);
    assert_int_equal(summary->block_count, 2);
    assert_false(medley_model_is_regression(model));
    assert_int_equal(medley_model_save(model, path, &error), MEDLEY_OK);
    medley_model *again = load(path);
    assert_same_summary(model, again);
    assert_same_scores(model, again, rows);
    unlink(path);
    medley_prediction_free(prediction);
    medley_dataset_free(rows);
    medley_model_free(model);
    medley_model_free(again);
}

/* ---- files that cannot be used ---- */

static void assert_load_fails(const char *path, medley_status code, const char *phrase)
{
    medley_model *untouched = (medley_model *)&code;
    medley_model *model = untouched;
    medley_error error = {0};
    assert_int_equal(medley_model_load(&model, path, &error), code);
    assert_ptr_equal(model, untouched);
    assert_int_equal(error.code, code);
    assert_string_equal(error.file, path);
    if (strstr(error.message, phrase) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, phrase);
}

static void files_that_are_no_models_are_refused(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    temporary_path(path);
    assert_load_fails(path, MEDLEY_BAD_INPUT, "the file is empty");
    write_bytes(path, "1,2,3\n4,5,6\n", 12);
    assert_load_fails(path, MEDLEY_BAD_INPUT, "this is not a Medley model");
    write_bytes(path, "MEDLEY\n\n", 8); /* sent in text mode */
    assert_load_fails(path, MEDLEY_BAD_INPUT, "this is not a Medley model");
    unlink(path);
    assert_load_fails(path, MEDLEY_FAILED, "No such file");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_load_fails(path, MEDLEY_FAILED, "it is a directory");
    rmdir(path);
}

static void targets_that_cannot_be_written_are_refused(void **state)
{
    (void)state;
    medley_model *model = case_model(&model_cases[0], 6);
    medley_error error = {0};
    char path[PATH_SIZE];
    assert_int_equal(medley_model_save(model, "/no/such/folder/model", &error), MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "check that the folder exists"));
    error = (medley_error){0};
    temporary_path(path);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(medley_model_save(model, path, &error), MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "directory"));
    rmdir(path);
    medley_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_model_is_the_model_that_was_saved),
        cmocka_unit_test(strange_column_names_survive),
        cmocka_unit_test(the_documented_example_is_what_is_written),
        cmocka_unit_test(the_documented_regression_is_what_is_written),
        cmocka_unit_test(files_of_version_2_are_read),
        cmocka_unit_test(the_documented_templates_are_what_is_written),
        cmocka_unit_test(files_that_are_no_models_are_refused),
        cmocka_unit_test(targets_that_cannot_be_written_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
