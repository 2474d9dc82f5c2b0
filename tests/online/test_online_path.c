/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of online methods: no model is worse than the one that medley_fit learns from nothing, few
 * blocks are in at first and more later, blocks come in and go out again, any number of threads
 * gives the same bits, and who stops gets the models so far. */
#include "fit/tagging.h"
#include "online/walking.h"

/* One percent, beside what the cold run comes to. */
static void compare_with_cold(const medley_dataset *train, const char *options,
                              const medley_path_options *path)
{
    struct walked walked = {0};
    walk_path(&walked, train, options, path);
    assert_int_equal(walked.count, path->count);
    for (size_t i = 0; i < walked.count; i++) {
        const medley_summary *warm = told(&walked, i);
        char text[512];
        snprintf(text, sizeof text, "%s lambda=%.17g", options, warm->lambda);
        medley_model *model = fit(train, NULL, text);
        const medley_summary *cold = medley_model_summary(model);
        if (!(warm->objective <= 1.01 * cold->objective))
            fail_msg("%s: %g, from nothing %g", text, warm->objective, cold->objective);
        assert_true(warm->lambda == cold->lambda);
        assert_int_equal(warm->block_count, cold->block_count);
        medley_model_free(model);
    }
    release_models(&walked);
}

static void no_model_is_worse_than_a_cold_one(void **state)
{
    (void)state;
    static const char *const options[] = {
        "method=spom penalty=group-lasso views=all+each kernel=rbf epochs=40",
        "method=spom penalty=mkl loss=logistic views=all+each kernel=rbf epochs=40",
        "method=spom penalty=block(q=1.5) views=all+each kernel=rbf epochs=40",
        "method=spom penalty=group-lasso+l2 views=all+each kernel=rbf epochs=40 eta0=0.3",
        "method=spom penalty=l2 kernel=rbf epochs=40 average=true",
        "method=pegasos kernel=rbf epochs=40",
        "method=obscure views=all+each kernel=rbf"};
    medley_dataset *rings = make_data("ringnorm", 80, 1);
    medley_dataset *waves = make_data("waveform", 80, 1);
    const medley_path_options path = grid(5, 0.1);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        compare_with_cold(i % 2 ? rings : waves, options[i], &path);
    medley_dataset_free(rings);
    medley_dataset_free(waves);
}

static void sequences_have_paths_of_every_penalty(void **state)
{
    (void)state;
    static const char templates[] = "U0:%x[0,0]\nU1:%x[0,1]\nU2:%x[-1,0]\nU3:%x[1,1]\nB\n";
    static const char *const penalties[] = {
        "penalty=group-lasso",      "penalty=mkl loss=logistic",
        "penalty=l1 loss=logistic", "penalty=sparse-group loss=logistic",
        "penalty=elastic-mkl",      "penalty=absorbed-l2"};
    medley_dataset *train = alternating_tags(60, 5);
    const medley_path_options path = grid(5, 0.2);
    for (size_t i = 0; i < sizeof penalties / sizeof *penalties; i++) {
        char options[512];
        char file[PATH_SIZE];
        with_template(options, file, templates, penalties[i]);
        compare_with_cold(train, options, &path);
        unlink(file);
    }
    medley_dataset_free(train);
}

/* Columns of which a few say something. */
static medley_dataset *mostly_noise(size_t rows, uint64_t seed)
{
    enum { COLUMNS = 8, USEFUL = 2 };
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    md_random random;
    md_random_seed(&random, seed);
    double *values = calloc(rows * COLUMNS, sizeof *values);
    const char **labels = calloc(rows, sizeof *labels);
    assert_non_null(values);
    assert_non_null(labels);
    for (size_t r = 0; r < rows; r++) {
        double sum = 0;
        for (size_t c = 0; c < COLUMNS; c++) {
            values[r * COLUMNS + c] = md_random_normal(&random);
            sum += c < USEFUL ? fabs(values[r * COLUMNS + c]) : 0;
        }
        labels[r] = sum > 1.6 ? "far" : "near";
    }
    if (medley_dataset_from_dense(&dataset, values, rows, COLUMNS, labels, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    free(values);
    free(labels);
    return dataset;
}

static bool is_in(const struct walked *walked, size_t i, size_t m)
{
    return told(walked, i)->blocks[m].norm > 0;
}

static void blocks_come_in_and_go_out(void **state)
{
    (void)state;
    size_t came = 0;
    size_t went = 0;
    const medley_path_options path = grid(12, 0.02);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        medley_dataset *train = mostly_noise(70, seed);
        struct walked walked = {0};
        walk_path(&walked, train,
                  "method=spom penalty=group-lasso views=each kernel=rbf(sigma2={0.3,1}) epochs=40",
                  &path);
        assert_int_equal(told(&walked, 0)->active_blocks, 0);
        assert_true(is_in(&walked, 5, 0) || is_in(&walked, 5, 1)); /* of the first column */
        for (size_t i = 1; i < walked.count; i++) {
            const size_t before = told(&walked, i - 1)->active_blocks;
            assert_true(told(&walked, i)->active_blocks + 3 >= before); /* roughly monotone */
            for (size_t m = 0; m < told(&walked, i)->block_count; m++) {
                came += !is_in(&walked, i - 1, m) && is_in(&walked, i, m);
                went += is_in(&walked, i - 1, m) && !is_in(&walked, i, m);
            }
        }
        const size_t last = told(&walked, 11)->active_blocks;
        assert_true(last > told(&walked, 3)->active_blocks);
        release_models(&walked);
        medley_dataset_free(train);
    }
    assert_true(came > 12);
    assert_true(went > 0);
}

static void any_number_of_threads_gives_the_same_models(void **state)
{
    (void)state;
    static const char *const options[] = {
        "method=spom penalty=group-lasso views=all+each kernel=rbf epochs=20 batch=4",
        "method=obscure kernel=rbf epochs2=6"};
    medley_dataset *train = make_data("waveform", 60, 3);
    const medley_path_options path = grid(4, 0.1);
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        struct walked walked[2];
        memset(walked, 0, sizeof walked);
        for (size_t t = 0; t < 2; t++) {
            char text[512];
            snprintf(text, sizeof text, "%s threads=%zu", options[o], t + 1);
            walk_path(&walked[t], train, text, &path);
            assert_int_equal(walked[t].count, 4);
        }
        for (size_t i = 0; i < 4; i++) {
            size_t length[2];
            char *one = model_bytes(walked[0].models[i], &length[0]);
            char *two = model_bytes(walked[1].models[i], &length[1]);
            assert_int_equal(length[0], length[1]);
            assert_memory_equal(one, two, length[0]);
            free(one);
            free(two);
        }
        release_models(&walked[0]);
        release_models(&walked[1]);
    }
    medley_dataset_free(train);
}

