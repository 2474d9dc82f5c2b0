/* SPDX-License-Identifier: BSD-3-Clause */
/* Points that grow: the support of a learner that is fed piece by piece. Everything is made room
 * for first, then filled in behind what is there, and counted only at the end, so that prepared
 * rows for which memory was lacking are what they were. */
#include "gram/prepared_rows.h"

#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

/* Room for count items, those that are there included; false for lack of memory. */
static bool make_room(void **array, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count > 0 ? count : 1, size, &bytes))
        return false;
    void *moved = realloc(*array, bytes);
    if (moved == NULL)
        return false;
    *array = moved;
    return true;
}

static size_t entries_of(const md_matrix *matrix)
{
    return matrix->start[matrix->rows];
}

static bool make_room_in_view(md_prepared *prepared, const md_prepared *other, size_t v)
{
    md_matrix *matrix = &prepared->views[v];
    const size_t rows = prepared->rows + other->rows;
    size_t count;
    if (prepared->norm2[v] != NULL && !make_room((void **)&prepared->norm2[v], rows, sizeof(float)))
        return false;
    if (prepared->lift[v] != NULL && !make_room((void **)&prepared->lift[v], rows, sizeof(float)))
        return false;
    if (!md_matrix_is_sparse(matrix))
        return !__builtin_mul_overflow(rows, matrix->columns, &count) &&
               make_room((void **)&matrix->dense, count, sizeof(float));
    count = entries_of(matrix) + entries_of(&other->views[v]);
    return make_room((void **)&matrix->start, rows + 1, sizeof *matrix->start) &&
           make_room((void **)&matrix->index, count, sizeof *matrix->index) &&
           make_room((void **)&matrix->value, count, sizeof *matrix->value);
}

static bool make_room_for_all(md_prepared *prepared, const md_prepared *other)
{
    bool fits = true;
    for (size_t v = 0; fits && v < prepared->view_count; v++)
        fits = make_room_in_view(prepared, other, v);
    for (size_t m = 0; fits && m < prepared->kernel_count; m++)
        if (prepared->inverse_root[m] != NULL)
            fits = make_room((void **)&prepared->inverse_root[m], prepared->rows + other->rows,
                             sizeof(float));
    return fits;
}

static void fill_floats(float *array, size_t rows, const float *more, size_t count)
{
    if (array != NULL && count > 0)
        memcpy(array + rows, more, count * sizeof *array);
}

static void fill_matrix(md_matrix *matrix, const md_matrix *more)
{
    if (!md_matrix_is_sparse(matrix)) {
        fill_floats(matrix->dense, matrix->rows * matrix->columns, more->dense,
                    more->rows * more->columns);
        return;
    }
    const size_t before = entries_of(matrix);
    const size_t count = entries_of(more);
    fill_floats(matrix->value, before, more->value, count);
    if (count > 0)
        memcpy(matrix->index + before, more->index, count * sizeof *matrix->index);
    for (size_t r = 0; r < more->rows; r++)
        matrix->start[matrix->rows + r + 1] = before + more->start[r + 1];
}

/* The view as it will be. A later row may have columns that no earlier one has. */
static md_matrix whole(const md_prepared *prepared, const md_prepared *other, size_t v)
{
    md_matrix matrix = prepared->views[v];
    matrix.rows = prepared->rows + other->rows;
    if (other->views[v].columns > matrix.columns)
        matrix.columns = other->views[v].columns;
    return matrix;
}

static medley_status transpose_views(md_matrix *transposed, const md_prepared *prepared,
                                     const md_prepared *other, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    for (size_t v = 0; v < prepared->view_count && status == MEDLEY_OK; v++) {
        const md_matrix matrix = whole(prepared, other, v);
        if (prepared->used[v] && md_matrix_is_sparse(&matrix))
            status = md_matrix_transpose_sparse(&transposed[v], &matrix, error);
    }
    return status;
}

medley_status md_prepared_append(md_prepared *prepared, const md_prepared *other,
                                 medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t rows = prepared->rows;
    md_matrix *transposed = md_calloc(prepared->view_count, sizeof *transposed);
    if (transposed == NULL || !make_room_for_all(prepared, other)) {
        status = md_fail_memory(error, (rows + other->rows) * sizeof(float));
        goto done;
    }
    for (size_t v = 0; v < prepared->view_count; v++) {
        fill_matrix(&prepared->views[v], &other->views[v]);
        fill_floats(prepared->norm2[v], rows, other->norm2[v], other->rows);
        fill_floats(prepared->lift[v], rows, other->lift[v], other->rows);
    }
    for (size_t m = 0; m < prepared->kernel_count; m++)
        fill_floats(prepared->inverse_root[m], rows, other->inverse_root[m], other->rows);
    MEDLEY_TRY_DONE(transpose_views(transposed, prepared, other, error));
    for (size_t v = 0; v < prepared->view_count; v++) {
        const md_matrix before = prepared->transposed[v];
        prepared->views[v] = whole(prepared, other, v);
        prepared->transposed[v] = transposed[v];
        transposed[v] = before;
    }
    prepared->rows = rows + other->rows;
done:
    for (size_t v = 0; transposed != NULL && v < prepared->view_count; v++)
        md_matrix_clear(&transposed[v]);
    free(transposed);
    return status;
}
