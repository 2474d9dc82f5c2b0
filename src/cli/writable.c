/* SPDX-License-Identifier: BSD-3-Clause */
#include "writable.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_can_write(const char *path, const char *what, medley_error *error)
{
    char folder[512];
    if (strlen(path) >= sizeof folder)
        return true; /* too long to look at here: saving will tell */
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        snprintf(folder, sizeof folder, ".");
    else
        slash[slash == folder] = '\0';
    struct stat info;
    const bool exists = stat(path, &info) == 0;
    const bool special = exists && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
    const bool folder_fine = access(folder, W_OK | X_OK) == 0;
    if (special || (folder_fine && !(exists && S_ISDIR(info.st_mode))))
        return true;
    if (folder_fine)
        snprintf(error->message, sizeof error->message,
                 "cannot write %s: it is a directory; name a file", what);
    else
        snprintf(error->message, sizeof error->message,
                 "cannot write %s: the folder '%s' does not exist or may not be written to", what,
                 folder);
    error->code = MEDLEY_FAILED;
    snprintf(error->file, sizeof error->file, "%s", path);
    return false;
}
