/* SPDX-License-Identifier: BSD-3-Clause */
#include "number.h"

#include <stdio.h>
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
