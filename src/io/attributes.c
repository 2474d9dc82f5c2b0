/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of CRFsuite: how it is recognised and written. Reading is in attributes_read.c. */

#include "io/tokens.h"

enum { SNIFFED_LINES = 50 };

/* ---- recognising ---- */

/* Not every attribute looks like one, but those that do are `something=...`, `name:number` or one
 * of CRFsuite's own. A name of digits only would be svmlight. */
static bool looks_like_attribute(md_field field)
{
    const char *equals = memchr(field.text, '=', field.length);
    const char *colon = memchr(field.text, ':', field.length);
    const char *end = field.text + field.length;
    double ignored;
    size_t number;
    if ((equals != NULL && equals > field.text) || md_field_is(field, "__BOS__") ||
        md_field_is(field, "__EOS__"))
        return true;
    if (colon == NULL || colon == field.text || colon + 1 == end ||
        md_field_number((md_field){field.text, (size_t)(colon - field.text)}, &number))
        return false;
    colon++;
    return md_read_number(&colon, end, &ignored) && colon == end;
}

/* What the first lines look like. */
typedef struct impression {
    size_t items, attributes, likely;
    size_t fewest, most; /* attributes of an item */
} impression;

static bool add_line(impression *seen, const md_lines *lines)
{
    const char *p = memchr(lines->start, '\t', (size_t)(lines->end - lines->start));
    size_t count = 0;
    while (p != NULL) {
        const char *first = p + 1;
        p = memchr(first, '\t', (size_t)(lines->end - first));
        const md_field field = {first, (size_t)((p != NULL ? p : lines->end) - first)};
        if (field.length == 0)
            continue;
        count++;
        seen->likely += looks_like_attribute(field);
    }
    seen->attributes += count;
    seen->fewest = seen->items == 0 || count < seen->fewest ? count : seen->fewest;
    seen->most = count > seen->most ? count : seen->most;
    seen->items++;
    return count > 0;
}

/* Fields between tabs most of which look like attributes. Where all lines have as many of them it
 * could be columns as well: then there must be some and all must look so. A line cut off by the end
 * of the head is not looked at unless it is the only one. */
static bool sniff(const char *head, size_t length)
{
    md_lines lines;
    impression seen = {0};
    if (!md_lines_begin_head(&lines, head, length))
        return false;
    while (seen.items < SNIFFED_LINES && md_lines_next(&lines)) {
        const bool is_cut = seen.items > 0 && lines.next > lines.limit;
        if (lines.start == lines.end || *lines.start == '@' || is_cut)
            continue;
        if (!add_line(&seen, &lines))
            return false;
    }
    if (seen.fewest == seen.most)
        return seen.most >= 3 && seen.likely == seen.attributes;
    return 3 * seen.likely >= 2 * seen.attributes;
}

/* ---- writing ---- */

static medley_status check_label(const char *label, medley_error *error)
{
    if (label[0] != '@' && label[strspn(label, " ")] != '\0' &&
        label[strcspn(label, "\t\r\n")] == '\0')
        return MEDLEY_OK;
    return md_fail(
        error, MEDLEY_BAD_INPUT,
        "the label '%.60s' cannot be written as attributes: labels are not blank, do not "
        "start with @ and have no tabs; use another format",
        label);
}

static medley_status check_names(const md_table *table, medley_error *error)
{
    for (size_t c = 0; c < table->column_names.count; c++) {
        const char *name = table->column_names.items[c];
        if (name[0] == '\0' || name[strcspn(name, "\t\r\n")] != '\0')
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "the column name '%.60s' cannot be written as an attribute: it is empty "
                           "or has tabs in it; use another format",
                           name);
    }
    return MEDLEY_OK;
}

static void add_escaped(md_text *text, const char *name)
{
    for (;;) {
        const size_t plain = strcspn(name, ":\\");
        md_text_add(text, name, plain);
        name += plain;
        if (*name == '\0')
            return;
        md_text_add(text, "\\", 1);
        md_text_add(text, name++, 1);
    }
}

static void add_attribute(md_text *text, const md_table *table, size_t column, float value)
{
    char number[32];
    md_text_add(text, "\t", 1);
    if (column < table->column_names.count)
        add_escaped(text, table->column_names.items[column]);
    else
        md_text_addf(text, "%zu", column + 1);
    if (value == 1)
        return;
    md_text_add(text, ":", 1);
    md_float_text(number, value);
    md_text_add(text, number, strlen(number));
}

/* The numbers of all labels are attributes too: proba=B-NP:0.98. */
static void add_scores(md_text *text, const md_predicted *predicted, size_t row)
{
    const size_t count = predicted->names->count;
    for (size_t l = 0; l < count; l++) {
        md_text_addf(text, "\t%s=", predicted->probabilities ? "proba" : "score");
        add_escaped(text, predicted->names->items[l]);
        md_text_addf(text, ":%.6g", (double)predicted->score[row * count + l]);
    }
}

/* An item without label and attributes has a tab nevertheless, as an empty line ends a sequence. */
static void add_item(md_text *text, const md_table *table, size_t row, const char *label,
                     const md_predicted *predicted)
{
    const md_row entries = md_matrix_row(&table->features, row);
    const size_t length_before = text->length;
    add_escaped(text, label);
    for (size_t e = 0; e < entries.count; e++)
        if (entries.index != NULL || entries.value[e] != 0)
            add_attribute(text, table, md_row_column(entries, e), entries.value[e]);
    if (predicted->score != NULL)
        add_scores(text, predicted, row);
    md_text_add(text, text->length == length_before ? "\t\n" : "\n",
                text->length == length_before ? 2 : 1);
}

/* Without predicted labels: those of the data. Rows that stand alone are sequences of one item. */
static medley_status write_items(md_output *output, const medley_dataset *dataset,
                                 const md_predicted *predicted, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    const char *const *labels = predicted->labels;
    size_t sequence = 0;
    const md_table *table = &dataset->tables[0];
    MEDLEY_TRY(check_names(table, error));
    for (size_t l = 0; predicted->score != NULL && l < predicted->names->count; l++)
        MEDLEY_TRY(check_label(predicted->names->items[l], error));
    for (size_t row = 0; row < dataset->rows; row++) {
        char number[32];
        const char *own = md_dataset_label_text(dataset, row, number);
        const char *label = own != NULL ? own : "";
        if (labels != NULL)
            label = labels[row];
        if (labels != NULL || own != NULL)
            MEDLEY_TRY(check_label(label, error));
        add_item(&text, table, row, label, predicted);
        if (dataset->sequence_count == 0 || dataset->sequence_start[sequence + 1] == row + 1) {
            md_text_add(&text, "\n", 1);
            sequence++;
        }
        MEDLEY_TRY(md_output_text(output, &text, row + 1 == dataset->rows, error));
    }
    return MEDLEY_OK;
}

static medley_status write_attributes(md_output *output, const medley_dataset *dataset,
                                      medley_error *error)
{
    MEDLEY_TRY(md_format_needs_one_table("attributes", dataset, error));
    return write_items(output, dataset, &(md_predicted){0}, error);
}

static medley_status write_labelled(md_output *output, const medley_dataset *dataset,
                                    const md_predicted *predicted, medley_error *error)
{
    return write_items(output, dataset, predicted, error);
}

const md_format md_format_attributes = {
    .name = "attributes",
    .summary = "CRFsuite's: label and attributes between tabs, a blank line after each sequence",
    .extensions = (const char *const[]){".crfsuite", NULL},
    .sniff = sniff,
    .read = md_attributes_read,
    .write = write_attributes,
    .write_labelled = write_labelled,
};
