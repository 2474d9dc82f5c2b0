/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of models: small data of every kind a model can be made from. */
#ifndef TESTS_MODEL_CASES_H
#define TESTS_MODEL_CASES_H

#include "base/random.h"
#include "data/dataset.h"
#include "io/reading.h"
#include "learner/fitting.h"

enum { CASE_COLUMNS = 4, CASE_ROWS_MOST = 64 };

typedef enum case_data { DENSE, SPARSE, GRAMS, SEQUENCES, TAGGED, CASE_KINDS } case_data;

static inline bool has_sequences(case_data kind)
{
    return kind == SEQUENCES || kind == TAGGED;
}

/* Row i of a fixed stream of rows with three classes, values between 0 and about 2, some zero. */
static inline void case_row(size_t i, double x[CASE_COLUMNS], char label[2])
{
    md_random random;
    md_random_seed(&random, 1000 + i);
    const size_t class_index = i % 3;
    for (size_t c = 0; c < CASE_COLUMNS; c++) {
        const double value = md_random_uniform(&random) + (c == class_index ? 1 : 0);
        x[c] = value < 0.3 ? 0 : value;
    }
    label[0] = (char)('a' + class_index);
    label[1] = '\0';
}

static inline medley_dataset *case_dense(size_t first, size_t rows)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    double x[CASE_ROWS_MOST * CASE_COLUMNS];
    char names[CASE_ROWS_MOST][2];
    const char *labels[CASE_ROWS_MOST];
    assert_true(rows <= CASE_ROWS_MOST);
    for (size_t r = 0; r < rows; r++) {
        case_row(first + r, x + r * CASE_COLUMNS, names[r]);
        labels[r] = names[r];
    }
    assert_int_equal(medley_dataset_from_dense(&dataset, x, rows, CASE_COLUMNS, labels, &error),
                     MEDLEY_OK);
    return dataset;
}

