/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading CRFsuite's format: one item a line with its label and its attributes between tabs, a
 * blank line after each sequence. An attribute is `name` (its value is 1) or `name:value`; in
 * names `\:` is a colon and `\\` a backslash. As in CRFsuite, empty fields are skipped and the
 * values of an attribute that an item has more than once add up. Lines that start with @ are
 * directives, of which only `@weight:1` can be obeyed. The attributes become the columns of a
 * sparse table, numbered in order of their first appearance. */
#include "io/float_text.h"
#include "io/tokens.h"

enum { SORTED_BY_INSERTION = 48, SHOWN = 60 };

/* One attribute as it stands in the line. */
typedef struct attribute {
    md_field name;
    bool is_escaped;
    float value;
    size_t slot; /* where the table of names will probably have it */
} attribute;

typedef struct attributes_reader {
    const md_input *input;
    medley_error *error;
    md_lines lines;
    bool has_label_field;
    medley_dataset *dataset;
    md_strings names;
    md_matrix matrix;
    size_t index_capacity, value_capacity, row_capacity, start_capacity;
    attribute *attributes; /* of the current item */
    uint64_t *item;        /* the same as numbers: column and bits of the value */
    size_t item_count, attribute_capacity, item_capacity;
    md_label_builder labels;
    md_text unescaped;
    bool is_in_sequence;
} attributes_reader;

static medley_status fail_field(const attributes_reader *reader, md_field field,
                                const char *expected)
{
    return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, reader->lines.number,
                      "found '%.*s%s', expected %s",
                      (int)(field.length < SHOWN ? field.length : SHOWN), field.text,
                      field.length > SHOWN ? "..." : "", expected);
}

static bool is_escape(const char *p, const char *end)
{
    return *p == '\\' && p + 1 < end && (p[1] == ':' || p[1] == '\\');
}

/* Replaces a field that has escapes in it by what it stands for, which holds until the next call.
 */
static medley_status unescape(attributes_reader *reader, md_field *field)
{
    const char *end = field->text + field->length;
    md_text *text = &reader->unescaped;
    if (memchr(field->text, '\\', field->length) == NULL)
        return MEDLEY_OK;
    text->length = 0;
    for (const char *p = field->text; p < end; p++) {
        p += is_escape(p, end);
        md_text_add(text, p, 1);
    }
    *field = (md_field){text->data, text->length};
    return md_text_check(text, reader->error);
}

/* ---- directives ---- */

static medley_status read_directive(const attributes_reader *reader)
{
    const md_field line = {reader->lines.start, (size_t)(reader->lines.end - reader->lines.start)};
    static const char weight[] = "@weight";
    const size_t length = strlen(weight);
    if (line.length <= length || memcmp(line.text, weight, length) != 0 ||
        strchr(":\t ", line.text[length]) == NULL)
        return fail_field(reader, line,
                          "an item: a line that starts with @ is a directive, and only @weight is "
                          "known");
    const char *cursor = line.text + length + 1;
    double value;
    if (!md_read_number(&cursor, reader->lines.end, &value) || cursor != reader->lines.end)
        return fail_field(reader, line, "a number behind @weight:");
    if (value != 1)
        return fail_field(reader, line,
                          "@weight:1: other weights of sequences are not supported; remove the "
                          "line, or repeat the sequence");
    return MEDLEY_OK;
}

/* ---- items ---- */

static medley_status read_value(const attributes_reader *reader, md_field field, const char *colon,
                                float *value)
{
    const char *cursor = colon + 1;
    const char *end = field.text + field.length;
    if (cursor == end || !md_read_float(&cursor, end, value) || cursor != end)
        return fail_field(reader, field,
                          "name:value with a number as the value; a colon within a name is "
                          "written \\:");
    if (!isfinite(*value))
        return fail_field(reader, field, "a finite value within the range of float");
    return MEDLEY_OK;
}

