/* SPDX-License-Identifier: BSD-3-Clause */
/* Method lp-beta from data to model: useful kernels have the weight and noise has little, the model
 * is the weighted sum of the machines of its kernels, one seed gives one model, labels may be rare,
 * and it can be stopped. */
#include "fit/fitting.h"

#include "base/random.h"
#include "optim/linear_program.h"

enum { COLUMNS = 5, MOST_ROWS = 200 };
#define BANK "views=each kernel=rbf(auto) "

/* Column 0 says which of the labels a row has, column 2 a little, the others are noise. */
static medley_dataset *draw(size_t rows, size_t labels, uint64_t seed)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    double values[MOST_ROWS * COLUMNS];
    const char *label[MOST_ROWS];
    medley_dataset *data = NULL;
    md_random random;
    md_random_seed(&random, seed);
    for (size_t r = 0; r < rows; r++) {
        const size_t l = r < labels ? r : md_random_below(&random, labels);
        label[r] = names[l];
        for (size_t c = 0; c < COLUMNS; c++)
            values[r * COLUMNS + c] = md_random_normal(&random);
        values[r * COLUMNS] = 3 * (double)l + 0.8 * values[r * COLUMNS];
        values[r * COLUMNS + 2] += (double)l;
    }
    assert_int_equal(medley_dataset_from_dense(&data, values, rows, COLUMNS, label, NULL),
                     MEDLEY_OK);
    return data;
}

static bool missing(void)
{
    if (md_linear_program_missing() == NULL)
        return false;
    print_message("this build has no library for linear programs\n");
    return true;
}

/* Weights are those of a distribution, and the summary is complete; returns what noise has. */
static double check_weights(const medley_summary *s)
{
    double sum = 0;
    size_t active = 0;
    assert_int_equal(s->block_count, COLUMNS);
    for (size_t b = 0; b < COLUMNS; b++) {
        const medley_block_info *block = &s->blocks[b];
        sum += block->weight;
        active += block->weight > 0;
        assert_true(fabs(block->weight - block->norm) < 1e-12);
        assert_true((block->features > 0) == (block->weight > 0));
    }
    assert_true(fabs(sum - 1) <= 1e-9 && active == s->active_blocks);
    assert_true(s->converged && s->gap <= 0.01 && s->epoch_count == 5 && s->C == 10);
    for (size_t e = 0; e < 5; e++)
        assert_true(s->epochs[e].dev_accuracy > 0.7 && s->epochs[e].active <= COLUMNS);
    return s->blocks[1].weight + s->blocks[3].weight + s->blocks[4].weight;
}

/* Now and then a small nu wins by a row or two and likes a kernel that says nothing, which makes
 * the worst margins smaller; not often. */
static void useful_kernels_have_the_weight(void **state)
{
    (void)state;
#ifdef MEDLEY_SANITIZED
    enum { SEEDS = 2 };
#else
    enum { SEEDS = 4 };
#endif
    size_t ranked = 0;
    double gain = 0;
    if (missing())
        skip();
    for (size_t run = 0; run < (size_t)3 * SEEDS; run++) {
        const size_t labels = 2 + run % 3;
        medley_dataset *data = draw(80, labels, 1 + run);
        medley_dataset *fresh = draw(200, labels, 50 + run);
        medley_model *model = fit(data, NULL, BANK "method=lp-beta");
        medley_model *mean = fit(data, NULL, BANK "method=svm");
        const medley_summary *s = medley_model_summary(model);
        const double noise = check_weights(s);
        ranked += s->blocks[0].weight > noise && s->blocks[0].weight >= s->blocks[2].weight;
        gain += accuracy_of(model, fresh) - accuracy_of(mean, fresh);
        assert_true(accuracy_of(model, fresh) > 0.8);
        medley_model_free(model);
        medley_model_free(mean);
        medley_dataset_free(data);
        medley_dataset_free(fresh);
    }
    if (ranked < (size_t)3 * SEEDS - 2 || !(gain > 0))
        fail_msg("noise has less weight in %zu runs, accuracy is higher by %g", ranked, gain);
}

