/* SPDX-License-Identifier: BSD-3-Clause */
/* A matrix of single-precision values, dense by rows or sparse by rows (CSR). */
#ifndef MD_MATRIX_H
#define MD_MATRIX_H

#include "base/base.h"

typedef struct md_matrix {
    size_t rows, columns;
    float *dense;   /* [rows][columns], or NULL if sparse; aligned as floats are, no more */
    size_t *start;  /* [rows + 1], sparse only */
    int32_t *index; /* [start[rows]] column of each entry, increasing within a row */
    float *value;   /* [start[rows]] */
    int32_t *names; /* [rows] increasing: which row each one is, where most are empty and left out
                     * (md_matrix_transpose_sparse); NULL: all are there */
    bool borrowed;  /* dense belongs to the caller of the library: never written to, never freed */
} md_matrix;

void md_matrix_clear(md_matrix *matrix);
static inline bool md_matrix_is_sparse(const md_matrix *matrix)
{
    return matrix->dense == NULL;
}

/* One row: value[e] stands in column index[e], or e if the matrix is dense (index NULL). */
typedef struct md_row {
    float *value;
    const int32_t *index;
    size_t count;
} md_row;

static inline md_row md_matrix_row(const md_matrix *matrix, size_t row)
{
    if (!md_matrix_is_sparse(matrix))
        return (md_row){matrix->dense + row * matrix->columns, NULL, matrix->columns};
    const size_t first = matrix->start[row];
    return (md_row){matrix->value + first, matrix->index + first, matrix->start[row + 1] - first};
}

static inline size_t md_row_column(md_row row, size_t e)
{
    return row.index != NULL ? (size_t)row.index[e] : e;
}

/* First entry of a sparse row whose column is at least `column`. */
static inline size_t md_matrix_lower_bound(const md_matrix *matrix, size_t row, size_t column)
{
    size_t low = matrix->start[row];
    size_t high = matrix->start[row + 1];
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if ((size_t)matrix->index[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Zeroed dense matrix. */
medley_status md_matrix_init_dense(md_matrix *matrix, size_t rows, size_t columns,
                                   medley_error *error);

/* The same for a caller that sets every value: what was in the memory before is still there. */
medley_status md_matrix_init_unfilled(md_matrix *matrix, size_t rows, size_t columns,
                                      medley_error *error);

/* Room for `entries` sparse entries; start[] zeroed. */
medley_status md_matrix_init_sparse(md_matrix *matrix, size_t rows, size_t columns, size_t entries,
                                    medley_error *error);

/* The rows named in keep[count] (in that order) and the columns named in columns[]; the first
 * `count` rows if keep is NULL, all columns if columns is NULL. Column numbers must be increasing
 * for a sparse source. */
medley_status md_matrix_gather(md_matrix *target, const md_matrix *source, const size_t *keep,
                               size_t count, const size_t *columns, size_t column_count,
                               medley_error *error);

/* The same for a sparse source of which column c becomes new_column[c] of `columns`, or is dropped
 * where that is -1; NULL: every column stays where it is. */
medley_status md_matrix_gather_sparse(md_matrix *target, const md_matrix *source,
                                      const size_t *keep, size_t count, const int32_t *new_column,
                                      size_t columns, medley_error *error);

/* The entries of a dense matrix that are not zero. */
medley_status md_matrix_to_sparse(md_matrix *sparse, const md_matrix *dense, medley_error *error);

/* Dense rows of so many columns; those beyond them are dropped. */
medley_status md_matrix_to_dense(md_matrix *dense, const md_matrix *matrix, size_t columns,
                                 medley_error *error);

medley_status md_matrix_transpose_sparse(md_matrix *target, const md_matrix *source,
                                         medley_error *error);

/* The same; rows of the target that would be empty are left out if they are the great majority, so
 * that memory is bounded by the entries, whatever the number of columns. */
medley_status md_matrix_transpose_occurring(md_matrix *target, const md_matrix *source,
                                            medley_error *error);

/* Where row `name` of such a matrix is; SIZE_MAX: it is empty. */
size_t md_matrix_find_row(const md_matrix *matrix, size_t name);

/* Squared Euclidean norm of every row, summed in double precision. */
void md_matrix_row_norms2(const md_matrix *matrix, double *norms2);

#endif
