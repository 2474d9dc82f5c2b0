/* SPDX-License-Identifier: BSD-3-Clause */
/* What the columns of a CSV file are: delimiter, names, label, features. Decided by the options
 * where they speak, else by the header (csv_header.c) and the places of the columns. */
#include "io/csv.h"

#include <strings.h>

/* ---- columns of one name ---- */

typedef struct named_column {
    const char *name;
    size_t column;
} named_column;

static int by_name(const void *first, const void *second)
{
    const named_column *a = first;
    const named_column *b = second;
    const int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->column > b->column) - (a->column < b->column);
}

static int only_by_name(const void *first, const void *second)
{
    return strcmp(((const named_column *)first)->name, ((const named_column *)second)->name);
}

/* Of columns of one name all but the first are called `a.2`, `a.3` ..., unless that is taken or
 * there are very many: names are no help then (take_names). sorted[count]: by name. */
static medley_status call_repeated(md_csv_layout *layout, const named_column *sorted, size_t count,
                                   medley_error *error)
{
    MD_CLEARED(md_csv_clear_record) md_csv_record called = {0}; /* of the repeated columns */
    size_t nth = 1;
    for (size_t i = 1; i < count && layout->repeated_count < MD_MOST_REPEATED; i++) {
        MD_CLEARED(md_text_clear) md_text text = {0};
        nth = strcmp(sorted[i].name, sorted[i - 1].name) == 0 ? nth + 1 : 1;
        if (nth == 1)
            continue;
        md_text_addf(&text, "%s.%zu", sorted[i].name, nth);
        MEDLEY_TRY(md_text_check(&text, error));
        const named_column wanted = {text.data, 0};
        if (bsearch(&wanted, sorted, count, sizeof *sorted, only_by_name) != NULL)
            continue;
        MEDLEY_TRY(
            md_grow(&called.items, &called.capacity, called.count + 1, sizeof(char *), error));
        called.items[called.count++] = text.data;
        text = (md_text){0};
        layout->repeated[layout->repeated_count++] = sorted[i].column;
    }
    for (size_t i = 0; i < called.count; i++)
        md_swap(&layout->header.items[layout->repeated[i]], &called.items[i]);
    return MEDLEY_OK;
}

static medley_status tell_names_apart(md_csv_layout *layout, medley_error *error)
{
    MD_OWNED(free) named_column *sorted = NULL;
    size_t count = 0;
    MEDLEY_TRY(md_new(&sorted, layout->columns, sizeof *sorted, error));
    for (size_t c = 0; c < layout->columns; c++)
        if (layout->header.items[c] != NULL)
            sorted[count++] = (named_column){layout->header.items[c], c};
    qsort(sorted, count, sizeof *sorted, by_name);
    return call_repeated(layout, sorted, count, error);
}

/* ---- which column is the label? ---- */

/* keep: columns that are not left out; NULL: any may be it. by_name: the last one is not it just
 * for being that. *name: what the column is called if that is why it was chosen, else NULL. */
static size_t guess_label(const md_csv_layout *layout, const bool *keep, bool by_name,
                          const char **name)
{
    const md_csv_record *names = &layout->header;
    *name = NULL;
    for (size_t i = 0; md_csv_usual_labels[i] != NULL; i++)
        for (size_t c = 0; c < names->count; c++)
            if (names->items[c] != NULL &&
                strcasecmp(names->items[c], md_csv_usual_labels[i]) == 0 &&
                (keep == NULL || keep[c])) {
                *name = names->items[c];
                return c;
            }
    if (by_name)
        return layout->columns;
    size_t last = layout->columns;
    while (keep != NULL && last > 0 && !keep[last - 1])
        last--;
    return layout->columns > 1 && last > 0 ? last - 1 : layout->columns;
}

/* In the file: `a.2` may be the second column `a`. */
static size_t count_named(const md_csv_layout *layout, const char *name)
{
    const md_csv_record *names = &layout->header;
    const size_t length = strlen(name);
    size_t count = 0;
    for (size_t c = 0; c < names->count; c++)
        count += names->items[c] != NULL && strcmp(names->items[c], name) == 0;
    for (size_t i = 0; i < layout->repeated_count; i++) {
        const char *called = names->items[layout->repeated[i]];
        const char *dot = strrchr(called, '.');
        count += (size_t)(dot - called) == length && strncmp(called, name, length) == 0;
    }
    return count;
}

