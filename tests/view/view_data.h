/* SPDX-License-Identifier: BSD-3-Clause */
/* Small tables and the views of them, for the tests of views. */
#ifndef TESTS_DATA_VIEW_DATA_H
#define TESTS_DATA_VIEW_DATA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "view/view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds a dense table that holds values[rows][columns]. */
static inline md_table *add_dense(medley_dataset **dataset, const char *name, size_t rows,
                                  size_t columns, const float *values)
{
    if (*dataset == NULL)
        assert_int_equal(medley_dataset_create(dataset, NULL), MEDLEY_OK);
    md_table *table = NULL;
    assert_int_equal(md_dataset_new_table(&table, *dataset, name, "data.csv", NULL), MEDLEY_OK);
    assert_int_equal(md_matrix_init_dense(&table->features, rows, columns, NULL), MEDLEY_OK);
    if (values != NULL)
        memcpy(table->features.dense, values, rows * columns * sizeof *values);
    (*dataset)->rows = rows;
    return table;
}

/* The same values as a sparse table without its zeros. */
static inline md_table *add_sparse(medley_dataset **dataset, const char *name, size_t rows,
                                   size_t columns, const float *values)
{
    if (*dataset == NULL)
        assert_int_equal(medley_dataset_create(dataset, NULL), MEDLEY_OK);
    md_table *table = NULL;
    assert_int_equal(md_dataset_new_table(&table, *dataset, name, "data.svm", NULL), MEDLEY_OK);
    md_matrix *matrix = &table->features;
    assert_int_equal(md_matrix_init_sparse(matrix, rows, columns, rows * columns, NULL), MEDLEY_OK);
    size_t used = 0;
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            if (values[r * columns + c] == 0)
                continue;
            matrix->index[used] = (int32_t)c;
            matrix->value[used++] = values[r * columns + c];
        }
        matrix->start[r + 1] = used;
    }
    (*dataset)->rows = rows;
    return table;
}

/* Random images with some empty ones and some pixels below zero. */
static inline void fill_images(float *values, size_t rows, size_t columns, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    for (size_t i = 0; i < rows * columns; i++)
        values[i] = (float)(md_random_uniform(&random) < 0.5 ? 0 : md_random_normal(&random) + 1);
    memset(values, 0, columns * sizeof *values);
}

static inline float element(const md_matrix *matrix, size_t row, size_t column)
{
    if (!md_matrix_is_sparse(matrix))
        return matrix->dense[row * matrix->columns + column];
    for (size_t e = matrix->start[row]; e < matrix->start[row + 1]; e++)
        if ((size_t)matrix->index[e] == column)
            return matrix->value[e];
    return 0;
}

static inline void check_matrix(const md_matrix *matrix, size_t rows, size_t columns,
                                const float *expected)
{
    assert_int_equal(matrix->rows, rows);
    assert_int_equal(matrix->columns, columns);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            if (!(fabsf(element(matrix, r, c) - expected[r * columns + c]) < 1e-6f))
                fail_msg("row %zu, column %zu: %g, expected %g", r, c,
                         (double)element(matrix, r, c), (double)expected[r * columns + c]);
}

/* The only view that spec makes. */
static inline md_view view_of(const medley_dataset *dataset, const char *spec)
{
    md_view *views = NULL;
    size_t count = 0;
    medley_error error = {0};
    if (md_views_make(&views, &count, dataset, spec, &error) < 0)
        fail_msg("%s: %s", spec, error.message);
    assert_int_equal(count, 1);
    const md_view view = views[0];
    free(views);
    return view;
}

/* Gives the columns of a table the names in a NULL-terminated list. */
static inline void name_columns(md_table *table, const char *const *names)
{
    for (size_t c = 0; names[c] != NULL; c++)
        assert_int_equal(md_strings_add(&table->column_names, names[c], strlen(names[c])), c);
}

static inline void check_extracted(const md_view *view, const medley_dataset *dataset,
                                   size_t columns, const float *expected)
{
    md_matrix matrix = {0};
    medley_error error = {0};
    if (md_view_extract(&matrix, view, dataset, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(md_matrix_is_sparse(&matrix), view->sparse);
    check_matrix(&matrix, dataset->rows, columns, expected);
    md_matrix_clear(&matrix);
}

#endif
