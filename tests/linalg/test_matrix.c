/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathering rows and columns, transposing and norms, against element-by-element computation on
 * dense copies of random matrices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "linalg/matrix.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12, ROUNDS = 200 };

/* A random matrix, dense or sparse, with about half of the entries zero; also as plain[][]. */
static void make_matrix(md_matrix *matrix, float plain[MOST][MOST], bool sparse, md_random *random)
{
    const size_t rows = md_random_below(random, MOST + 1);
    const size_t columns = md_random_below(random, MOST + 1);
    memset(plain, 0, MOST * sizeof *plain);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            if (md_random_below(random, 2))
                plain[r][c] = (float)md_random_normal(random);
    if (!sparse) {
        assert_int_equal(md_matrix_init_dense(matrix, rows, columns, NULL), MEDLEY_OK);
        for (size_t i = 0; i < rows * columns; i++)
            assert_true(matrix->dense[i] == 0); /* zeroed, as promised */
        for (size_t i = 0; i < rows * columns; i++)
            matrix->dense[i] = plain[i / columns][i % columns];
        return;
    }
    assert_int_equal(md_matrix_init_sparse(matrix, rows, columns, rows * columns, NULL), MEDLEY_OK);
    size_t used = 0;
    for (size_t r = 0; r < rows; r++) {
        assert_int_equal(matrix->start[r + 1], 0);
        for (size_t c = 0; c < columns; c++) {
            if (plain[r][c] != 0) {
                matrix->index[used] = (int32_t)c;
                matrix->value[used++] = plain[r][c];
            }
        }
        matrix->start[r + 1] = used;
    }
}

/* Checks the sparse invariants on the way: starts and the columns of a row increase. */
static float element(const md_matrix *matrix, size_t row, size_t column)
{
    if (!md_matrix_is_sparse(matrix))
        return matrix->dense[row * matrix->columns + column];
    float found = 0;
    for (size_t e = matrix->start[row]; e < matrix->start[row + 1]; e++) {
        assert_in_range(matrix->index[e], 0, matrix->columns - 1);
        assert_true(e == matrix->start[row] || matrix->index[e - 1] < matrix->index[e]);
        if ((size_t)matrix->index[e] == column)
            found = matrix->value[e];
    }
    return found;
}

static void check_gather(bool sparse, bool some_columns, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    for (int round = 0; round < ROUNDS; round++) {
        float plain[MOST][MOST];
        md_matrix source;
        md_matrix target;
        size_t keep[2 * MOST];
        size_t columns[MOST];
        make_matrix(&source, plain, sparse, &random);
        const size_t count = source.rows ? md_random_below(&random, 2 * MOST) : 0;
        for (size_t i = 0; i < count; i++) /* any order, repeats too */
            keep[i] = md_random_below(&random, source.rows);
        size_t width = 0;
        for (size_t c = 0; c < source.columns; c++)
            if (!some_columns || md_random_below(&random, 2))
                columns[width++] = c;
        if (some_columns && !sparse)
            md_random_shuffle(&random, columns, width); /* dense sources take any order */
        assert_int_equal(md_matrix_gather(&target, &source, keep, count,
                                          some_columns ? columns : NULL, width, NULL),
                         MEDLEY_OK);
        assert_int_equal(target.rows, count);
        assert_int_equal(target.columns, width);
        assert_int_equal(md_matrix_is_sparse(&target), sparse);
        for (size_t r = 0; r < count; r++)
            for (size_t c = 0; c < width; c++)
                assert_true(element(&target, r, c) == plain[keep[r]][columns[c]]);
        md_matrix_clear(&target);
        md_matrix_clear(&source);
    }
}

static void gathering_dense_rows_copies_them(void **state)
{
    (void)state;
    check_gather(false, false, 1);
}

static void gathering_dense_columns_picks_them_in_any_order(void **state)
{
    (void)state;
    check_gather(false, true, 2);
}

static void gathering_sparse_rows_copies_them(void **state)
{
    (void)state;
    check_gather(true, false, 3);
}

static void gathering_sparse_columns_renumbers_them(void **state)
{
    (void)state;
    check_gather(true, true, 4);
}