static medley_status fail_label(const md_csv_layout *layout, const char *label, size_t found,
                                const md_input *input, medley_error *error)
{
    if (found > 1)
        return md_fail_at(error, MEDLEY_USAGE, input->path, 0,
                          "%zu columns are called '%s'; give the number of the label column", found,
                          label);
    MD_CLEARED(md_text_clear)
    md_text list = md_columns_list(layout->columns, layout->header.items);
    return md_fail_at(error, MEDLEY_USAGE, input->path, 0,
                      "there is no label column '%s'; the columns are %s", label,
                      md_text_string(&list));
}

/* ---- a file for a model that knows its columns by name ---- */

/* The column of that name; `columns` if there is none. */
static size_t find_named(const md_csv_layout *layout, const char *name)
{
    size_t c = 0;
    while (c < layout->columns &&
           (layout->header.items[c] == NULL || strcmp(layout->header.items[c], name) != 0))
        c++;
    return c;
}

/* Marks the columns that the model knows; the others are left out. */
static medley_status choose_named(md_csv_layout *layout, const md_input *input,
                                  const medley_read_options *options, medley_error *error)
{
    MD_CLEARED(md_strings_clear) md_strings wanted = {0};
    size_t found = 0;
    for (size_t i = 0; i < options->feature_count; i++)
        MEDLEY_TRY(md_strings_put(&wanted, options->feature_names[i],
                                  strlen(options->feature_names[i]), NULL, error));
    for (size_t c = 0; c < layout->columns; c++) {
        const char *name = layout->header.items[c];
        layout->is_feature[c] = name != NULL && md_strings_find(&wanted, name, strlen(name)) >= 0;
        found += layout->is_feature[c];
    }
    const md_names have = {layout->header.items, layout->columns};
    return found < wanted.count
               ? md_fail_missing((md_names){wanted.items, wanted.count}, have, input->path, error)
               : MEDLEY_OK;
}

/* Is the file read by the names of its columns? */
static bool is_named(const md_csv_layout *layout, const medley_read_options *options)
{
    return options->feature_names != NULL && layout->header.items != NULL &&
           (options->columns == NULL || md_columns_are_left_out(options->columns));
}

/* A column of the model cannot be left out. Others need not be in the file at all. */
static medley_status check_left_out(const md_csv_layout *layout, const md_input *input,
                                    const medley_read_options *options, medley_error *error)
{
    MD_OWNED(free) bool *kept = NULL;
    medley_error unknown = {0};
    if (options->columns == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&kept, layout->columns, sizeof *kept, error));
    memset(kept, true, layout->columns);
    if (md_columns_choose(kept, layout->columns, layout->header.items, options->columns, &unknown) <
        0)
        return MEDLEY_OK;
    for (size_t c = 0; c < layout->columns; c++)
        if (layout->is_feature[c] && !kept[c])
            return md_fail_at(error, MEDLEY_USAGE, input->path, 0,
                              "column '%s' cannot be left out: the model was trained with it",
                              layout->header.items[c]);
    return MEDLEY_OK;
}

/* Without names, and with columns beside those of the model, it is anybody's guess which column is
 * which. */
static medley_status check_nameless(const md_csv_layout *layout, const md_input *input,
                                    const medley_read_options *options, medley_error *error)
{
    if (options->feature_names == NULL || layout->header.items != NULL || options->header >= 0 ||
        options->columns != NULL || options->label != NULL || layout->label == layout->columns)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                      "the file has %zu columns without names, and the model was trained with %zu "
                      "named ones; begin the file with a line of names, use "
                      "`header=yes` if it does, or "
                      "`header=no` if these are the same columns in the same order, then the label",
                      layout->columns, options->feature_count);
}

/* keep marks the columns that options->columns asks for. A file with just the features that a
 * model expects has no label. */
