/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds of every task: its row is complete, and a model that is learnt from generated data is
 * the same after a file, whatever the number of threads, and is measured by what its task measures.
 */
#include "fit/fitting.h"

#include "file/file.h"
#include "structure/custom_chain.h"

/* Data that a task can learn from; a new task needs a line here. */
static const struct source {
    const char *task, *generator;
    size_t train, fresh; /* rows or sentences */
    const char *options;
} sources[] = {
    {"binary", "twonorm", 60, 40, "kernel=rbf kernel=linear method=spom epochs=3"},
    {"regression", "twonorm", 60, 40, "kernel=rbf kernel=linear"},
    {"multiclass", "waveform", 60, 40, "kernel=rbf kernel=linear epochs=3 calibrate=true"},
    {"chain", "tagged", 40, 20, "template=chunk epochs=3"},
    {"tree", "treebank", 40, 20, "hash-bits=8 epochs=3"},
    {"custom", "handwriting", 150, 30, "kernel=linear(norm=diag) epochs=3 eta0=1"},
};

static const struct source *source_of(const md_task *task)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (strcmp(sources[i].task, task->about.name) == 0)
            return &sources[i];
    fail_msg("there are no data to learn the task %s from", task->about.name);
    return NULL;
}

/* Where the task predicts numbers, they are the labels: names of the generator's classes are not.
 */
static medley_dataset *make_rows(const md_task *task, bool fresh)
{
    const struct source *source = source_of(task);
    medley_error error = {0};
    medley_dataset *dataset =
        make_data(source->generator, fresh ? source->fresh : source->train, fresh ? 2 : 1);
    if (task->info.has_labels)
        return dataset;
    medley_dataset *numbers = NULL;
    double *target = calloc(dataset->rows, sizeof *target);
    assert_non_null(target);
    for (size_t r = 0; r < dataset->rows; r++)
        target[r] = dataset->label[r] + (double)(r % 4) / 8;
    const md_matrix *matrix = &dataset->tables[0].features;
    double *values = calloc(matrix->rows * matrix->columns, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < matrix->rows * matrix->columns; i++)
        values[i] = (double)matrix->dense[i];
    assert_int_equal(
        medley_dataset_from_dense(&numbers, values, matrix->rows, matrix->columns, NULL, &error),
        MEDLEY_OK);
    assert_int_equal(medley_dataset_put_targets(numbers, target, matrix->rows, &error), MEDLEY_OK);
    free(target);
    free(values);
    medley_dataset_free(dataset);
    return numbers;
}

static medley_model *learn(const md_task *task, size_t threads)
{
    char text[512];
    medley_dataset *train = make_rows(task, false);
    snprintf(text, sizeof text, "task=%s threads=%zu %s", task->about.name, threads,
             source_of(task)->options);
    medley_model *model = NULL;
    medley_error error = {0};
    medley_options *options = make_options(text);
    const medley_structure structure = chain_structure();
    if (task->bind != NULL)
        assert_int_equal(medley_options_set_structure(options, &structure, &error), MEDLEY_OK);
    if (medley_fit(&model, train, NULL, options, NULL, &error) != MEDLEY_OK)
        fail_msg("%s: %s", text, error.message);
    medley_options_free(options);
    medley_dataset_free(train);
    return model;
}

static void write_model(const medley_model *model, char **bytes, size_t *size)
{
    void *written = NULL;
    medley_error error = {0};
    assert_int_equal(medley_model_write(&written, size, model, &error), MEDLEY_OK);
    *bytes = written;
}

static medley_status read_model(medley_model **model, const char *bytes, size_t size,
                                medley_error *error)
{
    const medley_structure structure = chain_structure();
    return medley_model_read_with(model, bytes, size, "law", &structure, error);
}

static bool same_bytes(const void *a, const void *b, size_t size)
{
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, size) == 0);
}

static bool same_predictions(const medley_prediction *a, const medley_prediction *b)
{
    const size_t rows = a->rows;
    return rows == b->rows && a->labels == b->labels &&
           same_bytes(a->value, b->value, rows * sizeof *a->value) &&
           same_bytes(a->label, b->label, rows * sizeof *a->label) &&
           same_bytes(a->head, b->head, rows * sizeof *a->head) &&
           same_bytes(a->score, b->score, rows * a->labels * sizeof *a->score);
}

static void rows_are_complete_and_names_differ(void **state)
{
    (void)state;
    for (size_t i = 0; md_tasks[i] != NULL; i++) {
        const md_task *task = md_tasks[i];
        const medley_task_info *info = medley_task_about(task->about.name);
        assert_ptr_equal(md_task_find(task->about.name), task);
        assert_true(strlen(task->about.summary) > 0 && task->about.takes != 0);
        assert_true(task->fits && task->check_request && task->predict && task->check_truth &&
                    task->compare);
        assert_true(task->least_labels <= task->most_labels);
        assert_true((task->section != NULL) == (task->pack != NULL) &&
                    (task->section != NULL) == (task->unpack != NULL) &&
                    (task->section != NULL) == (task->companion_fits != NULL));
        assert_true(task->section == NULL || strlen(task->section) < 8);
        assert_true(info && info->title && info->does && info->example && info->examples &&
                    info->parts);
        assert_true((info->block == NULL) == (info->blocks == NULL));
        assert_true(info->does_unlabelled != NULL || task->least_labels > 0 || !info->has_labels);
        assert_true(info->has_labels || task->most_labels == 0);
    }
    assert_null(md_task_find("auto"));
    assert_null(medley_task_about("nothing"));
}

