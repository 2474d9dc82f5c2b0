/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV files: their records as a dense table with labels, how they are recognised, how they are
 * written. Plain numbers take a short way; quotes, blanks and mistakes take the long way, field by
 * field (csv_fields.c). */
#include "io/csv.h"

#include "io/float_text.h"

typedef struct csv_reader {
    const md_input *input;
    medley_error *error;
    const char *end;
    md_csv_layout layout;
    bool wants_labels;
    float *values; /* [rows][feature_count] */
    size_t rows, capacity;
    const char *record; /* that is read */
    md_label_builder labels;
    md_text unquoted;
    bool is_for_model; /* that needs all of the columns */
} csv_reader;

static md_csv_place place_of(const csv_reader *reader, const char *place, size_t column)
{
    return (md_csv_place){.input = reader->input,
                          .layout = &reader->layout,
                          .record = reader->record,
                          .text = place,
                          .column = column,
                          .is_for_model = reader->is_for_model};
}

static medley_status take_field(csv_reader *reader, const md_csv_field *field, const char *place,
                                size_t column, float **value)
{
    if (reader->layout.is_feature[column]) {
        const char *p = field->text;
        const char *end = field->text + field->length;
        if (field->length == 0 || !md_read_float(&p, end, *value) || p != end || !isfinite(**value))
            return md_csv_fail_value(place_of(reader, place, column), field, reader->error);
        ++*value;
    } else if (column == reader->layout.label && reader->wants_labels) {
        const bool quoted = place[strspn(place, " \t")] == '"';
        if (field->length == 0 || (!quoted && md_csv_is_missing_label(field->text, field->length)))
            return md_csv_fail_label(place_of(reader, place, column), field, reader->error);
        return md_labels_add(&reader->labels, field->text, field->length, reader->error);
    }
    return MEDLEY_OK;
}

/* Reads the record at *p, which moves past it. This is the hot loop. */
static medley_status read_record(csv_reader *reader, const char **p)
{
    const md_csv_layout *layout = &reader->layout;
    const char *next = *p;
    float *value = reader->values + reader->rows * layout->feature_count;
    reader->record = next;
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
            return md_csv_fail_count(place_of(reader, next, column), &reader->unquoted,
                                     reader->error);
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
    return MEDLEY_OK;
}

/* Where names are missing or occur twice, all columns are known by number. */
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
                       text[strlen(text) - 1] != ' ' &&
                       !md_csv_is_missing_label(text, strlen(text));
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
