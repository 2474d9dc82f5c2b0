/* SPDX-License-Identifier: BSD-3-Clause */
#include "print_number.h"

#include <math.h>
#include <stdlib.h>

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

void cli_csv_number(FILE *file, const char *before, double value)
{
    char text[CLI_NUMBER_BYTES];
    fprintf(file, "%s%s", before, isnan(value) ? "" : cli_number(text, value));
}

void cli_csv_quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text != '\0'; text++)
        fprintf(file, *text == '"' ? "\"%c" : "%c", *text);
    fputc('"', file);
}
