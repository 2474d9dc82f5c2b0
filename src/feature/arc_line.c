/* SPDX-License-Identifier: BSD-3-Clause */
/* One line of a file of arc templates. Braces are expanded as text: one item of each is put in its
 * place, in all combinations, the last brace changing fastest, and what comes out is split at
 * blanks into fields. */
#include "feature/arc_templates.h"

#include <string.h>

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
    const md_arc_place place = {line->templates->source, line->number};
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
        MEDLEY_TRY(
            md_arc_field_read(&fields[count], from, (size_t)(text - from), place, line->error));
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