/* Method svm on one kernel is the machine of that kernel. */
static void the_model_is_a_weighted_sum(void **state)
{
    (void)state;
    if (missing())
        skip();
    for (size_t labels = 2; labels <= 3; labels++) {
        medley_dataset *data = draw(90, labels, 10 + labels);
        medley_model *model = fit(data, NULL, BANK "method=lp-beta C=3 gap=1e-3");
        const medley_summary *s = medley_model_summary(model);
        double *sum = calloc(90 * labels, sizeof *sum);
        assert_non_null(sum);
        for (size_t b = 0; b < s->block_count; b++) {
            char text[256];
            if (s->blocks[b].weight == 0)
                continue;
            snprintf(text, sizeof text, BANK "method=svm C=3 gap=1e-3 blocks=%s",
                     s->blocks[b].name);
            medley_model *single = fit(data, NULL, text);
            medley_prediction *prediction = predict(single, data);
            for (size_t i = 0; i < 90 * labels; i++)
                sum[i] += s->blocks[b].weight * (double)prediction->score[i];
            medley_prediction_free(prediction);
            medley_model_free(single);
        }
        medley_prediction *prediction = predict(model, data);
        for (size_t i = 0; i < 90 * labels; i++)
            assert_true(fabs(sum[i] - (double)prediction->score[i]) <= 1e-4);
        medley_prediction_free(prediction);
        free(sum);
        medley_model_free(model);
        medley_dataset_free(data);
    }
}

static char *bytes_of(const medley_dataset *data, const char *text, size_t *length)
{
    medley_model *model = fit(data, NULL, text);
    char *bytes = model_bytes(model, length);
    medley_model_free(model);
    return bytes;
}

static void one_seed_gives_one_model(void **state)
{
    (void)state;
    if (missing())
        skip();
    medley_dataset *data = draw(100, 3, 20);
    size_t length[4];
    char *bytes[4] = {bytes_of(data, BANK "method=lp-beta seed=1 threads=1", &length[0]),
                      bytes_of(data, BANK "method=lp-beta seed=1 threads=3", &length[1]),
                      bytes_of(data, BANK "method=lp-beta seed=1 threads=1", &length[2]),
                      bytes_of(data, BANK "method=lp-beta seed=2 threads=1", &length[3])};
    for (size_t i = 1; i < 3; i++) {
        assert_int_equal(length[0], length[i]);
        assert_memory_equal(bytes[0], bytes[i], length[0]);
    }
    assert_true(length[0] != length[3] || memcmp(bytes[0], bytes[3], length[0]) != 0);
    for (size_t i = 0; i < 4; i++)
        free(bytes[i]);
    medley_dataset_free(data);
}

static medley_dataset *with_labels(const char *const *label, size_t rows)
{
    double values[MOST_ROWS * 2];
    medley_dataset *data = NULL;
    for (size_t r = 0; r < rows; r++) {
        values[2 * r] = 4 * (label[r][0] - 'a') + (double)(r % 3) / 3;
        values[2 * r + 1] = (double)(r * 7 % 11) / 11;
    }
    assert_int_equal(medley_dataset_from_dense(&data, values, rows, 2, label, NULL), MEDLEY_OK);
    return data;
}

/* Labels with fewer rows than there are folds, down to one; fewer rows than folds. */
static void labels_may_be_rare(void **state)
{
    (void)state;
    static const char *const rare[] = {"a", "a", "a", "a", "a", "a", "a", "a", "b",
                                       "b", "b", "b", "b", "b", "c", "c", "c", "d"};
    static const char *const few[] = {"a", "a", "b"};
    if (missing())
        skip();
    medley_dataset *data = with_labels(rare, 18);
    medley_model *model = fit(data, NULL, BANK "method=lp-beta C=100");
    assert_true(medley_model_summary(model)->blocks[0].weight > 0.5);
    assert_true(accuracy_of(model, data) > 0.9);
    medley_model_free(model);
    medley_dataset_free(data);
    data = with_labels(few, 3);
    model = fit(data, NULL, BANK "method=lp-beta");
    assert_true(accuracy_of(model, data) > 0.6);
    medley_model_free(model);
    medley_dataset_free(data);
}

/* ---- refused and stopped ---- */

static void expect_refusal(const medley_dataset *data, const char *text, medley_status code,
                           const char *words)
{
    medley_model *model = NULL;
    medley_error error = {0};
    medley_options *options = make_options(text);
    assert_int_equal(medley_fit(&model, data, NULL, options, NULL, &error), code);
    assert_null(model);
    if (strstr(error.message, words) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, words);
    medley_options_free(options);
}

static bool keep_none(void *context, medley_model *model)
{
    (void)context;
    medley_model_free(model);
    return true;
}

