/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of models: small data of every kind a model can be made from. */
#ifndef TESTS_MODEL_CASES_H
#define TESTS_MODEL_CASES_H

#include "base/random.h"
#include "data/dataset.h"
#include "fit/fitting.h"
#include "io/reading.h"
#include "setup/setup.h"

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
        md_precomputed *gram = NULL;
        assert_int_equal(md_dataset_new_gram(&gram, dataset, k == 0 ? "first" : "second", NULL),
                         MEDLEY_OK);
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

/* Which learner a model comes from: the online one, or coefficients without blocks for numbers, for
 * the second of two labels, for each label against the rest. */
typedef enum case_origin { FITTED, NUMBERS, TWO_LABELS, EACH_LABEL } case_origin;

/* One way to train for each thing that a model file can hold. */
struct model_case {
    case_data kind;
    const char *options;
    case_origin origin;
};

static const struct model_case model_cases[] = {
    {DENSE, "kernel=rbf(auto) kernel=linear kernel=poly(degree=2)", FITTED},
    {DENSE, "kernel=rbf(sigma2=2) kernel=linear normalize=diag", FITTED},
    {DENSE, "kernel=poly(degree=3) kernel=laplace(auto) normalize=trace scale=standard", FITTED},
    {DENSE, "kernel=rbf(auto) kernel=linear normalize=center", FITTED},
    {DENSE, "kernel=intersection kernel=chi2(auto) scale=minmax", FITTED},
    {DENSE, "kernel=linear(explicit) kernel=rbf(auto)", FITTED},
    {DENSE, "kernel=linear(explicit,norm=trace) views=each", FITTED},
    {DENSE, "method=average kernel=rbf(auto) kernel=linear", FITTED},
    {DENSE, "method=best loss=logistic average=yes", FITTED},
    {DENSE, "views=all+each kernel=rbf(auto) scale=standard", FITTED},
    {SPARSE, "kernel=rbf(auto) kernel=linear kernel=intersection", FITTED},
    {SPARSE, "kernel=linear(explicit) scale=standard views=each", FITTED},
    {SPARSE, "kernel=linear(explicit) kernel=linear penalty=l2", FITTED},
    {SPARSE, "normalize=center kernel=rbf(auto) method=average", FITTED},
    {GRAMS, "", FITTED},
    {GRAMS, "normalize=diag", FITTED},
    {GRAMS, "normalize=trace method=average", FITTED},
    {GRAMS, "normalize=center", FITTED},
    {SEQUENCES, "kernel=rbf(auto) kernel=linear", FITTED},
    {SEQUENCES, "kernel=linear order=2 bigram=learned bigram-ends=yes loss=logistic", FITTED},
    {TAGGED, "template=chunk penalty=group-lasso lambda=0.001", FITTED},
    {TAGGED, "template=chunk penalty=l1 lambda=0.02 loss=logistic bigram-ends=yes", FITTED},
    {TAGGED, "template=chunk penalty=l2 hash-bits=5 loss=logistic", FITTED},
    {DENSE, "kernel=rbf(auto) kernel=linear kernel=poly(degree=2)", NUMBERS},
    {SPARSE, "kernel=rbf(auto) kernel=linear normalize=center", NUMBERS},
    {GRAMS, "normalize=diag", NUMBERS},
    {DENSE, "kernel=rbf(auto) kernel=linear normalize=diag views=each", TWO_LABELS},
    {GRAMS, "normalize=trace", TWO_LABELS},
    {DENSE, "kernel=rbf(auto) kernel=linear normalize=trace scale=standard", EACH_LABEL},
};
enum { MODEL_CASES = sizeof model_cases / sizeof *model_cases };

/* ---- models of coefficients without blocks ---- */

enum { PLAIN_KERNELS_MOST = 64 };

/* What such a model is made of; coefficients of some rows and all of every third kernel are zero.
 */
struct plain {
    medley_dataset *train;
    medley_options *options;
    md_problem problem;
    md_coefficients coefficients;
    md_run_result result;
    double *body[PLAIN_KERNELS_MOST];
    double norm[PLAIN_KERNELS_MOST], bias[3];
    medley_epoch epochs[2];
};

static inline void keep_two_labels(medley_dataset *dataset)
{
    md_strings two = {0};
    assert_int_equal(md_strings_add(&two, "a", 1), 0);
    assert_int_equal(md_strings_add(&two, "b", 1), 1);
    md_strings_clear(&dataset->label_names);
    dataset->label_names = two;
    for (size_t r = 0; r < dataset->rows; r++)
        dataset->label[r] %= 2;
}

