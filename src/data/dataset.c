/* SPDX-License-Identifier: BSD-3-Clause */
/* Creating and looking at datasets. What reads files is in io, what takes data from memory is in
 * put_table.c and put_rows.c, what divides data is in split.c and select.c. */
#include "data/dataset.h"

medley_status medley_dataset_create(medley_dataset **dataset, medley_error *error)
{
    md_begin(error);
    medley_dataset *created = NULL;
    MEDLEY_TRY(md_new(&created, 1, sizeof *created, error));
    *dataset = created;
    return MEDLEY_OK;
}

static void clear_table(md_table *table)
{
    free(table->name);
    free(table->source);
    md_matrix_clear(&table->features);
    md_strings_clear(&table->column_names);
    free(table->label_name);
}

void md_precomputed_clear(md_precomputed *gram)
{
    free(gram->name);
    md_matrix_clear(&gram->values);
    free(gram->wide);
    free(gram->diagonal);
    *gram = (md_precomputed){0};
}

void medley_dataset_keep_wide(medley_dataset *dataset)
{
    dataset->keeps_wide = true;
}

void medley_dataset_free(medley_dataset *dataset)
{
    if (dataset == NULL)
        return;
    for (size_t i = 0; i < dataset->table_count; i++)
        clear_table(&dataset->tables[i]);
    for (size_t i = 0; i < dataset->gram_count; i++)
        md_precomputed_clear(&dataset->grams[i]);
    for (size_t i = 0; dataset->token_values != NULL && i < dataset->token_columns; i++)
        md_strings_clear(&dataset->token_values[i]);
    for (size_t i = 0; i < dataset->verbatim_count; i++)
        free(dataset->verbatim[i].text);
    md_strings_clear(&dataset->label_names);
    md_strings_clear(&dataset->label_texts);
    free(dataset->label_text);
    free(dataset->source);
    free(dataset->tables);
    free(dataset->grams);
    free(dataset->label);
    free(dataset->target);
    free(dataset->fold);
    free(dataset->sequence_start);
    free(dataset->head);
    free(dataset->info);
    free(dataset->line);
    free(dataset->token_values);
    free(dataset->token);
    free(dataset->verbatim);
    free(dataset);
}

md_table *md_dataset_table(const medley_dataset *dataset, const char *name)
{
    for (size_t i = 0; i < dataset->table_count; i++)
        if (strcmp(dataset->tables[i].name, name) == 0)
            return &dataset->tables[i];
    return NULL;
}

medley_status md_dataset_new_table(md_table **table, medley_dataset *dataset, const char *name,
                                   const char *source, medley_error *error)
{
    MD_CLEARED(clear_table) md_table made = {0};
    if (name[0] != '\0' && name[strspn(name, " \t\r\n\v\f")] == '\0')
        return md_fail(error, MEDLEY_USAGE, "a view's name is blank; give it one, e.g. 'a'");
    MEDLEY_TRY(md_new_text(&made.name, name, strlen(name), error));
    MEDLEY_TRY(md_new_text(&made.source, source, strlen(source), error));
    MEDLEY_TRY(md_grow(&dataset->tables, &dataset->table_capacity, dataset->table_count + 1,
                       sizeof made, error));
    *table = &dataset->tables[dataset->table_count++];
    **table = md_take(&made);
    return MEDLEY_OK;
}

bool md_dataset_has_gram(const medley_dataset *dataset, const char *name)
{
    for (size_t i = 0; i < dataset->gram_count; i++)
        if (strcmp(dataset->grams[i].name, name) == 0)
            return true;
    return false;
}

medley_status md_dataset_new_gram(md_precomputed **gram, medley_dataset *dataset, const char *name,
                                  medley_error *error)
{
    MEDLEY_TRY(md_grow(&dataset->grams, &dataset->gram_capacity, dataset->gram_count + 1,
                       sizeof **gram, error));
    *gram = &dataset->grams[dataset->gram_count];
    **gram = (md_precomputed){.family = dataset->gram_count};
    MEDLEY_TRY(md_new_text(&(*gram)->name, name, strlen(name), error));
    dataset->gram_count++;
    return MEDLEY_OK;
}