/* The attribute at *cursor, which is moved past it. */
static medley_status read_attribute(attributes_reader *reader, const char **cursor)
{
    const char *end = reader->lines.end;
    const char *start = *cursor;
    const char *p = start;
    const char *colon = NULL;
    bool escaped = false;
    for (; p < end && *p != '\t'; p++) {
        if (*p == ':' && colon == NULL)
            colon = p;
        if (*p == '\\' && is_escape(p, end)) {
            escaped = true;
            p++;
        }
    }
    *cursor = p;
    const md_field field = {start, (size_t)(p - start)};
    const md_field name = {start, (size_t)((colon != NULL ? colon : p) - start)};
    float value = 1;
    if (field.length == 0)
        return MEDLEY_OK;
    if (name.length == 0)
        return fail_field(reader, field, "a name before the colon; a colon is written \\:");
    if (colon != NULL)
        MEDLEY_TRY(read_value(reader, field, colon, &value));
    MEDLEY_TRY(md_grow(&reader->attributes, &reader->attribute_capacity, reader->item_count + 1,
                       sizeof *reader->attributes, reader->error));
    reader->attributes[reader->item_count++] =
        (attribute){.name = name, .is_escaped = escaped, .value = value};
    return MEDLEY_OK;
}

/* Looking up a name waits for memory three times: slot, item, text. Asking for those of the whole
 * item beforehand lets the waits overlap, which saves a third of the time. Only a hint: nothing
 * depends on the slots being the right ones. */
static void fetch_names(attributes_reader *reader)
{
    const md_strings *names = &reader->names;
    attribute *attributes = reader->attributes;
    if (names->slot_count == 0)
        return;
    for (size_t i = 0; i < reader->item_count; i++) {
        const md_field name = attributes[i].name;
        attributes[i].slot = md_hash_bytes(name.text, name.length) & (names->slot_count - 1);
        __builtin_prefetch(&names->slots[attributes[i].slot]);
    }
    for (size_t i = 0; i < reader->item_count; i++)
        if (names->slots[attributes[i].slot] > 0)
            __builtin_prefetch(&names->items[names->slots[attributes[i].slot] - 1]);
    for (size_t i = 0; i < reader->item_count; i++)
        if (names->slots[attributes[i].slot] > 0)
            __builtin_prefetch(names->items[names->slots[attributes[i].slot] - 1]);
}

/* Gives the attributes of the item their columns. */
static medley_status number_attributes(attributes_reader *reader)
{
    MEDLEY_TRY(md_grow(&reader->item, &reader->item_capacity, reader->item_count + 1,
                       sizeof *reader->item, reader->error));
    fetch_names(reader);
    for (size_t i = 0; i < reader->item_count; i++) {
        attribute *read = &reader->attributes[i];
        int32_t column;
        uint32_t bits;
        if (read->is_escaped)
            MEDLEY_TRY(unescape(reader, &read->name));
        MEDLEY_TRY(md_strings_put(&reader->names, read->name.text, read->name.length, &column,
                                  reader->error));
        memcpy(&bits, &read->value, sizeof bits);
        reader->item[i] = (uint64_t)column << 32 | bits;
    }
    return MEDLEY_OK;
}

static int compare_attributes(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void sort_item(uint64_t *item, size_t count)
{
    if (count > SORTED_BY_INSERTION) {
        qsort(item, count, sizeof *item, compare_attributes);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const uint64_t moved = item[i];
        size_t place = i;
        for (; place > 0 && item[place - 1] > moved; place--)
            item[place] = item[place - 1];
        item[place] = moved;
    }
}

/* Appends the collected attributes as a row of the table. */
static medley_status add_row(attributes_reader *reader)
{
    medley_dataset *dataset = reader->dataset;
    md_matrix *matrix = &reader->matrix;
    size_t entries = dataset->rows > 0 ? matrix->start[dataset->rows] : 0;
    const size_t first = entries;
    const size_t most = entries + reader->item_count;
    MEDLEY_TRY(md_grow(&matrix->index, &reader->index_capacity, most + 1, sizeof *matrix->index,
                       reader->error));
    MEDLEY_TRY(md_grow(&matrix->value, &reader->value_capacity, most + 1, sizeof *matrix->value,
                       reader->error));
    MEDLEY_TRY(md_grow(&matrix->start, &reader->row_capacity, dataset->rows + 2,
                       sizeof *matrix->start, reader->error));
    sort_item(reader->item, reader->item_count);
    for (size_t i = 0; i < reader->item_count; i++) {
        const int32_t column = (int32_t)(reader->item[i] >> 32);
        const uint32_t bits = (uint32_t)reader->item[i];
        float value;
        memcpy(&value, &bits, sizeof value);
        if (entries > first && matrix->index[entries - 1] == column) {
            matrix->value[entries - 1] += value;
            if (!isfinite(matrix->value[entries - 1]))
                return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path,
                                  reader->lines.number,
                                  "the values of '%.60s' add up to more than a float holds",
                                  reader->names.items[column]);
            continue;
        }
        matrix->index[entries] = column;
        matrix->value[entries++] = value;
    }
    matrix->start[0] = 0;
    matrix->start[++dataset->rows] = entries;
    return MEDLEY_OK;
}

