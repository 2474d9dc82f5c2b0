/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns known by name. Attributes such as "w[-1]=the" are numbered in the order in which a file
 * mentions them, so the same number means another attribute in another file. */
#include "base/memory.h"
#include "view/view_internal.h"
#include <stdlib.h>
#include <string.h>

bool md_view_wants_names(const md_table *table)
{
    return md_matrix_is_sparse(&table->features) &&
           table->column_names.count == table->features.columns;
}

medley_status md_view_keep_names(md_view *view, const md_table *table, medley_error *error)
{
    for (size_t c = 0; c < md_view_input_columns(view); c++) {
        const char *name = table->column_names.items[view->columns ? view->columns[c] : c];
        MEDLEY_TRY(md_strings_put(&view->names, name, strlen(name), NULL, error));
    }
    return MEDLEY_OK;
}

/* new_column[c]: where the table's column c goes, or -1. Returns whether the order stays. */
static bool map_columns(int32_t *new_column, const md_view *view, const md_strings *names)
{
    for (size_t c = 0; c < names->count; c++)
        new_column[c] = -1;
    for (size_t c = 0; c < view->names.count; c++) {
        const char *name = view->names.items[c];
        const size_t before = view->columns ? view->columns[c] : c; /* mostly still its place */
        const int32_t place = before < names->count && strcmp(names->items[before], name) == 0
                                  ? (int32_t)before
                                  : md_strings_find(names, name, strlen(name));
        if (place >= 0)
            new_column[place] = (int32_t)c;
    }
    int32_t last = -1;
    for (size_t c = 0; c < names->count; c++) {
        if (new_column[c] >= 0 && new_column[c] < last)
            return false;
        last = new_column[c] >= 0 ? new_column[c] : last;
    }
    return true;
}

static medley_status take_columns(md_matrix *target, const md_matrix *source, size_t columns,
                                  const int32_t *new_column, medley_error *error)
{
    const size_t all = source->start[source->rows];
    size_t entries = 0;
    for (size_t e = 0; e < all; e++)
        entries += new_column[source->index[e]] >= 0;
    const medley_status status =
        md_matrix_init_sparse(target, source->rows, columns, entries, error);
    if (status < 0)
        return status;
    entries = 0;
    for (size_t r = 0; r < source->rows; r++) {
        for (size_t e = source->start[r]; e < source->start[r + 1]; e++) {
            const int32_t column = new_column[source->index[e]];
            if (column < 0)
                continue;
            target->index[entries] = column;
            target->value[entries++] = source->value[e];
        }
        target->start[r + 1] = entries;
    }
    return MEDLEY_OK;
}

/* Puts every row's entries into the order of their columns: a transposition goes through the rows
 * in order, so that two of them sort without comparing. */
static medley_status sort_columns(md_matrix *matrix, medley_error *error)
{
    md_matrix across = {0};
    medley_status status = md_matrix_transpose_sparse(&across, matrix, error);
    if (status < 0)
        return status;
    md_matrix_clear(matrix);
    status = md_matrix_transpose_sparse(matrix, &across, error);
    md_matrix_clear(&across);
    return status;
}

medley_status md_view_gather_named(md_matrix *matrix, const md_view *view, const md_table *table,
                                   medley_error *error)
{
    const md_matrix *features = &table->features;
    MD_CLEARED(md_matrix_clear) md_matrix converted = {0};
    MD_OWNED(free) int32_t *new_column = NULL;
    if (table->column_names.count != features->columns)
        return md_fail_at(
            error, MEDLEY_BAD_INPUT, table->source, 0,
            "the model's view '%s' finds its columns by name, but the columns of this "
            "file have no names; give data in the format of the training file",
            view->name);
    if (!md_matrix_is_sparse(features)) {
        MEDLEY_TRY(md_view_to_sparse(&converted, features, error));
        features = &converted;
    }
    MEDLEY_TRY(md_new(&new_column, features->columns, sizeof *new_column, error));
    const bool in_order = map_columns(new_column, view, &table->column_names);
    MEDLEY_TRY(take_columns(matrix, features, view->names.count, new_column, error));
    if (!in_order)
        MEDLEY_TRY(sort_columns(matrix, error));
    return MEDLEY_OK;
}
