/* SPDX-License-Identifier: BSD-3-Clause */
/* Models from data in memory and models as bytes: borrowed tables are left alone and give the same
 * model as copies, numbers to be predicted the same as a file of them, and bytes come back. */
#include "fit/fitting.h"

#include "base/random.h"
#include "data/dataset.h"

enum { ROWS = 40, COLUMNS = 16 };

static const char *const NAMES[] = {"b", "a", "c"};

struct sample {
    float values[ROWS * COLUMNS];
    int32_t label[ROWS];
    double target[ROWS];
};

static void draw(struct sample *sample, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    for (size_t r = 0; r < ROWS; r++) {
        float *x = sample->values + r * COLUMNS;
        sample->label[r] = (int32_t)(r % 3);
        for (size_t c = 0; c < COLUMNS; c++)
            x[c] = (float)fabs(md_random_normal(&random) + (c % 3 == r % 3 ? 2 : 0));
        sample->target[r] = (double)(x[0] - x[1]) + 0.1 * md_random_normal(&random);
    }
}

static medley_dataset *table_of(const float *values, bool borrow)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    medley_table table = MEDLEY_TABLE_INIT;
    table.rows = ROWS;
    table.columns = COLUMNS;
    table.type = MEDLEY_FLOAT32;
    table.values = values;
    table.height = table.width = 4;
    table.borrow = borrow;
    assert_int_equal(medley_dataset_create(&dataset, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_put_table(dataset, &table, &error), MEDLEY_OK);
    return dataset;
}

/* values: those of the sample, wherever they lie. */
static medley_dataset *labelled(const struct sample *sample, const float *values, bool borrow)
{
    medley_error error = {0};
    medley_dataset *dataset = table_of(values, borrow);
    assert_int_equal(medley_dataset_put_labels(dataset, sample->label, ROWS, NAMES, 3, &error),
                     MEDLEY_OK);
    return dataset;
}

/* All that can happen to the rows of a table on their way to a kernel. */
static const char *const WAYS[] = {
    "scale=standard kernel=rbf(auto) kernel=linear",
    "scale=minmax kernel=intersection kernel=chi2(auto)",
    "scale=none kernel=rbf(auto) kernel=poly(degree=2)",
    "scale=standard kernel=linear(explicit) views=all+each",
    "scale=none kernel=linear(explicit)",
    "scale=none kernel=rbf(auto) views=grid:2x2",
    "scale=standard kernel=rbf(auto) views=blur(1)/shift",
    "scale=standard kernel=rbf(auto) views=orient+center",
    "method=spicy scale=standard kernel=rbf(auto) kernel=linear normalize=center",
    "method=average scale=minmax kernel=rbf(auto) normalize=trace calibrate=yes",
};

static void borrowed_tables_are_left_alone_and_give_the_same_model(void **state)
{
    (void)state;
    for (size_t w = 0; w < sizeof WAYS / sizeof *WAYS; w++) {
        struct sample before;
        struct sample after;
        float *room = malloc(2 * sizeof before.values + sizeof *room);
        float *values = room + 1; /* aligned as floats are, no more */
        float *new_values = values + ROWS * COLUMNS;
        draw(&before, 1 + w);
        draw(&after, 100 + w);
        memcpy(values, before.values, sizeof before.values);
        memcpy(new_values, after.values, sizeof after.values);
        medley_dataset *copied = labelled(&before, before.values, false);
        medley_dataset *borrowed = labelled(&before, values, true);
        assert_true(borrowed->tables[0].features.borrowed);
        assert_false(copied->tables[0].features.borrowed);
        medley_model *first = fit(copied, NULL, WAYS[w]);
        medley_model *second = fit(borrowed, NULL, WAYS[w]);
        size_t lengths[2];
        char *bytes[2] = {model_bytes(first, &lengths[0]), model_bytes(second, &lengths[1])};
        assert_int_equal(lengths[0], lengths[1]);
        assert_memory_equal(bytes[0], bytes[1], lengths[0]);
        medley_dataset *new_copied = table_of(after.values, false);
        medley_dataset *new_borrowed = table_of(new_values, true);
        medley_prediction *expected = predict(first, new_copied);
        medley_prediction *found = predict(second, new_borrowed);
        assert_memory_equal(expected->label, found->label, ROWS * sizeof *found->label);
        assert_memory_equal(expected->score, found->score,
                            ROWS * found->labels * sizeof *found->score);
        medley_prediction_free(expected);
        medley_prediction_free(found);
        medley_dataset_free(new_copied);
        medley_dataset_free(new_borrowed);
        medley_model_free(first);
        medley_model_free(second);
        medley_dataset_free(copied);
        medley_dataset_free(borrowed);
        assert_memory_equal(values, before.values, sizeof before.values);
        assert_memory_equal(new_values, after.values, sizeof after.values);
        free(bytes[0]);
        free(bytes[1]);
        free(room);
    }
}

