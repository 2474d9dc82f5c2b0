/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV files: their records as a dense table with labels, how they are recognised, how they are
 * written. Plain numbers take a short way; quotes, blanks and mistakes take the long way, field by
 * field (csv_layout.c). */
#include "io/csv.h"

#include "io/float_text.h"
#include <strings.h>

enum { SHOWN = 40 };

typedef struct csv_reader {
    const md_input *input;
    medley_error *error;
    const char *end;
    md_csv_layout layout;
    bool wants_labels;
    float *values; /* [rows][feature_count] */
    size_t rows, capacity;
    md_label_builder labels;
    md_text unquoted;
    bool is_for_model; /* that needs all of the columns */
} csv_reader;

/* "column 3 ('width')" for messages. */
static void describe_column(char text[80], const csv_reader *reader, size_t column)
{
    const md_csv_record *names = &reader->layout.header;
    const char *name = column < names->count ? names->items[column] : NULL;
    if (name != NULL)
        snprintf(text, 80, "column %zu ('%.40s')", column + 1, name);
    else
        snprintf(text, 80, "column %zu", column + 1);
}

/* Does the text stand for a value that is not there? */
static bool is_missing(const md_csv_field *field)
{
    static const char *const codes[] = {"na", "n/a", "?", "null", "none", "nan", "-", ".", "#n/a"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (field->length == strlen(codes[i]) &&
            strncasecmp(field->text, codes[i], field->length) == 0)
            return true;
    return false;
}

/* Such a text in place of a label; words that may well be one ("none", "-") are. */
static bool is_missing_label(const char *text, size_t length)
{
    static const char *const codes[] = {"", "na", "n/a", "?", "null", "nan", "#n/a"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (length == strlen(codes[i]) && strncasecmp(text, codes[i], length) == 0)
            return true;
    return false;
}

/* "1,234": a decimal comma, or one between thousands? */
static bool may_have_thousands(const md_csv_field *field)
{
    size_t digits = 0;
    size_t commas = 0;
    for (size_t i = field->length > 0 && field->text[0] == '-'; i < field->length; i++) {
        const char c = field->text[i];
        if (c == ',' && digits > 0 && digits <= 3 && (commas == 0 || digits == 3)) {
            commas++;
            digits = 0;
        } else if (c >= '0' && c <= '9') {
            digits++;
        } else {
            return commas > 0 && digits == 3 && c == '.';
        }
    }
    return commas > 0 && digits == 3;
}

/* "0,25" */
static bool has_decimal_comma(const md_csv_field *field)
{
    char copy[32];
    const char *comma = memchr(field->text, ',', field->length);
    if (comma == NULL || field->length >= sizeof copy)
        return false;
    memcpy(copy, field->text, field->length);
    copy[comma - field->text] = '.';
    const char *p = copy;
    float value;
    return md_read_float(&p, copy + field->length, &value) && p == copy + field->length;
}

/* In place of a text that is no number, and what to do. */
static const char *expected(const csv_reader *reader, const md_csv_field *field)
{
    float value;
    const char *p = field->text;
    const char *end = field->text + field->length;
    if (md_read_float(&p, end, &value) && p == end)
        return "finite number within the range of float; fill it in or remove the row";
    if (may_have_thousands(field))
        return "number; remove the comma if it separates thousands, else write a decimal point";
    if (has_decimal_comma(field))
        return "number; write a decimal point in place of the comma";
    if (reader->is_for_model)
        return "number, as in training";
    return "number; leave the column out by `ignore`, make columns of 0 and 1 of its categories, "
           "or "
           "say which column is the label";
}

static medley_status fail_value(const csv_reader *reader, const char *place, size_t column,
                                const md_csv_field *field)
{
    char where[80];
    const size_t line = md_input_line(reader->input, place);
    describe_column(where, reader, column);
    const int shown = (int)(field->length < SHOWN ? field->length : SHOWN);
    if (field->length == 0)
        return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, line,
                          "missing value in %s; fill it in or remove the row", where);
    if (is_missing(field))
        return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, line,
                          "missing value ('%.*s') in %s; fill it in or remove the row", shown,
                          field->text, where);
    return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, line,
                      "%s holds '%.*s', expected a %s", where, shown, field->text,
                      expected(reader, field));
}

