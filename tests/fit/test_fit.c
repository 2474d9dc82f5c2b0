/* SPDX-License-Identifier: BSD-3-Clause */
/* medley_fit from data to model: what is learnt, early stopping, observers that stop, one seed for
 * one model, and one sentence for every wrong use. */
#include "fit/fitting.h"

/* ---- learning ---- */

static void every_method_learns(void **state)
{
    (void)state;
    static const struct {
        const char *generator, *options;
        double accuracy;
    } cases[] = {
        {"ringnorm", "method=spom", 0.8},
        {"ringnorm", "method=average", 0.8},
        {"ringnorm", "method=best", 0.8},
        {"waveform", "method=spom loss=logistic", 0.75},
        {"waveform", "method=spom loss=logistic average=yes", 0.75},
        {"waveform", "penalty=l2 schedule=inverse eta0=1 C=1", 0.75},
        {"waveform", "penalty=elastic(t=0.3) kernel=rbf(auto) kernel=linear", 0.75},
        {"waveform", "penalty=sparse-group kernel=linear(explicit) lambda=0.001", 0.7},
        {"waveform", "penalty=l1 kernel=linear(explicit,norm=trace) lambda=0.0001", 0.7},
        {"twonorm", "kernel=linear(explicit) kernel=rbf(auto) normalize=none", 0.93},
        {"twonorm", "views=each kernel=rbf(auto) penalty=group-lasso lambda=0.001", 0.85},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_dataset *train = make_data(cases[i].generator, 200, 1);
        medley_dataset *test = make_data(cases[i].generator, 300, 2);
        medley_model *model = fit(train, NULL, cases[i].options);
        const double accuracy = accuracy_of(model, test);
        if (accuracy < cases[i].accuracy)
            fail_msg("%s with %s: accuracy %g", cases[i].generator, cases[i].options, accuracy);
        medley_model_free(model);
        medley_dataset_free(train);
        medley_dataset_free(test);
    }
}

static void check_defaults(size_t rows, bool large)
{
    medley_dataset *train = make_data("waveform", rows, 3);
    medley_model *model = NULL;
    medley_error error = {0};
    assert_int_equal(medley_fit(&model, train, NULL, NULL, NULL, &error), MEDLEY_OK);
    const medley_summary *summary = medley_model_summary(model);
    assert_string_equal(summary->method, large ? "obscure" : "spicy");
    assert_string_equal(summary->loss, "hinge");
    assert_string_equal(summary->penalty, large ? "squared-block(q=1.25)" : "group-lasso");
    assert_string_equal(summary->task, "multiclass");
    assert_string_equal(summary->scale, "center");
    assert_int_equal(summary->examples, rows);
    assert_true(summary->block_count > 1);
    assert_true(summary->epoch_count > 0);
    assert_true(large ? fabs(summary->C - 1) < 1e-9 : summary->gap <= 0.01);
    assert_true(fabs(summary->lambda * (double)rows - summary->spicy_C) <
                1e-12 * summary->spicy_C + 1e-12);
    double weights = 0;
    for (size_t m = 0; m < summary->block_count; m++)
        weights += summary->blocks[m].weight;
    assert_true(fabs(weights - 1) < 1e-9);
    assert_int_equal(medley_model_label_count(model), 3);
    medley_model_free(model);
    medley_dataset_free(train);
}

static void defaults_serve_without_options_or_observer(void **state)
{
    (void)state;
    check_defaults(150, false);
    check_defaults(400, true);
}

/* The last view of blobs is noise; the kernels of the others are needed. */
static void mkl_leaves_out_the_view_of_noise(void **state)
{
    (void)state;
    medley_dataset *train = make_data("blobs", 240, 4);
    medley_model *model = fit(train, NULL, "kernel=rbf(auto) C=1 loss=hinge epochs=30 eta0=1");
    const medley_summary *summary = medley_model_summary(model);
    const size_t noise = summary->block_count - 1;
    for (size_t m = 0; m < noise; m++)
        assert_true(summary->blocks[m].weight > 2 * summary->blocks[noise].weight);
    medley_model_free(model);
    medley_dataset_free(train);
}

