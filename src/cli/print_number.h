/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text. */
#ifndef CLI_NUMBER_H
#define CLI_NUMBER_H

#include <stdio.h>

enum { CLI_NUMBER_BYTES = 32 };

/* The fewest digits that read back as value. */
const char *cli_number(char text[CLI_NUMBER_BYTES], double value);

/* In CSV: a number behind `before` (a comma, or nothing), empty if it is NaN; a text in quotes. */
void cli_csv_number(FILE *file, const char *before, double value);
void cli_csv_quoted(FILE *file, const char *text);

#endif