static void a_transpose_swaps_rows_and_columns(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 5);
    for (int round = 0; round < ROUNDS; round++) {
        float plain[MOST][MOST];
        md_matrix source;
        md_matrix target;
        make_matrix(&source, plain, true, &random);
        assert_int_equal(md_matrix_transpose_sparse(&target, &source, NULL), MEDLEY_OK);
        assert_int_equal(target.rows, source.columns);
        assert_int_equal(target.columns, source.rows);
        assert_int_equal(target.start[0], 0);
        assert_int_equal(target.start[target.rows], source.start[source.rows]);
        for (size_t r = 0; r < target.rows; r++)
            for (size_t c = 0; c < target.columns; c++)
                assert_true(element(&target, r, c) == plain[c][r]);
        md_matrix_clear(&target);
        md_matrix_clear(&source);
    }
}

static void norms_are_sums_of_squares_in_double_precision(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 6);
    for (int round = 0; round < 2 * ROUNDS; round++) {
        float plain[MOST][MOST];
        double norms2[MOST];
        md_matrix matrix;
        make_matrix(&matrix, plain, round % 2 == 0, &random);
        md_matrix_row_norms2(&matrix, norms2);
        for (size_t r = 0; r < matrix.rows; r++) {
            double expected = 0;
            for (size_t c = 0; c < MOST; c++)
                expected += (double)plain[r][c] * (double)plain[r][c];
            assert_true(fabs(norms2[r] - expected) <= 1e-14 * expected);
        }
        md_matrix_clear(&matrix);
    }
    md_matrix matrix; /* a million of 0.1f: single precision would lose the last digits */
    double norm2;
    assert_int_equal(md_matrix_init_dense(&matrix, 1, 1000000, NULL), MEDLEY_OK);
    for (size_t c = 0; c < matrix.columns; c++)
        matrix.dense[c] = 0.1f;
    md_matrix_row_norms2(&matrix, &norm2);
    const double expected = 1e6 * (double)0.1f * (double)0.1f;
    assert_true(fabs(norm2 - expected) < 1e-9 * expected);
    md_matrix_clear(&matrix);
}

static void impossible_sizes_are_refused_and_leave_an_empty_matrix(void **state)
{
    (void)state;
    md_matrix matrix;
    medley_error error = {0};
    assert_int_equal(md_matrix_init_dense(&matrix, SIZE_MAX / 2, 8, &error), MEDLEY_FAILED);
    assert_int_equal(error.code, MEDLEY_FAILED);
    assert_int_equal(matrix.rows, 0);
    assert_null(matrix.dense);
    md_matrix_clear(&matrix);
    assert_int_equal(md_matrix_init_sparse(&matrix, 3, 3, SIZE_MAX / 4, NULL), MEDLEY_FAILED);
    assert_null(matrix.start);
    md_matrix_clear(&matrix);
}

/* Columns are spread over a hundred million: only those that occur become rows. */
static void a_transpose_of_far_columns_has_those_that_occur(void **state)
{
    (void)state;
    enum { FAR = 9000000 };
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        md_random random;
        md_matrix near;
        md_matrix across;
        float plain[MOST][MOST];
        md_random_seed(&random, seed);
        make_matrix(&near, plain, true, &random);
        const size_t columns = near.columns;
        for (size_t e = 0; e < near.start[near.rows]; e++)
            near.index[e] *= FAR;
        near.columns = (columns + 1) * (size_t)FAR;
        assert_int_equal(md_matrix_transpose_occurring(&across, &near, NULL), MEDLEY_OK);
        assert_true(across.rows <= columns && across.columns == near.rows);
        for (size_t c = 0; c <= columns; c++) {
            const size_t row = md_matrix_find_row(&across, c * FAR);
            assert_true(md_matrix_find_row(&across, c * FAR + 1) == SIZE_MAX);
            bool occurs = false;
            for (size_t r = 0; r < near.rows && c < columns; r++) {
                occurs = occurs || plain[r][c] != 0;
                assert_true(row == SIZE_MAX ? plain[r][c] == 0
                                            : element(&across, row, r) == plain[r][c]);
            }
            assert_true(occurs == (row != SIZE_MAX));
        }
        md_matrix_clear(&near);
        md_matrix_clear(&across);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gathering_dense_rows_copies_them),
        cmocka_unit_test(gathering_dense_columns_picks_them_in_any_order),
        cmocka_unit_test(gathering_sparse_rows_copies_them),
        cmocka_unit_test(gathering_sparse_columns_renumbers_them),
        cmocka_unit_test(a_transpose_swaps_rows_and_columns),
        cmocka_unit_test(a_transpose_of_far_columns_has_those_that_occur),
        cmocka_unit_test(norms_are_sums_of_squares_in_double_precision),
        cmocka_unit_test(impossible_sizes_are_refused_and_leave_an_empty_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
