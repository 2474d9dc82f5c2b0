/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of paths: what they note is what the models say, held-out data are measured as medley_tune
 * would, the caller gets every model and sees its point, and who stops gets the points so far. */
#include "fit/fitting.h"

enum { MOST = 16 };

struct seen {
    medley_path **path;
    medley_model *models[MOST];
    size_t count, wanted;
};

static bool see(void *context, medley_model *model)
{
    struct seen *seen = context;
    const medley_path *path = *seen->path;
    seen->models[seen->count++] = model;
    assert_int_equal(path->point_count, seen->count);
    assert_true(path->points[seen->count - 1].lambda == medley_model_summary(model)->lambda);
    return seen->count < seen->wanted;
}

static void split(const char *generator, size_t rows, medley_dataset **train, medley_dataset **held)
{
    medley_error error = {0};
    medley_dataset *all = make_data(generator, rows, 7);
    assert_int_equal(medley_dataset_split(train, held, all, 0.4, 1, &error), MEDLEY_OK);
    medley_dataset_free(all);
}

static medley_path_options grid(size_t count, double ratio)
{
    medley_path_options how = MEDLEY_PATH_OPTIONS_INIT;
    how.count = count;
    how.ratio = ratio;
    return how;
}

/* The measure as medley_evaluate has it. */
static double measured(const char *measure, const medley_model *model, const medley_dataset *held)
{
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_error error = {0};
    assert_int_equal(medley_evaluate(&evaluation, model, held, 1, &error), MEDLEY_OK);
    const double value = strcmp(measure, "rmse") == 0  ? evaluation.rmse
                         : strcmp(measure, "f1") == 0  ? evaluation.chunk_f1
                         : strcmp(measure, "las") == 0 ? evaluation.las
                         : strcmp(measure, "uas") == 0 ? evaluation.uas
                                                       : evaluation.accuracy;
    medley_evaluation_clear(&evaluation);
    return value;
}

static void check_points(const medley_path *path, const struct seen *seen, const char *measure,
                         const medley_dataset *held)
{
    double before = 0;
    for (size_t p = 0; p < path->point_count; p++) {
        const medley_path_point *point = &path->points[p];
        const medley_summary *summary = medley_model_summary(seen->models[p]);
        assert_true(point->lambda == summary->lambda && point->C == summary->C);
        assert_true(point->objective == summary->objective);
        assert_true(point->gap == summary->gap || (point->gap != point->gap));
        assert_int_equal(point->active, summary->active_blocks);
        assert_int_equal(path->block_count, summary->block_count);
        for (size_t m = 0; m < path->block_count; m++) {
            assert_true(point->weights[m] == summary->blocks[m].weight);
            assert_true(point->norms[m] == summary->blocks[m].norm);
            assert_string_equal(path->blocks[m], summary->blocks[m].name);
        }
        assert_true(point->seconds >= before);
        before = point->seconds;
        if (measure != NULL)
            assert_true(point->score == measured(measure, seen->models[p], held));
        else
            assert_true(point->score != point->score);
        assert_string_equal(path->method, summary->method);
        assert_string_equal(path->task, summary->task);
        assert_string_equal(path->loss, summary->loss);
        assert_string_equal(path->penalty, summary->penalty);
    }
}