static inline void plain_start(struct plain *plain, const struct model_case *given, size_t rows)
{
    medley_error error = {0};
    char text[256];
    *plain = (struct plain){.train = case_dataset(given->kind, 0, rows, rows)};
    if (given->origin == TWO_LABELS)
        keep_two_labels(plain->train);
    snprintf(text, sizeof text, "task=multiclass threads=1 %s", given->options);
    plain->options = make_options(text);
    static const md_about about = {.name = "plain"};
    static const md_method method = {
        .about = &about, .kind = &md_online_kind, .needs_kernels = true};
    if (md_problem_init(&plain->problem, plain->train, NULL, plain->options, NULL, &method,
                        &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    if (given->origin == NUMBERS) {
        plain->problem.task = &md_task_regression;
        plain->problem.space = (md_space){.shape.labels = 1};
        plain->problem.loss = "squared";
    }
}

static inline void plain_fill(struct plain *plain, case_origin origin, uint64_t seed)
{
    const size_t outputs = origin == EACH_LABEL ? 3 : 1;
    const size_t rows = plain->train->rows;
    md_random random;
    md_random_seed(&random, seed);
    assert_true(plain->problem.bank.count <= PLAIN_KERNELS_MOST);
    for (size_t m = 0; m < plain->problem.bank.count; m++) {
        if (m % 3 == 2)
            continue;
        plain->body[m] = calloc(rows * outputs, sizeof(double));
        assert_non_null(plain->body[m]);
        for (size_t r = 0; r < rows; r++)
            for (size_t o = 0; o < outputs && r % 4 != 1; o++)
                plain->body[m][r * outputs + o] = md_random_uniform(&random) - 0.5;
        plain->norm[m] = 0.5 + md_random_uniform(&random);
    }
    for (size_t o = 0; o < outputs; o++)
        plain->bias[o] = 2 * md_random_uniform(&random) - 1;
    for (size_t e = 0; e < 2; e++)
        plain->epochs[e] = (medley_epoch){.objective = 0.5 / (double)(1 + e),
                                          .loss = 0.25,
                                          .dev_accuracy = NAN,
                                          .dual = e == 0 ? NAN : 0.2,
                                          .gap = e == 0 ? NAN : 0.2,
                                          .active = 2};
    plain->coefficients = (md_coefficients){.outputs = outputs,
                                            .body = (const double *const *)plain->body,
                                            .norm = plain->norm,
                                            .bias = plain->bias,
                                            .dual = 0.2,
                                            .gap = 0.2,
                                            .newton_steps = 11,
                                            .passes = 3,
                                            .logistic_link = origin == EACH_LABEL};
    plain->result = (md_run_result){.eta0 = NAN,
                                    .objective = 0.25,
                                    .epochs = plain->epochs,
                                    .epoch_count = 2,
                                    .iterations = 7,
                                    .converged = true};
}

static inline medley_model *plain_build(struct plain *plain)
{
    medley_model *model = NULL;
    medley_error error = {0};
    if (md_model_of_coefficients(&model, &plain->problem, &plain->coefficients, &plain->result,
                                 &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return model;
}

static inline void plain_clear(struct plain *plain)
{
    for (size_t m = 0; m < PLAIN_KERNELS_MOST; m++)
        free(plain->body[m]);
    md_problem_clear(&plain->problem);
    medley_options_free(plain->options);
    medley_dataset_free(plain->train);
}

static inline medley_model *plain_model(const struct model_case *given, size_t rows)
{
    struct plain plain;
    plain_start(&plain, given, rows);
    plain_fill(&plain, given->origin, 7);
    medley_model *model = plain_build(&plain);
    plain_clear(&plain);
    return model;
}

static inline medley_model *case_model(const struct model_case *given, size_t rows)
{
    if (given->origin != FITTED)
        return plain_model(given, rows);
    char text[256];
    medley_dataset *train = case_dataset(given->kind, 0, rows, rows);
    snprintf(text, sizeof text, "epochs=4 eta0=1 threads=1 %s", given->options);
    medley_model *model = fit(train, NULL, text);
    medley_dataset_free(train);
    return model;
}

/* The same labels and scores, or numbers, bit by bit. */
static inline bool same_predictions(const medley_prediction *a, const medley_prediction *b)
{
    if (a->labels != b->labels || a->rows != b->rows || !a->value != !b->value)
        return false;
    if (a->value != NULL)
        return memcmp(a->value, b->value, a->rows * sizeof *a->value) == 0;
    return memcmp(a->score, b->score, a->rows * a->labels * sizeof *a->score) == 0 &&
           memcmp(a->label, b->label, a->rows * sizeof *a->label) == 0;
}

#endif
