/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a file as a dataset, and further files with the same rows as more tables of it. */
#include "base/struct_size.h"
#include "io/io.h"

/* Keeps the chosen columns of a table whose reader took them all. */
static medley_status keep_columns(medley_dataset *dataset, const char *text, medley_error *error)
{
    md_table *table = &dataset->tables[0];
    const size_t columns = table->features.columns;
    md_matrix chosen = {0};
    MD_CLEARED(md_strings_clear) md_strings names = {0};
    MD_OWNED(free) bool *keep = NULL;
    MD_OWNED(free) size_t *column = NULL;
    MEDLEY_TRY(md_table_check_width(table, dataset, columns, "a choice of columns", error));
    MEDLEY_TRY(md_new(&keep, columns, sizeof *keep, error));
    MEDLEY_TRY(md_new(&column, columns, sizeof *column, error));
    char *const *known = table->column_names.count > 0 ? table->column_names.items : NULL;
    MEDLEY_TRY(md_columns_choose(keep, columns, known, text, error));
    size_t count = 0;
    for (size_t c = 0; c < columns; c++) {
        if (!keep[c])
            continue;
        column[count++] = c;
        if (known != NULL)
            MEDLEY_TRY(md_strings_put(&names, known[c], strlen(known[c]), NULL, error));
    }
    MEDLEY_TRY(
        md_matrix_gather(&chosen, &table->features, NULL, dataset->rows, column, count, error));
    md_matrix_clear(&table->features);
    md_strings_clear(&table->column_names);
    table->features = chosen;
    table->column_names = md_take(&names);
    table->height = table->width = 0; /* some pixels are no image */
    return MEDLEY_OK;
}

static medley_status read_input(medley_dataset *dataset, const md_input *input,
                                const medley_read_options *options, medley_error *error)
{
    const md_format *format = NULL;
    MEDLEY_TRY(md_new_text(&dataset->source, input->path, strlen(input->path), error));
    medley_error unknown = {0};
    if (options->text_columns && options->format == NULL &&
        md_format_of_input(&format, input, NULL, &unknown) < 0)
        MEDLEY_TRY(md_format_of_input(&format, input, "columns", error)); /* tells what is wrong */
    else
        MEDLEY_TRY(md_format_of_input(&format, input, options->format, error));
    dataset->format = format->name;
    MEDLEY_TRY(format->read(dataset, input, options, error));
    if (dataset->rows == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "there are no rows of data in this file (read as %s)", format->name);
    if (options->columns != NULL && !format->chooses_columns && dataset->table_count > 0)
        MEDLEY_TRY(keep_columns(dataset, options->columns, error));
    return MEDLEY_OK;
}

static medley_status make_dataset(medley_dataset **dataset, const md_input *input,
                                  const medley_read_options *options, medley_error *error)
{
    medley_read_options complete = MEDLEY_READ_OPTIONS_INIT;
    MEDLEY_TRY(MD_TAKE_STRUCT(&complete, options, MEDLEY_READ_OPTIONS_INIT, error));
    MD_OWNED(medley_dataset_free) medley_dataset *created = NULL;
    MEDLEY_TRY(medley_dataset_create(&created, error));
    MEDLEY_TRY(read_input(created, input, &complete, error));
    *dataset = md_take(&created);
    return MEDLEY_OK;
}

medley_status medley_dataset_read(medley_dataset **dataset, const char *path,
                                  const medley_read_options *options, medley_error *error)
{
    md_begin(error);
    MD_CLEARED(md_input_clear) md_input input = {0};
    MEDLEY_TRY(md_input_read(&input, path, error));
    return make_dataset(dataset, &input, options, error);
}

medley_status medley_dataset_parse(medley_dataset **dataset, const char *text, size_t length,
                                   const char *name, const medley_read_options *options,
                                   medley_error *error)
{
    md_begin(error);
    MD_CLEARED(md_input_clear) md_input input = {0};
    MEDLEY_TRY(md_input_copy(&input, text, length, name != NULL ? name : "text", error));
    return make_dataset(dataset, &input, options, error);
}

