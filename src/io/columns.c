/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns between blanks, as CRF++ and CoNLL-2000 have them: one token a line with its label last,
 * a blank line after each sequence. Predictions come as CRF++ prints them: in a column after
 * those of the input. A file without blank lines between its rows whose fields are all numbers (but
 * for the label) is a plain table of numbers instead; if only some of its rows are not, it is a
 * table with mistakes in it. */
#include "io/float_text.h"
#include "io/tokens.h"

enum { SNIFFED_LINES = 50 };

typedef struct columns_reader {
    const md_input *input;
    md_lines lines;
    md_field *field;   /* [fields] of the current line */
    size_t fields;     /* on every line */
    size_t label;      /* index of the label's field; `fields` if there is none */
    size_t columns;    /* fields that are not the label */
    size_t first_line; /* number of the first line with fields */
    size_t rows, sequences;
    bool keeps_labels;
    md_label_builder labels;
} columns_reader;

/* Counts rows and sequences and makes sure that all rows are alike. */
static medley_status examine(columns_reader *reader, medley_error *error)
{
    md_lines *lines = &reader->lines;
    MEDLEY_TRY(md_lines_begin(lines, reader->input, error));
    bool is_in_sequence = false;
    while (md_lines_next(lines)) {
        const size_t count = md_split_blanks(lines->start, lines->end, NULL, 0);
        if (reader->rows == 0 && count > 0) {
            reader->fields = count;
            reader->first_line = lines->number;
        }
        if (count > 0 && count != reader->fields)
            return md_fail_at(error, MEDLEY_BAD_INPUT, reader->input->path, lines->number,
                              "found %zu fields, expected %zu as on line %zu", count,
                              reader->fields, reader->first_line);
        reader->rows += count > 0;
        reader->sequences += count > 0 && !is_in_sequence;
        is_in_sequence = count > 0;
    }
    return MEDLEY_OK;
}

static medley_status choose_label(columns_reader *reader, const medley_read_options *options,
                                  medley_error *error)
{
    const char *label = options->label;
    const size_t expected = options->feature_count;
    if (options->text_columns && expected > 0 && reader->fields != expected &&
        reader->fields != expected + 1)
        return md_fail_at(error, MEDLEY_BAD_INPUT, reader->input->path, reader->first_line,
                          "found %zu fields, the model expects %zu and a label, which may be "
                          "missing; give data with the columns that training had",
                          reader->fields, expected);
    if (options->feature_count == reader->fields && (label == NULL || options->ignore_labels))
        label = "none"; /* what the model expects and nothing else: the labels are left out */
    if (label == NULL || strcmp(label, "last") == 0) {
        reader->label = reader->fields - 1;
    } else if (strcmp(label, "none") == 0) {
        reader->label = reader->fields;
    } else {
        reader->label = md_column_find(label, strlen(label), reader->fields, NULL);
        if (reader->label == reader->fields)
            return md_fail_at(error, MEDLEY_USAGE, reader->input->path, 0,
                              "there is no column '%s' to take the label from; choose 1 to %zu, "
                              "last or none",
                              label, reader->fields);
    }
    const bool has_label = reader->label < reader->fields;
    reader->columns = reader->fields - has_label;
    if (reader->columns == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, reader->input->path, reader->first_line,
                          "found one field, expected a token and its label; if there are no "
                          "labels, read it with `label=none`");
    return MEDLEY_OK;
}

/* Moves to the next line that has fields: false at the end. *ended tells whether blank lines were
 * passed. The label's field is taken out of reader->field and returned in *label. */
static bool next_row(columns_reader *reader, md_field *label, bool *ended)
{
    md_lines *lines = &reader->lines;
    *ended = false;
    while (md_lines_next(lines)) {
        if (md_split_blanks(lines->start, lines->end, reader->field, reader->fields) == 0) {
            *ended = true;
            continue;
        }
        if (reader->label < reader->fields) {
            *label = reader->field[reader->label];
            memmove(reader->field + reader->label, reader->field + reader->label + 1,
                    (reader->columns - reader->label) * sizeof *reader->field);
        }
        return true;
    }
    return false;
}