static medley_status choose_label(md_csv_layout *layout, const bool *keep, const md_input *input,
                                  const medley_read_options *options, medley_error *error)
{
    const char *label = options->label;
    const bool leaves_out = md_columns_are_left_out(options->columns) && !is_named(layout, options);
    size_t kept = 0;
    for (size_t c = 0; c < layout->columns; c++)
        kept += keep[c];
    layout->label = layout->columns;
    if (md_label_is(options, "none"))
        return MEDLEY_OK;
    const char *name = label;
    size_t column;
    if (label == NULL && is_named(layout, options) && options->label_name != NULL)
        column = find_named(layout, options->label_name);
    else if (label == NULL)
        column = guess_label(layout, leaves_out ? keep : NULL, options->label_is_optional, &name);
    else if (md_label_is(options, "last"))
        column = layout->columns - 1;
    else
        column = md_column_find(label, strlen(label), layout->columns, layout->header.items);
    if (is_named(layout, options) && label != NULL && column < layout->columns && keep[column])
        return md_fail_at(error, MEDLEY_USAGE, input->path, 0,
                          "column '%s' cannot be the label: the model was trained with it as a "
                          "feature",
                          label);
    if (leaves_out && label != NULL && column < layout->columns && !keep[column])
        return md_fail_at(error, MEDLEY_USAGE, input->path, 0,
                          "column '%s' is to be the label and to be left out; choose one", label);
    const size_t named = name != NULL ? count_named(layout, name) : 0;
    if (options->label_is_optional && column == layout->columns)
        return MEDLEY_OK;
    const bool only_features = options->feature_count > 0 && kept == options->feature_count &&
                               column < layout->columns && keep[column];
    if (only_features && label == NULL)
        return MEDLEY_OK;
    if (named > 1 || (column == layout->columns && label != NULL && !options->ignore_labels))
        return fail_label(layout, name, named, input, error);
    if (only_features && options->ignore_labels && named == 0)
        return MEDLEY_OK;
    layout->label = column;
    return MEDLEY_OK;
}

/* Line ends of old Macintosh files would make one line of all. */
static medley_status check_line_ends(const char *first, const md_input *input, medley_error *error)
{
    const char *end = input->data + input->length;
    const char *carriage = memchr(first, '\r', (size_t)(end - first));
    if (carriage == NULL || carriage + 1 == end ||
        memchr(first, '\n', (size_t)(end - first)) != NULL)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 1,
                      "lines end with a carriage return alone; end them with a line feed");
}

medley_status md_csv_read_layout(md_csv_layout *layout, const md_input *input,
                                 const medley_read_options *options, medley_error *error)
{
    const char *end = input->data + input->length;
    const char *first;
    MEDLEY_TRY(md_input_text(&first, input, error));
    first = md_csv_skip_empty(first, end);
    layout->delimiter = md_csv_delimiter(first, end);
    layout->body = end;
    if (first == end)
        return MEDLEY_OK; /* the caller says that there are no rows */
    MEDLEY_TRY(check_line_ends(first, input, error));
    MEDLEY_TRY(md_csv_read_header(layout, first, input, options, error));
    if (layout->header.items != NULL)
        MEDLEY_TRY(tell_names_apart(layout, error));
    MEDLEY_TRY(md_new(&layout->is_feature, layout->columns, sizeof *layout->is_feature, error));
    memset(layout->is_feature, true, layout->columns);
    if (is_named(layout, options)) {
        MEDLEY_TRY(choose_named(layout, input, options, error));
        MEDLEY_TRY(check_left_out(layout, input, options, error));
    }
    if (options->columns != NULL && !is_named(layout, options))
        MEDLEY_TRY(md_columns_choose(layout->is_feature, layout->columns, layout->header.items,
                                     options->columns, error));
    MEDLEY_TRY(choose_label(layout, layout->is_feature, input, options, error));
    MEDLEY_TRY(check_nameless(layout, input, options, error));
    if (layout->label < layout->columns)
        layout->is_feature[layout->label] = false;
    for (size_t c = 0; c < layout->columns; c++)
        layout->feature_count += layout->is_feature[c];
    if (layout->feature_count == 0)
        return md_fail_at(error, MEDLEY_USAGE, input->path, 0,
                          "no column is left for the features; the file has %zu and column %zu is "
                          "the label",
                          layout->columns, layout->label + 1);
    return MEDLEY_OK;
}

void md_csv_clear_layout(md_csv_layout *layout)
{
    md_csv_clear_record(&layout->header);
    free(layout->is_feature);
    *layout = (md_csv_layout){0};
}
