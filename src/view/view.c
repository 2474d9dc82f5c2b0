/* SPDX-License-Identifier: BSD-3-Clause */
/* The transformed and scaled columns of any rows. */
#include "view/view_internal.h"

void md_view_clear(md_view *view)
{
    free(view->name);
    free(view->group);
    free(view->table);
    free(view->columns);
    free(view->shift);
    free(view->factor);
    free(view->steps);
    md_strings_clear(&view->names);
    *view = (md_view){0};
}

void md_views_free(md_view *views, size_t count)
{
    for (size_t v = 0; views != NULL && v < count; v++)
        md_view_clear(&views[v]);
    free(views);
}

/* *(T **)copy gets a copy of `array`, or stays NULL where there is none. */
static medley_status copy_array(void *copy, const void *array, size_t bytes, medley_error *error)
{
    return array != NULL ? md_new_copy(copy, array, bytes, error) : MEDLEY_OK;
}

static medley_status copy_text(char **copy, const char *text, medley_error *error)
{
    return text != NULL ? md_new_text(copy, text, strlen(text), error) : MEDLEY_OK;
}

medley_status md_view_copy(md_view *copy, const md_view *view, medley_error *error)
{
    const size_t columns = view->column_count;
    MD_CLEARED(md_view_clear)
    md_view made = {.table_columns = view->table_columns,
                    .column_count = columns,
                    .sparse = view->sparse,
                    .scale = view->scale,
                    .height = view->height,
                    .width = view->width};
    *copy = (md_view){0};
    MEDLEY_TRY(copy_text(&made.name, view->name, error));
    MEDLEY_TRY(copy_text(&made.group, view->group, error));
    MEDLEY_TRY(copy_text(&made.table, view->table, error));
    MEDLEY_TRY(copy_text(&made.steps, view->steps, error));
    MEDLEY_TRY(copy_array(&made.columns, view->columns, columns * sizeof *view->columns, error));
    MEDLEY_TRY(copy_array(&made.shift, view->shift, columns * sizeof *view->shift, error));
    MEDLEY_TRY(copy_array(&made.factor, view->factor, columns * sizeof *view->factor, error));
    MEDLEY_TRY(md_strings_copy(&made.names, &view->names, error));
    *copy = md_take(&made);
    return MEDLEY_OK;
}

/* ---- scaling, as scale.c has learnt it ---- */

static void apply_scale(md_matrix *matrix, const md_view *view)
{
    if (view->factor == NULL)
        return;
    for (size_t r = 0; r < matrix->rows; r++) {
        const md_row row = md_matrix_row(matrix, r);
        for (size_t e = 0; e < row.count; e++) {
            const size_t c = md_row_column(row, e);
            if (c < view->column_count) /* sparse rows may have further columns */
                row.value[e] = (row.value[e] - view->shift[c]) * view->factor[c];
        }
    }
}

/* ---- extraction ---- */

medley_status md_view_check_width(const md_view *view, const medley_dataset *dataset,
                                  const char *what, medley_error *error)
{
    const md_table *table = md_dataset_table(dataset, view->table);
    return view->sparse ? md_table_check_width(table, dataset, view->column_count, what, error)
                        : MEDLEY_OK;
}

static medley_status check_table(const md_table *table, const md_view *view,
                                 const medley_dataset *dataset, medley_error *error)
{
    if (table == NULL && view->table[0] == '\0' && dataset->format != NULL)
        return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0,
                          "this file was read as %s, and the model needs columns of numbers, as it "
                          "was learnt from them; say what it is by `format`, or give other data",
                          dataset->format);
    if (table == NULL && view->table[0] == '\0')
        return md_fail(
            error, MEDLEY_USAGE,
            "the model was learnt from a file of its own, DATA, besides others (view '%s'); "
            "name that, too",
            view->name);
    if (table == NULL)
        return md_fail(error, MEDLEY_USAGE, "the model needs the view '%s'; give `view=%s=FILE`",
                       view->table, view->table);
    const size_t columns = table->features.columns;
    if (md_matrix_is_sparse(&table->features) || view->sparse || view->names.count > 0 ||
        columns == view->table_columns)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, table->source ? table->source : dataset->source, 0,
                      "%zu feature columns found, the model expects %zu; give data with the "
                      "columns that training had; `label` says which column is the label",
                      columns, view->table_columns);
}

