/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of CSV (RFC 4180): quotes, doubled quotes, delimiters and line ends in quotes; blanks
 * around fields do not count. And what the columns of a file are: delimiter, header or not, label,
 * features. Decided by the options where they speak, else by the first two records. */
#include "io/csv.h"
#include <strings.h>

/* ---- fields and records ---- */

static const char DELIMITERS[] = ",;\t";

static bool is_blank(char c, char delimiter)
{
    return c == ' ' || c == '\r' || (c == '\t' && delimiter != '\t');
}

/* open points at the opening quote. */
static medley_status read_quoted(md_csv_field *field, const char *open, const md_input *input,
                                 md_text *unquoted, medley_error *error)
{
    const char *end = input->data + input->length;
    const char *part = open + 1;
    unquoted->length = 0;
    for (;;) {
        const char *quote = memchr(part, '"', (size_t)(end - part));
        if (quote == NULL)
            return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, md_input_line(input, open),
                              "a quote is opened here and not closed; close it, or double a quote "
                              "that is part of a field");
        const bool doubled = quote[1] == '"';
        field->end = quote + 1;
        if (!doubled && part == open + 1) { /* the common case needs no copy */
            field->text = part;
            field->length = (size_t)(quote - part);
            return MEDLEY_OK;
        }
        md_text_add(unquoted, part, (size_t)(quote - part) + doubled);
        MEDLEY_TRY(md_text_check(unquoted, error));
        if (!doubled)
            break;
        part = quote + 2;
    }
    field->text = unquoted->data;
    field->length = unquoted->length;
    return MEDLEY_OK;
}

medley_status md_csv_read_field(md_csv_field *field, const char *p, char delimiter,
                                const md_input *input, md_text *unquoted, medley_error *error)
{
    while (is_blank(*p, delimiter))
        p++;
    if (*p == '"') {
        MEDLEY_TRY(read_quoted(field, p, input, unquoted, error));
        while (is_blank(*field->end, delimiter))
            field->end++;
        if (*field->end == delimiter || *field->end == '\n')
            return MEDLEY_OK;
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, md_input_line(input, field->end),
                          "'%c' follows a closing quote, expected a delimiter or the end of the "
                          "line; double a quote that is part of a field",
                          *field->end);
    }
    const char *end = p;
    while (*end != delimiter && *end != '\n')
        end++;
    field->end = end;
    while (end > p && is_blank(end[-1], delimiter))
        end--;
    field->text = p;
    field->length = (size_t)(end - p);
    return MEDLEY_OK;
}

char md_csv_delimiter(const char *text, const char *end)
{
    size_t counts[sizeof DELIMITERS] = {0};
    bool quoted = false;
    for (; text < end && (quoted || *text != '\n'); text++) {
        if (*text == '"')
            quoted = !quoted;
        for (size_t i = 0; !quoted && DELIMITERS[i] != '\0'; i++)
            counts[i] += *text == DELIMITERS[i];
    }
    size_t best = 0;
    for (size_t i = 1; DELIMITERS[i] != '\0'; i++)
        if (counts[i] > counts[best])
            best = i;
    return DELIMITERS[best];
}

const char *md_csv_skip_empty(const char *p, const char *end)
{
    for (const char *q = p; q < end; q++) {
        if (*q == '\n')
            p = q + 1;
        else if (*q != ' ' && *q != '\r')
            return p;
    }
    return end;
}

/* Copies of the fields of the record at *p, which moves past it. */
static medley_status read_text_record(md_csv_record *record, const char **p, char delimiter,
                                      const md_input *input, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text unquoted = {0};
    md_csv_field field;
    do {
        MEDLEY_TRY(md_csv_read_field(&field, *p, delimiter, input, &unquoted, error));
        MEDLEY_TRY(md_grow(&record->items, &record->capacity, record->count + 1,
                           sizeof *record->items, error));
        MEDLEY_TRY(md_new_text(&record->items[record->count], field.text, field.length, error));
        record->count++;
        *p = field.end + 1;
    } while (*field.end == delimiter);
    return MEDLEY_OK;
}

static void clear_record(md_csv_record *record)
{
    for (size_t i = 0; i < record->count; i++)
        free(record->items[i]);
    free(record->items);
    *record = (md_csv_record){0};
}

/* ---- is the first record a header? ---- */

static bool is_number(const char *text)
{
    double ignored;
    return md_parse_double(text, &ignored);
}

/* Ways to write "no value", which are no column names. */
static bool is_missing(const char *text)
{
    static const char *const markers[] = {"", "?", "NA", "N/A", "null", "None", NULL};
    return md_text_index(text, markers) >= 0;
}

/* Data frames without names are saved with a header 0,1,2 ...: count of its numbers from `base`. */
static bool counts_from(const md_csv_record *record, long long base)
{
    for (size_t i = 0; i + 1 < record->count; i++) {
        long long number;
        if (!md_parse_int(record->items[i], &number) || number != base + (long long)i)
            return false;
    }
    return record->count >= 4;
}