/* What is not set in options comes from the data that the file goes with. */
medley_status medley_dataset_read_like(medley_dataset **dataset, const medley_dataset *like,
                                       const char *path, const medley_read_options *given,
                                       medley_error *error)
{
    md_begin(error);
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    MEDLEY_TRY(MD_TAKE_STRUCT(&options, given, MEDLEY_READ_OPTIONS_INIT, error));
    const md_table *table = md_dataset_table(like, "");
    if (table != NULL && !md_matrix_is_sparse(&table->features) &&
        table->column_names.count == table->features.columns && options.feature_names == NULL) {
        options.feature_count = table->features.columns;
        options.feature_names = (const char *const *)table->column_names.items;
        options.label_name = table->label_name;
    }
    if (table != NULL && table->first != MD_NO_INDICES && options.first_index < 0)
        options.first_index = table->first == MD_FROM_ONE;
    return medley_dataset_read(dataset, path, &options, error);
}

/* ---- more tables ---- */

/* Numbers that were put have no names, and may have been floats. */
static bool differ(const medley_dataset *dataset, const medley_dataset *added, size_t row,
                   const char *ours, const char *theirs)
{
    if ((dataset->label == NULL || added->label == NULL) && dataset->target != NULL &&
        added->target != NULL)
        return (float)dataset->target[row] != (float)added->target[row];
    return strcmp(ours, theirs) != 0;
}

/* Where both have labels or numbers they must say the same of every row. */
static medley_status check_aligned(const medley_dataset *dataset, const medley_dataset *added,
                                   const char *name, medley_error *error)
{
    if (added->rows != dataset->rows)
        return md_fail_at(error, MEDLEY_BAD_INPUT, added->source, 0,
                          "view '%s' has %zu rows, expected %zu as in %s", name, added->rows,
                          dataset->rows,
                          dataset->source != NULL ? dataset->source : "the other input");
    for (size_t row = 0; row < dataset->rows; row++) {
        char our_buffer[32];
        char their_buffer[32];
        const char *ours = md_dataset_label_text(dataset, row, our_buffer);
        const char *theirs = md_dataset_label_text(added, row, their_buffer);
        if (ours != NULL && theirs != NULL && differ(dataset, added, row, ours, theirs))
            return md_fail_at(
                error, MEDLEY_BAD_INPUT, added->source, 0,
                "the label of row %zu is '%.60s' but %s says '%.60s': the rows are not "
                "aligned; sort both files alike, or, if only some have labels, name their column "
                "by `label`",
                row + 1, theirs, dataset->source != NULL ? dataset->source : "the other input",
                ours);
    }
    return MEDLEY_OK;
}

/* What is moved is forgotten in `added`, which is freed afterwards. */
static void take_labels(medley_dataset *dataset, medley_dataset *added)
{
    if (dataset->label != NULL || dataset->target != NULL)
        return;
    dataset->label_names = md_take(&added->label_names);
    dataset->label = md_take(&added->label);
    dataset->target = md_take(&added->target);
}

/* The first table brings what is known about the rows, as far as the dataset has none of it. */
static void take_row_knowledge(medley_dataset *dataset, medley_dataset *added)
{
    dataset->rows = added->rows;
    if (dataset->source == NULL)
        dataset->source = md_take(&added->source);
    if (dataset->fold == NULL)
        dataset->fold = md_take(&added->fold);
    if (dataset->sequence_count == 0) {
        dataset->sequence_count = added->sequence_count;
        dataset->sequence_start = md_take(&added->sequence_start);
    }
}

medley_status medley_dataset_add_table(medley_dataset *dataset, const char *name, const char *path,
                                       const medley_read_options *options, medley_error *error)
{
    md_begin(error);
    MD_OWNED(medley_dataset_free) medley_dataset *added = NULL;
    if (md_dataset_table(dataset, name) != NULL)
        return md_fail(error, MEDLEY_USAGE, "there are two views called '%s'; rename one", name);
    MEDLEY_TRY(medley_dataset_read(&added, path, options, error));
    if (added->table_count == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, added->source, 0,
                          "view '%s' has no numeric columns; give a file of numbers", name);
    if (dataset->rows > 0)
        MEDLEY_TRY(check_aligned(dataset, added, name, error));
    md_table *from = &added->tables[0];
    md_table *place;
    MEDLEY_TRY(md_dataset_new_table(&place, dataset, name, added->source, error));
    place->features = md_take(&from->features);
    place->column_names = md_take(&from->column_names);
    place->label_name = md_take(&from->label_name);
    place->first = from->first;
    place->height = from->height;
    place->width = from->width;
    take_labels(dataset, added);
    if (dataset->table_count == 1)
        take_row_knowledge(dataset, added);
    return MEDLEY_OK;
}
