/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning and predicting by several ranks: each has the model, and it is that of one process. */
#include "comm/fake_ranks.h"
#include "fit/fitting.h"

/* What is learnt from what, and how near the objective of ranks is to that of one process: 0 means
 * the same bytes. */
struct learning {
    const char *generator;
    size_t rows;
    const char *options;
    double tolerance;
};

static const struct learning learnings[] = {
    {"ringnorm", 60, "method=spicy kernel=rbf(sigma={1,2,4,8}) kernel=linear", 1e-9},
    {"ringnorm", 60, "method=spicy loss=logistic penalty=elastic kernel=rbf(sigma={1,2,4,8,16})",
     1e-9},
    {"ringnorm", 50, "method=spicy penalty=mkl kernel=rbf(sigma={1,2,4})", 1e-6},
    {"waveform", 70, "method=spom kernel=rbf(sigma={1,2,4}) epochs=4 loss=hinge", 1e-4},
    {"waveform", 70, "method=spom kernel=rbf(sigma={1,2,4}) epochs=4 loss=logistic memory=1", 0},
    {"waveform", 70, "method=obscure kernel=rbf(sigma={1,2,4}) epochs1=2 epochs2=3 memory=1", 0},
    {"waveform", 70, "method=pegasos kernel=rbf(sigma={1,2}) epochs=3 memory=1", 0},
    {"waveform", 70, "method=om2 kernel=rbf(sigma={1,2}) epochs=3 memory=1", 0},
    {"waveform", 60, "method=frank-wolfe kernel=rbf(sigma={1,2}) gap=0.01", 1e-3},
    {"waveform", 60, "method=average kernel=rbf(sigma={1,2})", 1e-4},
    {"waveform", 60, "method=best kernel=rbf(sigma={1,2})", 1e-4},
    {"ringnorm", 60, "method=svm kernel=rbf(sigma={1,2})", 1e-6},
    {"ringnorm", 60, "method=spicy views=each kernel=rbf(sigma={1,4}) kernel=linear memory=100000",
     1e-9},
    {"ringnorm", 60, "method=spicy normalize=center views=all+each kernel=rbf(sigma=2) ridge=0.1",
     1e-9},
    {"ringnorm", 50, "method=spicy storage=float64 kernel=rbf(sigma={1,2,4}) gap=1e-6", 1e-9},
    {"ringnorm", 50, "method=gauss-seidel kernel=rbf(sigma={1,2,4})", 1e-3},
    {"ringnorm", 50, "method=simplemkl kernel=rbf(sigma={1,2,4})", 1e-3},
    {"ringnorm", 50, "method=hessianmkl kernel=rbf(sigma={1,2,4})", 1e-3},
    {"tagged", 50, "template=chunk epochs=3 loss=logistic", 0},
    {"tagged", 50, "template=chunk epochs=3 loss=hinge average=true", 0},
    {"tagged", 40, "template=chunk epochs=2 order=2 loss=logistic penalty=mkl calibrate=true", 0},
    {"tagged", 30, "template=chunk method=frank-wolfe gap=0.05", 0},
    {"treebank", 30, "epochs=2 hash-bits=12 template=arc-form-upos", 0},
    {"treebank", 30, "epochs=2 hash-bits=12 order=2 template=arc-form-upos", 0},
    {"treebank", 30, "epochs=2 hash-bits=12 loss=logistic unlabelled=true", 0},
    {"tagged", 60, "template=chunk epochs=4 loss=logistic mix=epoch average=true", 0.5},
    {"tagged", 60, "template=chunk epochs=4 penalty=mkl+l1 mix=epoch", 0.5},
    {"treebank", 30, "epochs=5 hash-bits=12 template=arc-form-upos mix=epoch", 1},
    {"handwriting", 20, "kernel=rbf(auto) kernel=linear epochs=3 loss=logistic memory=1", 0},
};
enum { LEARNINGS = sizeof learnings / sizeof learnings[0] };

struct run {
    const struct learning *learning;
    const medley_dataset *data;
    char *bytes[MOST_FAKE_RANKS];
    size_t length[MOST_FAKE_RANKS];
    double objective[MOST_FAKE_RANKS];
};

static medley_status learn(medley_comm *comm, size_t rank, void *context, medley_error *error)
{
    struct run *run = context;
    medley_model *model = NULL;
    medley_options *options = make_options(run->learning->options);
    medley_options_set_comm(options, comm);
    const medley_status status = medley_fit(&model, run->data, NULL, options, NULL, error);
    medley_options_free(options);
    if (status < 0)
        return status;
    run->objective[rank] = medley_model_summary(model)->objective;
    run->bytes[rank] = model_bytes(model, &run->length[rank]);
    medley_model_free(model);
    return MEDLEY_OK;
}