/* Mean log loss of the model on data that it was trained on, plus lambda/2 (sum b)^2. */
static double objective_of(const medley_model *model, const medley_dataset *train)
{
    const medley_summary *summary = medley_model_summary(model);
    medley_prediction *prediction = predict(model, train);
    double loss = 0;
    double norms = 0;
    for (size_t r = 0; r < prediction->rows; r++) {
        const float *score = prediction->score + r * prediction->labels;
        const char *name = medley_dataset_label_name(train, (size_t)medley_dataset_label(train, r));
        double sum = 0;
        for (size_t l = 0; l < prediction->labels; l++)
            sum += exp((double)score[l]);
        for (size_t l = 0; l < prediction->labels; l++)
            if (strcmp(medley_model_label_name(model, l), name) == 0)
                loss += log(sum) - (double)score[l];
    }
    for (size_t m = 0; m < summary->block_count; m++)
        norms += summary->blocks[m].norm;
    const double mean = loss / (double)prediction->rows;
    medley_prediction_free(prediction);
    return mean + summary->lambda * norms * norms / 2;
}

/* Along the way losses are told as they were met; in the end the objective is exact. */
static void reported_objectives_fall(void **state)
{
    (void)state;
    medley_dataset *train = make_data("waveform", 200, 5);
    medley_model *model = fit(train, NULL, "epochs=30 loss=logistic scale=none");
    const medley_summary *summary = medley_model_summary(model);
    assert_true(summary->epochs[29].objective < summary->epochs[0].objective);
    assert_true(fabs(summary->objective - summary->epochs[29].objective) <
                0.05 * summary->objective);
    assert_true(summary->epochs[29].loss < summary->epochs[29].objective);
    assert_true(fabs(summary->objective - objective_of(model, train)) < 1e-4 * summary->objective);
    medley_model_free(model);
    medley_dataset_free(train);
}

/* ---- held-out data ---- */

static void held_out_data_choose_the_best_epoch(void **state)
{
    (void)state;
    static const char *const runs[] = {
        "epochs=25 patience=3 eta0=3 C=100", "epochs=25 patience=3 eta0=3 C=100 average=yes",
        "epochs=12 patience=2 method=average eta0=10", "epochs=12 patience=2 method=best eta0=10",
        "epochs=12 patience=50 kernel=linear(explicit) eta0=10 average=yes"};
    medley_dataset *train = make_data("waveform", 120, 6);
    medley_dataset *dev = make_data("waveform", 150, 7);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        medley_model *model = fit(train, dev, runs[i]);
        const medley_summary *summary = medley_model_summary(model);
        double best = 0;
        size_t best_epoch = 0;
        for (size_t e = 0; e < summary->epoch_count; e++) {
            assert_true(summary->epochs[e].dev_accuracy >= 0);
            if (summary->epochs[e].dev_accuracy > best) {
                best = summary->epochs[e].dev_accuracy;
                best_epoch = e;
            }
        }
        assert_true(accuracy_of(model, dev) == best);
        if (i < 2 && summary->epoch_count < 25) { /* stopped early: exactly when patience ended */
            assert_int_equal(summary->epoch_count, best_epoch + 1 + 3);
            assert_true(summary->converged);
        }
        medley_model_free(model);
    }
    medley_dataset_free(train);
    medley_dataset_free(dev);
}

/* Looking at the average of the iterates after each epoch must not change what is learnt. */
static void measuring_averages_does_not_disturb_training(void **state)
{
    (void)state;
    medley_dataset *train = make_data("waveform", 120, 8);
    medley_dataset *dev = make_data("waveform", 60, 9);
    const char *options = "epochs=6 patience=50 eta0=1 average=yes loss=logistic";
    medley_model *watched = fit(train, dev, options);
    medley_model *alone = fit(train, NULL, options);
    const medley_summary *a = medley_model_summary(watched);
    const medley_summary *b = medley_model_summary(alone);
    for (size_t e = 0; e < 6; e++)
        assert_true(fabs(a->epochs[e].objective - b->epochs[e].objective) <
                    1e-4 * b->epochs[e].objective);
    assert_true(isnan(b->epochs[0].dev_accuracy));
    medley_model_free(watched);
    medley_model_free(alone);
    medley_dataset_free(train);
    medley_dataset_free(dev);
}

/* ---- observers ---- */

struct watcher {
    size_t calls, stop_at; /* 0: never */
    double seconds;
};