medley_status medley_dataset_from_dense(medley_dataset **dataset, const double *values, size_t rows,
                                        size_t columns, const char *const *labels,
                                        medley_error *error)
{
    md_begin(error);
    MD_OWNED(medley_dataset_free) medley_dataset *created = NULL;
    MD_CLEARED(md_labels_clear) md_label_builder builder = {0};
    medley_table table = MEDLEY_TABLE_INIT;
    table.rows = rows;
    table.columns = columns;
    table.values = values;
    MEDLEY_TRY(medley_dataset_create(&created, error));
    MEDLEY_TRY(medley_dataset_put_table(created, &table, error));
    if (labels != NULL) {
        for (size_t row = 0; row < rows; row++)
            MEDLEY_TRY(md_labels_add(&builder, labels[row],
                                     labels[row] != NULL ? strlen(labels[row]) : 0, error));
        MEDLEY_TRY(md_labels_finish(&builder, created, error));
    }
    *dataset = md_take(&created);
    return MEDLEY_OK;
}

size_t medley_dataset_rows(const medley_dataset *dataset)
{
    return dataset->rows;
}

size_t medley_dataset_columns(const medley_dataset *dataset)
{
    return dataset->table_count > 0 ? dataset->tables[0].features.columns : 0;
}

size_t medley_dataset_sequences(const medley_dataset *dataset)
{
    return dataset->sequence_count;
}

size_t medley_dataset_sequence_row(const medley_dataset *dataset, size_t sequence)
{
    return dataset->sequence_start[sequence];
}

size_t medley_dataset_label_count(const medley_dataset *dataset)
{
    return dataset->label_names.count;
}

const char *medley_dataset_label_name(const medley_dataset *dataset, size_t label)
{
    return label < dataset->label_names.count ? dataset->label_names.items[label] : NULL;
}

int32_t medley_dataset_label(const medley_dataset *dataset, size_t row)
{
    return dataset->label != NULL && row < dataset->rows ? dataset->label[row] : -1;
}

void medley_dataset_row(float *values, const medley_dataset *dataset, size_t row)
{
    if (dataset->table_count == 0 || row >= dataset->rows)
        return;
    const md_row from = md_matrix_row(&dataset->tables[0].features, row);
    memset(values, 0, dataset->tables[0].features.columns * sizeof *values);
    for (size_t e = 0; e < from.count; e++)
        values[md_row_column(from, e)] = from.value[e];
}

size_t medley_dataset_word_columns(const medley_dataset *dataset)
{
    return dataset->token_columns;
}

const char *medley_dataset_word(const medley_dataset *dataset, size_t row, size_t column)
{
    if (row >= dataset->rows || column >= dataset->token_columns)
        return NULL;
    const int32_t id = dataset->token[row * dataset->token_columns + column];
    return dataset->token_values[column].items[id];
}

int32_t medley_dataset_head(const medley_dataset *dataset, size_t row)
{
    return dataset->head != NULL && row < dataset->rows ? dataset->head[row] : -1;
}

bool medley_dataset_image_shape(size_t *height, size_t *width, const medley_dataset *dataset)
{
    if (dataset->table_count == 0 || dataset->tables[0].height == 0)
        return false;
    *height = dataset->tables[0].height;
    *width = dataset->tables[0].width;
    return true;
}

size_t medley_dataset_table_count(const medley_dataset *dataset)
{
    return dataset->table_count;
}

const char *medley_dataset_table_name(const medley_dataset *dataset, size_t index)
{
    return index < dataset->table_count ? dataset->tables[index].name : NULL;
}

