/* SPDX-License-Identifier: BSD-3-Clause */
/* What reports call models and files. */
#ifndef CLI_REPORT_NAME_H
#define CLI_REPORT_NAME_H

#include <stdio.h>
#include <string.h>

enum { CLI_NAME_BYTES = 256 };

/* The name of a file without its folder and the ending .medley; cut if it is very long. */
static inline const char *cli_report_name(char name[CLI_NAME_BYTES], const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, CLI_NAME_BYTES, "%s", slash != NULL ? slash + 1 : path);
    char *ending = strstr(name, ".medley");
    if (ending != NULL && ending != name && ending[strlen(".medley")] == '\0')
        *ending = '\0';
    return name;
}

#endif
