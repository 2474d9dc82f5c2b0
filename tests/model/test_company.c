/* SPDX-License-Identifier: BSD-3-Clause */
/* What is predicted for a row depends on that row and the model only: whatever other rows there
 * are, how many, in which order and on how many threads, no bit of its scores changes. */
#include "base/random.h"
#include "fit/fitting.h"

enum { TRAINING = 300, NEW = 600, COLUMNS = 60, LABELS_MOST = 10 };

typedef enum storage { DENSE, SPARSE, GRAM } storage;

struct table {
    size_t rows;
    float x[NEW * COLUMNS]; /* a third is zero */
    int32_t label[NEW];
};

static struct table *draw_table(size_t rows, size_t labels, uint64_t seed)
{
    struct table *table = calloc(1, sizeof *table);
    assert_non_null(table);
    md_random random;
    md_random_seed(&random, seed);
    table->rows = rows;
    for (size_t i = 0; i < rows * COLUMNS; i++) {
        const size_t label = i / COLUMNS % labels;
        table->label[i / COLUMNS] = (int32_t)label;
        if (md_random_below(&random, 3) > 0)
            table->x[i] =
                (float)(md_random_normal(&random) + (i % COLUMNS % labels == label ? 1 : 0));
    }
    return table;
}

static void put_sparse(medley_dataset *dataset, const struct table *table, medley_table *given)
{
    medley_error error = {0};
    int64_t *start = calloc(table->rows + 1, sizeof *start);
    int32_t *index = calloc(table->rows * COLUMNS, sizeof *index);
    float *value = calloc(table->rows * COLUMNS, sizeof *value);
    assert_true(start && index && value);
    for (size_t i = 0; i < table->rows * COLUMNS; i++) {
        int64_t *used = &start[i / COLUMNS + 1];
        *used = i % COLUMNS == 0 ? start[i / COLUMNS] : *used;
        if (table->x[i] == 0)
            continue;
        index[*used] = (int32_t)(i % COLUMNS);
        value[(*used)++] = table->x[i];
    }
    given->values = value;
    given->start = start;
    given->index = index;
    assert_int_equal(medley_dataset_put_table(dataset, given, &error), MEDLEY_OK);
    free(start);
    free(index);
    free(value);
}

/* Products with the training rows, ready made. */
static void put_gram(medley_dataset *dataset, const struct table *table,
                     const struct table *training, medley_table *given)
{
    medley_error error = {0};
    float *values = calloc(table->rows * TRAINING, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < table->rows * TRAINING; i++)
        for (size_t c = 0; c < COLUMNS; c++)
            values[i] +=
                table->x[i / TRAINING * COLUMNS + c] * training->x[i % TRAINING * COLUMNS + c];
    given->values = values;
    given->columns = TRAINING;
    assert_int_equal(medley_dataset_put_gram(dataset, given, NULL, &error), MEDLEY_OK);
    free(values);
}

static medley_dataset *make_dataset(const struct table *table, const struct table *training,
                                    storage kind, size_t labels)
{
    static const char *const names[LABELS_MOST] = {"a", "b", "c", "d", "e",
                                                   "f", "g", "h", "i", "j"};
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    medley_table given = MEDLEY_TABLE_INIT;
    given.rows = table->rows;
    given.columns = COLUMNS;
    given.type = MEDLEY_FLOAT32;
    given.values = table->x;
    assert_int_equal(medley_dataset_create(&dataset, &error), MEDLEY_OK);
    if (kind == SPARSE)
        put_sparse(dataset, table, &given);
    else if (kind == GRAM)
        put_gram(dataset, table, training, &given);
    else
        assert_int_equal(medley_dataset_put_table(dataset, &given, &error), MEDLEY_OK);
    assert_int_equal(
        medley_dataset_put_labels(dataset, table->label, table->rows, names, labels, &error),
        MEDLEY_OK);
    return dataset;
}

/* Some of the rows by themselves, in any order. */
static void check_company(const medley_model *model, const medley_dataset *all,
                          const medley_prediction *whole, const size_t *rows, size_t count)
{
    medley_error error = {0};
    medley_dataset *some = NULL;
    medley_prediction *part = NULL;
    assert_int_equal(medley_dataset_rows_of(&some, all, rows, count, &error), MEDLEY_OK);
    assert_int_equal(medley_predict(&part, model, some, 1 + count % 3, &error), MEDLEY_OK);
    for (size_t i = 0; i < count; i++) {
        assert_memory_equal(part->score + i * part->labels, whole->score + rows[i] * part->labels,
                            part->labels * sizeof *part->score);
        assert_int_equal(part->label[i], whole->label[rows[i]]);
    }
    medley_prediction_free(part);
    medley_dataset_free(some);
}

static void check_model(storage kind, size_t labels, const char *options)
{
    static const size_t counts[] = {1, 1, 2, 5, 16, 17, 100, 256, 257, NEW};
    struct table *old = draw_table(TRAINING, labels, 1);
    struct table *fresh = draw_table(NEW, labels, 2);
    medley_dataset *train = make_dataset(old, old, kind, labels);
    medley_dataset *all = make_dataset(fresh, old, kind, labels);
    medley_model *model = fit(train, NULL, options);
    medley_prediction *whole = predict(model, all);
    size_t rows[NEW];
    md_random random;
    md_random_seed(&random, 3);
    for (size_t r = 0; r < NEW; r++)
        rows[r] = r;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        md_random_shuffle(&random, rows, NEW);
        check_company(model, all, whole, rows, counts[i]);
    }
    medley_prediction_free(whole);
    medley_model_free(model);
    medley_dataset_free(train);
    medley_dataset_free(all);
    free(old);
    free(fresh);
}

static void rows_score_alike_in_any_company(void **state)
{
    (void)state;
    static const char *const kernels[] = {
        "kernel=linear",
        "kernel=linear(explicit)",
        "kernel=poly(degree=3)",
        "kernel=rbf(auto)",
        "kernel=linear kernel=poly kernel=rbf(auto) normalize=diag scale=standard",
        "kernel=poly kernel=laplace(auto) normalize=center"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        char options[200];
        snprintf(options, sizeof options, "epochs=2 eta0=0.1 threads=1 %s", kernels[i]);
        check_model(DENSE, i % 2 ? 3 : LABELS_MOST, options);
        check_model(SPARSE, 2, options);
    }
    check_model(GRAM, 3, "epochs=2 eta0=0.1 threads=1");
    check_model(GRAM, LABELS_MOST, "epochs=2 eta0=0.1 threads=1 normalize=center");
    check_model(DENSE, 2, "method=spicy threads=1 gap=1e-2 kernel=linear kernel=rbf(auto)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_score_alike_in_any_company),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