/* The first of the row's fields that is no number; reader->columns if all are. */
static size_t first_word(const columns_reader *reader)
{
    size_t c = 0;
    for (; c < reader->columns; c++) {
        const char *cursor = reader->field[c].text;
        const char *end = cursor + reader->field[c].length;
        float value;
        if (!md_read_float(&cursor, end, &value) || cursor != end)
            break;
    }
    return c;
}

/* Is this a table of numbers? A file that starts as one and is one in at least half of its rows is
 * meant to be: then the first word in it is an error. */
static medley_status find_numbers(columns_reader *reader, bool *has_numbers, medley_error *error)
{
    md_field label;
    md_field word = {0};
    bool ended;
    size_t numeric = 0;
    size_t line = 0; /* of the first word */
    *has_numbers = false;
    while (next_row(reader, &label, &ended)) {
        const size_t c = first_word(reader);
        numeric += c == reader->columns;
        if (c == reader->columns || line > 0)
            continue;
        if (numeric == 0)
            return MEDLEY_OK; /* words from the start */
        line = reader->lines.number;
        word = reader->field[c];
    }
    *has_numbers = line == 0;
    if (line == 0 || 2 * numeric < reader->rows)
        return MEDLEY_OK;
    reader->lines.number = line;
    return md_lines_fail(&reader->lines, "found", word,
                         "a number as in the rows before; correct it or leave the row out", error);
}

static medley_status read_table(columns_reader *reader, medley_dataset *dataset,
                                medley_error *error)
{
    md_field label = {0};
    bool ended;
    md_table *table;
    MEDLEY_TRY(md_dataset_new_table(&table, dataset, "", reader->input->path, error));
    MEDLEY_TRY(md_matrix_init_dense(&table->features, reader->rows, reader->columns, error));
    for (float *values = table->features.dense; next_row(reader, &label, &ended);
         values += reader->columns, dataset->rows++) {
        for (size_t c = 0; c < reader->columns; c++) {
            const md_field field = reader->field[c];
            const char *cursor = field.text;
            md_read_float(&cursor, field.text + field.length, &values[c]);
            if (!isfinite(values[c]))
                return md_fail_at(error, MEDLEY_BAD_INPUT, reader->input->path,
                                  reader->lines.number,
                                  "column %zu is %.*s; finite numbers within the range of float "
                                  "are needed: fill in or remove such values",
                                  c + 1, (int)field.length, field.text);
        }
        if (reader->keeps_labels)
            MEDLEY_TRY(md_labels_add(&reader->labels, label.text, label.length, error));
    }
    return MEDLEY_OK;
}

/* What the file looks like: the first row shows what stands between its fields. */
static medley_status keep_layout(const columns_reader *reader, medley_dataset *dataset,
                                 medley_error *error)
{
    md_lines lines;
    MEDLEY_TRY(md_lines_begin(&lines, reader->input, error));
    while (md_lines_next(&lines) && lines.number < reader->first_line)
        continue;
    md_field first = {0};
    md_split_blanks(lines.start, lines.end, &first, 1);
    const char *after = first.text + first.length;
    dataset->separator = after < lines.end && *after == '\t' ? '\t' : ' ';
    dataset->label_column = reader->label;
    if (reader->label == reader->fields)
        return MEDLEY_OK;
    return md_new(&dataset->label_text, reader->rows, sizeof *dataset->label_text, error);
}