/* Dense rows for a view made from dense data, sparse ones for a view made from sparse data, so
 * that a model sees new data as it saw its training data. */
static medley_status convert_storage(md_matrix *matrix, const md_view *view, medley_error *error)
{
    if (md_matrix_is_sparse(matrix) == view->sparse)
        return MEDLEY_OK;
    md_matrix other = {0};
    MEDLEY_TRY(view->sparse
                   ? md_matrix_to_sparse(&other, matrix, error)
                   : md_matrix_to_dense(&other, matrix, md_view_input_columns(view), error));
    md_matrix_clear(matrix);
    *matrix = other;
    return MEDLEY_OK;
}

/* The columns that the view takes of every row, by their numbers. */
static medley_status gather_numbered(md_matrix *matrix, const md_view *view, const md_table *table,
                                     medley_error *error)
{
    size_t kept = view->column_count;
    /* a sparse file may end before the view's last columns */
    while (view->columns != NULL && kept > 0 && view->columns[kept - 1] >= table->features.columns)
        kept--;
    return md_matrix_gather(matrix, &table->features, NULL, table->features.rows, view->columns,
                            kept, error);
}

static medley_status gather_columns(md_matrix *matrix, const md_view *view, const md_table *table,
                                    medley_error *error)
{
    MEDLEY_TRY(view->names.count > 0 ? md_view_gather_named(matrix, view, table, error)
                                     : gather_numbered(matrix, view, table, error));
    MEDLEY_TRY(convert_storage(matrix, view, error));
    if (view->sparse && matrix->columns < view->column_count)
        matrix->columns = view->column_count;
    return MEDLEY_OK;
}

/* ---- transforms ---- */

medley_status md_view_parse_steps(md_steps *steps, size_t *columns, const md_view *view,
                                  medley_error *error)
{
    md_row_shape shape = {
        .columns = view->table_columns, .height = view->height, .width = view->width};
    const medley_status status = md_steps_parse(steps, view->steps, &shape, error);
    *columns = shape.columns;
    return status;
}

medley_status md_view_check_size(const md_view *view, const md_steps *steps, const md_table *table,
                                 medley_error *error)
{
    const size_t small = (size_t)1 << 24; /* not worth asking the system */
    const size_t rows = table->features.rows;
    const size_t bytes = md_steps_bytes(steps, rows);
    if (md_matrix_is_sparse(&table->features) && bytes > MD_MOST_DENSE)
        return md_fail_at(
            error, MEDLEY_USAGE, table->source, 0,
            "view '%s' would make the sparse data dense: %zu rows of %zu columns, %.1f "
            "GB, and at most %.1f are allowed; use views without transforms or fewer "
            "columns",
            view->name, rows, view->column_count, (double)bytes / 1e9, (double)MD_MOST_DENSE / 1e9);
    if (bytes < small)
        return MEDLEY_OK;
    const size_t available = md_memory_available();
    return available > 0 && bytes > available ? md_fail_memory(error, bytes) : MEDLEY_OK;
}

static medley_status extract_transformed(md_matrix *matrix, const md_view *view,
                                         const md_table *table, const medley_dataset *dataset,
                                         medley_error *error)
{
    size_t columns;
    md_steps steps;
    MD_CLEARED(md_matrix_clear) md_matrix taken = {0};
    const md_matrix *input = &table->features;
    MEDLEY_TRY(md_view_parse_steps(&steps, &columns, view, error));
    MEDLEY_TRY(md_view_check_size(view, &steps, table, error));
    if (md_matrix_is_sparse(input) || view->names.count > 0) {
        MEDLEY_TRY(gather_columns(&taken, view, table, error));
        input = &taken;
    }
    return md_steps_apply(matrix, &steps, input, dataset, error);
}

medley_status md_view_extract(md_matrix *matrix, const md_view *view, const medley_dataset *dataset,
                              medley_error *error)
{
    const md_table *table = md_dataset_table(dataset, view->table);
    MD_CLEARED(md_matrix_clear) md_matrix made = {0};
    MEDLEY_TRY(check_table(table, view, dataset, error));
    MEDLEY_TRY(view->steps != NULL ? extract_transformed(&made, view, table, dataset, error)
                                   : gather_columns(&made, view, table, error));
    apply_scale(&made, view);
    *matrix = md_take(&made);
    return MEDLEY_OK;
}