/* Sparse, with a column behind the others that only new rows have. */
static inline medley_dataset *case_sparse(size_t first, size_t rows)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    md_text text = {0};
    for (size_t r = 0; r < rows; r++) {
        double x[CASE_COLUMNS];
        char label[2];
        case_row(first + r, x, label);
        md_text_addf(&text, "%d", label[0] - 'a');
        for (size_t c = 0; c < CASE_COLUMNS; c++)
            if (x[c] != 0)
                md_text_addf(&text, " %zu:%.6g", 3 * c + 1, x[c]);
        md_text_addf(&text, first > 0 ? " 40:1\n" : "\n");
    }
    options.format = "svmlight";
    if (read_text(&dataset, text.data, text.length, &options, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    md_text_clear(&text);
    return dataset;
}

/* Two ready-made kernels against the first `training` rows of the stream. */
static inline medley_dataset *case_grams(size_t first, size_t rows, size_t training)
{
    medley_error error = {0};
    medley_dataset *dataset = case_dense(first, rows);
    md_table *table = &dataset->tables[0];
    for (size_t k = 0; k < 2; k++) {
        md_precomputed *gram = md_dataset_new_gram(dataset, k == 0 ? "first" : "second");
        assert_int_equal(md_matrix_init_dense(&gram->values, rows, training, &error), MEDLEY_OK);
        gram->diagonal = calloc(rows, sizeof *gram->diagonal);
        assert_non_null(gram->diagonal);
        for (size_t r = 0; r < rows; r++) {
            const float *x = table->features.dense + r * CASE_COLUMNS;
            for (size_t c = 0; c < CASE_COLUMNS; c++)
                gram->diagonal[r] += (double)x[c] * (double)x[c];
            gram->diagonal[r] = k == 0 ? gram->diagonal[r] : gram->diagonal[r] + 1;
            for (size_t j = 0; j < training; j++) {
                double z[CASE_COLUMNS];
                char label[2];
                double product = k == 0 ? 0 : 1;
                case_row(j, z, label);
                for (size_t c = 0; c < CASE_COLUMNS; c++)
                    product += (double)x[c] * (double)(float)z[c];
                gram->values.dense[r * training + j] = (float)product;
            }
        }
    }
    md_matrix_clear(&table->features);
    free(table->name);
    free(table->source);
    md_strings_clear(&table->column_names);
    dataset->table_count = 0;
    return dataset;
}

/* Sequences of three rows; the last may be shorter. */
static inline medley_dataset *case_sequences(size_t first, size_t rows)
{
    medley_dataset *dataset = case_dense(first, rows);
    dataset->sequence_count = (rows + 2) / 3;
    dataset->sequence_start = calloc(dataset->sequence_count + 1, sizeof *dataset->sequence_start);
    assert_non_null(dataset->sequence_start);
    for (size_t s = 0; s <= dataset->sequence_count; s++)
        dataset->sequence_start[s] = 3 * s < rows ? 3 * s : rows;
    return dataset;
}

/* The same as tagged text: a word, a class of words, the label. */
static inline medley_dataset *case_tagged(size_t first, size_t rows)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    md_text text = {0};
    for (size_t r = 0; r < rows; r++) {
        double x[CASE_COLUMNS];
        char label[2];
        case_row(first + r, x, label);
        md_text_addf(&text, "w%zu p%d %s\n%s", (first + r) * 7 % 11, x[0] > 1, label,
                     r % 3 == 2 ? "\n" : "");
    }
    options.format = "columns";
    options.text_columns = true;
    if (read_text(&dataset, text.data, text.length, &options, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    md_text_clear(&text);
    return dataset;
}

static inline medley_dataset *case_dataset(case_data kind, size_t first, size_t rows,
                                           size_t training)
{
    return kind == DENSE       ? case_dense(first, rows)
           : kind == SPARSE    ? case_sparse(first, rows)
           : kind == GRAMS     ? case_grams(first, rows, training)
           : kind == SEQUENCES ? case_sequences(first, rows)
                               : case_tagged(first, rows);
}

/* One way to train for each thing that a model file can hold. */
struct model_case {
    case_data kind;
    const char *options;
};

static const struct model_case model_cases[] = {
    {DENSE, "kernel=rbf(auto) kernel=linear kernel=poly(degree=2)"},
    {DENSE, "kernel=rbf(sigma2=2) kernel=linear normalize=diag"},
    {DENSE, "kernel=poly(degree=3) kernel=laplace(auto) normalize=trace scale=standard"},
    {DENSE, "kernel=rbf(auto) kernel=linear normalize=center"},
    {DENSE, "kernel=intersection kernel=chi2(auto) scale=minmax"},
    {DENSE, "kernel=linear(explicit) kernel=rbf(auto)"},
    {DENSE, "kernel=linear(explicit,norm=trace) views=each"},
    {DENSE, "method=average kernel=rbf(auto) kernel=linear"},
    {DENSE, "method=best loss=logistic average=yes"},
    {DENSE, "views=all+each kernel=rbf(auto) scale=standard"},
    {SPARSE, "kernel=rbf(auto) kernel=linear kernel=intersection"},
    {SPARSE, "kernel=linear(explicit) scale=standard views=each"},
    {SPARSE, "kernel=linear(explicit) kernel=linear penalty=l2"},
    {SPARSE, "normalize=center kernel=rbf(auto) method=average"},
    {GRAMS, ""},
    {GRAMS, "normalize=diag"},
    {GRAMS, "normalize=trace method=average"},
    {GRAMS, "normalize=center"},
    {SEQUENCES, "kernel=rbf(auto) kernel=linear"},
    {SEQUENCES, "kernel=linear order=2 bigram=learned bigram-ends=yes loss=logistic"},
    {TAGGED, "template=chunk penalty=group-lasso lambda=0.001"},
    {TAGGED, "template=chunk penalty=l1 lambda=0.02 loss=logistic bigram-ends=yes"},
    {TAGGED, "template=chunk penalty=l2 hash-bits=5 loss=logistic"},
};
enum { MODEL_CASES = sizeof model_cases / sizeof *model_cases };

static inline medley_model *case_model(const struct model_case *given, size_t rows)
{
    char text[256];
    medley_dataset *train = case_dataset(given->kind, 0, rows, rows);
    snprintf(text, sizeof text, "epochs=4 eta0=1 threads=1 %s", given->options);
    medley_model *model = fit(train, NULL, text);
    medley_dataset_free(train);
    return model;
}

#endif
