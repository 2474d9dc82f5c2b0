/* SPDX-License-Identifier: BSD-3-Clause */
#include "feature/arc.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

medley_status md_arc_column(size_t *column, const char *text, medley_error *error)
{
    static const char *const names[MD_ARC_COLUMNS] = {"ID",    "FORM", "LEMMA",  "UPOS", "XPOS",
                                                      "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};
    for (size_t c = 0; c < MD_ARC_COLUMNS; c++) {
        char *end;
        const long number = strtol(text, &end, 10);
        if (strcasecmp(text, names[c]) == 0 ||
            (*text != '\0' && *end == '\0' && number == (long)c + 1)) {
            if (c == 0 || c == 6 || c == 7)
                break; /* a number, or what is to be predicted */
            *column = c;
            return MEDLEY_OK;
        }
    }
    return md_fail(error, MEDLEY_USAGE,
                   "there is no column '%.60s' to take tags from; choose FORM, LEMMA, UPOS, XPOS, "
                   "FEATS, DEPS or MISC, or its number",
                   text);
}
