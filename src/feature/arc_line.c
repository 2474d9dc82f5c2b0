/* SPDX-License-Identifier: BSD-3-Clause */
/* One line of a file of arc templates, its fields from and to text, and columns of CoNLL-U by name.
 * Every field has one spelling only, so that templates can be compared as strings. Braces are
 * expanded as text: one item of each is put in its place, in all combinations, the last brace
 * changing fastest, and what comes out is split at blanks into fields. */
#include "feature/arc_templates.h"

#include <strings.h>

enum { BRACES_MOST = 16 };

/* Its items stand between open and close; their number is that of its commas plus one. */
typedef struct brace {
    const char *open, *close;
    size_t items;
} brace;

typedef struct arc_line {
    md_arc_templates *templates;
    const char *start, *end;
    size_t number;
    brace brace[BRACES_MOST];
    size_t brace_count, expansions;
    medley_error *error;
} arc_line;

/* ---- fields ---- */

static const char *const word_names[] = {"form",  "lower",  "lemma",  "upos", "xpos",
                                         "feats", "prefix", "suffix", NULL};

/* By kind, from MD_ARC_DIR on. */
static const char *const arc_names[] = {"dir",          "dist",      "set.upos",     "crossed",
                                        "between.upos", "bias",      "s.dist",       "g.dist",
                                        "h.feats[]",    "m.feats[]", "both.feats[]", NULL};

/* By kind. */
static const char word_letters[] = "hmsg";

/* Columns of the format that hold the answer or nothing about the word. */
static const char *const tree_names[] = {"head", "deprel", "deps", NULL};

typedef struct field_text {
    char text[MD_SHOWN_MOST + 1]; /* cut where it is longer, without control characters */
    const arc_line *line;
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
        return md_fail_at(field->line->error, MEDLEY_BAD_INPUT, field->line->templates->source,
                          field->line->number,
                          "'%s' is no field: heads and relations are what is to be found; use "
                          "form, lower, lemma, upos, xpos, feats, prefix or suffix",
                          field->text);
    suggest(suggestion, front, name, word_names);
    return md_fail_at(field->line->error, MEDLEY_BAD_INPUT, field->line->templates->source,
                      field->line->number,
                      "unknown field '%s'%s expected one of form, lower, lemma, upos, xpos, feats, "
                      "prefix, suffix behind the point",
                      field->text, suggestion[0] != '\0' ? suggestion : ";");
}

static medley_status fail_field(const field_text *field)
{
    static const char *const near_names[] = {
        "h.form",   "h.lower",  "h.lemma",      "h.upos",  "h.xpos", "h.feats", "h.prefix",
        "h.suffix", "m.form",   "m.lower",      "m.lemma", "m.upos", "m.xpos",  "m.feats",
        "m.prefix", "m.suffix", "s.form",       "s.lemma", "s.upos", "s.xpos",  "g.form",
        "g.lemma",  "g.upos",   "g.xpos",       "s.dist",  "g.dist", "dir",     "dist",
        "set.upos", "crossed",  "between.upos", "bias",    NULL};
    char suggestion[64];
    suggest(suggestion, "", field->text, near_names);
    return md_fail_at(
        field->line->error, MEDLEY_BAD_INPUT, field->line->templates->source, field->line->number,
        "unknown field '%s'%s expected one of the head (h.form, h-1.upos), one of the "
        "modifier (m.form, m+2.upos), of a sibling (s.upos, s.dist) or grandparent (g.upos, "
        "g.dist), dir, dist, set.upos, crossed, between.upos, both.feats[] or bias",
        field->text, suggestion[0] != '\0' ? suggestion : ";");
}

