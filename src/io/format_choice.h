/* SPDX-License-Identifier: BSD-3-Clause */
/* Which format a file is in. */
#ifndef MD_FORMAT_CHOICE_H
#define MD_FORMAT_CHOICE_H

#include "io/io.h"

/* By name; an error that lists the known ones if there is none. */
medley_status md_format_named(const md_format **format, const char *name, medley_error *error);

/* By the extension of path, whatever follows as .gz; NULL if it tells nothing. */
const md_format *md_format_of_path(const char *path);

/* By name (may be NULL), else extension, else content. */
medley_status md_format_of_input(const md_format **format, const md_input *input, const char *name,
                                 medley_error *error);

#endif
