/* SPDX-License-Identifier: BSD-3-Clause */
/* What reports call models and files. */
#ifndef CLI_REPORT_NAME_H
#define CLI_REPORT_NAME_H

#include <stdio.h>
#include <string.h>

enum { CLI_NAME_BYTES = 256 };

/* The name of a file without its folder and the ending .medley; a very long one is cut between two
 * characters. */
static inline const char *cli_report_name(char name[CLI_NAME_BYTES], const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *text = slash != NULL ? slash + 1 : path;
    size_t length = strlen(text);
    if (length >= CLI_NAME_BYTES)
        for (length = CLI_NAME_BYTES - 1;
             length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80;)
            length--;
    snprintf(name, CLI_NAME_BYTES, "%.*s", (int)length, text);
    char *ending = strstr(name, ".medley");
    if (ending != NULL && ending != name && ending[strlen(".medley")] == '\0')
        *ending = '\0';
    return name;
}

#endif
