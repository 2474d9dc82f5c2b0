/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV: how it is recognised and written. Reading is in csv_read.c, csv_layout.c and csv_field.c. */
#include "io/csv.h"

#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

/* ---- recognising ---- */

/* Fields and numbers among them in the record at *p. */
static bool count_fields(size_t *fields, size_t *numbers, const char **p, char delimiter,
                         const md_input *head)
{
    md_text unquoted = {0};
    md_csv_field field;
    *fields = *numbers = 0;
    do {
        if (md_csv_read_field(&field, *p, delimiter, head, &unquoted, NULL) < 0)
            break;
        const char *behind = field.text;
        double ignored;
        *numbers += field.length > 0 &&
                    md_read_number(&behind, field.text + field.length, &ignored) &&
                    behind == field.text + field.length;
        ++*fields;
        *p = field.behind + 1;
    } while (*field.behind == delimiter);
    md_text_clear(&unquoted);
    return *fields > 1 && *field.behind == '\n';
}

/* Two records with equally many fields, some of them numbers. Tables of tagged words separated by
 * tabs have no numbers, or have empty lines between sentences. */
static bool sniff(const char *head, size_t length)
{
    char *copy = md_copy_text(head, length); /* with an end that stops every scan */
    if (copy == NULL)
        return false;
    copy[length] = '\n';
    const md_input input = {"", copy, length};
    const char *end = copy + length;
    const char *p = md_csv_skip_empty(copy, end);
    const char delimiter = md_csv_delimiter(p, end);
    size_t fields[2] = {0};
    size_t numbers[2] = {0};
    bool fits = memchr(copy, '\0', length) == NULL && p < end &&
                count_fields(&fields[0], &numbers[0], &p, delimiter, &input);
    if (fits && p < end && *p == '\n' && delimiter == '\t')
        fits = false;
    if (fits && p < end)
        fits = count_fields(&fields[1], &numbers[1], &p, delimiter, &input) &&
               fields[0] == fields[1] && numbers[1] > 0;
    else
        fits = fits && numbers[0] > 0;
    free(copy);
    return fits;
}

/* ---- writing ---- */

static void add_text(md_text *to, const char *text)
{
    const bool plain = text[0] != '\0' && text[0] != ' ' && strpbrk(text, ",;\t\"\r\n") == NULL &&
                       text[strlen(text) - 1] != ' ';
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
    medley_status status = MEDLEY_OK;
    md_text text = {0};
    float *values = NULL;
    MEDLEY_TRY_DONE(md_format_needs_one_table("csv", dataset, error));
    if (dataset->sequence_count > 0) {
        status = md_fail(error, MEDLEY_USAGE,
                         "a csv file does not keep the sequences these data have; use svmlight");
        goto done;
    }
    MEDLEY_TRY_DONE(md_new(&values, medley_dataset_columns(dataset), sizeof *values, error));
    add_header(&text, dataset);
    for (size_t row = 0; row < dataset->rows; row++) {
        medley_dataset_row(values, dataset, row);
        add_row(&text, dataset, values, row);
        MEDLEY_TRY_DONE(md_output_text(output, &text, row + 1 == dataset->rows, error));
    }
done:
    md_text_clear(&text);
    free(values);
    return status;
}

static const char *const extensions[] = {".csv", ".tsv", NULL};

const md_format md_format_csv = {
    .name = "csv",
    .summary = "columns separated by commas, semicolons or tabs, with or without a header",
    .extensions = extensions,
    .sniff = sniff,
    .read = md_csv_read,
    .write = write_csv,
    .chooses_columns = true,
};
