/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of a CSV file as a dense table with labels. Plain numbers take a short way; quotes,
 * blanks and whatever is wrong take the long way, field by field. */
#include "base/memory.h"
#include "io/csv.h"
#include "io/float_text.h"
#include <math.h>
#include <stdlib.h>

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

static medley_status fail_value(const csv_reader *reader, const char *place, size_t column,
                                const md_csv_field *field)
{
    char where[80];
    const size_t line = md_input_line(reader->input, place);
    describe_column(where, reader, column);
    if (field->length == 0)
        return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, line,
                          "missing value in %s; fill it in or remove the row", where);
    float value;
    const char *p = field->text;
    if (md_read_float(&p, field->text + field->length, &value) && p == field->text + field->length)
        return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, line,
                          "%s holds '%.*s', expected a finite number within the range of float; "
                          "fill it in or remove the row",
                          where, (int)(field->length < SHOWN ? field->length : SHOWN), field->text);
    return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, line,
                      "%s holds '%.*s', expected a number; leave the column out, or say which "
                      "column is the label",
                      where, (int)(field->length < SHOWN ? field->length : SHOWN), field->text);
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
        if (field->length == 0)
            return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path,
                              md_input_line(reader->input, place),
                              "the label is missing (column %zu); every row needs one", column + 1);
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

/* Names that are missing or occur twice are no help: then columns are known by number. */
static medley_status take_names(md_table *table, const md_csv_layout *layout, medley_error *error)
{
    for (size_t c = 0; c < layout->header.count; c++) {
        if (!layout->is_feature[c])
            continue;
        const char *name = layout->header.items[c];
        const size_t before = table->column_names.count;
        if (name != NULL)
            MEDLEY_TRY(md_strings_put(&table->column_names, name, strlen(name), NULL, error));
        if (table->column_names.count == before) {
            md_strings_clear(&table->column_names);
            break;
        }
    }
    return MEDLEY_OK;
}

static medley_status make_table(medley_dataset *dataset, csv_reader *reader)
{
    md_table *table;
    MEDLEY_TRY(md_input_table(&table, dataset, reader->input, reader->error));
    dataset->rows = reader->rows;
    table->features = (md_matrix){
        .rows = reader->rows, .columns = reader->layout.feature_count, .dense = reader->values};
    reader->values = NULL;
    MEDLEY_TRY(take_names(table, &reader->layout, reader->error));
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

medley_status md_csv_read(medley_dataset *dataset, const md_input *input,
                          const medley_read_options *options, medley_error *error)
{
    MD_CLEARED(clear_reader)
    csv_reader reader = {.input = input, .error = error, .end = input->data + input->length};
    MEDLEY_TRY(md_csv_read_layout(&reader.layout, input, options, error));
    const char *p = reader.layout.body;
    if (p == reader.end)
        return MEDLEY_OK; /* the caller says that there are no rows */
    reader.wants_labels = !options->ignore_labels && reader.layout.label < reader.layout.columns;
    MEDLEY_TRY(reserve_values(&reader));
    while (p < reader.end) {
        MEDLEY_TRY(read_record(&reader, &p));
        p = md_csv_skip_empty(p, reader.end);
    }
    return make_table(dataset, &reader);
}