static void what_it_is_not_made_for_is_refused(void **state)
{
    (void)state;
    static const char *const single[] = {"a", "b", "c", "d", "e"};
    static const char *const same[] = {"a", "a", "a"};
    static const char *const numbers[] = {"1", "2", "3", "4", "5"};
    medley_dataset *data = draw(30, 2, 1);
    medley_dataset *singles = with_labels(single, 5);
    medley_dataset *sames = with_labels(same, 3);
    medley_dataset *with_numbers = with_labels(numbers, 5);
    expect_refusal(sames, "method=lp-beta", MEDLEY_BAD_INPUT, "at least two labels");
    expect_refusal(data, "method=lp-beta epochs=3", MEDLEY_USAGE, "no place in `method=lp-beta`");
    expect_refusal(data, "method=lp-beta template=chunk", MEDLEY_USAGE, "`template`");
    if (md_linear_program_missing() != NULL) {
        expect_refusal(data, "method=lp-beta", MEDLEY_NOT_SUPPORTED, md_linear_program_missing());
    } else {
        expect_refusal(singles, "method=lp-beta", MEDLEY_BAD_INPUT, "two rows or more");
        expect_refusal(with_numbers, "method=lp-beta task=regression", MEDLEY_NOT_SUPPORTED,
                       "learns labels, not numbers");
        expect_refusal(data, "method=lp-beta loss=logistic", MEDLEY_NOT_SUPPORTED, "hinge");
        expect_refusal(data, "method=lp-beta penalty=l2", MEDLEY_NOT_SUPPORTED, "`penalty=");
    }
    const medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
    medley_options *options = make_options("method=lp-beta");
    medley_error error = {0};
    assert_int_equal(medley_fit_path(data, options, &path, keep_none, NULL, NULL, &error),
                     MEDLEY_NOT_SUPPORTED);
    assert_non_null(strstr(error.message, "no path"));
    medley_options_free(options);
    medley_dataset_free(data);
    medley_dataset_free(singles);
    medley_dataset_free(sames);
    medley_dataset_free(with_numbers);
}

struct watcher {
    size_t calls, stop_at;
    size_t last; /* done, of the first layer */
};

static bool look(void *context, const medley_progress *progress)
{
    struct watcher *watcher = context;
    if (strcmp(progress->stage, "kernels") == 0)
        return true;
    if (strcmp(progress->stage, "first layer") == 0) {
        assert_true(progress->done >= watcher->last && progress->done <= progress->total);
        watcher->last = progress->done;
    } else {
        assert_int_equal(strncmp(progress->stage, "nu ", 3), 0);
        assert_true(progress->dev_accuracy >= 0 && progress->dev_accuracy <= 1);
    }
    return ++watcher->calls != watcher->stop_at;
}

/* At the first call, and at some of those that follow, until there is none any more. */
static void it_can_be_stopped_anywhere(void **state)
{
    (void)state;
    if (missing())
        skip();
    medley_dataset *data = draw(45, 3, 30);
    medley_options *options = make_options(BANK "method=lp-beta threads=1");
    size_t stopped = 0;
    for (size_t stop_at = 1;; stop_at += stop_at % 7 + 1) {
        struct watcher watcher = {.stop_at = stop_at};
        const medley_observer observer = {sizeof observer, .context = &watcher, .progress = look};
        medley_model *model = NULL;
        medley_error error = {0};
        const medley_status status = medley_fit(&model, data, NULL, options, &observer, &error);
        assert_true(status >= 0 && model != NULL);
        const medley_summary *s = medley_model_summary(model);
        assert_int_equal(s->converged, status == MEDLEY_OK);
        medley_prediction_free(predict(model, data));
        if (stop_at == 1)
            assert_int_equal(s->active_blocks, 0);
        const double accuracy = accuracy_of(model, data);
        assert_true(s->active_blocks == 0 || accuracy > 0.7);
        medley_model_free(model);
        if (status == MEDLEY_OK)
            break;
        stopped++;
    }
    assert_true(stopped > COLUMNS);
    medley_options_free(options);
    medley_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(useful_kernels_have_the_weight),
        cmocka_unit_test(the_model_is_a_weighted_sum),
        cmocka_unit_test(one_seed_gives_one_model),
        cmocka_unit_test(labels_may_be_rare),
        cmocka_unit_test(what_it_is_not_made_for_is_refused),
        cmocka_unit_test(it_can_be_stopped_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