static struct run learn_together(const struct learning *learning, const medley_dataset *data,
                                 size_t size)
{
    struct fake_group group;
    struct run run = {.learning = learning, .data = data};
    run_fake_ranks(&group, size, learn, &run);
    for (size_t r = 0; r < size; r++)
        if (group.ranks[r].status < 0)
            fail_msg("%s, rank %zu of %zu: %s", learning->options, r, size,
                     group.ranks[r].error.message);
    return run;
}

static bool is_same(const struct run *a, size_t i, const struct run *b, size_t j)
{
    return a->length[i] == b->length[j] && memcmp(a->bytes[i], b->bytes[j], a->length[i]) == 0;
}

static void clear(struct run *run, size_t size)
{
    for (size_t r = 0; r < size; r++)
        free(run->bytes[r]);
}

static void test_ranks_learn_the_model_of_one_process(void **state)
{
    (void)state;
    for (size_t c = 0; c < LEARNINGS; c++) {
        const struct learning *learning = &learnings[c];
        medley_dataset *data = make_data(learning->generator, learning->rows, 7);
        struct run alone = learn_together(learning, data, 1);
        for (size_t size = 2; size <= 3; size++) {
            struct run run = learn_together(learning, data, size);
            for (size_t r = 1; r < size; r++)
                if (!is_same(&run, 0, &run, r))
                    fail_msg("%s %s: rank %zu of %zu has another model", learning->generator,
                             learning->options, r, size);
            if (learning->tolerance == 0 && !is_same(&alone, 0, &run, 0))
                fail_msg("%s %s: %zu ranks have another model than one", learning->generator,
                         learning->options, size);
            if (fabs(run.objective[0] / alone.objective[0] - 1) > learning->tolerance)
                fail_msg("%s %s: objective %.12g of %zu ranks, %.12g of one", learning->generator,
                         learning->options, run.objective[0], size, alone.objective[0]);
            clear(&run, size);
        }
        clear(&alone, 1);
        medley_dataset_free(data);
    }
}

/* ---- predicting ---- */

struct predicting {
    const medley_model *model;
    const medley_dataset *data;
    const medley_prediction *right;
    size_t best;
    bool probabilities;
};

static medley_status check(bool condition, const char *what, medley_error *error)
{
    if (!condition)
        snprintf(error->message, sizeof error->message, "%s", what);
    return condition ? MEDLEY_OK : MEDLEY_FAILED;
}

#define SAME(array, count)                                                                         \
    check((found->array == NULL) == (right->array == NULL) &&                                      \
              (right->array == NULL ||                                                             \
               memcmp(found->array, right->array, (count) * sizeof *right->array) == 0),           \
          #array, error)

static medley_status compare(const medley_prediction *found, const medley_prediction *right,
                             medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t rows = right->rows;
    const size_t outputs = right->sequences * right->best;
    status = SAME(value, rows) < 0 ? MEDLEY_FAILED : status;
    status = SAME(label, rows) < 0 ? MEDLEY_FAILED : status;
    status = SAME(score, rows * right->labels) < 0 ? MEDLEY_FAILED : status;
    status = SAME(best_label, rows * right->best) < 0 ? MEDLEY_FAILED : status;
    status = SAME(best_score, outputs) < 0 ? MEDLEY_FAILED : status;
    status = SAME(head, rows) < 0 ? MEDLEY_FAILED : status;
    status = SAME(head_probability, rows) < 0 ? MEDLEY_FAILED : status;
    status = SAME(arc_probability, 1) < 0 ? MEDLEY_FAILED : status;
    status = SAME(best_head, rows * right->best) < 0 ? MEDLEY_FAILED : status;
    status = SAME(best_probability, outputs) < 0 ? MEDLEY_FAILED : status;
    return SAME(best_label_probability, rows * right->best) < 0 ? MEDLEY_FAILED : status;
}

static medley_status predict_together(medley_comm *comm, size_t rank, void *context,
                                      medley_error *error)
{
    const struct predicting *work = context;
    medley_prediction *found = NULL;
    medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
    (void)rank;
    options.comm = comm;
    options.best = work->best;
    options.probabilities = work->probabilities;
    const medley_status status =
        medley_predict_with(&found, work->model, work->data, &options, error);
    if (status < 0 || work->right == NULL)
        return status;
    const medley_status same = compare(found, work->right, error);
    medley_prediction_free(found);
    return same;
}

static void test_ranks_predict_what_one_process_predicts(void **state)
{
    (void)state;
    static const struct {
        const char *generator, *options;
        size_t best;
        bool probabilities;
    } cases[] = {{"waveform", "kernel=rbf epochs=2", 0, false},
                 {"waveform", "kernel=rbf loss=logistic epochs=2", 0, true},
                 {"breiman", "task=regression kernel=rbf", 0, false},
                 {"tagged", "template=chunk epochs=2", 3, true},
                 {"treebank", "epochs=2 hash-bits=12 template=arc-form-upos", 2, true}};
    struct fake_group group;
    medley_error error = {0};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const bool breiman = strcmp(cases[c].generator, "breiman") == 0;
        medley_dataset *data = make_data(breiman ? "ringnorm" : cases[c].generator, 21, 3);
        if (breiman) { /* numbers to predict */
            double targets[21];
            for (size_t i = 0; i < 21; i++)
                targets[i] = (double)(i % 5);
            assert_int_equal(medley_dataset_put_targets(data, targets, 21, &error), MEDLEY_OK);
        }
        medley_model *model = fit(data, NULL, cases[c].options);
        struct predicting work = {model, data, NULL, cases[c].best, cases[c].probabilities};
        medley_prediction *right = NULL;
        medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
        options.best = work.best;
        options.probabilities = work.probabilities;
        assert_int_equal(medley_predict_with(&right, model, data, &options, &error), MEDLEY_OK);
        work.right = right;
        for (size_t size = 1; size <= 4; size++) {
            run_fake_ranks(&group, size, predict_together, &work);
            for (size_t r = 0; r < size; r++)
                if (group.ranks[r].status < 0)
                    fail_msg("%s: %s of %zu ranks", cases[c].options, group.ranks[r].error.message,
                             size);
        }
        medley_prediction_free(right);
        medley_model_free(model);
        medley_dataset_free(data);
    }
}