static bool watch(void *context, const medley_progress *progress)
{
    struct watcher *watcher = context;
    assert_non_null(progress->stage);
    assert_true(progress->total == 0 || progress->done <= progress->total);
    assert_true(progress->seconds >= 0);
    return ++watcher->calls != watcher->stop_at; /* the wish is told once only */
}

static medley_status fit_watched(medley_model **model, const medley_dataset *train,
                                 const medley_dataset *dev, const char *text,
                                 struct watcher *watcher)
{
    medley_error error = {0};
    medley_options *options = make_options(text);
    const medley_observer observer = {sizeof observer, .context = watcher, .progress = watch};
    const medley_status status = medley_fit(model, train, dev, options, &observer, &error);
    if (status < 0)
        fail_msg("%s: %s", text, error.message);
    medley_options_free(options);
    return status;
}

/* Stops at every single callback in turn. */
static void stopping_at_any_moment_gives_a_usable_model(void **state)
{
    (void)state;
    static const char *const runs[] = {"epochs=3",
                                       "epochs=3 eta0=1",
                                       "epochs=2 average=yes",
                                       "epochs=2 method=average",
                                       "epochs=2 method=best",
                                       "epochs=2 eta0=1 kernel=linear(explicit)"};
    medley_dataset *train = make_data("waveform", 45, 10);
    medley_dataset *dev = make_data("waveform", 30, 11);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct watcher all = {0};
        medley_model *model = NULL;
        assert_int_equal(fit_watched(&model, train, dev, runs[i], &all), MEDLEY_OK);
        const size_t blocks = medley_model_summary(model)->block_count;
        medley_model_free(model);
        assert_true(all.calls > 0);
        for (size_t stop = 1; stop <= all.calls; stop++) {
            struct watcher watcher = {.stop_at = stop};
            model = NULL;
            assert_int_equal(fit_watched(&model, train, dev, runs[i], &watcher), MEDLEY_STOPPED);
            assert_non_null(model);
            assert_int_equal(watcher.calls, stop); /* and nothing more was done */
            medley_prediction *prediction = predict(model, dev);
            for (size_t j = 0; j < 30 * 3; j++)
                assert_true(isfinite(prediction->score[j]));
            assert_int_equal(medley_model_summary(model)->block_count, blocks);
            size_t length;
            free(model_bytes(model, &length));
            medley_prediction_free(prediction);
            medley_model_free(model);
        }
    }
    medley_dataset_free(train);
    medley_dataset_free(dev);
}

/* ---- one seed, one model ---- */

static void assert_same_bytes(const medley_dataset *train, const char *first, const char *second)
{
    size_t lengths[2];
    medley_model *a = fit(train, NULL, first);
    medley_model *b = fit(train, NULL, second);
    char *bytes_a = model_bytes(a, &lengths[0]);
    char *bytes_b = model_bytes(b, &lengths[1]);
    assert_int_equal(lengths[0], lengths[1]);
    assert_memory_equal(bytes_a, bytes_b, lengths[0]);
    free(bytes_a);
    free(bytes_b);
    medley_model_free(a);
    medley_model_free(b);
}

static void one_seed_gives_one_model_for_any_number_of_threads(void **state)
{
    (void)state;
    medley_dataset *waveform = make_data("waveform", 150, 12);
    assert_same_bytes(waveform, "threads=1", "threads=1");
    assert_same_bytes(waveform, "threads=1", "threads=2");
    assert_same_bytes(waveform, "threads=1 average=yes loss=logistic",
                      "threads=3 average=yes loss=logistic");
    medley_dataset_free(waveform);
    /* many labels and kernels, so that updates are shared out among threads */
    medley_dataset *blobs = NULL;
    medley_error error = {0};
    medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
    options.rows = 420;
    options.classes = 30;
    options.views = 4;
    assert_int_equal(medley_generate(&blobs, "blobs", &options, &error), MEDLEY_OK);
    assert_same_bytes(
        blobs, "threads=1 loss=logistic eta0=1 epochs=2 kernel=rbf(gamma={.1,.2,.3,.4,.5,.6})",
        "threads=3 loss=logistic eta0=1 epochs=2 kernel=rbf(gamma={.1,.2,.3,.4,.5,.6})");
    medley_dataset_free(blobs);
}

