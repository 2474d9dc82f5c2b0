/* SPDX-License-Identifier: BSD-3-Clause */
/* Values in files. JSON: values come in order, so all that must be remembered is whether a comma is
 * due. */
#include "cli.h"

/* Seventeen digits tell all doubles apart; up to fifteen come back as they were written, and zeros
 * at the end are not printed. */
const char *cli_number(char text[CLI_NUMBER_BYTES], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, CLI_NUMBER_BYTES, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

/* ---- CSV ---- */

void csv_numbers(FILE *file, const double *values, size_t count)
{
    char text[CLI_NUMBER_BYTES];
    for (size_t i = 0; i < count; i++)
        fprintf(file, ",%s", isnan(values[i]) ? "" : cli_number(text, values[i]));
}

void csv_quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text != '\0'; text++)
        fprintf(file, *text == '"' ? "\"%c" : "%c", *text);
    fputc('"', file);
}

/* ---- JSON ---- */

static bool comma_due; /* a member has been printed since the last opening bracket */

/* Bytes of the UTF-8 character at p; 0 if there is none. Overlong forms, surrogates and what lies
 * beyond U+10FFFF are none. */
static size_t character_length(const unsigned char *p)
{
    const size_t length = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (p[0] > 0xF4 || (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
        (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

/* Bytes that are no UTF-8 (labels of files in other encodings) become U+FFFD. */
static void print_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        const size_t length = character_length(p);
        if (length == 0)
            fputs("\\ufffd", file);
        else if (*p == '"' || *p == '\\')
            fprintf(file, "\\%c", *p);
        else if (*p < 0x20)
            fprintf(file, "\\u%04x", *p);
        else
            fwrite(p, 1, length, file);
        p += length > 0 ? length : 1;
    }
    fputc('"', file);
}

static void begin(FILE *file, const char *key)
{
    if (comma_due)
        fputc(',', file);
    comma_due = true;
    if (key != NULL) {
        print_text(file, key);
        fputc(':', file);
    }
}

void json_open(FILE *file, const char *key, char bracket)
{
    begin(file, key);
    fputc(bracket, file);
    comma_due = false;
}

void json_close(FILE *file, char bracket)
{
    fputc(bracket, file);
    comma_due = true;
}

void json_string(FILE *file, const char *key, const char *value)
{
    begin(file, key);
    if (value == NULL)
        fputs("null", file);
    else
        print_text(file, value);
}

/* Objectives and their bounds come back as they were; nine digits are enough for what is a float,
 * as scores are. */
void json_number(FILE *file, const char *key, double value)
{
    char text[CLI_NUMBER_BYTES];
    begin(file, key);
    if (!isfinite(value))
        fputs("null", file);
    else if ((double)(float)value == value)
        fprintf(file, "%.9g", value);
    else
        fputs(cli_number(text, value), file);
}

void json_count(FILE *file, const char *key, size_t value)
{
    begin(file, key);
    fprintf(file, "%zu", value);
}

void json_numbers(FILE *file, const char *key, const double *values, size_t count)
{
    json_open(file, key, '[');
    for (size_t i = 0; i < count; i++)
        json_number(file, NULL, values[i]);
    json_close(file, ']');
}

void json_strings(FILE *file, const char *key, const char *const *values, size_t count)
{
    json_open(file, key, '[');
    for (size_t i = 0; i < count; i++)
        json_string(file, NULL, values[i]);
    json_close(file, ']');
}

void json_end(FILE *file)
{
    json_close(file, '}');
    fputc('\n', file);
    comma_due = false; /* another object may follow */
}

void json_bool(FILE *file, const char *key, bool value)
{
    begin(file, key);
    fputs(value ? "true" : "false", file);
}
