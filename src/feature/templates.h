/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of md_templates, for this module's files: blocks, the distinct macros they name, and the
 * distinct functions of a text that macros apply at some row. */
#ifndef MD_TEMPLATES_H
#define MD_TEMPLATES_H

#include "feature/feature.h"
#include "feature/pattern.h"

enum {
    MD_MACROS_MOST = 32,     /* of one template */
    MD_LINE_MOST = 4096,     /* bytes of a line */
    MD_ROW_FARTHEST = 1000,  /* offsets and absolute rows */
    MD_COLUMN_LARGEST = 9999 /* beyond it a column number is a slip, not a data set */
};

/* What a macro makes of the text of one column. */
typedef struct md_function {
    char kind; /* 'x', 't' or 'm' */
    bool folds_case;
    size_t column;
    md_pattern *pattern;  /* NULL for x */
    size_t before, after; /* rows that its macros can reach outside a sequence */
    size_t block, place;  /* the macro that names it first, for messages */
} md_function;

typedef struct md_macro {
    size_t function;
    long row; /* relative to the row, or absolute: 1 the first, -1 the last */
    bool is_absolute;
} md_macro;

/* A macro's place in its block's name. */
typedef struct md_span {
    size_t start, end;
} md_span;

typedef struct md_template {
    char *name;
    size_t line;
    bool is_pair;
    size_t macro_count;
    size_t *macro; /* [macro_count] indexes into macros */
    md_span *span; /* [macro_count] in order, where they stand in name */
} md_template;

struct md_templates {
    char *source;
    md_template *blocks;
    md_function *functions;
    md_macro *macros;
    size_t block_count, function_count, macro_count;
    size_t block_capacity, function_capacity, macro_capacity;
    md_strings function_keys, macro_keys; /* numbered as functions and macros are */
};

/* An empty collection, and one line more; blank lines and comments add nothing. Lines that come
 * from other md_templates are taken as they are, so that copies equal their originals. */
medley_status md_templates_new(md_templates **templates, const char *source, medley_error *error);
medley_status md_templates_add_line(md_templates *templates, const char *text, size_t length,
                                    size_t line, medley_error *error);

#endif
