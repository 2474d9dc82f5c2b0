/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading `name(key=value,...)@view` and expanding lists and ranges in it. */
#include "param/param.h"

#include <ctype.h>

enum { MAX_EXPANSION = 1000000, MAX_EXPANDED_MB = 32, MAX_DEPTH = 100 };

void md_texts_free(char **texts)
{
    if (texts == NULL)
        return;
    for (size_t i = 0; texts[i] != NULL; i++)
        free(texts[i]);
    free(texts);
}

size_t md_texts_count(char *const *texts)
{
    size_t count = 0;
    while (texts != NULL && texts[count] != NULL)
        count++;
    return count;
}

/* Appends a copy of the first length characters of text to a list of known length. Its room grows
 * with the powers of two, so it is known without storing it; what is not used yet is NULL. */
static medley_status append(char ***texts, size_t count, const char *text, size_t length,
                            medley_error *error)
{
    const bool full = count == 0 || ((count + 1) & count) == 0; /* count + 1 a power of two */
    if (full) {
        const size_t room = 2 * (count + 1);
        char **moved = realloc(*texts, room * sizeof *moved);
        if (moved == NULL)
            return md_fail_memory(error, room * sizeof *moved);
        for (size_t i = count; i < room; i++)
            moved[i] = NULL;
        *texts = moved;
    }
    return md_new_text(&(*texts)[count], text, length, error);
}

/* The length of a list made by append in few steps: there is room for twice as many strings as the
 * largest power of two that it holds, and what is not used is NULL. */
static size_t list_length(char *const *texts)
{
    if (texts == NULL || texts[0] == NULL)
        return 0;
    size_t low = 1; /* a lower bound */
    while (texts[2 * low - 1] != NULL)
        low *= 2;
    for (size_t step = low / 2; step > 0; step /= 2)
        if (texts[low + step - 1] != NULL)
            low += step;
    return low;
}

medley_status md_texts_add(char ***texts, const char *text, medley_error *error)
{
    return append(texts, list_length(*texts), text, strlen(text), error);
}

void md_spec_clear(md_spec *spec)
{
    free(spec->name);
    free(spec->view);
    md_texts_free(spec->keys);
    md_texts_free(spec->values);
    *spec = (md_spec){0};
}

