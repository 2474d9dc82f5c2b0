/* SPDX-License-Identifier: BSD-3-Clause */
/* Points that grow: the support of a learner that is fed piece by piece. Everything is made room
 * for first, then filled in behind what is there, and counted only at the end, so that points for
 * which memory was lacking are what they were. */
#include "gram/points.h"

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

static bool make_room_in_view(md_points *points, const md_points *other, size_t v)
{
    md_matrix *matrix = &points->views[v];
    const size_t rows = points->rows + other->rows;
    size_t count;
    if (points->norm2[v] != NULL && !make_room((void **)&points->norm2[v], rows, sizeof(float)))
        return false;
    if (points->lift[v] != NULL && !make_room((void **)&points->lift[v], rows, sizeof(float)))
        return false;
    if (!md_matrix_is_sparse(matrix))
        return !__builtin_mul_overflow(rows, matrix->columns, &count) &&
               make_room((void **)&matrix->dense, count, sizeof(float));
    count = entries_of(matrix) + entries_of(&other->views[v]);
    return make_room((void **)&matrix->start, rows + 1, sizeof *matrix->start) &&
           make_room((void **)&matrix->index, count, sizeof *matrix->index) &&
           make_room((void **)&matrix->value, count, sizeof *matrix->value);
}

static bool make_room_for_all(md_points *points, const md_points *other)
{
    bool fits = true;
    for (size_t v = 0; fits && v < points->view_count; v++)
        fits = make_room_in_view(points, other, v);
    for (size_t m = 0; fits && m < points->kernel_count; m++)
        if (points->inverse_root[m] != NULL)
            fits = make_room((void **)&points->inverse_root[m], points->rows + other->rows,
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
static md_matrix whole(const md_points *points, const md_points *other, size_t v)
{
    md_matrix matrix = points->views[v];
    matrix.rows = points->rows + other->rows;
    if (other->views[v].columns > matrix.columns)
        matrix.columns = other->views[v].columns;
    return matrix;
}

static medley_status transpose_views(md_matrix *transposed, const md_points *points,
                                     const md_points *other, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    for (size_t v = 0; v < points->view_count && status == MEDLEY_OK; v++) {
        const md_matrix matrix = whole(points, other, v);
        if (points->used[v] && md_matrix_is_sparse(&matrix))
            status = md_matrix_transpose_sparse(&transposed[v], &matrix, error);
    }
    return status;
}

medley_status md_points_append(md_points *points, const md_points *other, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t rows = points->rows;
    md_matrix *transposed = md_calloc(points->view_count, sizeof *transposed);
    if (transposed == NULL || !make_room_for_all(points, other)) {
        status = md_fail_memory(error, (rows + other->rows) * sizeof(float));
        goto done;
    }
    for (size_t v = 0; v < points->view_count; v++) {
        fill_matrix(&points->views[v], &other->views[v]);
        fill_floats(points->norm2[v], rows, other->norm2[v], other->rows);
        fill_floats(points->lift[v], rows, other->lift[v], other->rows);
    }
    for (size_t m = 0; m < points->kernel_count; m++)
        fill_floats(points->inverse_root[m], rows, other->inverse_root[m], other->rows);
    MEDLEY_TRY(transpose_views(transposed, points, other, error));
    for (size_t v = 0; v < points->view_count; v++) {
        const md_matrix before = points->transposed[v];
        points->views[v] = whole(points, other, v);
        points->transposed[v] = transposed[v];
        transposed[v] = before;
    }
    points->rows = rows + other->rows;
done:
    for (size_t v = 0; transposed != NULL && v < points->view_count; v++)
        md_matrix_clear(&transposed[v]);
    free(transposed);
    return status;
}
