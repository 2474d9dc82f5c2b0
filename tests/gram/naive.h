/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels once more, straight from their formulas in double precision, and random data for
 * them: what the tests of kernels and Gram matrices compare with. */
#ifndef TESTS_GRAM_NAIVE_H
#define TESTS_GRAM_NAIVE_H

#include "base/memory.h"
#include "base/random.h"
#include "data/dataset.h"
#include "gram/bank.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- formulas ---- */

enum { LINEAR, POLY, RBF, LAPLACE, CHI2, INTERSECTION, BSPLINE, BIAS };
static const char *const naive_names[] = {"linear",       "poly",    "rbf",  "laplace", "chi2",
                                          "intersection", "bspline", "bias", NULL};

typedef struct naive {
    int kind; /* of naive_names, -1: not written down here */
    char spec[200];
    int degree;
    double offset, scale, gamma, h;
} naive;

static inline double naive_dot(const float *x, const float *z, size_t d)
{
    double sum = 0;
    for (size_t c = 0; c < d; c++)
        sum += (double)x[c] * (double)z[c];
    return sum;
}

static inline double naive_distance2(const float *x, const float *z, size_t d)
{
    double sum = 0;
    for (size_t c = 0; c < d; c++)
        sum += ((double)x[c] - (double)z[c]) * ((double)x[c] - (double)z[c]);
    return sum;
}

static inline double naive_distance1(const float *x, const float *z, size_t d)
{
    double sum = 0;
    for (size_t c = 0; c < d; c++)
        sum += fabs((double)x[c] - (double)z[c]);
    return sum;
}

static inline double naive_chi2(const float *x, const float *z, size_t d)
{
    double sum = 0;
    for (size_t c = 0; c < d; c++) {
        const double difference = (double)x[c] - (double)z[c];
        const double total = (double)x[c] + (double)z[c];
        sum += total > 0 ? difference * difference / total : 0;
    }
    return sum;
}

static inline double naive_minima(const float *x, const float *z, size_t d)
{
    double sum = 0;
    for (size_t c = 0; c < d; c++)
        sum += fmin((double)x[c], (double)z[c]);
    return sum;
}

/* k(x, z); NaN for a kernel that is not written down here. */
static inline double naive_value(const naive *k, const float *x, const float *z, size_t d)
{
    switch (k->kind) {
    case LINEAR:
        return naive_dot(x, z, d);
    case POLY: {
        const double base = k->scale * naive_dot(x, z, d) + k->offset;
        double power = 1;
        for (int i = 0; i < k->degree; i++)
            power *= base;
        return power;
    }
    case RBF:
        return exp(-k->gamma * naive_distance2(x, z, d));
    case LAPLACE:
        return exp(-k->gamma * naive_distance1(x, z, d));
    case CHI2:
        return exp(-k->gamma * naive_chi2(x, z, d));
    case INTERSECTION:
        return naive_minima(x, z, d);
    case BSPLINE:
        return fmax(0, 1 - sqrt(naive_distance2(x, z, d)) / k->h);
    case BIAS:
        return 1;
    default:
        return NAN;
    }
}

/* Random parameters for the kernel called name; the spec carries norm unless it is "". */
static inline naive naive_draw(const char *name, const char *norm, md_random *random)
{
    naive k = {.kind = md_text_index(name, naive_names), .degree = 2, .offset = 1, .scale = 1};
    char parameters[120] = "";
    if (k.kind == POLY) {
        k.degree = 1 + (int)md_random_below(random, 5);
        k.offset = 2 * md_random_uniform(random);
        k.scale = 0.05 + 0.3 * md_random_uniform(random);
        snprintf(parameters, sizeof parameters, "degree=%d,offset=%.17g,scale=%.17g", k.degree,
                 k.offset, k.scale);
    } else if (k.kind == RBF || k.kind == LAPLACE || k.kind == CHI2) {
        static const char *const ways[] = {"sigma", "sigma2", "gamma"};
        const size_t way = md_random_below(random, 3);
        const double given = (way == 2 ? 0.02 : 1) * (1 + 2 * md_random_uniform(random));
        k.gamma = way == 0 ? 1 / (2 * given * given) : way == 1 ? 1 / (2 * given) : given;
        snprintf(parameters, sizeof parameters, "%s=%.17g", ways[way], given);
    } else if (k.kind == BSPLINE) {
        k.h = 1 + 4 * md_random_uniform(random);
        snprintf(parameters, sizeof parameters, "h=%.17g", k.h);
    }
    const char *comma = parameters[0] != '\0' && norm[0] != '\0' ? "," : "";
    snprintf(k.spec, sizeof k.spec, "%s(%s%s%s%s)", name, parameters, comma,
             norm[0] != '\0' ? "norm=" : "", norm);
    return k;
}

/* ---- data ---- */

typedef struct data_kind {
    size_t rows, columns;
    double center, spread; /* of uniform values */
    double zeros;          /* share of values that are 0 */
    bool sparse;
} data_kind;