static const char *skip_space(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* Moves both ends inwards over blanks and returns the length of what is left. */
static size_t trim(const char **start, const char *end)
{
    while (*start < end && isspace((unsigned char)**start))
        ++*start;
    while (end > *start && isspace((unsigned char)end[-1]))
        end--;
    return (size_t)(end - *start);
}

/* One `key=value` or `key` between start and end. */
static medley_status add_pair(md_spec *spec, const char *start, const char *end, const char *whole,
                              medley_error *error)
{
    const char *equals = memchr(start, '=', (size_t)(end - start));
    const char *key = start;
    const char *value = equals ? equals + 1 : end;
    const size_t key_length = trim(&key, equals ? equals : end);
    const size_t value_length = trim(&value, end);
    if (key_length == 0 || (equals != NULL && value_length == 0))
        return md_fail(error, MEDLEY_USAGE,
                       "'%s': an option is empty; write name(key=value,key=value)", whole);
    for (size_t i = 0; i < spec->count; i++)
        if (strlen(spec->keys[i]) == key_length && memcmp(spec->keys[i], key, key_length) == 0)
            return md_fail(error, MEDLEY_USAGE, "'%s': '%s' is given twice", whole, spec->keys[i]);
    MEDLEY_TRY(append(&spec->keys, spec->count, key, key_length, error));
    MEDLEY_TRY(append(&spec->values, spec->count, value, value_length, error));
    spec->count++;
    return MEDLEY_OK;
}

static medley_status add_pairs(md_spec *spec, const char *start, const char *close,
                               const char *whole, medley_error *error)
{
    const char *comma = start < close ? start - 1 : NULL; /* `name()` has no options */
    while (comma != NULL) {
        const char *p = comma + 1;
        comma = memchr(p, ',', (size_t)(close - p));
        MEDLEY_TRY(add_pair(spec, p, comma ? comma : close, whole, error));
    }
    return MEDLEY_OK;
}

medley_status md_spec_parse(md_spec *spec, const char *text, medley_error *error)
{
    MD_CLEARED(md_spec_clear) md_spec made = {0};
    const char *start = skip_space(text);
    const char *p = start;
    *spec = (md_spec){0};
    while (isalnum((unsigned char)*p) || *p == '-' || *p == '_')
        p++;
    if (p == start)
        return md_fail(error, MEDLEY_USAGE, "'%s' does not start with a name", text);
    MEDLEY_TRY(md_new_text(&made.name, start, (size_t)(p - start), error));
    p = skip_space(p);
    if (*p == '(') {
        const char *close = strchr(p, ')');
        if (close == NULL)
            return md_fail(error, MEDLEY_USAGE, "'%s': the '(' is never closed", text);
        MEDLEY_TRY(add_pairs(&made, skip_space(p + 1), close, text, error));
        p = skip_space(close + 1);
    }
    if (*p == '@') {
        const char *view = p + 1;
        const size_t length = trim(&view, view + strlen(view));
        if (length == 0)
            return md_fail(error, MEDLEY_USAGE, "'%s': a view's name must follow the '@'", text);
        MEDLEY_TRY(md_new_text(&made.view, view, length, error));
        p += strlen(p);
    }
    if (*p != '\0')
        return md_fail(
            error, MEDLEY_USAGE,
            "'%s': '%s' was not expected; write name(key=value,...)@view, one per option", text, p);
    *spec = md_take(&made);
    return MEDLEY_OK;
}

/* ---- expansion ---- */

/* The first thing to expand in text: a brace list, or a range a..b. start NULL: nothing. */
struct choice {
    const char *start, *end; /* the part of text that is replaced */
    bool is_list;
    long long low, high; /* a range */
};

/* What has been expanded so far. */
struct expansion {
    char ***texts;
    size_t count, bytes, depth;
    medley_error *error;
};

static bool is_number_char(char c)
{
    return isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.';
}

/* A range around the ".." at dots, within the number characters on both sides. */
static medley_status find_range(struct choice *choice, const char *text, const char *dots,
                                medley_error *error)
{
    const char *start = dots;
    while (start > text && is_number_char(start[-1]))
        start--;
    const char *end = dots + 2;
    while (is_number_char(*end))
        end++;
    char low[32] = "";
    char high[32] = "";
    snprintf(low, sizeof low, "%.*s", (int)(dots - start), start);
    snprintf(high, sizeof high, "%.*s", (int)(end - dots - 2), dots + 2);
    long long width;
    if (!md_parse_int(low, &choice->low) || !md_parse_int(high, &choice->high) ||
        choice->high < choice->low || __builtin_sub_overflow(choice->high, choice->low, &width) ||
        width >= MAX_EXPANSION)
        return md_fail(error, MEDLEY_USAGE,
                       "'%s': '%.*s' is not a range of whole numbers, low..high", text,
                       (int)(end - start), start);
    choice->start = start;
    choice->end = end;
    return MEDLEY_OK;
}

/* The first ".." before stop with a digit beside it, or NULL. */
static const char *find_dots(const char *text, const char *stop)
{
    for (const char *p = text; (p = strstr(p, "..")) != NULL && p < stop; p++) {
        const char *next = p + 2 + (p[2] == '-' || p[2] == '+');
        if ((p > text && isdigit((unsigned char)p[-1])) || isdigit((unsigned char)*next))
            return p;
    }
    return NULL;
}

static medley_status find_choice(struct choice *choice, const char *text, medley_error *error)
{
    *choice = (struct choice){0};
    const char *brace = strchr(text, '{');
    if (brace != NULL) {
        const char *close = brace + strcspn(brace, "}");
        if (*close == '\0')
            return md_fail(error, MEDLEY_USAGE, "'%s': the '{' is never closed", text);
        if (memchr(brace + 1, '{', (size_t)(close - brace - 1)) != NULL)
            return md_fail(error, MEDLEY_USAGE, "'%s': braces cannot stand inside braces", text);
        *choice = (struct choice){.start = brace, .end = close + 1, .is_list = true};
        return MEDLEY_OK;
    }
    if (strchr(text, '}') != NULL)
        return md_fail(error, MEDLEY_USAGE, "'%s': a '}' without its '{'", text);
    const char *dots = find_dots(text, text + strcspn(text, "@"));
    return dots != NULL ? find_range(choice, text, dots, error) : MEDLEY_OK;
}

static medley_status expand(struct expansion *expansion, const char *text);

static medley_status expand_with(struct expansion *expansion, const char *text,
                                 const struct choice *choice, const char *item, size_t length)
{
    MD_CLEARED(md_text_clear) md_text whole = {0};
    md_text_add(&whole, text, (size_t)(choice->start - text));
    md_text_add(&whole, item, length);
    md_text_add(&whole, choice->end, strlen(choice->end));
    MEDLEY_TRY(md_text_check(&whole, expansion->error));
    expansion->depth++;
    MEDLEY_TRY(expand(expansion, whole.data));
    expansion->depth--;
    return MEDLEY_OK;
}

static medley_status add_expanded(struct expansion *expansion, const char *text)
{
    if (expansion->count >= MAX_EXPANSION)
        return md_fail(expansion->error, MEDLEY_USAGE, "'%s' expands to more than %d combinations",
                       text, MAX_EXPANSION);
    expansion->bytes += strlen(text) + 1;
    if (expansion->bytes >> 20 >= MAX_EXPANDED_MB)
        return md_fail(expansion->error, MEDLEY_USAGE,
                       "'%.60s' expands to more than %d MB; use shorter lists or ranges", text,
                       MAX_EXPANDED_MB);
    MEDLEY_TRY(append(expansion->texts, expansion->count, text, strlen(text), expansion->error));
    expansion->count++;
    return MEDLEY_OK;
}

static medley_status expand(struct expansion *expansion, const char *text)
{
    struct choice choice;
    MEDLEY_TRY(find_choice(&choice, text, expansion->error));
    if (choice.start == NULL)
        return add_expanded(expansion, text);
    if (expansion->depth >= MAX_DEPTH)
        return md_fail(expansion->error, MEDLEY_USAGE, "'%s' has more than %d lists and ranges",
                       text, MAX_DEPTH);
    if (!choice.is_list) {
        for (long long i = choice.low; i <= choice.high; i++) {
            char number[32];
            const int length = snprintf(number, sizeof number, "%lld", i);
            MEDLEY_TRY(expand_with(expansion, text, &choice, number, (size_t)length));
        }
        return MEDLEY_OK;
    }
    const char *end = choice.end - 1;
    for (const char *p = choice.start + 1; p <= end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        const char *stop = comma ? comma : end;
        MEDLEY_TRY(expand_with(expansion, text, &choice, p, (size_t)(stop - p)));
        p = stop + 1;
    }
    return MEDLEY_OK;
}

medley_status md_spec_expand(char ***texts, const char *text, medley_error *error)
{
    MD_OWNED(md_texts_free) char **expanded = NULL;
    struct expansion expansion = {.texts = &expanded, .error = error};
    MEDLEY_TRY(expand(&expansion, text));
    *texts = md_take(&expanded);
    return MEDLEY_OK;
}