/* The order of names is that of the model's labels; those without rows are among them. */
static void a_model_has_the_labels_in_the_order_of_their_names(void **state)
{
    (void)state;
    static const char *const names[] = {"z", "unused", "y", "x"};
    struct sample sample;
    medley_error error = {0};
    draw(&sample, 5);
    for (size_t r = 0; r < ROWS; r++)
        sample.label[r] += sample.label[r] > 0;
    medley_dataset *dataset = table_of(sample.values, true);
    assert_int_equal(medley_dataset_put_labels(dataset, sample.label, ROWS, names, 4, &error),
                     MEDLEY_OK);
    medley_model *model = fit(dataset, NULL, "kernel=rbf(auto) lambda=0.001");
    assert_int_equal(medley_model_label_count(model), 4);
    for (size_t l = 0; l < 4; l++)
        assert_string_equal(medley_model_label_name(model, l), names[l]);
    assert_true(accuracy_of(model, dataset) > 0.9);
    medley_model_free(model);
    medley_dataset_free(dataset);
}

/* ---- numbers to be predicted ---- */

static void targets_give_the_model_that_a_file_gives(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "method=spicy task=regression kernel=rbf(auto) kernel=linear scale=standard",
        "method=gauss-seidel task=regression kernel=rbf(auto) kernel=linear",
        "method=simplemkl task=regression kernel=rbf(auto) kernel=linear",
    };
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct sample sample;
        double values[ROWS * COLUMNS];
        char texts[ROWS][32];
        const char *labels[ROWS];
        medley_error error = {0};
        draw(&sample, 20 + w);
        for (size_t i = 0; i < ROWS * COLUMNS; i++)
            values[i] = (double)sample.values[i];
        for (size_t r = 0; r < ROWS; r++)
            labels[r] = md_format_double(texts[r], sample.target[r]);
        medley_dataset *named = NULL;
        medley_dataset *bare = table_of(sample.values, true);
        assert_int_equal(medley_dataset_from_dense(&named, values, ROWS, COLUMNS, labels, &error),
                         MEDLEY_OK);
        named->tables[0].height = named->tables[0].width = 4;
        assert_int_equal(medley_dataset_put_targets(bare, sample.target, ROWS, &error), MEDLEY_OK);
        medley_model *first = fit(named, NULL, ways[w]);
        medley_model *second = fit(bare, NULL, ways[w]);
        size_t lengths[2];
        char *bytes[2] = {model_bytes(first, &lengths[0]), model_bytes(second, &lengths[1])};
        assert_int_equal(lengths[0], lengths[1]);
        assert_memory_equal(bytes[0], bytes[1], lengths[0]);
        medley_evaluation expected = MEDLEY_EVALUATION_INIT;
        medley_evaluation found = MEDLEY_EVALUATION_INIT;
        assert_int_equal(medley_evaluate(&expected, first, named, 1, &error), MEDLEY_OK);
        assert_int_equal(medley_evaluate(&found, second, bare, 1, &error), MEDLEY_OK);
        assert_true(expected.rmse == found.rmse && expected.r2 == found.r2 && found.r2 > 0.5);
        medley_evaluation_clear(&expected);
        medley_evaluation_clear(&found);
        free(bytes[0]);
        free(bytes[1]);
        medley_model_free(first);
        medley_model_free(second);
        medley_dataset_free(named);
        medley_dataset_free(bare);
    }
}

static medley_status try_fit(const medley_dataset *dataset, const char *text, medley_error *error)
{
    medley_model *model = NULL;
    medley_options *options = make_options(text);
    *error = (medley_error){0};
    const medley_status status = medley_fit(&model, dataset, NULL, options, NULL, error);
    medley_options_free(options);
    medley_model_free(model);
    return status;
}

/* Every method either learns numbers or says that it does not; none of them looks for labels. */
static void targets_are_no_labels(void **state)
{
    (void)state;
    struct sample sample;
    medley_error error = {0};
    draw(&sample, 30);
    medley_dataset *bare = table_of(sample.values, true);
    assert_int_equal(medley_dataset_put_targets(bare, sample.target, ROWS, &error), MEDLEY_OK);
    assert_int_equal(try_fit(bare, "task=multiclass kernel=linear", &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "use `task=regression`"));
    assert_int_equal(try_fit(bare, "method=spicy kernel=linear", &error), MEDLEY_OK);
    medley_listing method = MEDLEY_LISTING_INIT;
    for (size_t i = 0; medley_list(&method, "methods", i); i++) {
        char text[128];
        snprintf(text, sizeof text, "method=%s task=regression kernel=rbf(auto) kernel=linear",
                 method.name);
        const medley_status status = try_fit(bare, text, &error);
        if (status < 0)
            assert_int_equal(status, MEDLEY_NOT_SUPPORTED);
    }
    medley_dataset *labels = labelled(&sample, sample.values, false);
    medley_model *model = fit(labels, NULL, "kernel=linear");
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    error = (medley_error){0};
    assert_int_equal(medley_evaluate(&evaluation, model, bare, 1, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "no labels to compare with"));
    medley_model_free(model);
    medley_dataset_free(labels);
    medley_dataset_free(bare);
}