/* A view written to a file of its own is that file's only table, so it goes by no name. */
medley_status medley_dataset_keep_table(medley_dataset **selected, const medley_dataset *dataset,
                                        size_t index, medley_error *error)
{
    md_begin(error);
    if (index >= dataset->table_count)
        return md_fail(error, MEDLEY_USAGE, "there is no table %zu; the data have %zu", index,
                       dataset->table_count);
    MD_OWNED(free) size_t *rows = NULL;
    medley_dataset *copy = NULL;
    MEDLEY_TRY(md_new(&rows, dataset->rows, sizeof *rows, error));
    for (size_t r = 0; r < dataset->rows; r++)
        rows[r] = r;
    MEDLEY_TRY(md_dataset_select(&copy, dataset, rows, dataset->rows, NULL, error));
    for (size_t t = 0; t < copy->table_count; t++)
        if (t != index)
            clear_table(&copy->tables[t]);
    copy->tables[0] = copy->tables[index];
    copy->tables[0].name[0] = '\0';
    copy->table_count = 1;
    *selected = copy;
    return MEDLEY_OK;
}

/* ---- columns that are missing ---- */

static bool has_name(md_names names, const char *name)
{
    for (size_t i = 0; i < names.count; i++)
        if (names.items[i] != NULL && strcmp(names.items[i], name) == 0)
            return true;
    return false;
}

/* "'a', 'b' ... (12 in all)": those that the others do not have, or all where there are none. */
static void list_names(md_text *list, md_names names, md_names others)
{
    enum { LISTED = 8 };
    size_t count = 0;
    for (size_t i = 0; i < names.count; i++) {
        if (names.items[i] == NULL || has_name(others, names.items[i]))
            continue;
        if (count++ < LISTED)
            md_text_addf(list, "%s'%.60s'", count > 1 ? ", " : "", names.items[i]);
    }
    if (count > LISTED)
        md_text_addf(list, " ... (%zu in all)", count);
}

medley_status md_fail_missing(md_names wanted, md_names have, const char *source,
                              medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text missing = {0};
    MD_CLEARED(md_text_clear) md_text found = {0};
    list_names(&missing, wanted, have);
    list_names(&found, have, (md_names){0});
    return md_fail_at(error, MEDLEY_BAD_INPUT, source, 0,
                      "these columns of the training data are missing: %s; the %zu columns are "
                      "%s, and the model needs %zu; they may stand in any order, and further ones "
                      "are left out",
                      md_text_string(&missing), have.count, md_text_string(&found), wanted.count);
}

/* ---- columns of words ---- */

medley_status md_check_words(const md_word_layout *expected, const medley_dataset *dataset,
                             medley_error *error)
{
    const char *wanted = expected->format;
    const char *format = dataset->format;
    const bool other_format = wanted != NULL && format != NULL && strcmp(wanted, format) != 0;
    const bool enough = dataset->token_columns == expected->columns ||
                        (dataset->more_tokens && dataset->token_columns > expected->columns);
    const bool moved = other_format && dataset->label_column + 1 != expected->label_column;
    if (expected->columns == 0 || expected->label_column == 0 || (enough && !moved))
        return MEDLEY_OK;
    if (!other_format)
        return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0,
                          "there are %zu columns of words beside the labels, the training data "
                          "had %zu; give data with the columns that training had",
                          dataset->token_columns, expected->columns);
    return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0,
                      "these data have the format %s with %zu columns of words, and the training "
                      "data had the format %s with %zu and the label in column %zu; give data in "
                      "that format, or say so (`format=%s`) if these are",
                      format, dataset->token_columns, wanted, expected->columns,
                      expected->label_column, wanted);
}

medley_status md_table_check_width(const md_table *table, const medley_dataset *dataset,
                                   size_t columns, const char *what, medley_error *error)
{
    static const size_t many = 1000000, share = 1000;
    const md_matrix *features = &table->features;
    if (!md_matrix_is_sparse(features) || columns <= many)
        return MEDLEY_OK;
    const size_t entries = features->start[features->rows];
    if (columns / share <= entries)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, table->source ? table->source : dataset->source, 0,
                      "%s keeps a number for each column, and of %zu columns hardly any occur "
                      "(there are %zu values); give columns that occur small numbers, or leave it "
                      "out",
                      what, columns, entries);
}