/* From the letter on: sign and digit, a point, a name. */
static medley_status read_word(md_arc_field *field, const field_text *from)
{
    const char *at = from->text;
    *field = (md_arc_field){.kind = (md_arc_kind)(strchr(word_letters, *at++) - word_letters)};
    if (*at == '+' || *at == '-') {
        const int sign = *at++ == '-' ? -1 : 1;
        if (*at < '1' || *at > '0' + MD_ARC_OFFSET_MOST || at[1] != '.')
            return md_fail_at(from->line->error, MEDLEY_BAD_INPUT, from->line->templates->source,
                              from->line->number,
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

static medley_status read_field(md_arc_field *field, const char *text, size_t length,
                                const arc_line *line)
{
    field_text from = {.line = line};
    md_template_show(from.text, text, length);
    const int name = md_text_index(from.text, arc_names);
    if (name < 0 && length > 1 && strchr(word_letters, text[0]) != NULL && text[0] != '\0' &&
        strchr("+-.", text[1]) != NULL)
        return read_word(field, &from);
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
            md_text_addf(text, "%c.%s", word_letters[field->kind], word_names[field->word]);
        else
            md_text_addf(text, "%c%+d.%s", word_letters[field->kind], field->offset,
                         word_names[field->word]);
    }
}

/* ---- lines ---- */

static medley_status fail_line(const arc_line *line, const char *problem)
{
    return md_fail_at(line->error, MEDLEY_BAD_INPUT, line->templates->source, line->number, "%s",
                      problem);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A text without braces. */
static medley_status add_text(const arc_line *line, const char *text, const char *end)
{
    md_arc_field fields[MD_ARC_FIELDS_MOST];
    size_t count = 0;
    while (text < end) {
        if (is_blank(*text)) {
            text++;
            continue;
        }
        const char *from = text;
        while (text < end && !is_blank(*text))
            text++;
        if (count == MD_ARC_FIELDS_MOST)
            return fail_line(line, "the template has more than 16 fields; divide it into several");
        MEDLEY_TRY(read_field(&fields[count], from, (size_t)(text - from), line));
        count++;
    }
    if (count == 0)
        return fail_line(line, "nothing is left where every brace gives its empty item; put bias "
                               "into one of those");
    return md_arc_templates_add(line->templates, fields, count, line->number,
                                line->brace_count == 0, line->error);
}

static medley_status find_braces(arc_line *line)
{
    brace *open = NULL;
    line->expansions = 1;
    for (const char *at = line->start; at < line->end; at++) {
        if (*at == '{') {
            if (open != NULL)
                return fail_line(line, "there is a { inside braces; they cannot be nested");
            if (line->brace_count == BRACES_MOST)
                return fail_line(line, "there are more than 16 braces; divide the line");
            open = &line->brace[line->brace_count++];
            *open = (brace){.open = at, .items = 1};
        } else if (*at == '}') {
            if (open == NULL)
                return fail_line(line, "there is a } without a { before it");
            open->close = at;
            line->expansions *= open->items;
            if (line->expansions > MD_ARC_TEMPLATES_MOST)
                return fail_line(line, "the braces make more than 4096 templates; use fewer");
            open = NULL;
        } else if (*at == ',') {
            if (open == NULL)
                return fail_line(line, "there is a comma outside braces; fields are separated by "
                                       "blanks, and items of braces by commas");
            open->items++;
        }
    }
    return open == NULL ? MEDLEY_OK : fail_line(line, "a { has no } behind it");
}

/* Appends one item of a brace to text. */
static char *put_item(char *text, const brace *from, size_t item)
{
    const char *at = from->open + 1;
    for (; item > 0; at++)
        item -= *at == ',';
    while (at < from->close && *at != ',')
        *text++ = *at++;
    return text;
}

static medley_status add_expansion(const arc_line *line, size_t number)
{
    char text[MD_ARC_LINE_MOST];
    char *to = text;
    const char *at = line->start;
    size_t left = line->expansions;
    for (size_t b = 0; b < line->brace_count; b++) {
        const brace *next = &line->brace[b];
        memcpy(to, at, (size_t)(next->open - at));
        left /= next->items;
        to = put_item(to + (next->open - at), next, number / left);
        number %= left;
        at = next->close + 1;
    }
    memcpy(to, at, (size_t)(line->end - at));
    return add_text(line, text, to + (line->end - at));
}

medley_status md_arc_templates_add_line(md_arc_templates *templates, const char *text,
                                        size_t length, size_t line, medley_error *error)
{
    arc_line made = {.templates = templates, .start = text, .number = line, .error = error};
    const char *comment = memchr(text, '#', length);
    made.end = comment != NULL ? comment : text + length;
    while (made.start < made.end && is_blank(*made.start))
        made.start++;
    while (made.end > made.start && is_blank(made.end[-1]))
        made.end--;
    if (made.start == made.end)
        return MEDLEY_OK;
    if (made.end - made.start > MD_ARC_LINE_MOST)
        return md_fail_at(error, MEDLEY_BAD_INPUT, templates->source, line,
                          "the line has %zu bytes, at most %d are possible; is this a file of arc "
                          "templates?",
                          (size_t)(made.end - made.start), MD_ARC_LINE_MOST);
    MEDLEY_TRY(find_braces(&made));
    for (size_t i = 0; i < made.expansions; i++)
        MEDLEY_TRY(add_expansion(&made, i));
    return MEDLEY_OK;
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