static void a_rate_found_by_auto_can_be_given(void **state)
{
    (void)state;
    medley_dataset *train = make_data("waveform", 100, 13);
    medley_model *automatic = fit(train, NULL, "epochs=4");
    char text[64];
    snprintf(text, sizeof text, "epochs=4 eta0=%.17g", medley_model_summary(automatic)->eta0);
    assert_same_bytes(train, "epochs=4", text);
    medley_model_free(automatic);
    medley_dataset_free(train);
}

static void another_seed_gives_another_model(void **state)
{
    (void)state;
    medley_dataset *train = make_data("waveform", 100, 14);
    medley_model *a = fit(train, NULL, "seed=1 eta0=1");
    medley_model *b = fit(train, NULL, "seed=2 eta0=1");
    assert_true(medley_model_summary(a)->objective != medley_model_summary(b)->objective);
    medley_model_free(a);
    medley_model_free(b);
    medley_dataset_free(train);
}

/* Kernels that do not fit the budget are computed on the fly: nothing else changes. */
static void a_tiny_memory_budget_gives_the_same_predictions(void **state)
{
    (void)state;
    static const char *const runs[] = {"epochs=5 eta0=1", "epochs=5 eta0=1 average=yes",
                                       "epochs=5 eta0=1 method=average",
                                       "epochs=5 eta0=1 normalize=center kernel=rbf(auto)"};
    medley_dataset *train = make_data("waveform", 200, 15);
    medley_dataset *test = make_data("waveform", 100, 16);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s memory=32K", runs[i]);
        medley_model *full = fit(train, NULL, runs[i]);
        medley_model *streamed = fit(train, NULL, text);
        medley_prediction *a = predict(full, test);
        medley_prediction *b = predict(streamed, test);
        for (size_t j = 0; j < 100 * 3; j++)
            assert_true(fabsf(a->score[j] - b->score[j]) <= 1e-3f * (1 + fabsf(a->score[j])));
        assert_true(fabs(medley_model_summary(full)->objective -
                         medley_model_summary(streamed)->objective) < 1e-3);
        medley_prediction_free(a);
        medley_prediction_free(b);
        medley_model_free(full);
        medley_model_free(streamed);
    }
    medley_dataset_free(train);
    medley_dataset_free(test);
}

/* Interrupted and resumed twice: other rows of kernels are at hand by then, and work is cut in
 * other ways than in a run that was left alone. */
static void a_run_on_the_fly_goes_on_to_the_same_model(void **state)
{
    (void)state;
    static const char *const runs[] = {
        "kernel=rbf(auto) kernel=poly(degree=1,norm=diag)",
        "kernel=rbf(auto) kernel=poly loss=logistic average=yes batch=4",
        "kernel=poly(norm=center) kernel=rbf(auto) method=average"};
    medley_dataset *norms = NULL;
    medley_error error = {0};
    medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
    options.rows = 200;
    options.dimension = 50;
    assert_int_equal(medley_generate(&norms, "ringnorm", &options, &error), MEDLEY_OK);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char path[PATH_SIZE];
        char whole[200];
        char resumed[sizeof whole + PATH_SIZE + 32];
        temporary_path(path);
        unlink(path);
        for (size_t epochs = 8; epochs <= 24; epochs += 8) {
            snprintf(whole, sizeof whole, "eta0=1 memory=100K epochs=%zu %s", epochs, runs[i]);
            snprintf(resumed, sizeof resumed, "%s checkpoint=%s resume=yes", whole, path);
            assert_same_bytes(norms, whole, resumed);
        }
        unlink(path);
    }
    medley_dataset_free(norms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_learns),
        cmocka_unit_test(defaults_serve_without_options_or_observer),
        cmocka_unit_test(mkl_leaves_out_the_view_of_noise),
        cmocka_unit_test(reported_objectives_fall),
        cmocka_unit_test(held_out_data_choose_the_best_epoch),
        cmocka_unit_test(measuring_averages_does_not_disturb_training),
        cmocka_unit_test(stopping_at_any_moment_gives_a_usable_model),
        cmocka_unit_test(one_seed_gives_one_model_for_any_number_of_threads),
        cmocka_unit_test(a_rate_found_by_auto_can_be_given),
        cmocka_unit_test(another_seed_gives_another_model),
        cmocka_unit_test(a_tiny_memory_budget_gives_the_same_predictions),
        cmocka_unit_test(a_run_on_the_fly_goes_on_to_the_same_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