/* More ranks than rows, and a row that cannot be predicted: its number is that of all rows. */
static void test_few_rows_and_bad_ones(void **state)
{
    (void)state;
    struct fake_group group;
    medley_error error = {0};
    medley_dataset *data = make_data("waveform", 30, 3);
    medley_model *model = fit(data, NULL, "kernel=rbf epochs=1");
    medley_dataset *two = NULL;
    assert_int_equal(medley_dataset_sample(&two, data, 2, 1, &error), MEDLEY_OK);
    medley_prediction *right = predict(model, two);
    struct predicting work = {.model = model, .data = two, .right = right};
    run_fake_ranks(&group, 5, predict_together, &work);
    for (size_t r = 0; r < 5; r++)
        if (group.ranks[r].status < 0)
            fail_msg("%s", group.ranks[r].error.message);
    medley_dataset *other = make_data("ringnorm", 9, 3); /* other columns */
    work = (struct predicting){.model = model, .data = other};
    run_fake_ranks(&group, 3, predict_together, &work);
    for (size_t r = 0; r < 3; r++) {
        assert_true(group.ranks[r].status < 0);
        assert_string_equal(group.ranks[r].error.message, group.ranks[0].error.message);
    }
    medley_prediction_free(right);
    medley_model_free(model);
    medley_dataset_free(other);
    medley_dataset_free(two);
    medley_dataset_free(data);
}

/* ---- tuning ---- */

struct tunings {
    const medley_dataset *data;
    medley_tuning *tuning[MOST_FAKE_RANKS];
};

static medley_status tune(medley_comm *comm, size_t rank, void *context, medley_error *error)
{
    struct tunings *tunings = context;
    const medley_choice choices[] = {{"C", "0.1,1,10"}, {"penalty", "mkl|nonsense|l2"}};
    medley_tune_options how = MEDLEY_TUNE_OPTIONS_INIT;
    medley_options *options = make_options("kernel=rbf method=spom epochs=2");
    how.folds = 4;
    medley_options_set_comm(options, comm);
    const medley_status status =
        medley_tune(&tunings->tuning[rank], tunings->data, options, choices, 1, &how, NULL, error);
    medley_options_free(options);
    return status;
}

static void test_ranks_tune_as_one_process(void **state)
{
    (void)state;
    struct fake_group group;
    medley_dataset *data = make_data("waveform", 60, 5);
    struct tunings alone = {.data = data};
    run_fake_ranks(&group, 1, tune, &alone);
    assert_int_equal(group.ranks[0].status, MEDLEY_OK);
    const medley_tuning *right = alone.tuning[0];
    for (size_t size = 2; size <= 3; size++) {
        struct tunings found = {.data = data};
        run_fake_ranks(&group, size, tune, &found);
        for (size_t r = 0; r < size; r++) {
            assert_int_equal(group.ranks[r].status, MEDLEY_OK);
            assert_int_equal(found.tuning[r]->best, right->best);
            assert_int_equal(found.tuning[r]->trial_count, right->trial_count);
            for (size_t t = 0; t < right->trial_count; t++)
                for (size_t f = 0; f < right->fold_count; f++)
                    assert_true(found.tuning[r]->trials[t].fold[f] == right->trials[t].fold[f]);
            medley_tuning_free(found.tuning[r]);
        }
    }
    medley_tuning_free(alone.tuning[0]);
    medley_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_learn_the_model_of_one_process),
        cmocka_unit_test(test_ranks_predict_what_one_process_predicts),
        cmocka_unit_test(test_few_rows_and_bad_ones),
        cmocka_unit_test(test_ranks_tune_as_one_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