static void models_predict_the_same_after_a_file(void **state)
{
    (void)state;
    for (size_t i = 0; md_tasks[i] != NULL; i++) {
        medley_model *model = learn(md_tasks[i], 1);
        medley_model *back = NULL;
        medley_dataset *fresh = make_rows(md_tasks[i], true);
        medley_prediction *first = NULL;
        medley_prediction *second = NULL;
        medley_error error = {0};
        char *bytes;
        size_t size;
        write_model(model, &bytes, &size);
        assert_int_equal(read_model(&back, bytes, size, &error), MEDLEY_OK);
        assert_ptr_equal(back->task, md_tasks[i]);
        assert_string_equal(medley_model_summary(back)->task, md_tasks[i]->about.name);
        assert_int_equal(medley_predict(&first, model, fresh, 1, &error), MEDLEY_OK);
        assert_int_equal(medley_predict(&second, back, fresh, 1, &error), MEDLEY_OK);
        assert_true(same_predictions(first, second));
        medley_prediction_free(first);
        medley_prediction_free(second);
        medley_bytes_free(bytes);
        medley_dataset_free(fresh);
        medley_model_free(model);
        medley_model_free(back);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; md_tasks[i] != NULL; i++) {
        medley_dataset *fresh = make_rows(md_tasks[i], true);
        medley_prediction *first = NULL;
        char *bytes[3];
        size_t sizes[3];
        for (size_t threads = 1; threads <= 3; threads++) {
            medley_model *model = learn(md_tasks[i], threads);
            medley_prediction *prediction = NULL;
            medley_error error = {0};
            write_model(model, &bytes[threads - 1], &sizes[threads - 1]);
            assert_int_equal(sizes[threads - 1], sizes[0]);
            assert_memory_equal(bytes[threads - 1], bytes[0], sizes[0]);
            assert_int_equal(medley_predict(&prediction, model, fresh, threads, &error), MEDLEY_OK);
            if (first == NULL)
                first = prediction;
            assert_true(same_predictions(first, prediction));
            if (first != prediction)
                medley_prediction_free(prediction);
            medley_model_free(model);
        }
        for (size_t t = 0; t < 3; t++)
            medley_bytes_free(bytes[t]);
        medley_prediction_free(first);
        medley_dataset_free(fresh);
    }
}

/* A count of what is right, or an error of numbers; and nothing where nothing is known. */
static void predictions_are_compared_with_the_truth(void **state)
{
    (void)state;
    for (size_t i = 0; md_tasks[i] != NULL; i++) {
        medley_model *model = learn(md_tasks[i], 1);
        medley_dataset *fresh = make_rows(md_tasks[i], true);
        medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
        medley_error error = {0};
        assert_int_equal(medley_evaluate(&evaluation, model, fresh, 1, &error), MEDLEY_OK);
        assert_int_equal(evaluation.parts, fresh->rows);
        assert_int_equal(evaluation.examples,
                         fresh->sequence_count ? fresh->sequence_count : fresh->rows);
        assert_true(md_tasks[i]->info.has_labels == !isnan(evaluation.accuracy));
        assert_true(md_tasks[i]->info.has_labels ? evaluation.accuracy > 0.5
                                                 : isfinite(evaluation.rmse));
        medley_evaluation_clear(&evaluation);
        medley_evaluate_options options = MEDLEY_EVALUATE_OPTIONS_INIT;
        options.probabilities = true;
        const medley_status status =
            medley_evaluate_with(&evaluation, model, fresh, &options, &error);
        assert_true((status == MEDLEY_OK) == md_tasks[i]->info.has_probabilities);
        assert_true(status != MEDLEY_OK || isfinite(evaluation.log_loss));
        medley_evaluation_clear(&evaluation);
        medley_dataset_free(fresh);
        medley_model_free(model);
    }
}

static void tasks_of_other_structures_or_unknown_ones_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; md_tasks[i] != NULL; i++) {
        medley_model *model = learn(md_tasks[i], 1);
        for (size_t j = 0; j == 0 || md_tasks[j - 1] != NULL; j++) {
            const md_task *other = j > 0 ? md_tasks[j - 1] : NULL;
            medley_model *back = NULL;
            medley_error error = {0};
            char *bytes;
            size_t size;
            md_task named = *md_tasks[i];
            if (other != NULL && other->structure == named.structure)
                continue; /* itself, or binary and multiclass: two labels are both */
            named.about.name = other != NULL ? other->about.name : "unheard-of";
            model->task = &named;
            write_model(model, &bytes, &size);
            model->task = md_tasks[i];
            const medley_status status = read_model(&back, bytes, size, &error);
            const bool known = j > 0 && other->bind == NULL && named.bind == NULL;
            if (known || j == 0) { /* a name may be that of a structure that some program brings */
                assert_int_equal(status, known ? MEDLEY_BAD_INPUT : MEDLEY_NOT_SUPPORTED);
                assert_non_null(strstr(error.message, known ? "damaged" : "unheard-of"));
            }
            assert_true(status < 0);
            assert_null(back);
            medley_bytes_free(bytes);
        }
        medley_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete_and_names_differ),
        cmocka_unit_test(models_predict_the_same_after_a_file),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(predictions_are_compared_with_the_truth),
        cmocka_unit_test(tasks_of_other_structures_or_unknown_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
