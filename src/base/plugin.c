/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/plugin.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Is there such a file? */
static bool find_in(char path[PATH_MAX], const char *folder, const char *file)
{
    return snprintf(path, PATH_MAX, "%s/%s", folder, file) < PATH_MAX && access(path, F_OK) == 0;
}

/* Beside the file that this function is in, which is the shared library or a program; between: a
 * folder from there. */
static bool find_beside(char path[PATH_MAX], const char *between, const char *file)
{
    static const char here = 0;
    char own[PATH_MAX];
    char folder[PATH_MAX];
    Dl_info info;
    if (dladdr(&here, &info) == 0 || info.dli_fname == NULL)
        return false;
    if (realpath(info.dli_fname, own) == NULL && realpath("/proc/self/exe", own) == NULL)
        return false;
    return snprintf(folder, sizeof folder, "%s%s", dirname(own), between) < (int)sizeof folder &&
           find_in(path, folder, file);
}

static bool find(char path[PATH_MAX], const char *file)
{
    /* a build folder or Python's package; where the library is installed; where the command is */
    static const char *const places[] = {"", "/medley", "/" MEDLEY_PLUGINS_FROM_BIN, NULL};
    const char *folder = getenv("MEDLEY_PLUGINS");
    if (folder != NULL && find_in(path, folder, file))
        return true;
    for (size_t i = 0; places[i] != NULL; i++)
        if (find_beside(path, places[i], file))
            return true;
    /* a program with the static library, which can be anywhere */
    return find_in(path, MEDLEY_PLUGINS_INSTALLED, file);
}

void *md_plugin_load(const char *file, bool global, char *reason)
{
    char path[PATH_MAX];
    reason[0] = '\0';
    if (!find(path, file))
        return NULL;
    void *plugin = dlopen(path, RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (plugin == NULL)
        snprintf(reason, MD_PLUGIN_REASON, "%s", dlerror());
    return plugin;
}
