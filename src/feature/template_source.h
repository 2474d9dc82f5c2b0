/* SPDX-License-Identifier: BSD-3-Clause */
/* Where templates come from: a file, or a set that is built in. */
#ifndef MD_TEMPLATE_SOURCE_H
#define MD_TEMPLATE_SOURCE_H

#include "base/pack.h"

typedef struct md_template_set {
    const char *name, *summary, *text;
} md_template_set;

/* The text of the file path_or_name or, if there is none, of the set of that name; with "built-in:"
 * in front only a set is meant. sets: the last one's name is NULL. what: "template file", for
 * messages. *name: path_or_name without that front. The caller clears the text in any case. */
medley_status md_template_source(md_text *text, const char **name, const char *path_or_name,
                                 const md_template_set *sets, const char *what,
                                 medley_error *error);

/* The failure of a model file's bytes that could not be used. what: "feature templates". */
medley_status md_template_damaged(md_unpack *in, const char *what, medley_error *error);

enum { MD_SHOWN_MOST = 40 };

/* A string as far as a message can show it, without control characters. */
const char *md_template_show(char shown[MD_SHOWN_MOST + 1], const char *text, size_t length);

#endif
