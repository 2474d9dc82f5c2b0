/* SPDX-License-Identifier: BSD-3-Clause */
/* What the columns of a CSV file are: delimiter, header or not, label, features. Decided by the
 * options where they speak, else by the first two records. */
#include "base/memory.h"
#include "io/csv.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
static bool counts_from(char *const *texts, size_t count, long long base)
{
    for (size_t i = 0; i + 1 < count; i++) {
        long long number;
        if (!md_parse_int(texts[i], &number) || number != base + (long long)i)
            return false;
    }
    return count >= 4;
}

static bool is_numbered_header(char *const *texts, size_t count)
{
    return counts_from(texts, count, 0) || counts_from(texts, count, 1);
}

static bool looks_like_header(char *const *first, size_t count, char *const *second,
                              size_t second_count)
{
    bool all_words = true;
    for (size_t c = 0; c < count; c++) {
        const bool word = !is_number(first[c]) && !is_missing(first[c]);
        if (word && c < second_count && is_number(second[c]))
            return true;
        all_words = all_words && word;
    }
    return all_words || is_numbered_header(first, count);
}

/* Takes the first record as the header, or leaves it as data. */
static medley_status read_header(md_csv_layout *layout, const char *first, const md_input *input,
                                 const medley_read_options *options, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const char *end = input->data + input->length;
    const char *p = first;
    char **texts = NULL;
    char **second = NULL;
    size_t second_count = 0;
    MEDLEY_TRY_DONE(
        md_csv_read_texts(&texts, &layout->columns, &p, layout->delimiter, input, error));
    p = md_csv_skip_empty(p, end);
    layout->body = p;
    if (p < end)
        MEDLEY_TRY_DONE(
            md_csv_read_texts(&second, &second_count, &p, layout->delimiter, input, error));
    const bool header = options->header >= 0
                            ? options->header != 0
                            : looks_like_header(texts, layout->columns, second, second_count);
    if (!header) {
        layout->body = first;
        goto done;
    }
    if (is_numbered_header(texts, layout->columns))
        for (size_t c = 0; c < layout->columns; c++)
            if (is_number(texts[c])) { /* such names would only be taken for column numbers */
                free(texts[c]);
                texts[c] = NULL;
            }
    layout->names = texts;
    texts = NULL;
done:
    md_csv_free_texts(texts, texts != NULL ? layout->columns : 0);
    md_csv_free_texts(second, second_count);
    return status;
}

/* ---- which column is the label? ---- */

static size_t guess_label(const md_csv_layout *layout)
{
    static const char *const usual[] = {"label", "class", "target", "y"};
    for (size_t i = 0; layout->names != NULL && i < sizeof usual / sizeof *usual; i++)
        for (size_t c = 0; c < layout->columns; c++)
            if (layout->names[c] != NULL && strcasecmp(layout->names[c], usual[i]) == 0)
                return c;
    return layout->columns > 1 ? layout->columns - 1 : layout->columns;
}

static size_t count_named(const md_csv_layout *layout, const char *name)
{
    size_t count = 0;
    for (size_t c = 0; layout->names != NULL && c < layout->columns; c++)
        count += layout->names[c] != NULL && strcmp(layout->names[c], name) == 0;
    return count;
}

static medley_status fail_label(const md_csv_layout *layout, const char *label, size_t found,
                                const md_input *input, medley_error *error)
{
    if (found > 1)
        return md_fail_at(error, MEDLEY_USAGE, input->path, 0,
                          "%zu columns are called '%s'; give the number of the label column", found,
                          label);
    md_text list = {0};
    md_columns_list(&list, layout->columns, layout->names);
    const medley_status status = md_fail_at(error, MEDLEY_USAGE, input->path, 0,
                                            "there is no label column '%s'; the columns are %s",
                                            label, list.data != NULL ? list.data : "");
    md_text_clear(&list);
    return status;
}

/* keep marks the columns that options->columns asks for. A file with just the features that a
 * model expects has no label. */
static medley_status choose_label(md_csv_layout *layout, const bool *keep, const md_input *input,
                                  const medley_read_options *options, medley_error *error)
{
    const char *label = options->label;
    size_t kept = 0;
    for (size_t c = 0; c < layout->columns; c++)
        kept += keep[c];
    layout->label = layout->columns;
    if (label != NULL && strcmp(label, "none") == 0)
        return MEDLEY_OK;
    const size_t named = label != NULL ? count_named(layout, label) : 0;
    size_t column;
    if (label == NULL)
        column = guess_label(layout);
    else if (strcmp(label, "last") == 0)
        column = layout->columns - 1;
    else
        column = md_column_find(label, strlen(label), layout->columns, layout->names);
    if (named > 1 || (column == layout->columns && label != NULL && !options->ignore_labels))
        return fail_label(layout, label, named, input, error);
    const bool only_features = options->feature_count > 0 && kept == options->feature_count &&
                               column < layout->columns && keep[column];
    if (only_features && (label == NULL || (options->ignore_labels && named == 0)))
        return MEDLEY_OK;
    layout->label = column;
    return MEDLEY_OK;
}

medley_status md_csv_read_layout(md_csv_layout *layout, const md_input *input,
                                 const medley_read_options *options, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const char *end = input->data + input->length;
    const char *first;
    MEDLEY_TRY_DONE(md_input_text(&first, input, error));
    first = md_csv_skip_empty(first, end);
    layout->delimiter = md_csv_delimiter(first, end);
    layout->body = end;
    if (first == end)
        goto done; /* the caller says that there are no rows */
    MEDLEY_TRY_DONE(read_header(layout, first, input, options, error));
    MEDLEY_TRY_DONE(
        md_new(&layout->is_feature, layout->columns, sizeof *layout->is_feature, error));
    memset(layout->is_feature, true, layout->columns);
    if (options->columns != NULL)
        MEDLEY_TRY_DONE(md_columns_choose(layout->is_feature, layout->columns, layout->names,
                                          options->columns, error));
    MEDLEY_TRY_DONE(choose_label(layout, layout->is_feature, input, options, error));
    if (layout->label < layout->columns)
        layout->is_feature[layout->label] = false;
    for (size_t c = 0; c < layout->columns; c++)
        layout->feature_count += layout->is_feature[c];
    if (layout->feature_count == 0)
        status = md_fail_at(error, MEDLEY_USAGE, input->path, 0,
                            "no column is left for the features; the file has %zu and column %zu "
                            "is the label",
                            layout->columns, layout->label + 1);
done:
    return status;
}

void md_csv_clear_layout(md_csv_layout *layout)
{
    md_csv_free_texts(layout->names, layout->names != NULL ? layout->columns : 0);
    free(layout->is_feature);
    *layout = (md_csv_layout){0};
}
