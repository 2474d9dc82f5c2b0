/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of md_arc_templates, for this module's files: templates, and the distinct sides they are
 * made of. A side is the part of a template that belongs to one end of the arc; templates share
 * them, so what a side sees at each word is worked out once however many templates ask. */
#ifndef MD_ARC_TEMPLATES_H
#define MD_ARC_TEMPLATES_H

#include "feature/arc.h"

enum {
    MD_ARC_TEMPLATES_MOST = 4096,
    MD_ARC_LINE_MOST = 4096, /* bytes */
    MD_ARC_FIELDS_MOST = 16, /* of one template */
    MD_ARC_OFFSET_MOST = 3   /* words from an end of the arc */
};

/* What a field can see of a word. */
typedef enum md_arc_word {
    MD_ARC_WORD_FORM,
    MD_ARC_WORD_LOWER,
    MD_ARC_WORD_LEMMA,
    MD_ARC_WORD_UPOS,
    MD_ARC_WORD_XPOS,
    MD_ARC_WORD_FEATS,
    MD_ARC_WORD_PREFIX,
    MD_ARC_WORD_SUFFIX,
    MD_ARC_WORDS
} md_arc_word;

/* The order is that of fields in a key: ends of the arc first. */
typedef enum md_arc_kind {
    MD_ARC_HEAD,
    MD_ARC_MODIFIER,
    MD_ARC_SIBLING,
    MD_ARC_GRAND,
    MD_ARC_DIR,
    MD_ARC_DIST,
    MD_ARC_SET,
    MD_ARC_CROSSED,
    MD_ARC_BETWEEN,
    MD_ARC_BIAS,
    MD_ARC_SIBLING_DIST,
    MD_ARC_GRAND_DIST,
    MD_ARC_HEAD_EACH,
    MD_ARC_MODIFIER_EACH,
    MD_ARC_BOTH_EACH,
    MD_ARC_KINDS
} md_arc_kind;

typedef struct md_arc_field {
    md_arc_kind kind;
    int offset; /* of words, else 0 */
    md_arc_word word;
} md_arc_field;

/* Appends fields with one blank between them: each has one spelling only. */
void md_arc_fields_write(md_text *text, const md_arc_field *fields, size_t count);

typedef struct md_arc_side {
    size_t count;
    md_arc_field field[MD_ARC_FIELDS_MOST]; /* in order of offset and word */
} md_arc_side;

typedef struct md_arc_template {
    char *name;
    size_t line;
    bool is_plain;         /* its line has no braces */
    md_arc_parts parts;    /* what it is a template of */
    size_t head, modifier; /* sides */
    size_t third;          /* of a sibling or grandparent */
    md_arc_bag bag;
    bool has[MD_ARC_KINDS]; /* fields of that kind; of DIR and DIST only one */
} md_arc_template;

struct md_arc_templates {
    char *source;
    md_arc_template *items;
    md_arc_side *sides;
    size_t count, capacity, side_count, side_capacity;
    md_strings keys;      /* numbered as items: the fields that matter, in one order */
    md_strings side_keys; /* numbered as sides; "" is the side without fields */
};

/* One template more and one line more (blank lines and comments add nothing). A template that was
 * there before is not added; where that and this are plain, it is an error. */
medley_status md_arc_templates_add(md_arc_templates *templates, const md_arc_field *fields,
                                   size_t count, size_t line, bool is_plain, medley_error *error);
medley_status md_arc_templates_add_line(md_arc_templates *templates, const char *text,
                                        size_t length, size_t line, medley_error *error);

#endif
