/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of formats, built from formats.def. */
#include "io/io.h"

#include <string.h>

#define MD_FORMAT(name) extern const md_format md_format_##name;
#include "io/formats.def"
#undef MD_FORMAT

const md_format *const md_formats[] = {
#define MD_FORMAT(name) &md_format_##name,
#include "io/formats.def"
#undef MD_FORMAT
    NULL,
};

const md_format *md_format_find(const char *name)
{
    for (size_t i = 0; md_formats[i] != NULL; i++)
        if (strcmp(md_formats[i]->name, name) == 0)
            return md_formats[i];
    return NULL;
}
