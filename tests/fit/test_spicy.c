/* SPDX-License-Identifier: BSD-3-Clause */
/* Method spicy through medley_fit: the certificate is that of the model as it is saved and
 * predicts, strengths by any name are the same strength, threads, memory and storage do not matter,
 * and it can be watched and stopped. */
#include "fit/fitting.h"

/* ---- what the certificate is about ---- */

struct run {
    const char *generator, *options;
    char loss;       /* h, l, s: hinge, logistic, squared */
    double l1, half; /* of norms and of half their squares in the penalty */
};

static double loss_of(char loss, double y, double f)
{
    if (loss == 's')
        return (y - f) * (y - f) / 2;
    return loss == 'h' ? fmax(0, 1 - y * f) : log1p(exp(-y * f));
}

/* Mean over the rows of the losses of every output (one against the rest) and lambda times the
 * penalty, from the predictions of a model. */
static double objective_of(const medley_model *model, const medley_dataset *train,
                           const struct run *run)
{
    const medley_summary *summary = medley_model_summary(model);
    medley_prediction *prediction = predict(model, train);
    double sum = 0;
    for (size_t r = 0; r < prediction->rows; r++)
        for (size_t k = prediction->labels == 2; k < prediction->labels; k++) {
            const double y = medley_dataset_label(train, r) == (int32_t)k ? 1 : -1;
            sum += loss_of(run->loss, y, (double)prediction->score[r * prediction->labels + k]);
        }
    sum /= (double)prediction->rows;
    for (size_t m = 0; m < summary->block_count; m++) {
        const double norm = summary->blocks[m].norm;
        sum += summary->lambda * (run->l1 * norm + run->half * norm * norm / 2);
    }
    medley_prediction_free(prediction);
    return sum;
}

static medley_model *save_and_load(medley_model *model)
{
    char path[PATH_SIZE];
    medley_model *loaded = NULL;
    medley_error error = {0};
    temporary_path(path);
    assert_int_equal(medley_model_save(model, path, &error), MEDLEY_OK);
    assert_int_equal(medley_model_load(&loaded, path, &error), MEDLEY_OK);
    unlink(path);
    return loaded;
}

static void what_is_certified_is_what_is_saved(void **state)
{
    (void)state;
    static const struct run runs[] = {
        {"ringnorm", "loss=hinge penalty=group-lasso", 'h', 1, 0},
        {"ringnorm", "loss=logistic penalty=group-lasso views=each", 'l', 1, 0},
        {"twonorm", "loss=hinge penalty=elastic(t=0.5)", 'h', 0.5, 0.5},
        {"twonorm", "loss=logistic penalty=elastic(t=0.25) spicy-C=0.3", 'l', 0.75, 0.25},
        {"twonorm", "loss=logistic penalty=l2 kernel=linear kernel=rbf(auto)", 'l', 0, 1},
        {"waveform", "loss=hinge penalty=l2 spicy-C=0.5", 'h', 0, 1},
        {"waveform", "loss=logistic penalty=block(q=2) spicy-C=0.5 normalize=center", 'l', 0, 1},
        {"ringnorm", "loss=logistic penalty=3*group-lasso storage=float64", 'l', 3, 0},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char options[256];
        snprintf(options, sizeof options, "method=spicy gap=1e-6 %s", runs[i].options);
        medley_dataset *train = make_data(runs[i].generator, 90, 1 + i);
        medley_model *model = fit(train, NULL, options);
        const medley_summary *summary = medley_model_summary(model);
        assert_true(summary->converged && summary->gap >= 0 && summary->gap <= 1e-6);
        assert_true(summary->dual <= summary->objective * (1 + 1e-9));
        medley_model *loaded = save_and_load(model);
        assert_true(medley_model_summary(loaded)->gap == summary->gap);
        assert_true(medley_model_summary(loaded)->bias == summary->bias);
        const double found = objective_of(loaded, train, &runs[i]);
        if (!(fabs(found - summary->objective) <= 1e-5 * summary->objective))
            fail_msg("%s: objective %.10g, of the saved model %.10g", options, summary->objective,
                     found);
        medley_model_free(loaded);
        medley_model_free(model);
        medley_dataset_free(train);
    }
}

/* ---- the same by other words ---- */