static medley_status read_tokens(columns_reader *reader, medley_dataset *dataset,
                                 medley_error *error)
{
    md_token_builder tokens;
    md_field label = {0};
    bool ended;
    MEDLEY_TRY(keep_layout(reader, dataset, error));
    MEDLEY_TRY(md_tokens_begin(&tokens, dataset, reader->columns, error));
    while (next_row(reader, &label, &ended)) {
        if (ended)
            tokens.is_in_sequence = false;
        MEDLEY_TRY(md_tokens_add_row(&tokens, reader->field, error));
        if (reader->keeps_labels)
            MEDLEY_TRY(md_labels_add(&reader->labels, label.text, label.length, error));
        if (dataset->label_text != NULL)
            MEDLEY_TRY(md_strings_put(&dataset->label_texts, label.text, label.length,
                                      &dataset->label_text[dataset->rows - 1], error));
    }
    md_tokens_finish(&tokens);
    return MEDLEY_OK;
}

static void clear_reader(columns_reader *reader)
{
    md_labels_clear(&reader->labels);
    free(reader->field);
}

static medley_status read_columns(medley_dataset *dataset, const md_input *input,
                                  const medley_read_options *options, medley_error *error)
{
    MD_CLEARED(clear_reader) columns_reader reader = {.input = input};
    MEDLEY_TRY(examine(&reader, error));
    if (reader.rows == 0)
        return MEDLEY_OK; /* the caller says that there are no rows */
    MEDLEY_TRY(choose_label(&reader, options, error));
    MEDLEY_TRY(md_new(&reader.field, reader.fields, sizeof *reader.field, error));
    MEDLEY_TRY(md_lines_begin(&reader.lines, input, error));
    bool has_numbers = false;
    if (reader.sequences == 1 && !options->text_columns)
        MEDLEY_TRY(find_numbers(&reader, &has_numbers, error));
    reader.keeps_labels = reader.label < reader.fields && !(has_numbers && options->ignore_labels);
    MEDLEY_TRY(md_lines_begin(&reader.lines, input, error));
    MEDLEY_TRY(has_numbers ? read_table(&reader, dataset, error)
                           : read_tokens(&reader, dataset, error));
    MEDLEY_TRY(md_tokens_refuse_choice(dataset, options, error));
    return reader.keeps_labels ? md_labels_finish(&reader.labels, dataset, error) : MEDLEY_OK;
}

/* ---- writing ---- */

/* What is written must be one field when it is read again. */
static medley_status check_text(const char *text, medley_error *error)
{
    if (text[0] != '\0' && text[strcspn(text, " \t\r\n")] == '\0')
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_BAD_INPUT,
                   "'%.60s' cannot be written between blanks: it is empty or has blanks in it; use "
                   "another format",
                   text);
}

static medley_status check_texts(const md_strings *texts, medley_error *error)
{
    for (size_t i = 0; i < texts->count; i++)
        MEDLEY_TRY(check_text(texts->items[i], error));
    return MEDLEY_OK;
}

static medley_status check_writable(const medley_dataset *dataset, medley_error *error)
{
    MEDLEY_TRY(check_texts(&dataset->label_names, error));
    for (size_t c = 0; c < dataset->token_columns; c++)
        MEDLEY_TRY(check_texts(&dataset->token_values[c], error));
    for (size_t row = 0; dataset->label != NULL && row < dataset->rows; row++)
        if (dataset->label[row] < 0)
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "row %zu has no label while others have; in columns every row has the "
                           "same fields",
                           row + 1);
    return dataset->token_columns == 0 ? md_format_needs_one_table("columns", dataset, error)
                                       : MEDLEY_OK;
}

/* values: scratch for one row of numbers, NULL where the data are tokens. */
static void add_row(md_text *text, const medley_dataset *dataset, size_t row, float *values)
{
    const size_t columns = values ? medley_dataset_columns(dataset) : dataset->token_columns;
    char number[32];
    if (values != NULL)
        medley_dataset_row(values, dataset, row);
    for (size_t c = 0; c < columns; c++)
        md_text_addf(text, "%s%s", c > 0 ? " " : "",
                     values ? md_float_text(number, values[c])
                            : medley_dataset_word(dataset, row, c));
    const char *label = md_dataset_label_text(dataset, row, number);
    if (label != NULL)
        md_text_addf(text, " %s", label);
    md_text_add(text, "\n", 1);
}

