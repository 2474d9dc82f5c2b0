/* SPDX-License-Identifier: BSD-3-Clause */
/* Making matrices, cutting rows and columns out of them, transposing and measuring them. */
#include "linalg/matrix.h"

void md_matrix_clear(md_matrix *matrix)
{
    if (!matrix->borrowed)
        free(matrix->dense);
    free(matrix->start);
    free(matrix->index);
    free(matrix->value);
    free(matrix->names);
    *matrix = (md_matrix){0};
}

medley_status md_matrix_init_unfilled(md_matrix *matrix, size_t rows, size_t columns,
                                      medley_error *error)
{
    size_t count;
    float *dense = NULL;
    *matrix = (md_matrix){0};
    if (__builtin_mul_overflow(rows, columns, &count))
        count = SIZE_MAX; /* which is refused */
    MEDLEY_TRY(md_new_aligned(&dense, count, sizeof *dense, error));
    *matrix = (md_matrix){.rows = rows, .columns = columns, .dense = dense};
    return MEDLEY_OK;
}

medley_status md_matrix_init_dense(md_matrix *matrix, size_t rows, size_t columns,
                                   medley_error *error)
{
    MEDLEY_TRY(md_matrix_init_unfilled(matrix, rows, columns, error));
    memset(matrix->dense, 0, rows * columns * sizeof *matrix->dense);
    return MEDLEY_OK;
}

medley_status md_matrix_init_sparse(md_matrix *matrix, size_t rows, size_t columns, size_t entries,
                                    medley_error *error)
{
    MD_CLEARED(md_matrix_clear) md_matrix made = {.rows = rows, .columns = columns};
    *matrix = (md_matrix){0};
    MEDLEY_TRY(md_new(&made.start, rows + 1, sizeof *made.start, error));
    MEDLEY_TRY(md_new(&made.index, entries, sizeof *made.index, error));
    MEDLEY_TRY(md_new(&made.value, entries, sizeof *made.value, error));
    *matrix = md_take(&made);
    return MEDLEY_OK;
}

static void gather_dense(md_matrix *target, const md_matrix *source, const size_t *keep,
                         const size_t *columns)
{
    for (size_t r = 0; r < target->rows; r++) {
        const float *from = source->dense + (keep ? keep[r] : r) * source->columns;
        float *to = target->dense + r * target->columns;
        if (columns == NULL) {
            memcpy(to, from, target->columns * sizeof *to);
            continue;
        }
        for (size_t c = 0; c < target->columns;) { /* columns side by side, as tiles have them */
            size_t end = c + 1;
            while (end < target->columns && columns[end] == columns[end - 1] + 1)
                end++;
            memcpy(to + c, from + columns[c], (end - c) * sizeof *to);
            c = end;
        }
    }
}

medley_status md_matrix_gather_sparse(md_matrix *target, const md_matrix *source,
                                      const size_t *keep, size_t count, const int32_t *new_column,
                                      size_t columns, medley_error *error)
{
    size_t entries = 0; /* at most */
    for (size_t r = 0; r < count; r++) {
        const size_t row = keep ? keep[r] : r;
        entries += source->start[row + 1] - source->start[row];
    }
    MEDLEY_TRY(md_matrix_init_sparse(target, count, columns, entries, error));
    size_t used = 0;
    for (size_t r = 0; r < count; r++) {
        const size_t row = keep ? keep[r] : r;
        for (size_t e = source->start[row]; e < source->start[row + 1]; e++) {
            const int32_t column = new_column ? new_column[source->index[e]] : source->index[e];
            if (column < 0)
                continue;
            target->index[used] = column;
            target->value[used++] = source->value[e];
        }
        target->start[r + 1] = used;
    }
    return MEDLEY_OK;
}

medley_status md_matrix_gather(md_matrix *target, const md_matrix *source, const size_t *keep,
                               size_t count, const size_t *columns, size_t column_count,
                               medley_error *error)
{
    const size_t width = columns ? column_count : source->columns;
    MD_OWNED(free) int32_t *new_column = NULL;
    if (!md_matrix_is_sparse(source)) {
        MEDLEY_TRY(md_matrix_init_unfilled(target, count, width, error));
        gather_dense(target, source, keep, columns);
        return MEDLEY_OK;
    }
    if (columns != NULL) {
        MEDLEY_TRY(md_new(&new_column, source->columns, sizeof *new_column, error));
        for (size_t c = 0; c < source->columns; c++)
            new_column[c] = -1;
        for (size_t c = 0; c < column_count; c++)
            new_column[columns[c]] = (int32_t)c;
    }
    return md_matrix_gather_sparse(target, source, keep, count, new_column, width, error);
}