static medley_status read_item(attributes_reader *reader)
{
    const char *p = reader->lines.start;
    const char *end = reader->lines.end;
    reader->item_count = 0;
    if (reader->has_label_field) {
        while (p < end && *p != '\t')
            p++;
        md_field label = {reader->lines.start, (size_t)(p - reader->lines.start)};
        MEDLEY_TRY(unescape(reader, &label));
        MEDLEY_TRY(md_labels_add(&reader->labels, label.length > 0 ? label.text : NULL,
                                 label.length, reader->error));
        p += p < end;
    }
    while (p < end) {
        MEDLEY_TRY(read_attribute(reader, &p));
        p += p < end;
    }
    MEDLEY_TRY(number_attributes(reader));
    if (!reader->is_in_sequence)
        MEDLEY_TRY(md_sequence_begin(reader->dataset, &reader->start_capacity, reader->error));
    reader->is_in_sequence = true;
    return add_row(reader);
}

static medley_status read_lines(attributes_reader *reader)
{
    while (md_lines_next(&reader->lines)) {
        const char *p = reader->lines.start;
        while (p < reader->lines.end && *p == ' ')
            p++;
        if (p == reader->lines.end)
            reader->is_in_sequence = false;
        else if (*p == '@' && p == reader->lines.start)
            MEDLEY_TRY(read_directive(reader));
        else
            MEDLEY_TRY(read_item(reader));
    }
    return MEDLEY_OK;
}

/* ---- the whole file ---- */

static medley_status make_table(attributes_reader *reader)
{
    medley_dataset *dataset = reader->dataset;
    if (reader->names.count == 0)
        return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, 0,
                          "no item has an attribute, expected a label and attributes between tabs");
    md_table *table;
    MEDLEY_TRY(md_dataset_new_table(&table, dataset, "", reader->input->path, reader->error));
    reader->matrix.rows = dataset->rows;
    reader->matrix.columns = reader->names.count;
    table->features = md_take(&reader->matrix);
    table->column_names = md_take(&reader->names);
    dataset->sequence_start[dataset->sequence_count] = dataset->rows;
    return MEDLEY_OK;
}

static void clear_reader(attributes_reader *reader)
{
    md_labels_clear(&reader->labels);
    md_strings_clear(&reader->names);
    md_matrix_clear(&reader->matrix);
    md_text_clear(&reader->unescaped);
    free(reader->attributes);
    free(reader->item);
}

medley_status md_attributes_read(medley_dataset *dataset, const md_input *input,
                                 const medley_read_options *options, medley_error *error)
{
    MD_CLEARED(clear_reader)
    attributes_reader reader = {.input = input,
                                .error = error,
                                .dataset = dataset,
                                .has_label_field = !md_label_is(options, "none")};
    if (reader.has_label_field && options->label != NULL && !md_label_is(options, "1"))
        return md_fail_at(error, MEDLEY_USAGE, input->path, 0,
                          "label column '%s': in this format the label is always the first field; "
                          "leave it out, or say none if every field is an attribute",
                          options->label);
    MEDLEY_TRY(md_lines_begin(&reader.lines, input, error));
    MEDLEY_TRY(read_lines(&reader));
    if (dataset->rows == 0)
        return MEDLEY_OK; /* the caller says that there are no rows */
    MEDLEY_TRY(make_table(&reader));
    return reader.has_label_field ? md_labels_finish(&reader.labels, dataset, error) : MEDLEY_OK;
}
