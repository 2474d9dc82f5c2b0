/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the formats of tagged text: lines, their fields, and the rows of tokens they become. */
#ifndef MD_TOKENS_H
#define MD_TOKENS_H

#include "io/io.h"

/* Walks over the lines of an input, without their line ends. */
typedef struct md_lines {
    const char *next, *limit;
    const char *start, *end; /* the current line */
    size_t number;           /* its 1-based number */
    const char *path;
} md_lines;

medley_status md_lines_begin(md_lines *lines, const md_input *input, medley_error *error);

/* The same for the beginning of a file while its format is guessed; false if it is no text. */
bool md_lines_begin_head(md_lines *lines, const char *head, size_t length);

/* Moves to the next line; false after the last one. */
static inline bool md_lines_next(md_lines *lines)
{
    if (lines->next >= lines->limit)
        return false;
    const char *stop = memchr(lines->next, '\n', (size_t)(lines->limit - lines->next));
    if (stop == NULL)
        stop = lines->limit;
    lines->start = lines->next;
    lines->end = stop;
    while (lines->end > lines->start && lines->end[-1] == '\r')
        lines->end--;
    lines->next = stop + 1;
    lines->number++;
    return true;
}

typedef struct md_field {
    const char *text;
    size_t length;
} md_field;

/* Split a line and return how many fields it has, of which the first `most` are stored. Between
 * blanks there are no empty fields; between tabs there are. */
size_t md_split_blanks(const char *start, const char *end, md_field *fields, size_t most);
size_t md_split_tabs(const char *start, const char *end, md_field *fields, size_t most);

/* A whole number without sign of at most 9 digits; false if the field is anything else. */
bool md_field_number(md_field field, size_t *number);

static inline bool md_field_is(md_field field, const char *text)
{
    return field.length == strlen(text) && memcmp(field.text, text, field.length) == 0;
}

/* An error at the current line: "FOUND 'field', expected EXPECTED". */
medley_status md_lines_fail(const md_lines *lines, const char *found, md_field field,
                            const char *expected, medley_error *error);

/* Opens a sequence at the next row of a dataset. There is room for one start more, the end of the
 * last sequence. */
medley_status md_sequence_begin(medley_dataset *dataset, size_t *capacity, medley_error *error);

/* Appends rows of tokens to a dataset. */
typedef struct md_token_builder {
    medley_dataset *dataset;
    size_t token_capacity, start_capacity;
    bool is_in_sequence;
} md_token_builder;

medley_status md_tokens_begin(md_token_builder *builder, medley_dataset *dataset, size_t columns,
                              medley_error *error);
/* fields[token_columns]; opens a sequence if none is open. */
medley_status md_tokens_add_row(md_token_builder *builder, const md_field *fields,
                                medley_error *error);
void md_tokens_finish(md_token_builder *builder);

/* Columns can be chosen of tables only: an error where they are chosen and dataset has tokens. */
medley_status md_tokens_refuse_choice(const medley_dataset *dataset,
                                      const medley_read_options *options, medley_error *error);

/* The reading half of the CRFsuite format (attributes_read.c). */
medley_status md_attributes_read(medley_dataset *dataset, const md_input *input,
                                 const medley_read_options *options, medley_error *error);

#endif