static medley_status fail_count(csv_reader *reader, const char *record)
{
    size_t count = 0;
    const char *p = record;
    md_csv_field field;
    do {
        MEDLEY_TRY(md_csv_read_field(&field, p, reader->layout.delimiter, reader->input,
                                     &reader->unquoted, reader->error));
        count++;
        p = field.end + 1;
    } while (*field.end != '\n');
    return md_fail_at(
        reader->error, MEDLEY_BAD_INPUT, reader->input->path, md_input_line(reader->input, record),
        "%zu fields were found, expected %zu as in the first line; quote fields that "
        "contain '%s'",
        count, reader->layout.columns,
        reader->layout.delimiter == '\t' ? "a tab" : (char[]){reader->layout.delimiter, '\0'});
}

static medley_status fail_label(const csv_reader *reader, const md_csv_field *field,
                                const char *place, size_t column)
{
    const size_t line = md_input_line(reader->input, place);
    if (field->length == 0)
        return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, line,
                          "the label is missing (column %zu); every row needs one", column + 1);
    return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, line,
                      "the label is '%.*s' (column %zu), which stands for a missing value; remove "
                      "the row, or put the label in quotes if it is a class",
                      (int)field->length, field->text, column + 1);
}

static medley_status take_field(csv_reader *reader, const md_csv_field *field, const char *place,
                                size_t column, float **value)
{
    if (reader->layout.is_feature[column]) {
        const char *p = field->text;
        const char *end = field->text + field->length;
        if (field->length == 0 || !md_read_float(&p, end, *value) || p != end || !isfinite(**value))
            return fail_value(reader, place, column, field);
        ++*value;
    } else if (column == reader->layout.label && reader->wants_labels) {
        const bool quoted = place[strspn(place, " \t")] == '"';
        if (field->length == 0 || (!quoted && is_missing_label(field->text, field->length)))
            return fail_label(reader, field, place, column);
        return md_labels_add(&reader->labels, field->text, field->length, reader->error);
    }
    return MEDLEY_OK;
}

/* Reads the record at *p, which moves past it. This is the hot loop. */
static medley_status read_record(csv_reader *reader, const char **p)
{
    const md_csv_layout *layout = &reader->layout;
    const char *record = *p;
    const char *next = record;
    float *value = reader->values + reader->rows * layout->feature_count;
    for (size_t column = 0; column < layout->columns; column++) {
        const char expected = column + 1 < layout->columns ? layout->delimiter : '\n';
        if (layout->is_feature[column]) {
            const char *stop = next;
            if (md_read_float(&stop, reader->end, value) && *stop == expected && isfinite(*value)) {
                value++;
                next = stop + 1;
                continue;
            }
        }
        md_csv_field field;
        MEDLEY_TRY(md_csv_read_field(&field, next, layout->delimiter, reader->input,
                                     &reader->unquoted, reader->error));
        if (*field.end != expected)
            return fail_count(reader, record);
        MEDLEY_TRY(take_field(reader, &field, next, column, &value));
        next = field.end + 1;
    }
    reader->rows++;
    *p = next;
    return MEDLEY_OK;
}