static inline float draw_value(const data_kind *kind, md_random *random)
{
    if (md_random_uniform(random) < kind->zeros)
        return 0;
    return (float)(kind->center + kind->spread * (2 * md_random_uniform(random) - 1));
}

static inline void fill_sparse(md_matrix *matrix, const data_kind *kind, md_random *random)
{
    size_t used = 0;
    for (size_t r = 0; r < kind->rows; r++) {
        for (size_t c = 0; c < kind->columns; c++) {
            const float value = draw_value(kind, random);
            if (value == 0)
                continue;
            matrix->index[used] = (int32_t)c;
            matrix->value[used++] = value;
        }
        matrix->start[r + 1] = used;
    }
}

/* One table called name is added to dataset (NULL: a new one). Aborts for lack of memory. */
static inline medley_dataset *add_data(medley_dataset *dataset, const char *name,
                                       const data_kind *kind, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    if (dataset == NULL && medley_dataset_create(&dataset, NULL) < 0)
        abort();
    md_table *table = NULL;
    const size_t total = kind->rows * kind->columns;
    dataset->rows = kind->rows;
    if (md_dataset_new_table(&table, dataset, name, "test data", NULL) < 0 ||
        (kind->sparse
             ? md_matrix_init_sparse(&table->features, kind->rows, kind->columns, total, NULL)
             : md_matrix_init_dense(&table->features, kind->rows, kind->columns, NULL)) < 0)
        abort();
    if (kind->sparse)
        fill_sparse(&table->features, kind, &random);
    for (size_t i = 0; !kind->sparse && i < total; i++)
        table->features.dense[i] = draw_value(kind, &random);
    return dataset;
}

static inline medley_dataset *make_data(const data_kind *kind, uint64_t seed)
{
    return add_data(NULL, "", kind, seed);
}

/* The values of a table, dense; the caller frees them. */
static inline float *dense_values(const md_matrix *matrix)
{
    float *values = md_calloc(matrix->rows * matrix->columns, sizeof *values);
    if (values == NULL)
        abort();
    for (size_t r = 0; r < matrix->rows; r++) {
        float *row = values + r * matrix->columns;
        if (!md_matrix_is_sparse(matrix))
            memcpy(row, matrix->dense + r * matrix->columns, matrix->columns * sizeof *row);
        else
            for (size_t e = matrix->start[r]; e < matrix->start[r + 1]; e++)
                row[matrix->index[e]] = matrix->value[e];
    }
    return values;
}

/* ---- normalised kernel matrices ---- */

typedef struct naive_rows {
    const float *values; /* [rows][columns] */
    size_t rows, columns;
} naive_rows;

static inline double naive_pair(const naive *k, naive_rows left, size_t i, naive_rows right,
                                size_t j)
{
    return naive_value(k, left.values + i * left.columns, right.values + j * right.columns,
                       left.columns);
}

/* K(x,x) of every row; the caller frees it. */
static inline double *naive_self(const naive *k, naive_rows points)
{
    double *self = md_calloc(points.rows, sizeof *self);
    if (self == NULL)
        abort();
    for (size_t i = 0; i < points.rows; i++)
        self[i] = naive_pair(k, points, i, points, i);
    return self;
}

/* Mean of each column of the training rows' matrix. */
static inline double *naive_means(const naive *k, naive_rows training)
{
    double *mean = md_calloc(training.rows, sizeof *mean);
    if (mean == NULL)
        abort();
    for (size_t j = 0; j < training.rows; j++)
        for (size_t i = 0; i < training.rows; i++)
            mean[j] += naive_pair(k, training, i, training, j) / (double)training.rows;
    return mean;
}

/* values[left rows][training rows] of k, normalised by each point's own K(x,x), by the trace over
 * the training rows, or centred by their means; the caller frees them. */
static inline double *naive_matrix(const naive *k, md_norm norm, naive_rows left,
                                   naive_rows training)
{
    const size_t columns = training.rows;
    double *values = md_calloc(left.rows * columns, sizeof *values);
    double *left_self = naive_self(k, left);
    double *self = naive_self(k, training);
    double *mean = norm == MD_NORM_CENTER ? naive_means(k, training) : NULL;
    double trace = 0;
    double grand = 0;
    for (size_t j = 0; j < columns; j++) {
        trace += self[j];
        grand += mean != NULL ? mean[j] / (double)columns : 0;
    }
    for (size_t i = 0; values != NULL && i < left.rows; i++) {
        double own_mean = 0;
        for (size_t j = 0; j < columns; j++) {
            values[i * columns + j] = naive_pair(k, left, i, training, j);
            own_mean += values[i * columns + j] / (double)columns;
        }
        for (size_t j = 0; j < columns; j++) {
            double *value = &values[i * columns + j];
            const double square = left_self[i] * self[j];
            if (norm == MD_NORM_DIAG)
                *value = square > 0 ? *value / sqrt(square) : 0;
            else if (norm == MD_NORM_TRACE)
                *value /= trace > 0 ? trace : 1;
            else if (mean != NULL)
                *value += grand - own_mean - mean[j];
        }
    }
    free(left_self);
    free(self);
    free(mean);
    return values;
}

#endif