static bool is_numbered_header(const md_csv_record *record)
{
    return counts_from(record, 0) || counts_from(record, 1);
}

static bool looks_like_header(const md_csv_record *first, const md_csv_record *second)
{
    bool all_words = true;
    for (size_t c = 0; c < first->count; c++) {
        const bool word = !is_number(first->items[c]) && !is_missing(first->items[c]);
        if (word && c < second->count && is_number(second->items[c]))
            return true;
        all_words = all_words && word;
    }
    return all_words || is_numbered_header(first);
}

/* A name of its own for every column that has one: of several columns `a` all but the first are
 * `a.2`, `a.3` ... counts[name in names]: how many columns have had that name. */
static medley_status call_columns(md_csv_layout *layout, size_t *counts, medley_error *error)
{
    MD_CLEARED(md_strings_clear) md_strings names = {0};
    MD_CLEARED(md_text_clear) md_text text = {0};
    for (size_t c = 0; c < layout->columns; c++) {
        const char *name = layout->header.items[c];
        int32_t first;
        if (name == NULL)
            continue;
        const size_t before = names.count;
        MEDLEY_TRY(md_strings_put(&names, name, strlen(name), &first, error));
        const char *called = name;
        for (bool is_new = names.count > before; !is_new; is_new = names.count > before) {
            text.length = 0;
            md_text_addf(&text, "%s.%zu", name, ++counts[first] + 1);
            MEDLEY_TRY(md_text_check(&text, error));
            called = text.data;
            MEDLEY_TRY(md_strings_put(&names, called, strlen(called), NULL, error));
        }
        MEDLEY_TRY(md_new_text(&layout->called[c], called, strlen(called), error));
    }
    return MEDLEY_OK;
}

/* Takes the first record as the header, or leaves it as data. */
static medley_status read_header(md_csv_layout *layout, const char *first, const md_input *input,
                                 const medley_read_options *options, medley_error *error)
{
    MD_CLEARED(clear_record) md_csv_record names = {0};
    MD_CLEARED(clear_record) md_csv_record second = {0};
    const char *end = input->data + input->length;
    const char *p = first;
    MEDLEY_TRY(read_text_record(&names, &p, layout->delimiter, input, error));
    layout->columns = names.count;
    p = md_csv_skip_empty(p, end);
    layout->body = p;
    if (p < end)
        MEDLEY_TRY(read_text_record(&second, &p, layout->delimiter, input, error));
    const bool has_header =
        options->header >= 0 ? options->header != 0 : looks_like_header(&names, &second);
    if (!has_header) {
        layout->body = first;
        return MEDLEY_OK;
    }
    if (is_numbered_header(&names))
        for (size_t c = 0; c < names.count; c++)
            if (is_number(names.items[c])) { /* such names would be taken for column numbers */
                free(names.items[c]);
                names.items[c] = NULL;
            }
    layout->header = md_take(&names);
    MD_OWNED(free) size_t *counts = NULL;
    MEDLEY_TRY(md_new(&counts, layout->columns, sizeof *counts, error));
    MEDLEY_TRY(md_new(&layout->called, layout->columns, sizeof *layout->called, error));
    return call_columns(layout, counts, error);
}

/* ---- which column is the label? ---- */

/* keep: columns that are not left out; NULL: any may be it. by_name: the last one is not it just
 * for being that. *name: what the column is called if that is why it was chosen, else NULL. */
static size_t guess_label(const md_csv_layout *layout, const bool *keep, bool by_name,
                          const char **name)
{
    static const char *const usual[] = {"label", "class", "target", "y"};
    const md_csv_record *names = &layout->header;
    *name = NULL;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        for (size_t c = 0; c < names->count; c++)
            if (names->items[c] != NULL && strcasecmp(names->items[c], usual[i]) == 0 &&
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

static size_t count_named(const md_csv_layout *layout, const char *name)
{
    const md_csv_record *names = &layout->header;
    size_t count = 0;
    for (size_t c = 0; c < names->count; c++)
        count += names->items[c] != NULL && strcmp(names->items[c], name) == 0;
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
           (layout->called[c] == NULL || strcmp(layout->called[c], name) != 0))
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
        const char *name = layout->called[c];
        layout->is_feature[c] = name != NULL && md_strings_find(&wanted, name, strlen(name)) >= 0;
        found += layout->is_feature[c];
    }
    const md_names have = {layout->called, layout->columns};
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
                      "named ones; begin the file with a line of names, or use "
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
    MEDLEY_TRY(read_header(layout, first, input, options, error));
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
    for (size_t c = 0; layout->called != NULL && c < layout->columns; c++)
        free(layout->called[c]);
    free(layout->called);
    clear_record(&layout->header);
    free(layout->is_feature);
    *layout = (md_csv_layout){0};
}
