/* SPDX-License-Identifier: BSD-3-Clause */
#include "writable.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };

/* The folder that path stands in; returns its last name, NULL if it is too long to look at. */
static const char *split_path(char folder[PATH_BYTES], const char *path)
{
    if (strlen(path) >= PATH_BYTES)
        return NULL;
    snprintf(folder, PATH_BYTES, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        snprintf(folder, PATH_BYTES, ".");
        return path;
    }
    const char *name = path + (slash - folder) + 1;
    slash[slash == folder] = '\0';
    return name;
}

static bool fail(const char *path, medley_error *error)
{
    error->code = MEDLEY_FAILED;
    snprintf(error->file, sizeof error->file, "%s", path);
    return false;
}

bool cli_can_write(const char *path, const char *what, medley_error *error)
{
    char folder[PATH_BYTES];
    if (split_path(folder, path) == NULL)
        return true; /* saving will tell */
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
    return fail(path, error);
}

bool cli_can_write_in_place(const char *path, const char *what, medley_error *error)
{
    if (access(path, F_OK) != 0 || access(path, W_OK) == 0)
        return true;
    snprintf(error->message, sizeof error->message,
             "cannot write %s: the file is there and may not be written to", what);
    return fail(path, error);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool cli_same_file(const char *a, const char *b)
{
    char folders[2][PATH_BYTES];
    struct stat info[2];
    const bool there[2] = {stat(a, &info[0]) == 0, stat(b, &info[1]) == 0};
    if (there[0] || there[1])
        return there[0] && there[1] && S_ISREG(info[0].st_mode) && is_same(&info[0], &info[1]);
    const char *names[2] = {split_path(folders[0], a), split_path(folders[1], b)};
    return names[0] != NULL && names[1] != NULL && strcmp(names[0], names[1]) == 0 &&
           stat(folders[0], &info[0]) == 0 && stat(folders[1], &info[1]) == 0 &&
           is_same(&info[0], &info[1]);
}
