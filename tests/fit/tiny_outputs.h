/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by tests that hold what is learnt against plain arithmetic: a few short sequences (or
 * rows that stand alone), the joint features phi(x, y) of an output written out as one vector, and
 * losses and their gradients by listing every output there is. */
#ifndef TESTS_LEARNER_TINY_OUTPUTS_H
#define TESTS_LEARNER_TINY_OUTPUTS_H

#include "base/memory.h"
#include "base/random.h"
#include "data/dataset.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum {
    TABLES = 2,  /* one block each */
    COLUMNS = 2, /* of a table */
    MOST_LABELS = 3,
    LONGEST = 4,
    MOST_EXAMPLES = 12,
    MOST_ROWS = MOST_EXAMPLES * LONGEST,
    MOST_GROUPS = TABLES + 3,
    MOST_WEIGHTS = TABLES * COLUMNS * MOST_LABELS + 2 * MOST_LABELS + MOST_LABELS * MOST_LABELS +
                   MOST_LABELS * MOST_LABELS * MOST_LABELS
};

/* What the outputs of the tiny data are. */
struct tiny_kind {
    size_t labels, examples;
    bool chain, ends;
    size_t order;        /* 0: no label context, 1: pairs, 2: triples too */
    double bigram_scale; /* value of the features of label context */
};

/* theta is one vector: weight (column, label) of table 0, of table 1, pairs, triples, ends. */
struct tiny_data {
    struct tiny_kind kind;
    size_t rows, start[MOST_EXAMPLES + 1];
    float x[MOST_ROWS][TABLES][COLUMNS];
    int32_t gold[MOST_ROWS];
    bool any_maximum; /* it does not matter which of several best outputs the hinge finds */
    size_t weights, group_count;
    size_t group[MOST_GROUPS + 1]; /* where the weights of each block begin */
};

static inline void add_group(struct tiny_data *data, size_t size)
{
    data->weights += size;
    data->group[++data->group_count] = data->weights;
}

/* Labels lean on the first table and on the label before; all of them occur. */
static inline void draw_tiny_data(struct tiny_data *data, const struct tiny_kind *kind,
                                  uint64_t seed)
{
    const size_t labels = kind->labels;
    md_random random;
    md_random_seed(&random, seed);
    memset(data, 0, sizeof *data);
    data->kind = *kind;
    for (size_t e = 0; e < kind->examples; e++)
        data->start[e + 1] = data->start[e] + (kind->chain ? (e + LONGEST - 1) % LONGEST + 1 : 1);
    data->rows = data->start[kind->examples];
    for (size_t r = 0; r < data->rows; r++) {
        const bool follows = r > 0 && md_random_uniform(&random) < 0.6;
        data->gold[r] = (int32_t)(r < labels ? r
                                  : follows  ? ((size_t)data->gold[r - 1] + 1) % labels
                                             : md_random_below(&random, labels));
        for (size_t b = 0; b < TABLES; b++)
            for (size_t c = 0; c < COLUMNS; c++)
                data->x[r][b][c] = (float)(0.7 * md_random_normal(&random) +
                                           (b == 0 && (int32_t)c == data->gold[r] ? 0.6 : 0));
    }
    for (size_t b = 0; b < TABLES; b++)
        add_group(data, COLUMNS * labels);
    if (kind->order >= 1)
        add_group(data, labels * labels);
    if (kind->order >= 2)
        add_group(data, labels * labels * labels);
    if (kind->ends)
        add_group(data, 2 * labels);
}

/* ---- by listing ---- */

static inline size_t length_of(const struct tiny_data *data, size_t e)
{
    return data->start[e + 1] - data->start[e];
}

/* phi(x_e, y), times factor, added to sum. */
static inline void add_features(const struct tiny_data *data, size_t e, const int32_t *y,
                                double factor, double *sum)
{
    const size_t labels = data->kind.labels;
    const size_t length = length_of(data, e);
    const double gain = factor * data->kind.bigram_scale;
    double *context = sum + data->group[TABLES];
    for (size_t i = 0; i < length; i++)
        for (size_t k = 0; k < TABLES * COLUMNS; k++)
            sum[k * labels + (size_t)y[i]] +=
                factor * (double)data->x[data->start[e] + i][k / COLUMNS][k % COLUMNS];
    for (size_t i = 1; i < length && data->kind.order >= 1; i++)
        context[(size_t)y[i - 1] * labels + (size_t)y[i]] += gain;
    context += data->kind.order >= 1 ? labels * labels : 0;
    for (size_t i = 2; i < length && data->kind.order >= 2; i++)
        context[((size_t)y[i - 2] * labels + (size_t)y[i - 1]) * labels + (size_t)y[i]] += gain;
    context += data->kind.order >= 2 ? labels * labels * labels : 0;
    if (data->kind.ends) {
        context[y[0]] += gain;
        context[labels + (size_t)y[length - 1]] += gain;
    }
}

