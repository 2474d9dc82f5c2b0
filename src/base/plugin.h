/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins: shared objects with what the library does not link (MPI, CUDA), looked for when they
 * are needed. */
#ifndef MD_PLUGIN_H
#define MD_PLUGIN_H

#include <stdbool.h>

enum { MD_PLUGIN_REASON = 200 };

/* Loads the plug-in from the folder in MEDLEY_PLUGINS, from beside the library or from where it is
 * installed, the first of these that has the file; NULL: it cannot be loaded, and why is in
 * reason[MD_PLUGIN_REASON], which is "" if the file is nowhere. global: its libraries load parts of
 * their own, which look for their symbols. It stays loaded. */
void *md_plugin_load(const char *file, bool global, char *reason);

#endif
