/* SPDX-License-Identifier: BSD-3-Clause */
/* Printing JSON: values come in order, so all that must be remembered is whether a comma is due. */
#include "cli.h"

#include <math.h>
#include <string.h>

static bool comma_due; /* a member has been printed since the last opening bracket */

static void print_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(file, "\\%c", *p);
        else if (*p < 0x20)
            fprintf(file, "\\u%04x", *p);
        else
            fputc(*p, file);
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

void json_number(FILE *file, const char *key, double value)
{
    begin(file, key);
    if (!isfinite(value))
        fputs("null", file);
    else
        fprintf(file, "%.9g", value);
}

void json_count(FILE *file, const char *key, size_t value)
{
    begin(file, key);
    fprintf(file, "%zu", value);
}

void json_bool(FILE *file, const char *key, bool value)
{
    begin(file, key);
    fputs(value ? "true" : "false", file);
}