static medley_status write_columns(md_output *output, const medley_dataset *dataset,
                                   medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    MD_OWNED(free) float *values = NULL;
    size_t sequence = 1;
    MEDLEY_TRY(check_writable(dataset, error));
    if (dataset->token_columns == 0)
        MEDLEY_TRY(md_new(&values, medley_dataset_columns(dataset), sizeof *values, error));
    for (size_t row = 0; row < dataset->rows; row++) {
        if (sequence < dataset->sequence_count && dataset->sequence_start[sequence] == row) {
            md_text_add(&text, "\n", 1);
            sequence++;
        }
        add_row(&text, dataset, row, values);
        MEDLEY_TRY(md_output_text(output, &text, true, error));
    }
    return MEDLEY_OK;
}

/* A row of tokens as it stood in the file, followed by its prediction and, as CRF++ has them, the
 * numbers of all labels: LABEL/NUMBER. */
static void add_labelled_row(md_text *text, const medley_dataset *dataset, size_t row,
                             const md_predicted *predicted)
{
    const char *prediction = predicted->labels[row];
    const size_t count = predicted->score != NULL ? predicted->names->count : 0;
    const size_t fields = dataset->token_columns + (dataset->label_text != NULL);
    const char *label =
        dataset->label_text ? dataset->label_texts.items[dataset->label_text[row]] : NULL;
    size_t column = 0;
    for (size_t f = 0; f < fields; f++) {
        const bool is_label = label != NULL && f == dataset->label_column;
        const char *field = is_label ? label : medley_dataset_word(dataset, row, column++);
        md_text_add(text, field, strlen(field));
        md_text_add(text, &dataset->separator, 1);
    }
    md_text_add(text, prediction, strlen(prediction));
    for (size_t l = 0; l < count; l++)
        md_text_addf(text, "%c%s/%.6g", dataset->separator, predicted->names->items[l],
                     (double)predicted->score[row * count + l]);
    md_text_add(text, "\n", 1);
}

static medley_status write_labelled(md_output *output, const medley_dataset *dataset,
                                    const md_predicted *predicted, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    const char *const *labels = predicted->labels;
    if (dataset->token_columns == 0) /* a table of numbers */
        return md_write_plain(output, dataset->rows, predicted, error);
    if (predicted->score != NULL)
        MEDLEY_TRY(check_texts(predicted->names, error));
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        for (size_t row = dataset->sequence_start[s]; row < dataset->sequence_start[s + 1]; row++) {
            MEDLEY_TRY(check_text(labels[row], error));
            add_labelled_row(&text, dataset, row, predicted);
        }
        md_text_add(&text, "\n", 1);
        MEDLEY_TRY(md_output_text(output, &text, true, error));
    }
    return MEDLEY_OK;
}

/* The same number of fields, at least two, on the first lines. A line cut off by the end of the
 * head is not looked at unless it is the only one. */
static bool sniff(const char *head, size_t length)
{
    md_lines lines;
    size_t fields = 0;
    size_t seen = 0;
    if (!md_lines_begin_head(&lines, head, length))
        return false;
    while (seen < SNIFFED_LINES && md_lines_next(&lines)) {
        const size_t count = md_split_blanks(lines.start, lines.end, NULL, 0);
        if (count == 0 || (seen > 0 && lines.next > lines.limit))
            continue;
        if (count < 2 || (seen > 0 && count != fields))
            return false;
        fields = count;
        seen++;
    }
    return seen > 0;
}

const md_format md_format_columns = {
    .name = "columns",
    .summary = "columns between blanks: one token and its label per line, a blank line after each "
               "sequence",
    .extensions = (const char *const[]){".conll", ".crf", ".columns", NULL},
    .sniff = sniff,
    .read = read_columns,
    .write = write_columns,
    .write_labelled = write_labelled,
};