medley_status md_matrix_to_sparse(md_matrix *sparse, const md_matrix *dense, medley_error *error)
{
    const size_t total = dense->rows * dense->columns;
    size_t entries = 0;
    for (size_t i = 0; i < total; i++)
        entries += dense->dense[i] != 0;
    MEDLEY_TRY(md_matrix_init_sparse(sparse, dense->rows, dense->columns, entries, error));
    entries = 0;
    for (size_t r = 0; r < dense->rows; r++) {
        const float *row = dense->dense + r * dense->columns;
        for (size_t c = 0; c < dense->columns; c++) {
            if (row[c] == 0)
                continue;
            sparse->index[entries] = (int32_t)c;
            sparse->value[entries++] = row[c];
        }
        sparse->start[r + 1] = entries;
    }
    return MEDLEY_OK;
}

medley_status md_matrix_to_dense(md_matrix *dense, const md_matrix *matrix, size_t columns,
                                 medley_error *error)
{
    MEDLEY_TRY(md_matrix_init_dense(dense, matrix->rows, columns, error));
    for (size_t r = 0; r < matrix->rows; r++) {
        const md_row row = md_matrix_row(matrix, r);
        for (size_t e = 0; e < row.count; e++)
            if (md_row_column(row, e) < columns)
                dense->dense[r * columns + md_row_column(row, e)] = row.value[e];
    }
    return MEDLEY_OK;
}

medley_status md_matrix_transpose_sparse(md_matrix *target, const md_matrix *source,
                                         medley_error *error)
{
    const size_t entries = source->start[source->rows];
    MEDLEY_TRY(md_matrix_init_sparse(target, source->columns, source->rows, entries, error));
    for (size_t e = 0; e < entries; e++)
        target->start[source->index[e] + 1]++;
    for (size_t c = 0; c < source->columns; c++)
        target->start[c + 1] += target->start[c];
    for (size_t r = 0; r < source->rows; r++) {
        for (size_t e = source->start[r]; e < source->start[r + 1]; e++) {
            const size_t place = target->start[source->index[e]]++;
            target->index[place] = (int32_t)r;
            target->value[place] = source->value[e];
        }
    }
    /* the fill moved every start to the next row's: move them back */
    memmove(target->start + 1, target->start, source->columns * sizeof *target->start);
    target->start[0] = 0;
    return MEDLEY_OK;
}

struct entry {
    int32_t row, column;
    float value;
};

static int by_column(const void *x, const void *y)
{
    const struct entry *left = x;
    const struct entry *right = y;
    if (left->column != right->column)
        return left->column < right->column ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

medley_status md_matrix_transpose_occurring(md_matrix *target, const md_matrix *source,
                                            medley_error *error)
{
    enum { MAJORITY = 16, FEW = 1 << 16 };
    const size_t entries = source->start[source->rows];
    MD_OWNED(free) struct entry *sorted = NULL;
    size_t rows = 0;
    if (source->columns <= MAJORITY * entries + FEW)
        return md_matrix_transpose_sparse(target, source, error);
    MEDLEY_TRY(md_new(&sorted, entries, sizeof *sorted, error));
    for (size_t r = 0; r < source->rows; r++)
        for (size_t e = source->start[r]; e < source->start[r + 1]; e++)
            sorted[e] = (struct entry){(int32_t)r, source->index[e], source->value[e]};
    qsort(sorted, entries, sizeof *sorted, by_column);
    for (size_t e = 0; e < entries; e++)
        rows += e == 0 || sorted[e].column != sorted[e - 1].column;
    MEDLEY_TRY(md_matrix_init_sparse(target, rows, source->rows, entries, error));
    MEDLEY_TRY(md_new(&target->names, rows, sizeof *target->names, error));
    for (size_t e = 0, next = 0; e < entries; e++) {
        if (e == 0 || sorted[e].column != sorted[e - 1].column) {
            target->names[next] = sorted[e].column;
            target->start[next++] = e;
        }
        target->index[e] = sorted[e].row;
        target->value[e] = sorted[e].value;
    }
    target->start[rows] = entries;
    return MEDLEY_OK;
}

size_t md_matrix_find_row(const md_matrix *matrix, size_t name)
{
    if (matrix->names == NULL)
        return name < matrix->rows ? name : SIZE_MAX;
    size_t low = 0;
    size_t high = matrix->rows;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if ((size_t)matrix->names[middle] < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low < matrix->rows && (size_t)matrix->names[low] == name ? low : SIZE_MAX;
}

void md_matrix_row_norms2(const md_matrix *matrix, double *norms2)
{
    for (size_t r = 0; r < matrix->rows; r++) {
        const md_row row = md_matrix_row(matrix, r);
        norms2[r] = 0;
        for (size_t e = 0; e < row.count; e++)
            norms2[r] += (double)row.value[e] * (double)row.value[e];
    }
}