static inline double score_of(const struct tiny_data *data, const double *theta, size_t e,
                              const int32_t *y)
{
    double phi[MOST_WEIGHTS] = {0};
    double score = 0;
    add_features(data, e, y, 1, phi);
    for (size_t j = 0; j < data->weights; j++)
        score += theta[j] * phi[j];
    return score;
}

/* Output number n of an example; false behind the last one. */
static inline bool output_at(const struct tiny_data *data, size_t e, size_t n, int32_t *y)
{
    for (size_t i = 0; i < length_of(data, e); i++) {
        y[i] = (int32_t)(n % data->kind.labels);
        n /= data->kind.labels;
    }
    return n == 0;
}

/* The structured hinge and a subgradient of it, added to gradient. A maximum that rounding could
 * move is no test of anything: it asks for other data. */
static inline double add_hinge(const struct tiny_data *data, const double *theta, size_t e,
                               double *gradient)
{
    const double clear = 1e-6;
    const int32_t *gold = data->gold + data->start[e];
    double most = -INFINITY;
    double second = -INFINITY;
    int32_t y[LONGEST] = {0};
    int32_t worst[LONGEST] = {0};
    for (size_t n = 0; output_at(data, e, n, y); n++) {
        double value = score_of(data, theta, e, y);
        for (size_t i = 0; i < length_of(data, e); i++)
            value += y[i] != gold[i];
        second = fmax(second, fmin(value, most));
        if (value > most)
            memcpy(worst, y, sizeof worst);
        most = fmax(most, value);
    }
    if (gradient != NULL && !data->any_maximum && !(most - second > clear))
        fail_msg("two outputs of example %zu have the same score: choose another seed", e);
    if (gradient != NULL) {
        add_features(data, e, worst, 1, gradient);
        add_features(data, e, gold, -1, gradient);
    }
    return most - score_of(data, theta, e, gold);
}

/* The log loss and its gradient. */
static inline double add_logistic(const struct tiny_data *data, const double *theta, size_t e,
                                  double *gradient)
{
    const int32_t *gold = data->gold + data->start[e];
    double sum = 0;
    int32_t y[LONGEST] = {0};
    for (size_t n = 0; output_at(data, e, n, y); n++)
        sum += exp(score_of(data, theta, e, y));
    for (size_t n = 0; gradient != NULL && output_at(data, e, n, y); n++)
        add_features(data, e, y, exp(score_of(data, theta, e, y)) / sum, gradient);
    if (gradient != NULL)
        add_features(data, e, gold, -1, gradient);
    return log(sum) - score_of(data, theta, e, gold);
}

/* gradient NULL: the value only. */
static inline double add_loss(const struct tiny_data *data, const char *loss, const double *theta,
                              size_t e, double *gradient)
{
    return strcmp(loss, "hinge") == 0 ? add_hinge(data, theta, e, gradient)
                                      : add_logistic(data, theta, e, gradient);
}

/* ---- the same as a data set ---- */

static inline void fill_table(const struct tiny_data *data, size_t b, md_matrix *features)
{
    medley_error error = {0};
    assert_int_equal(md_matrix_init_dense(features, data->rows, COLUMNS, &error), MEDLEY_OK);
    for (size_t r = 0; r < data->rows; r++)
        memcpy(features->dense + r * COLUMNS, data->x[r][b], sizeof data->x[r][b]);
}

static inline medley_dataset *tiny_dataset(const struct tiny_data *data)
{
    static const char *const tables[TABLES] = {"first", "second"};
    static const char *const names[MOST_LABELS] = {"a", "b", "c"};
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    md_label_builder labels = {0};
    assert_int_equal(medley_dataset_create(&dataset, &error), MEDLEY_OK);
    dataset->rows = data->rows;
    for (size_t b = 0; b < TABLES; b++) {
        md_table *table = NULL;
        assert_int_equal(md_dataset_new_table(&table, dataset, tables[b], "", NULL), MEDLEY_OK);
        fill_table(data, b, &table->features);
    }
    for (size_t r = 0; r < data->rows; r++)
        assert_int_equal(md_labels_add(&labels, names[data->gold[r]], 1, &error), MEDLEY_OK);
    assert_int_equal(md_labels_finish(&labels, dataset, &error), MEDLEY_OK);
    md_labels_clear(&labels);
    if (data->kind.chain) {
        dataset->sequence_count = data->kind.examples;
        dataset->sequence_start = md_copy(data->start, sizeof data->start);
        assert_non_null(dataset->sequence_start);
    }
    return dataset;
}

#endif