/* No more rows than line ends, nor than the bytes that their fields and delimiters take. */
static medley_status reserve_values(csv_reader *reader)
{
    const md_csv_layout *layout = &reader->layout;
    const size_t bytes = (size_t)(reader->end - layout->body);
    size_t lines = 1;
    for (const char *p = layout->body; p < reader->end; p++) {
        p = memchr(p, '\n', (size_t)(reader->end - p));
        if (p == NULL)
            break;
        lines++;
    }
    const size_t most = bytes / layout->columns + 1;
    reader->capacity = lines < most ? lines : most;
    size_t count;
    if (__builtin_mul_overflow(reader->capacity, layout->feature_count, &count))
        return md_fail_memory(reader->error, bytes);
    MEDLEY_TRY(md_new_aligned(&reader->values, count, sizeof *reader->values, reader->error));
    md_expect_large(reader->values, count * sizeof *reader->values);
    return MEDLEY_OK;
}

/* Where names are missing, all columns are known by number. */
static medley_status take_names(md_table *table, const md_csv_layout *layout, medley_error *error)
{
    for (size_t c = 0; c < layout->header.count; c++) {
        if (!layout->is_feature[c])
            continue;
        const char *name = layout->called[c];
        if (name == NULL) {
            md_strings_clear(&table->column_names);
            break;
        }
        MEDLEY_TRY(md_strings_put(&table->column_names, name, strlen(name), NULL, error));
    }
    return MEDLEY_OK;
}

static medley_status take_label_name(md_table *table, const md_csv_layout *layout,
                                     medley_error *error)
{
    const char *name =
        layout->label < layout->header.count ? layout->header.items[layout->label] : NULL;
    return name != NULL ? md_new_text(&table->label_name, name, strlen(name), error) : MEDLEY_OK;
}

static medley_status make_table(medley_dataset *dataset, csv_reader *reader)
{
    md_table *table;
    MEDLEY_TRY(md_dataset_new_table(&table, dataset, "", reader->input->path, reader->error));
    dataset->rows = reader->rows;
    table->features = (md_matrix){.rows = reader->rows,
                                  .columns = reader->layout.feature_count,
                                  .dense = md_take(&reader->values)};
    MEDLEY_TRY(take_names(table, &reader->layout, reader->error));
    MEDLEY_TRY(take_label_name(table, &reader->layout, reader->error));
    return reader->wants_labels ? md_labels_finish(&reader->labels, dataset, reader->error)
                                : MEDLEY_OK;
}

static void clear_reader(csv_reader *reader)
{
    md_csv_clear_layout(&reader->layout);
    md_labels_clear(&reader->labels);
    md_text_clear(&reader->unquoted);
    free(reader->values);
}

static medley_status read_csv(medley_dataset *dataset, const md_input *input,
                              const medley_read_options *options, medley_error *error)
{
    MD_CLEARED(clear_reader)
    csv_reader reader = {.input = input, .error = error, .end = input->data + input->length};
    MEDLEY_TRY(md_csv_read_layout(&reader.layout, input, options, error));
    const char *p = reader.layout.body;
    if (p == reader.end)
        return MEDLEY_OK; /* the caller says that there are no rows */
    reader.is_for_model = options->feature_count > 0;
    reader.wants_labels = !options->ignore_labels && reader.layout.label < reader.layout.columns;
    MEDLEY_TRY(reserve_values(&reader));
    while (p < reader.end) {
        MEDLEY_TRY(read_record(&reader, &p));
        p = md_csv_skip_empty(p, reader.end);
    }
    return make_table(dataset, &reader);
}

/* ---- recognising ---- */

/* Fields and numbers among them in the record at *p. */
static bool count_fields(size_t *fields, size_t *numbers, const char **p, char delimiter,
                         const md_input *head)
{
    MD_CLEARED(md_text_clear) md_text unquoted = {0};
    md_csv_field field;
    *fields = *numbers = 0;
    do {
        if (md_csv_read_field(&field, *p, delimiter, head, &unquoted, NULL) < 0)
            break;
        const char *stop = field.text;
        double ignored;
        *numbers += field.length > 0 &&
                    md_read_number(&stop, field.text + field.length, &ignored) &&
                    stop == field.text + field.length;
        ++*fields;
        *p = field.end + 1;
    } while (*field.end == delimiter);
    return *fields > 1 && *field.end == '\n';
}

