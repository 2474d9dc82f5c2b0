/* SPDX-License-Identifier: BSD-3-Clause */
/* The features of a row of training data, whatever they are kept as. */
#ifndef MD_ROW_FEATURES_H
#define MD_ROW_FEATURES_H

#include "block/block.h"

/* (column, value) pairs; dense rows have every column. */
struct feature_row {
    const int32_t *column; /* NULL: 0, 1, 2 ... */
    const float *value;    /* NULL: 1 */
    size_t count;
};

static inline struct feature_row row_of(const md_row_features *features, size_t row)
{
    const md_matrix *matrix = features->matrix;
    if (features->id != NULL)
        return (struct feature_row){features->id + row * features->id_step, NULL,
                                    features->id[row * features->id_step] >= 0};
    if (matrix == NULL)
        return (struct feature_row){NULL, NULL, 1};
    if (matrix->dense != NULL)
        return (struct feature_row){NULL, matrix->dense + row * matrix->columns, matrix->columns};
    return (struct feature_row){matrix->index + matrix->start[row],
                                matrix->value + matrix->start[row],
                                matrix->start[row + 1] - matrix->start[row]};
}

static inline size_t column_at(const struct feature_row *row, size_t e)
{
    return row->column ? (size_t)row->column[e] : e;
}

static inline double value_at(const struct feature_row *row, size_t e)
{
    return row->value ? (double)row->value[e] : 1;
}

#endif
