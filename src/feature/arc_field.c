/* SPDX-License-Identifier: BSD-3-Clause */
/* One field of an arc template, from and to text, and columns of CoNLL-U by name. Every field has
 * one spelling only, so that templates can be compared as strings. */
#include "feature/arc_templates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const word_names[] = {"form",  "lower",  "lemma",  "upos", "xpos",
                                         "feats", "prefix", "suffix", NULL};

/* By kind, from MD_ARC_DIR on. */
static const char *const arc_names[] = {"dir",          "dist", "set.upos", "crossed",
                                        "between.upos", "bias", NULL};

/* Columns of the format that hold the answer or nothing about the word. */
static const char *const tree_names[] = {"head", "deprel", "deps", NULL};

typedef struct field_text {
    char text[MD_SHOWN_MOST + 1]; /* cut where it is longer, without control characters */
    md_arc_place place;
    medley_error *error;
} field_text;

/* "; did you mean 'h-1.form'?" or nothing. */
static void suggest(char text[64], const char *front, const char *name, const char *const *names)
{
    const char *nearest = md_text_nearest(name, names);
    text[0] = '\0';
    if (nearest != NULL)
        snprintf(text, 64, "; did you mean '%s%s'?", front, nearest);
}

static medley_status fail_word(const field_text *field, const char *name)
{
    char front[8], suggestion[64];
    snprintf(front, sizeof front, "%.*s", (int)(name - field->text), field->text);
    if (md_text_index(name, tree_names) >= 0)
        return md_fail_at(field->error, MEDLEY_BAD_INPUT, field->place.source, field->place.line,
                          "'%s' is no field: heads and relations are what is to be found; use "
                          "form, lower, lemma, upos, xpos, feats, prefix or suffix",
                          field->text);
    suggest(suggestion, front, name, word_names);
    return md_fail_at(field->error, MEDLEY_BAD_INPUT, field->place.source, field->place.line,
                      "unknown field '%s'%s expected one of form, lower, lemma, upos, xpos, feats, "
                      "prefix, suffix behind the point",
                      field->text, suggestion[0] != '\0' ? suggestion : ";");
}

static medley_status fail_field(const field_text *field)
{
    static const char *const near_names[] = {
        "h.form",   "h.lower",  "h.lemma",      "h.upos",   "h.xpos",  "h.feats",
        "h.prefix", "h.suffix", "m.form",       "m.lower",  "m.lemma", "m.upos",
        "m.xpos",   "m.feats",  "m.prefix",     "m.suffix", "dir",     "dist",
        "set.upos", "crossed",  "between.upos", "bias",     NULL};
    char suggestion[64];
    suggest(suggestion, "", field->text, near_names);
    return md_fail_at(
        field->error, MEDLEY_BAD_INPUT, field->place.source, field->place.line,
        "unknown field '%s'%s expected one of the head (h.form, h-1.upos), one of the "
        "modifier (m.form, m+2.upos), dir, dist, set.upos, crossed, between.upos or "
        "bias",
        field->text, suggestion[0] != '\0' ? suggestion : ";");
}

/* From the letter h or m on: sign and digit, a point, a name. */
static medley_status read_word(md_arc_field *field, const field_text *from)
{
    const char *at = from->text;
    *field = (md_arc_field){.kind = *at++ == 'h' ? MD_ARC_HEAD : MD_ARC_MODIFIER};
    if (*at == '+' || *at == '-') {
        const int sign = *at++ == '-' ? -1 : 1;
        if (*at < '1' || *at > '0' + MD_ARC_OFFSET_MOST || at[1] != '.')
            return md_fail_at(from->error, MEDLEY_BAD_INPUT, from->place.source, from->place.line,
                              "in '%s': expected 1, 2 or 3 and a point behind the sign; the word "
                              "itself is h.form, not h+0.form",
                              from->text);
        field->offset = sign * (*at++ - '0');
    }
    const char *name = at + 1; /* after the point */
    const int word = md_text_index(name, word_names);
    if (word < 0)
        return fail_word(from, name);
    field->word = (md_arc_word)word;
    return MEDLEY_OK;
}

medley_status md_arc_field_read(md_arc_field *field, const char *text, size_t length,
                                md_arc_place place, medley_error *error)
{
    field_text from = {.place = place, .error = error};
    md_template_show(from.text, text, length);
    if ((text[0] == 'h' || text[0] == 'm') && length > 1 && strchr("+-.", text[1]) != NULL)
        return read_word(field, &from);
    const int name = md_text_index(from.text, arc_names);
    if (name < 0)
        return fail_field(&from);
    *field = (md_arc_field){.kind = (md_arc_kind)(MD_ARC_DIR + name)};
    return MEDLEY_OK;
}

void md_arc_fields_write(md_text *text, const md_arc_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const md_arc_field *field = &fields[i];
        md_text_add(text, " ", i > 0);
        if (field->kind >= MD_ARC_DIR)
            md_text_addf(text, "%s", arc_names[field->kind - MD_ARC_DIR]);
        else if (field->offset == 0)
            md_text_addf(text, "%c.%s", field->kind == MD_ARC_HEAD ? 'h' : 'm',
                         word_names[field->word]);
        else
            md_text_addf(text, "%c%+d.%s", field->kind == MD_ARC_HEAD ? 'h' : 'm', field->offset,
                         word_names[field->word]);
    }
}

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
