/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns known by name. Attributes such as "w[-1]=the" are numbered in the order in which a file
 * mentions them, so the same number means another attribute in another file. */
#include "view/view_internal.h"

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

/* new_column[c]: where the table's column c goes, or -1. before: places that the wanted names had,
 * NULL: one after another. Returns whether the order stays. */
static bool map_columns(int32_t *new_column, const md_strings *wanted, const size_t *before,
                        const md_strings *names)
{
    for (size_t c = 0; c < names->count; c++)
        new_column[c] = -1;
    for (size_t c = 0; c < wanted->count; c++) {
        const char *name = wanted->items[c];
        const size_t likely = before ? before[c] : c; /* mostly still its place */
        const int32_t place = likely < names->count && strcmp(names->items[likely], name) == 0
                                  ? (int32_t)likely
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

/* Puts every row's entries into the order of their columns: a transposition goes through the rows
 * in order, so that two of them sort without comparing. */
static medley_status sort_columns(md_matrix *matrix, medley_error *error)
{
    MD_CLEARED(md_matrix_clear) md_matrix across = {0};
    MEDLEY_TRY(md_matrix_transpose_sparse(&across, matrix, error));
    md_matrix_clear(matrix);
    return md_matrix_transpose_sparse(matrix, &across, error);
}

medley_status md_gather_named(md_matrix *matrix, const md_strings *wanted, const size_t *before,
                              const md_table *table, medley_error *error)
{
    const md_matrix *features = &table->features;
    MD_CLEARED(md_matrix_clear) md_matrix converted = {0};
    MD_OWNED(free) int32_t *new_column = NULL;
    if (!md_matrix_is_sparse(features)) {
        MEDLEY_TRY(md_matrix_to_sparse(&converted, features, error));
        features = &converted;
    }
    MEDLEY_TRY(md_new(&new_column, features->columns, sizeof *new_column, error));
    const bool in_order = map_columns(new_column, wanted, before, &table->column_names);
    MEDLEY_TRY(md_matrix_gather_sparse(matrix, features, NULL, features->rows, new_column,
                                       wanted->count, error));
    return in_order ? MEDLEY_OK : sort_columns(matrix, error);
}

medley_status md_view_gather_named(md_matrix *matrix, const md_view *view, const md_table *table,
                                   medley_error *error)
{
    if (table->column_names.count != table->features.columns)
        return md_fail_at(
            error, MEDLEY_BAD_INPUT, table->source, 0,
            "the model's view '%s' finds its columns by name, but the columns of this "
            "file have no names; give data in the format of the training file",
            view->name);
    return md_gather_named(matrix, &view->names, view->columns, table, error);
}