static double optimum(const medley_dataset *train, const char *options)
{
    medley_model *model = fit(train, NULL, options);
    const double objective = medley_model_summary(model)->objective;
    medley_model_free(model);
    return objective;
}

static void strengths_agree(void **state)
{
    (void)state;
    medley_dataset *train = make_data("ringnorm", 80, 5);
    static const char *const same[] = {
        "method=spicy gap=1e-7 spicy-C=0.4",
        "method=spicy gap=1e-7 lambda=0.005",
        "method=spicy gap=1e-7 C=2.5",
        "method=spicy gap=1e-7 spicy-C=0.1 penalty=4*group-lasso",
        "method=spicy gap=1e-7 spicy-C=0.4 penalty=elastic(t=0)",
        "method=spicy gap=1e-7 spicy-C=0.4 storage=float64",
        "method=spicy gap=1e-7 spicy-C=0.4 memory=40K",
        "method=spicy gap=1e-7 spicy-C=0.4 threads=2",
    };
    const double first = optimum(train, same[0]);
    for (size_t i = 1; i < sizeof same / sizeof *same; i++) {
        const double other = optimum(train, same[i]);
        if (!(fabs(other - first) <= 1e-6 * first))
            fail_msg("%s: optimum %.10g, expected %.10g", same[i], other, first);
    }
    assert_true(fabs(optimum(train, "method=spicy spicy-C=0.8") - first) > 1e-3 * first);
    medley_dataset_free(train);
}

/* A share of the strength that leaves all kernels out: some are left. */
static void there_is_a_strength_without_being_told(void **state)
{
    (void)state;
    static const char *const options[] = {"method=spicy", "method=spicy loss=hinge",
                                          "method=spicy penalty=block(q=1.5)"};
    for (size_t i = 0; i < 3; i++) {
        medley_dataset *train = make_data("ringnorm", 150, 6);
        medley_dataset *test = make_data("ringnorm", 200, 7);
        medley_model *model = fit(train, NULL, options[i]);
        const medley_summary *summary = medley_model_summary(model);
        assert_true(summary->active_blocks > 0 && summary->gap <= 0.01);
        assert_true(fabs(summary->spicy_C - summary->lambda * 150) < 1e-12 * summary->spicy_C);
        assert_true(accuracy_of(model, test) > 0.85);
        medley_model_free(model);
        medley_dataset_free(train);
        medley_dataset_free(test);
    }
}

static void threads_give_the_same_bytes(void **state)
{
    (void)state;
    static const char *const options[] = {
        "method=spicy gap=1e-6 loss=logistic views=each+all threads=%d",
        "method=spicy gap=1e-6 loss=hinge penalty=elastic(t=0.5) threads=%d",
        "method=spicy gap=1e-6 loss=hinge memory=300K threads=%d",
    };
    medley_dataset *train = make_data("twonorm", 180, 9);
    for (size_t i = 0; i < 3; i++) {
        char *bytes[2];
        size_t length[2];
        for (int threads = 1; threads <= 2; threads++) {
            char text[128];
            /* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral) */
            snprintf(text, sizeof text, options[i], threads);
            medley_model *model = fit(train, NULL, text);
            bytes[threads - 1] = model_bytes(model, &length[threads - 1]);
            medley_model_free(model);
        }
        assert_int_equal(length[0], length[1]);
        assert_memory_equal(bytes[0], bytes[1], length[0]);
        free(bytes[0]);
        free(bytes[1]);
    }
    medley_dataset_free(train);
}

/* ---- watched ---- */

struct watcher {
    size_t calls, stop_at;
    bool one_output; /* several are learnt one after the other */
    double objective;
};

static bool look(void *context, const medley_progress *progress)
{
    struct watcher *watcher = context;
    if (strcmp(progress->stage, "training") != 0)
        return true;
    assert_true(progress->gap >= 0);
    if (watcher->one_output)
        assert_true(progress->objective > 0 &&
                    (watcher->calls == 0 || progress->objective <= watcher->objective));
    else /* the objective is that of all of them */
        assert_true(isnan(progress->objective) && progress->total == 3 && progress->done < 3);
    watcher->objective = progress->objective;
    return ++watcher->calls != watcher->stop_at;
}

