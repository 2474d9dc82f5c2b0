/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of CSV (RFC 4180): quotes, doubled quotes, delimiters and line ends in quotes; blanks
 * around fields do not count. Records are copies of the fields of a line. */
#include "io/csv.h"

#include <ctype.h>

static const char DELIMITERS[] = ",;\t";

static bool is_blank(char c, char delimiter)
{
    return c == ' ' || c == '\r' || (c == '\t' && delimiter != '\t');
}

/* open points at the opening quote. */
static medley_status read_quoted(md_csv_field *field, const char *open, const md_input *input,
                                 md_text *unquoted, medley_error *error)
{
    const char *end = input->data + input->length;
    const char *part = open + 1;
    unquoted->length = 0;
    for (;;) {
        const char *quote = memchr(part, '"', (size_t)(end - part));
        if (quote == NULL)
            return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, md_input_line(input, open),
                              "a quote is opened here and not closed; close it, or double a quote "
                              "that is part of a field");
        const bool doubled = quote[1] == '"';
        field->end = quote + 1;
        if (!doubled && part == open + 1) { /* the common case needs no copy */
            field->text = part;
            field->length = (size_t)(quote - part);
            return MEDLEY_OK;
        }
        md_text_add(unquoted, part, (size_t)(quote - part) + doubled);
        MEDLEY_TRY(md_text_check(unquoted, error));
        if (!doubled)
            break;
        part = quote + 2;
    }
    field->text = unquoted->data;
    field->length = unquoted->length;
    return MEDLEY_OK;
}

medley_status md_csv_read_field(md_csv_field *field, const char *p, char delimiter,
                                const md_input *input, md_text *unquoted, medley_error *error)
{
    while (is_blank(*p, delimiter))
        p++;
    if (*p == '"') {
        MEDLEY_TRY(read_quoted(field, p, input, unquoted, error));
        while (is_blank(*field->end, delimiter))
            field->end++;
        if (*field->end == delimiter || *field->end == '\n')
            return MEDLEY_OK;
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, md_input_line(input, field->end),
                          "'%c' follows a closing quote, expected a delimiter or the end of the "
                          "line; double a quote that is part of a field",
                          *field->end);
    }
    const char *end = p;
    while (*end != delimiter && *end != '\n')
        end++;
    field->end = end;
    while (end > p && is_blank(end[-1], delimiter))
        end--;
    field->text = p;
    field->length = (size_t)(end - p);
    return MEDLEY_OK;
}

/* Are all commas of a line decimal ones, as in "1,5;2,25;a"? Then each stands between digits, at
 * most one in a field. */
static bool has_decimal_commas(const char *text, const char *end)
{
    size_t commas = 0;
    size_t fields = 1;
    bool taken = false; /* a comma in this field */
    for (const char *p = text; p < end && *p != '\n'; p++) {
        if (*p == '"')
            return false;
        if (*p == ';') {
            fields++;
            taken = false;
        }
        if (*p != ',')
            continue;
        if (taken || p == text || p + 1 == end || !isdigit((unsigned char)p[-1]) ||
            !isdigit((unsigned char)p[1]))
            return false;
        taken = true;
        commas++;
    }
    return commas > 1 && fields > 1;
}

char md_csv_delimiter(const char *text, const char *end)
{
    size_t counts[sizeof DELIMITERS] = {0};
    bool quoted = false;
    if (has_decimal_commas(text, end))
        return ';';
    for (; text < end && (quoted || *text != '\n'); text++) {
        if (*text == '"')
            quoted = !quoted;
        for (size_t i = 0; !quoted && DELIMITERS[i] != '\0'; i++)
            counts[i] += *text == DELIMITERS[i];
    }
    size_t best = 0;
    for (size_t i = 1; DELIMITERS[i] != '\0'; i++)
        if (counts[i] > counts[best])
            best = i;
    return DELIMITERS[best];
}

const char *md_csv_skip_empty(const char *p, const char *end)
{
    for (const char *q = p; q < end; q++) {
        if (*q == '\n')
            p = q + 1;
        else if (*q != ' ' && *q != '\r')
            return p;
    }
    return end;
}

medley_status md_csv_read_record(md_csv_record *record, const char **p, char delimiter,
                                 const md_input *input, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text unquoted = {0};
    md_csv_field field;
    do {
        MEDLEY_TRY(md_csv_read_field(&field, *p, delimiter, input, &unquoted, error));
        MEDLEY_TRY(md_grow(&record->items, &record->capacity, record->count + 1,
                           sizeof *record->items, error));
        MEDLEY_TRY(md_new_text(&record->items[record->count], field.text, field.length, error));
        record->count++;
        *p = field.end + 1;
    } while (*field.end == delimiter);
    return MEDLEY_OK;
}

void md_csv_clear_record(md_csv_record *record)
{
    for (size_t i = 0; i < record->count; i++)
        free(record->items[i]);
    free(record->items);
    *record = (md_csv_record){0};
}
