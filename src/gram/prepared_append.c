/* SPDX-License-Identifier: BSD-3-Clause */
/* Points that grow: the support of a learner that is fed piece by piece. Everything is made room
 * for first, then filled in after what is there, and counted only at the end, so that prepared
 * rows for which memory was lacking are what they were. */
#include "gram/prepared_rows.h"

/* Room for count items in *(T **)array, those that are there included. */
static medley_status make_room(void *array, size_t count, size_t size, medley_error *error)
{
    size_t bytes;
    void *moved = *(void **)array;
    if (__builtin_mul_overflow(count > 0 ? count : 1, size, &bytes) ||
        (moved = realloc(moved, bytes)) == NULL)
        return md_fail_memory(error, count * size);
    *(void **)array = moved;
    return MEDLEY_OK;
}

/* The same for one float of each row, where there are any. */
static medley_status make_room_for_floats(float **array, size_t rows, medley_error *error)
{
    return *array != NULL ? make_room(array, rows, sizeof **array, error) : MEDLEY_OK;
}

static size_t entries_of(const md_matrix *matrix)
{
    return matrix->start[matrix->rows];
}

static medley_status make_room_in_view(md_prepared *prepared, const md_prepared *other, size_t v,
                                       medley_error *error)
{
    md_matrix *matrix = &prepared->views[v];
    const size_t rows = prepared->rows + other->rows;
    MEDLEY_TRY(make_room_for_floats(&prepared->norm2[v], rows, error));
    MEDLEY_TRY(make_room_for_floats(&prepared->lift[v], rows, error));
    if (!md_matrix_is_sparse(matrix))
        return make_room(&matrix->dense, rows * matrix->columns, sizeof(float), error);
    const size_t entries = entries_of(matrix) + entries_of(&other->views[v]);
    MEDLEY_TRY(make_room(&matrix->start, rows + 1, sizeof *matrix->start, error));
    MEDLEY_TRY(make_room(&matrix->index, entries, sizeof *matrix->index, error));
    return make_room(&matrix->value, entries, sizeof *matrix->value, error);
}

static medley_status make_room_for_all(md_prepared *prepared, const md_prepared *other,
                                       medley_error *error)
{
    const size_t rows = prepared->rows + other->rows;
    for (size_t v = 0; v < prepared->view_count; v++)
        MEDLEY_TRY(make_room_in_view(prepared, other, v, error));
    for (size_t m = 0; m < prepared->kernel_count; m++)
        MEDLEY_TRY(make_room_for_floats(&prepared->inverse_root[m], rows, error));
    return MEDLEY_OK;
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

/* The transposes of some views. */
struct transposes {
    md_matrix *views;
    size_t count;
};

static void clear_transposes(struct transposes *transposes)
{
    for (size_t v = 0; transposes->views != NULL && v < transposes->count; v++)
        md_matrix_clear(&transposes->views[v]);
    free(transposes->views);
}

medley_status md_prepared_append(md_prepared *prepared, const md_prepared *other,
                                 medley_error *error)
{
    const size_t rows = prepared->rows;
    MD_CLEARED(clear_transposes) struct transposes after = {.count = prepared->view_count};
    MEDLEY_TRY(md_new(&after.views, after.count, sizeof *after.views, error));
    MEDLEY_TRY(make_room_for_all(prepared, other, error));
    for (size_t v = 0; v < prepared->view_count; v++) {
        fill_matrix(&prepared->views[v], &other->views[v]);
        fill_floats(prepared->norm2[v], rows, other->norm2[v], other->rows);
        fill_floats(prepared->lift[v], rows, other->lift[v], other->rows);
        const md_matrix matrix = whole(prepared, other, v);
        if (prepared->used[v] && md_matrix_is_sparse(&matrix))
            MEDLEY_TRY(md_matrix_transpose_occurring(&after.views[v], &matrix, error));
    }
    for (size_t m = 0; m < prepared->kernel_count; m++)
        fill_floats(prepared->inverse_root[m], rows, other->inverse_root[m], other->rows);
    for (size_t v = 0; v < prepared->view_count; v++) {
        prepared->views[v] = whole(prepared, other, v);
        md_swap(&prepared->transposed[v], &after.views[v]);
    }
    prepared->rows = rows + other->rows;
    return MEDLEY_OK;
}
