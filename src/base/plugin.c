/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/plugin.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* dlopen of folder/file. */
static void *load(const char *folder, const char *file, int mode)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path)
        return NULL;
    return dlopen(path, mode);
}

/* Beside the file that this function is in, which is the shared library or a program; between: a
 * folder from there. */
static void *load_beside(const char *file, const char *between, int mode)
{
    static const char here = 0;
    char path[PATH_MAX];
    char folder[PATH_MAX];
    Dl_info info;
    if (dladdr(&here, &info) == 0 || info.dli_fname == NULL)
        return NULL;
    const char *own = realpath(info.dli_fname, path) != NULL ? path : "/proc/self/exe";
    if (own != path && realpath(own, path) == NULL)
        return NULL;
    if (snprintf(folder, sizeof folder, "%s%s", dirname(path), between) >= (int)sizeof folder)
        return NULL;
    return load(folder, file, mode);
}

void *md_plugin_load(const char *file, bool global)
{
    /* a build folder or Python's package; where the library is installed; where the command is */
    static const char *const places[] = {"", "/medley", "/" MEDLEY_PLUGINS_FROM_BIN, NULL};
    const int mode = RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL);
    const char *folder = getenv("MEDLEY_PLUGINS");
    void *plugin = folder != NULL ? load(folder, file, mode) : NULL;
    for (size_t i = 0; plugin == NULL && places[i] != NULL; i++)
        plugin = load_beside(file, places[i], mode);
    if (plugin == NULL) /* a program with the static library, which can be anywhere */
        plugin = load(MEDLEY_PLUGINS_INSTALLED, file, mode);
    return plugin;
}
