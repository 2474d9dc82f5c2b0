/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines, fields and rows of tokens, for the formats of tagged text. */
#include "io/tokens.h"

enum { NUMBER_DIGITS = 9, SHOWN = 60 };

medley_status md_lines_begin(md_lines *lines, const md_input *input, medley_error *error)
{
    *lines = (md_lines){.limit = input->data + input->length, .path = input->path};
    return md_input_text(&lines->next, input, error);
}

bool md_lines_begin_head(md_lines *lines, const char *head, size_t length)
{
    const md_input input = {.path = "", .data = (char *)head, .length = length};
    return md_lines_begin(lines, &input, NULL) == MEDLEY_OK;
}

medley_status md_lines_fail(const md_lines *lines, const char *found, md_field field,
                            const char *expected, medley_error *error)
{
    return md_fail_at(error, MEDLEY_BAD_INPUT, lines->path, lines->number, "%s '%.*s', expected %s",
                      found, (int)(field.length < SHOWN ? field.length : SHOWN), field.text,
                      expected);
}

medley_status md_sequence_begin(medley_dataset *dataset, size_t *capacity, medley_error *error)
{
    MEDLEY_TRY(md_grow(&dataset->sequence_start, capacity, dataset->sequence_count + 2,
                       sizeof *dataset->sequence_start, error));
    dataset->sequence_start[dataset->sequence_count++] = dataset->rows;
    return MEDLEY_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

size_t md_split_blanks(const char *start, const char *end, md_field *fields, size_t most)
{
    size_t count = 0;
    for (const char *p = start;; count++) {
        while (p < end && is_blank(*p))
            p++;
        if (p == end)
            return count;
        const char *first = p;
        while (p < end && !is_blank(*p))
            p++;
        if (count < most)
            fields[count] = (md_field){first, (size_t)(p - first)};
    }
}

size_t md_split_tabs(const char *start, const char *end, md_field *fields, size_t most)
{
    size_t count = 0;
    for (const char *first = start;; count++) {
        const char *tab = memchr(first, '\t', (size_t)(end - first));
        const char *stop = tab != NULL ? tab : end;
        if (count < most)
            fields[count] = (md_field){first, (size_t)(stop - first)};
        if (tab == NULL)
            return count + 1;
        first = tab + 1;
    }
}

bool md_field_number(md_field field, size_t *number)
{
    size_t value = 0;
    if (field.length == 0 || field.length > NUMBER_DIGITS)
        return false;
    for (size_t i = 0; i < field.length; i++) {
        if (field.text[i] < '0' || field.text[i] > '9')
            return false;
        value = value * 10 + (size_t)(field.text[i] - '0');
    }
    *number = value;
    return true;
}

medley_status md_tokens_begin(md_token_builder *builder, medley_dataset *dataset, size_t columns,
                              medley_error *error)
{
    *builder = (md_token_builder){.dataset = dataset};
    MEDLEY_TRY(md_new(&dataset->token_values, columns, sizeof *dataset->token_values, error));
    dataset->token_columns = columns;
    return MEDLEY_OK;
}

medley_status md_tokens_add_row(md_token_builder *builder, const md_field *fields,
                                medley_error *error)
{
    medley_dataset *dataset = builder->dataset;
    const size_t used = dataset->rows * dataset->token_columns;
    MEDLEY_TRY(md_grow(&dataset->token, &builder->token_capacity, used + dataset->token_columns,
                       sizeof *dataset->token, error));
    for (size_t c = 0; c < dataset->token_columns; c++)
        MEDLEY_TRY(md_strings_put(&dataset->token_values[c], fields[c].text, fields[c].length,
                                  &dataset->token[used + c], error));
    if (!builder->is_in_sequence)
        MEDLEY_TRY(md_sequence_begin(dataset, &builder->start_capacity, error));
    builder->is_in_sequence = true;
    dataset->rows++;
    return MEDLEY_OK;
}

void md_tokens_finish(md_token_builder *builder)
{
    medley_dataset *dataset = builder->dataset;
    if (dataset->sequence_count > 0)
        dataset->sequence_start[dataset->sequence_count] = dataset->rows;
}

medley_status md_tokens_refuse_choice(const medley_dataset *dataset,
                                      const medley_read_options *options, medley_error *error)
{
    if (options->columns == NULL || dataset->token_columns == 0)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_USAGE, dataset->source, 0,
                      "the columns '%.60s' were asked for but columns of text are always kept "
                      "whole; leave that out",
                      options->columns);
}