/* Several labels are one problem each; an epoch is about all of them. */
static void epochs_are_sums_over_the_labels(void **state)
{
    (void)state;
    medley_dataset *train = make_data("blobs", 120, 3);
    medley_model *model = fit(train, NULL, "method=spicy kernel=linear kernel=rbf(auto) gap=1e-3");
    const medley_summary *summary = medley_model_summary(model);
    assert_true(medley_model_label_count(model) > 2);
    assert_true(summary->epoch_count > 1 && summary->iterations > summary->epoch_count);
    for (size_t i = 0; i < summary->epoch_count; i++) {
        const medley_epoch *epoch = &summary->epochs[i];
        assert_true(epoch->objective >= summary->dual && epoch->dual <= summary->objective);
        assert_true(epoch->loss >= 0 && epoch->loss <= epoch->objective);
        assert_true(fabs(epoch->gap - (epoch->objective - epoch->dual) / epoch->objective) <=
                    1e-12);
        assert_true(i == 0 || epoch->seconds >= epoch[-1].seconds);
    }
    const medley_epoch *last = &summary->epochs[summary->epoch_count - 1];
    assert_true(fabs(last->objective - summary->objective) <= 2e-3 * summary->objective);
    assert_true(last->gap <= summary->epochs[0].gap && last->gap <= 1e-3);
    medley_model_free(model);
    medley_dataset_free(train);
}

static void it_can_be_watched_and_stopped(void **state)
{
    (void)state;
    static const char *const generators[] = {"ringnorm", "waveform"};
    for (size_t g = 0; g < 2; g++)
        for (size_t stop_at = 0; stop_at < 3; stop_at++) {
            medley_dataset *train = make_data(generators[g], 100, 11);
            medley_options *options = make_options("method=spicy loss=hinge gap=1e-8 spicy-C=0.3");
            struct watcher watcher = {.stop_at = stop_at, .one_output = g == 0};
            const medley_observer observer = {sizeof observer, .context = &watcher,
                                              .progress = look};
            medley_error error = {0};
            medley_model *model = NULL;
            const medley_status status =
                medley_fit(&model, train, NULL, options, &observer, &error);
            assert_int_equal(status, stop_at == 0 ? MEDLEY_OK : MEDLEY_STOPPED);
            const medley_summary *summary = medley_model_summary(model);
            assert_int_equal(summary->converged, summary->gap <= 1e-8);
            assert_true(isfinite(summary->gap) && summary->dual <= summary->objective);
            if (stop_at > 0)
                assert_false(summary->converged);
            assert_true(accuracy_of(model, train) > 0.5);
            medley_model_free(model);
            medley_options_free(options);
            medley_dataset_free(train);
        }
}

static void a_limit_is_no_error(void **state)
{
    (void)state;
    medley_dataset *train = make_data("ringnorm", 100, 12);
    medley_model *model = fit(train, NULL, "method=spicy loss=hinge gap=1e-9 max-iter=2");
    const medley_summary *summary = medley_model_summary(model);
    assert_false(summary->converged);
    assert_true(summary->iterations <= 2 && summary->gap > 1e-9);
    medley_model_free(model);
    medley_dataset_free(train);
}

/* ---- refused ---- */

static void what_it_cannot_do_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *options, *says;
    } cases[] = {
        {"method=spicy penalty=none", "sum over kernels"},
        {"method=spicy penalty=l1", "kernel"},
        {"method=spicy penalty=mkl+squared-block", "sum over kernels"},
        {"method=spicy loss=squared", "loss"},
        {"method=spicy loss=softmax-margin", "loss"},
    };
    medley_dataset *train = make_data("ringnorm", 40, 13);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_options *options = make_options(cases[i].options);
        medley_error error = {0};
        medley_model *model = NULL;
        assert_true(medley_fit(&model, train, NULL, options, NULL, &error) < 0);
        assert_null(model);
        if (strstr(error.message, cases[i].says) == NULL)
            fail_msg("%s: '%s' does not say '%s'", cases[i].options, error.message, cases[i].says);
        medley_options_free(options);
    }
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_certified_is_what_is_saved),
        cmocka_unit_test(strengths_agree),
        cmocka_unit_test(there_is_a_strength_without_being_told),
        cmocka_unit_test(threads_give_the_same_bytes),
        cmocka_unit_test(epochs_are_sums_over_the_labels),
        cmocka_unit_test(it_can_be_watched_and_stopped),
        cmocka_unit_test(a_limit_is_no_error),
        cmocka_unit_test(what_it_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