/* ---- models as bytes ---- */

static void bytes_are_those_of_the_file_and_come_back(void **state)
{
    (void)state;
    for (size_t w = 0; w < sizeof WAYS / sizeof *WAYS; w++) {
        struct sample sample;
        draw(&sample, 50 + w);
        medley_error error = {0};
        medley_dataset *dataset = labelled(&sample, sample.values, true);
        medley_model *model = fit(dataset, NULL, WAYS[w]);
        size_t file_size = 0;
        size_t size = 0;
        void *bytes = NULL;
        char *file = model_bytes(model, &file_size);
        assert_int_equal(medley_model_write(&bytes, &size, model, &error), MEDLEY_OK);
        assert_int_equal(size, file_size);
        assert_memory_equal(bytes, file, size);
        free(file);
        char *moved = malloc(size + 1); /* aligned to nothing */
        memcpy(moved + 1, bytes, size);
        medley_bytes_free(bytes);
        medley_model *back = NULL;
        assert_int_equal(medley_model_read(&back, moved + 1, size, "moved", &error), MEDLEY_OK);
        memset(moved, 0xff, size + 1);
        free(moved);
        medley_prediction *expected = predict(model, dataset);
        medley_prediction *found = predict(back, dataset);
        assert_memory_equal(expected->score, found->score,
                            ROWS * found->labels * sizeof *found->score);
        medley_prediction_free(expected);
        medley_prediction_free(found);
        medley_model_free(back);
        medley_model_free(model);
        medley_dataset_free(dataset);
    }
    medley_bytes_free(NULL);
}

static void assert_every_beginning_is_refused(const medley_model *model)
{
    medley_error error = {0};
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(medley_model_write(&bytes, &size, model, &error), MEDLEY_OK);
    for (size_t length = 0; length < size; length++) {
        medley_model *back = NULL;
        char *cut = malloc(length); /* nothing behind its end may be looked at */
        if (length > 0)
            memcpy(cut, bytes, length);
        error = (medley_error){0};
        assert_int_equal(medley_model_read(&back, cut, length, "cut.medley", &error),
                         MEDLEY_BAD_INPUT);
        assert_string_equal(error.file, "cut.medley");
        assert_null(back);
        free(cut);
    }
    error = (medley_error){0};
    medley_model *back = NULL;
    assert_int_equal(medley_model_read(&back, NULL, 0, NULL, &error), MEDLEY_BAD_INPUT);
    assert_string_equal(error.file, "bytes");
    medley_bytes_free(bytes);
}

static void every_beginning_of_a_model_is_refused(void **state)
{
    (void)state;
    static const double values[] = {0, 1, 1, 0, 1, 1, 0, 0};
    static const char *const labels[] = {"a", "b", "a", "b"};
    static const char tree[] = "1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\n"
                               "2\trains\train\tVERB\t_\t_\t0\troot\t_\t_\n\n";
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    assert_int_equal(medley_dataset_from_dense(&dataset, values, 4, 2, labels, &error), MEDLEY_OK);
    medley_model *model = fit(dataset, NULL, "kernel=linear kernel=rbf(auto) epochs=2");
    assert_every_beginning_is_refused(model);
    medley_model_free(model);
    medley_dataset_free(dataset);
    assert_int_equal(medley_dataset_parse(&dataset, tree, strlen(tree), "t.conllu", NULL, &error),
                     MEDLEY_OK);
    model = fit(dataset, NULL, "hash-bits=5 epochs=1");
    assert_true(medley_model_is_parser(model));
    assert_every_beginning_is_refused(model);
    medley_model_free(model);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borrowed_tables_are_left_alone_and_give_the_same_model),
        cmocka_unit_test(a_model_has_the_labels_in_the_order_of_their_names),
        cmocka_unit_test(targets_give_the_model_that_a_file_gives),
        cmocka_unit_test(targets_are_no_labels),
        cmocka_unit_test(bytes_are_those_of_the_file_and_come_back),
        cmocka_unit_test(every_beginning_of_a_model_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