/* Kernel values that are not kept: the models are the same but for rounding. */
static void kernels_need_not_fit_the_memory(void **state)
{
    (void)state;
    static const char *const options[] = {
        "method=spom penalty=group-lasso views=all+each kernel=rbf epochs=8 eta0=0.3",
        "method=spom penalty=group-lasso views=all+each kernel=rbf epochs=8 eta0=0.3 memory=200K"};
    medley_dataset *train = make_data("ringnorm", 60, 3);
    const medley_path_options path = grid(4, 0.2);
    struct walked walked[2];
    memset(walked, 0, sizeof walked);
    for (size_t o = 0; o < 2; o++)
        walk_path(&walked[o], train, options[o], &path);
    for (size_t i = 0; i < 4; i++) {
        const medley_summary *kept = told(&walked[0], i);
        const medley_summary *streamed = told(&walked[1], i);
        assert_true(fabs(kept->lambda - streamed->lambda) <= 1e-5 * kept->lambda);
        assert_true(fabs(kept->objective - streamed->objective) <= 2e-3 * kept->objective);
    }
    assert_int_equal(told(&walked[1], 0)->active_blocks, 0);
    assert_true(told(&walked[1], 3)->active_blocks > 0);
    release_models(&walked[0]);
    release_models(&walked[1]);
    medley_dataset_free(train);
}

static bool stop_at(void *context, const medley_progress *progress)
{
    size_t *left = context;
    (void)progress;
    return *left > 0 && --*left > 0;
}

static void who_stops_gets_the_models_so_far(void **state)
{
    (void)state;
    medley_dataset *train = make_data("ringnorm", 60, 3);
    const medley_path_options path = grid(5, 0.1);
    size_t most = 0;
    for (size_t calls = 1; calls < 60; calls += 9) {
        size_t left = calls;
        const medley_observer observer = {sizeof observer, .context = &left, .progress = stop_at};
        struct walked walked = {0};
        medley_error error = {0};
        medley_options *options =
            make_options("method=spom penalty=group-lasso kernel=rbf epochs=20");
        assert_true(medley_fit_path(train, options, &path, keep_model, &walked, &observer,
                                    &error) == MEDLEY_STOPPED);
        most = walked.count > most ? walked.count : most;
        for (size_t i = 0; i < walked.count; i++) {
            assert_true(isfinite(told(&walked, i)->objective));
            assert_true(accuracy_of(walked.models[i], train) >= 0);
        }
        release_models(&walked);
        medley_options_free(options);
    }
    assert_true(most > 1);
    struct walked walked = {.wanted = 2};
    walk_path(&walked, train, "method=spom kernel=rbf epochs=10", &path);
    assert_int_equal(walked.count, 2);
    release_models(&walked);
    medley_dataset_free(train);
}

static void trees_have_paths_with_relations(void **state)
{
    (void)state;
    medley_dataset *train = make_data("treebank", 30, 1);
    struct walked walked = {0};
    const medley_path_options path = grid(4, 0.02);
    walk_path(&walked, train, "hash-bits=8 penalty=group-lasso epochs=4", &path);
    assert_int_equal(walked.count, 4);
    assert_int_equal(told(&walked, 0)->active_blocks, 0);
    assert_true(told(&walked, 3)->active_blocks > 0);
    for (size_t i = 0; i < 4; i++) {
        medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
        medley_error error = {0};
        assert_true(medley_model_label_count(walked.models[i]) > 1);
        if (medley_evaluate(&evaluation, walked.models[i], train, 1, &error) != MEDLEY_OK)
            fail_msg("%s", error.message);
        assert_true(evaluation.las >= 0);
        medley_evaluation_clear(&evaluation);
    }
    release_models(&walked);
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_model_is_worse_than_a_cold_one),
        cmocka_unit_test(sequences_have_paths_of_every_penalty),
        cmocka_unit_test(blocks_come_in_and_go_out),
        cmocka_unit_test(any_number_of_threads_gives_the_same_models),
        cmocka_unit_test(kernels_need_not_fit_the_memory),
        cmocka_unit_test(who_stops_gets_the_models_so_far),
        cmocka_unit_test(trees_have_paths_with_relations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
