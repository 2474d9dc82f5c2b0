/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text. */
#ifndef CLI_NUMBER_H
#define CLI_NUMBER_H

enum { CLI_NUMBER_BYTES = 32 };

/* The fewest digits that read back as value. */
const char *cli_number(char text[CLI_NUMBER_BYTES], double value);

#endif