/* Two records with equally many fields, some of them numbers. Tables of tagged words separated by
 * tabs have no numbers, or have empty lines between sentences. */
static bool sniff(const char *head, size_t length)
{
    MD_OWNED(free) char *copy = md_copy_text(head, length); /* its end stops every scan */
    if (copy == NULL)
        return false;
    copy[length] = '\n';
    const md_input input = {"", copy, length};
    const char *end = copy + length;
    const char *p = md_csv_skip_empty(copy, end);
    const char delimiter = md_csv_delimiter(p, end);
    size_t fields[2] = {0};
    size_t numbers[2] = {0};
    if (memchr(copy, '\0', length) != NULL || p == end ||
        !count_fields(&fields[0], &numbers[0], &p, delimiter, &input))
        return false;
    if (p >= end)
        return numbers[0] > 0;
    return !(*p == '\n' && delimiter == '\t') &&
           count_fields(&fields[1], &numbers[1], &p, delimiter, &input) && fields[0] == fields[1] &&
           numbers[1] > 0;
}

/* ---- writing ---- */

static void add_text(md_text *to, const char *text)
{
    const bool plain = text[0] != '\0' && text[0] != ' ' && strpbrk(text, ",;\t\"\r\n") == NULL &&
                       text[strlen(text) - 1] != ' ' && !is_missing_label(text, strlen(text));
    if (plain) {
        md_text_add(to, text, strlen(text));
        return;
    }
    md_text_add(to, "\"", 1);
    for (; *text != '\0'; text++)
        md_text_add(to, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    md_text_add(to, "\"", 1);
}

static bool has_labels(const medley_dataset *dataset)
{
    return dataset->label != NULL || dataset->target != NULL;
}

static void add_header(md_text *text, const medley_dataset *dataset)
{
    const md_table *table = &dataset->tables[0];
    for (size_t c = 0; c < table->features.columns; c++) {
        if (c > 0)
            md_text_add(text, ",", 1);
        if (table->column_names.count > 0)
            add_text(text, table->column_names.items[c]);
        else
            md_text_addf(text, "x%zu", c + 1);
    }
    md_text_addf(text, "%s\n", has_labels(dataset) ? ",label" : "");
}

static void add_row(md_text *text, const medley_dataset *dataset, const float *values, size_t row)
{
    char number[32];
    for (size_t c = 0; c < dataset->tables[0].features.columns; c++) {
        md_float_text(number, values[c]);
        if (c > 0)
            md_text_add(text, ",", 1);
        md_text_add(text, number, strlen(number));
    }
    if (has_labels(dataset)) {
        const char *label = md_dataset_label_text(dataset, row, number);
        md_text_add(text, ",", 1);
        if (label != NULL)
            add_text(text, label);
    }
    md_text_add(text, "\n", 1);
}

static medley_status write_csv(md_output *output, const medley_dataset *dataset,
                               medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    MD_OWNED(free) float *values = NULL;
    MEDLEY_TRY(md_format_needs_one_table("csv", dataset, error));
    if (dataset->sequence_count > 0)
        return md_fail(error, MEDLEY_USAGE,
                       "a csv file does not keep the sequences these data have; use svmlight");
    MEDLEY_TRY(md_new(&values, medley_dataset_columns(dataset), sizeof *values, error));
    add_header(&text, dataset);
    for (size_t row = 0; row < dataset->rows; row++) {
        medley_dataset_row(values, dataset, row);
        add_row(&text, dataset, values, row);
        MEDLEY_TRY(md_output_text(output, &text, row + 1 == dataset->rows, error));
    }
    return MEDLEY_OK;
}

const md_format md_format_csv = {
    .name = "csv",
    .summary = "columns separated by commas, semicolons or tabs, with or without a header",
    .extensions = (const char *const[]){".csv", ".tsv", NULL},
    .sniff = sniff,
    .read = read_csv,
    .write = write_csv,
    .chooses_columns = true,
};
