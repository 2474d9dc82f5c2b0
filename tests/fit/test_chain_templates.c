/* SPDX-License-Identifier: BSD-3-Clause */
/* Training on tagged words with feature templates: tasks that need neighbouring labels, features
 * and blocks that are told of, templates beside kernels, a choice of blocks, and one model for any
 * number of threads. */
#include "fit/tagging.h"

static const char *const WORDS = "U00:%x[0,0]\nU01:%x[0,1]\n";

static const medley_block_info *find_block(const medley_model *model, const char *name)
{
    const medley_summary *summary = medley_model_summary(model);
    for (size_t m = 0; m < summary->block_count; m++)
        if (strcmp(summary->blocks[m].name, name) == 0)
            return &summary->blocks[m];
    return NULL;
}

/* ---- learning ---- */

static void alternating_labels_need_pairs_of_labels(void **state)
{
    (void)state;
    static const struct {
        const char *templates, *options;
        bool enough;
    } cases[] = {
        {"U00:%x[0,0]\nU01:%x[0,1]\nB\n", "", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\nB\n", "loss=logistic", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\nB\n", "bigram=fixed", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\nB\n", "bigram=learned average=yes", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\nB\n", "bigram=none", false},
        {"U00:%x[0,0]\nU01:%x[0,1]\n", "", false},
        {"U00:%x[0,0]\nU01:%x[0,1]\n", "bigram=fixed", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\n", "bigram=learned penalty=l2", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\n", "order=2", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\nB\n", "order=2 bigram-ends=yes loss=logistic", true},
        {"*00:%x[0,0]\nU01:%x[0,1]\n", "", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\nB\n", "penalty=l1 lambda=0.001", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\nB\n", "hash-bits=12", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\nB\n", "batch=1", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\nB\n", "batch=8 schedule=sqrt", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\nB\n", "schedule=constant eta0=0.1", true},
        {"U00:%x[0,0]\nU01:%x[0,1]\nB\n", "schedule=inverse penalty=l2 C=1 eta0=1", true},
    };
    medley_dataset *train = alternating_tags(120, 1);
    medley_dataset *test = alternating_tags(80, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char options[128];
        snprintf(options, sizeof options, "epochs=20 %s%s", cases[i].options,
                 strstr(cases[i].options, "eta0") ? "" : " eta0=0.3");
        medley_model *model = fit_tagged(train, cases[i].templates, options);
        const double accuracy = accuracy_of(model, test);
        if (cases[i].enough ? accuracy < 1 : accuracy > 0.85)
            fail_msg("templates '%s' with %s: accuracy %g", cases[i].templates, options, accuracy);
        medley_model_free(model);
    }
    medley_dataset_free(train);
    medley_dataset_free(test);
}

static void pairs_of_labels_may_look_at_words(void **state)
{
    (void)state;
    medley_dataset *train = switching_tags(200, 3);
    medley_dataset *test = switching_tags(100, 4);
    medley_model *blind = fit_tagged(train, "U00:%x[0,0]\nB\n", "epochs=30 eta0=0.3");
    assert_true(accuracy_of(blind, test) < 0.75);
    medley_model_free(blind);
    static const char *const losses[] = {"hinge", "logistic"};
    for (size_t i = 0; i < 2; i++) {
        char options[64];
        snprintf(options, sizeof options, "epochs=30 eta0=0.3 loss=%s", losses[i]);
        medley_model *model = fit_tagged(train, "U00:%x[0,0]\nB00:%x[0,0]\n", options);
        assert_true(accuracy_of(model, test) == 1);
        assert_non_null(find_block(model, "B00:%x[0,0]"));
        medley_model_free(model);
    }
    medley_dataset_free(train);
    medley_dataset_free(test);
}

static void blocks_are_the_lines_of_the_templates(void **state)
{
    (void)state;
    medley_dataset *train = alternating_tags(60, 5);
    medley_model *model = fit_tagged(train, "U00:%x[0,0]\nU01:%x[0,1]\nB\n", "epochs=10 eta0=0.3");
    const medley_summary *summary = medley_model_summary(model);
    assert_string_equal(summary->task, "chain");
    assert_int_equal(summary->block_count, 3);
    assert_int_equal(summary->examples, medley_dataset_sequences(train));
    assert_int_equal(summary->parts, medley_dataset_rows(train));
    assert_true(find_block(model, "U00:%x[0,0]")->features > 0);
    assert_true(find_block(model, "U00:%x[0,0]")->features <= 3 * 2); /* words times labels */
    assert_true(find_block(model, "U01:%x[0,1]")->features <= 5 * 2);
    assert_true(find_block(model, "B")->features <= 4);
    assert_true(find_block(model, "B")->weight > find_block(model, "U01:%x[0,1]")->weight);
    medley_model_free(model);
    medley_dataset_free(train);
}

static void every_penalty_runs_on_templates(void **state)
{
    (void)state;
    medley_dataset *train = switching_tags(40, 6);
    medley_listing listing = MEDLEY_LISTING_INIT;
    for (size_t i = 0; medley_list(&listing, "penalties", i); i++)
        for (size_t j = 0; j < 8; j++) {
            char options[128];
            snprintf(options, sizeof options,
                     "penalty=%s loss=%s average=%s bigram=%s epochs=5 eta0=0.2 lambda=0.01",
                     listing.name, j % 2 ? "hinge" : "logistic", j / 2 % 2 ? "yes" : "no",
                     j / 4 ? "fixed" : "learned");
            medley_model *model =
                fit_tagged(train, "U00:%x[0,0]\nU01:%x[-1,0]\nB00:%x[0,0]\n", options);
            const medley_summary *summary = medley_model_summary(model);
            const double accuracy = accuracy_of(model, train);
            if (!isfinite(summary->objective) || !(summary->objective > 0) || accuracy < 0.5)
                fail_msg("%s: objective %g, accuracy %g", options, summary->objective, accuracy);
            medley_model_free(model);
        }
    medley_dataset_free(train);
}

static void rare_features_are_left_out(void **state)
{
    (void)state;
    medley_dataset *train = read_tagged("a X\nonce Y\na X\n\na X\nb Y\nb Y\n\n");
    medley_model *all = fit_tagged(train, "U:%x[0,0]\n", "epochs=5 eta0=1");
    medley_model *often = fit_tagged(train, "U:%x[0,0]\n", "epochs=5 eta0=1 min-count=2");
    assert_int_equal(find_block(all, "U:%x[0,0]")->features, 3 * 2);
    assert_int_equal(find_block(often, "U:%x[0,0]")->features, 2 * 2);
    medley_model_free(all);
    medley_model_free(often);
    medley_dataset_free(train);
}

/* ---- beside kernels ---- */

/* Tags of two halves: a word tells one, a number in another file the other. */
static medley_dataset *words_and_numbers(size_t sequences, uint64_t seed)
{
    static const char *const tags[] = {"A", "B", "C", "D"};
    md_text words = {0};
    md_text numbers = {0};
    md_random random;
    medley_error error = {0};
    char path[PATH_SIZE];
    md_random_seed(&random, seed);
    for (size_t s = 0; s < sequences; s++) {
        for (size_t i = 0; i < 4; i++) {
            const size_t word = md_random_below(&random, 2);
            const size_t number = md_random_below(&random, 2);
            md_text_addf(&words, "%s w %s\n", word ? "yes" : "no", tags[2 * word + number]);
            md_text_addf(&numbers, "%g,%g\n", (number ? 1 : -1) + 0.2 * md_random_normal(&random),
                         md_random_normal(&random));
        }
        md_text_addf(&words, "\n");
    }
    assert_false(words.failed || numbers.failed);
    medley_dataset *dataset = read_tagged(words.data);
    medley_read_options how = MEDLEY_READ_OPTIONS_INIT;
    how.format = "csv";
    how.label = "none";
    write_file(path, numbers.data);
    if (medley_dataset_add_table(dataset, "numbers", path, &how, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    unlink(path);
    md_text_clear(&words);
    md_text_clear(&numbers);
    return dataset;
}

static void templates_and_kernels_learn_together(void **state)
{
    (void)state;
    static const char *const runs[] = {"kernel=rbf(sigma=1)", "kernel=linear loss=logistic",
                                       "kernel=linear(explicit) penalty=l1 lambda=0.001",
                                       "kernel=rbf(sigma=1) batch=8 bigram=fixed"};
    medley_dataset *train = words_and_numbers(40, 1);
    medley_dataset *test = words_and_numbers(30, 2);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char options[128];
        char path[PATH_SIZE];
        medley_error error = {0};
        medley_model *loaded = NULL;
        snprintf(options, sizeof options, "%s epochs=30 eta0=0.3", runs[i]);
        medley_model *model = fit_tagged(train, WORDS, options);
        const double accuracy = accuracy_of(model, test);
        if (accuracy < 0.99)
            fail_msg("%s: accuracy %g", options, accuracy);
        assert_true(find_block(model, "U00:%x[0,0]")->weight > 0.1);
        assert_true(medley_model_summary(model)->blocks[0].weight > 0.1); /* the kernel */
        temporary_path(path);
        assert_int_equal(medley_model_save(model, path, &error), MEDLEY_OK);
        assert_int_equal(medley_model_load(&loaded, path, &error), MEDLEY_OK);
        unlink(path);
        medley_prediction *a = predict(model, test);
        medley_prediction *b = predict(loaded, test);
        assert_memory_equal(a->label, b->label, a->rows * sizeof *a->label);
        assert_memory_equal(a->score, b->score, a->rows * a->labels * sizeof *a->score);
        medley_prediction_free(a);
        medley_prediction_free(b);
        medley_model_free(model);
        medley_model_free(loaded);
    }
    medley_dataset_free(train);
    medley_dataset_free(test);
}

/* ---- a choice of blocks ---- */

static void the_best_blocks_of_a_model_can_be_kept(void **state)
{
    (void)state;
    const char *templates = "U00:%x[0,0]\nU01:%x[0,1]\nU02:%x[-1,1]\nB\n";
    medley_dataset *train = alternating_tags(100, 7);
    char path[PATH_SIZE];
    char options[512];
    medley_error error = {0};
    medley_model *full = fit_tagged(train, templates, "epochs=20 eta0=0.3");
    temporary_path(path);
    assert_int_equal(medley_model_save(full, path, &error), MEDLEY_OK);
    snprintf(options, sizeof options, "epochs=20 eta0=0.3 keep=2 from=%s", path);
    medley_model *kept = fit_tagged(train, templates, options);
    unlink(path);
    assert_int_equal(medley_model_summary(kept)->block_count, 2);
    assert_non_null(find_block(kept, "U00:%x[0,0]"));
    assert_non_null(find_block(kept, "B"));
    assert_true(accuracy_of(kept, train) == 1);
    /* the same by name, or by what stands before the colon */
    medley_model *named = fit_tagged(train, templates, "epochs=20 eta0=0.3 blocks=U00:%x[0,0],B");
    medley_model *brief = fit_tagged(train, templates, "epochs=20 eta0=0.3 blocks=B,U00");
    medley_prediction *predictions[] = {predict(kept, train), predict(named, train),
                                        predict(brief, train)};
    for (size_t i = 1; i < 3; i++)
        assert_memory_equal(predictions[0]->score, predictions[i]->score,
                            predictions[0]->rows * 2 * sizeof(float));
    for (size_t i = 0; i < 3; i++)
        medley_prediction_free(predictions[i]);
    medley_model_free(full);
    medley_model_free(kept);
    medley_model_free(named);
    medley_model_free(brief);
    medley_dataset_free(train);
}

/* Pairs with a term of their own have no weight among the others, but are blocks all the same. */
static void pairs_with_their_own_term_can_be_kept(void **state)
{
    (void)state;
    const char *templates = "U00:%x[0,0]\nU01:%x[-1,0]\nB00:%x[0,0]\n";
    medley_dataset *train = switching_tags(200, 9);
    char path[PATH_SIZE];
    char options[512];
    medley_error error = {0};
    medley_model *full = fit_tagged(train, templates, "epochs=20 eta0=0.3 bigram=fixed");
    assert_true(accuracy_of(full, train) == 1);
    temporary_path(path);
    assert_int_equal(medley_model_save(full, path, &error), MEDLEY_OK);
    snprintf(options, sizeof options, "epochs=20 eta0=0.3 bigram=fixed keep=4 from=%s", path);
    medley_model *kept = fit_tagged(train, templates, options);
    unlink(path);
    const bool still_there = find_block(kept, "B00:%x[0,0]") != NULL;
    medley_model_free(full);
    medley_model_free(kept);
    medley_dataset_free(train);
    assert_true(still_there);
}

/* ---- one model ---- */

static void the_number_of_threads_changes_nothing(void **state)
{
    (void)state;
    static const char *const runs[] = {"epochs=5 eta0=0.3", "epochs=5 loss=logistic average=yes",
                                       "epochs=5 eta0=0.3 batch=64 penalty=l1 lambda=0.0001",
                                       "epochs=5 eta0=0.3 order=2 hash-bits=10"};
    medley_dataset *train = switching_tags(400, 8);
    char path[PATH_SIZE]; /* the model says where its templates came from */
    write_file(path, "U00:%x[0,0]\nU01:%x[-1,0]/%x[0,0]\nB00:%x[0,0]\n");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char *bytes[2];
        size_t lengths[2];
        for (size_t threads = 1; threads <= 2; threads++) {
            char options[512];
            snprintf(options, sizeof options, "%s threads=%zu template=%s", runs[i], threads, path);
            medley_model *model = fit(train, NULL, options);
            bytes[threads - 1] = model_bytes(model, &lengths[threads - 1]);
            medley_model_free(model);
        }
        assert_int_equal(lengths[0], lengths[1]);
        assert_memory_equal(bytes[0], bytes[1], lengths[0]);
        free(bytes[0]);
        free(bytes[1]);
    }
    unlink(path);
    medley_dataset_free(train);
}

/* ---- observers ---- */

struct watcher {
    size_t calls, stop_at; /* 0: never */
};

static bool watch(void *context, const medley_progress *progress)
{
    struct watcher *watcher = context;
    assert_non_null(progress->stage);
    return ++watcher->calls != watcher->stop_at;
}

static medley_status fit_watched(medley_model **model, const medley_dataset *data, const char *text,
                                 struct watcher *watcher)
{
    medley_error error = {0};
    medley_options *options = make_options(text);
    const medley_observer observer = {sizeof observer, .context = watcher, .progress = watch};
    const medley_status status = medley_fit(model, data, data, options, &observer, &error);
    if (status < 0)
        fail_msg("%s: %s", text, error.message);
    medley_options_free(options);
    return status;
}

static void stopping_at_any_moment_gives_a_usable_model(void **state)
{
    (void)state;
    static const char *const runs[] = {"epochs=3", "epochs=2 eta0=1 kernel=rbf(sigma=1)",
                                       "epochs=2 average=yes loss=logistic order=2"};
    medley_dataset *data = words_and_numbers(12, 3);
    char path[PATH_SIZE];
    write_file(path, "U00:%x[0,0]\nB00:%x[0,0]\n");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char text[512];
        struct watcher all = {0};
        medley_model *model = NULL;
        snprintf(text, sizeof text, "%s threads=1 template=%s", runs[i], path);
        assert_int_equal(fit_watched(&model, data, text, &all), MEDLEY_OK);
        medley_model_free(model);
        for (size_t stop = 1; stop <= all.calls; stop++) {
            struct watcher watcher = {.stop_at = stop};
            size_t length;
            assert_int_equal(fit_watched(&model, data, text, &watcher), MEDLEY_STOPPED);
            assert_int_equal(watcher.calls, stop);
            medley_prediction_free(predict(model, data));
            free(model_bytes(model, &length));
            medley_model_free(model);
        }
    }
    unlink(path);
    medley_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alternating_labels_need_pairs_of_labels),
        cmocka_unit_test(pairs_of_labels_may_look_at_words),
        cmocka_unit_test(blocks_are_the_lines_of_the_templates),
        cmocka_unit_test(every_penalty_runs_on_templates),
        cmocka_unit_test(rare_features_are_left_out),
        cmocka_unit_test(templates_and_kernels_learn_together),
        cmocka_unit_test(the_best_blocks_of_a_model_can_be_kept),
        cmocka_unit_test(pairs_with_their_own_term_can_be_kept),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
        cmocka_unit_test(stopping_at_any_moment_gives_a_usable_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