static void every_task_has_its_measure(void **state)
{
    (void)state;
    static const struct {
        const char *generator;
        size_t rows;
        const char *options, *measure;
    } cases[] = {{"ringnorm", 100, "kernel=rbf views=all+each", "accuracy"},
                 {"waveform", 60, "kernel=rbf epochs=10 penalty=group-lasso", "accuracy"},
                 {"ringnorm", 60, "kernel=rbf task=regression", "rmse"},
                 {"tagged", 40, "template=chunk epochs=3", "f1"},
                 {"treebank", 30, "hash-bits=8 epochs=3", "las"},
                 {"treebank", 30, "hash-bits=8 epochs=3 unlabelled=true", "uas"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        medley_dataset *train = NULL;
        medley_dataset *held = NULL;
        medley_path *path = NULL;
        medley_error error = {0};
        split(cases[c].generator, cases[c].rows, &train, &held);
        medley_options *options = make_options(cases[c].options);
        const medley_path_options how = grid(4, 0.05);
        struct seen seen = {.path = &path, .wanted = MOST};
        if (medley_trace_path(&path, train, held, options, &how, see, &seen, NULL, &error) !=
            MEDLEY_OK)
            fail_msg("%s: %s", cases[c].options, error.message);
        assert_int_equal(path->point_count, 4);
        assert_string_equal(path->measure, cases[c].measure);
        check_points(path, &seen, cases[c].measure, held);
        for (size_t i = 0; i < seen.count; i++)
            medley_model_free(seen.models[i]);
        medley_path_free(path);
        medley_options_free(options);
        medley_dataset_free(train);
        medley_dataset_free(held);
    }
}

static void nothing_need_be_held_out_or_taken(void **state)
{
    (void)state;
    medley_dataset *train = make_data("ringnorm", 40, 2);
    medley_path *path = NULL;
    medley_error error = {0};
    medley_options *options = make_options("kernel=rbf");
    medley_path_options how = grid(3, 0.1);
    struct seen seen = {.path = &path, .wanted = 2};
    assert_int_equal(medley_trace_path(&path, train, NULL, options, &how, see, &seen, NULL, &error),
                     MEDLEY_OK);
    assert_int_equal(path->point_count, 2);
    assert_null(path->measure);
    check_points(path, &seen, NULL, NULL);
    medley_model_free(seen.models[0]);
    medley_model_free(seen.models[1]);
    medley_path_free(path);
    assert_int_equal(medley_trace_path(&path, train, NULL, options, &how, NULL, NULL, NULL, &error),
                     MEDLEY_OK);
    assert_int_equal(path->point_count, 3);
    medley_path_free(path);
    assert_int_equal(medley_trace_path(&path, train, train, NULL, NULL, NULL, NULL, NULL, &error),
                     MEDLEY_OK);
    assert_int_equal(path->point_count, 20);
    medley_path_free(path);
    medley_path_free(NULL);
    medley_options_free(options);
    medley_dataset_free(train);
}

static bool stop_at(void *context, const medley_progress *progress)
{
    size_t *left = context;
    (void)progress;
    return *left > 0 && --*left > 0;
}

static void who_stops_gets_the_points_so_far(void **state)
{
    (void)state;
    medley_dataset *train = make_data("ringnorm", 60, 2);
    medley_options *options = make_options("method=spom kernel=rbf epochs=10");
    const medley_path_options how = grid(5, 0.1);
    size_t most = 0;
    for (size_t calls = 1; calls < 30; calls += 7) {
        medley_path *path = NULL;
        medley_error error = {0};
        size_t left = calls;
        const medley_observer observer = {sizeof observer, .context = &left, .progress = stop_at};
        assert_true(medley_trace_path(&path, train, train, options, &how, NULL, NULL, &observer,
                                      &error) == MEDLEY_STOPPED);
        assert_non_null(path);
        assert_true(path->point_count < 5);
        assert_non_null(path->method);
        most = path->point_count > most ? path->point_count : most;
        medley_path_free(path);
    }
    assert_true(most > 1);
    medley_options_free(options);
    medley_dataset_free(train);
}

static void failures_leave_no_path(void **state)
{
    (void)state;
    medley_dataset *train = make_data("ringnorm", 40, 2);
    medley_dataset *other = make_data("waveform", 40, 2); /* more columns */
    medley_path *path = NULL;
    medley_error error = {0};
    medley_options *options = make_options("method=spom kernel=rbf epochs=3");
    medley_path_options how = grid(3, 2);
    assert_true(medley_trace_path(&path, train, NULL, options, &how, NULL, NULL, NULL, &error) < 0);
    assert_null(path);
    assert_true(strstr(error.message, "ratio") != NULL);
    how.ratio = 0.1;
    error = (medley_error){0};
    assert_true(medley_trace_path(&path, train, other, options, &how, NULL, NULL, NULL, &error) <
                0);
    assert_null(path);
    assert_true(error.message[0] != '\0');
    medley_options_free(options);
    medley_dataset_free(train);
    medley_dataset_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_has_its_measure),
        cmocka_unit_test(nothing_need_be_held_out_or_taken),
        cmocka_unit_test(who_stops_gets_the_points_so_far),
        cmocka_unit_test(failures_leave_no_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
