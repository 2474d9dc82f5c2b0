/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading `name(key=value,...)@view` and expanding lists and ranges in it. */
#include "param/param.h"

#include "base/memory.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EXPANSION = 1000000 };

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

/* Appends text (taken over, also on failure) to a list of known length whose room grows with the
 * powers of two, so the room is known without storing it. */
static medley_status take_text(char ***texts, size_t count, char *text, medley_error *error)
{
    const bool full = count == 0 || ((count + 1) & count) == 0; /* count + 1 a power of two */
    if (text != NULL && full) {
        char **moved = realloc(*texts, 2 * (count + 1) * sizeof *moved);
        if (moved == NULL) {
            free(text);
            text = NULL;
        } else {
            *texts = moved;
        }
    }
    if (text == NULL)
        return md_fail_memory(error, count * sizeof(char *));
    (*texts)[count] = text;
    (*texts)[count + 1] = NULL;
    return MEDLEY_OK;
}

medley_status md_texts_add(char ***texts, const char *text, medley_error *error)
{
    return take_text(texts, md_texts_count(*texts), md_copy_text(text, strlen(text)), error);
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

static char *trimmed_copy(const char *start, const char *end)
{
    while (start < end && isspace((unsigned char)*start))
        start++;
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    return md_copy_text(start, (size_t)(end - start));
}

/* One `key=value` or `key` between start and end. */
static medley_status add_pair(md_spec *spec, const char *start, const char *end, const char *whole,
                              medley_error *error)
{
    const char *equals = memchr(start, '=', (size_t)(end - start));
    char *key = trimmed_copy(start, equals ? equals : end);
    char *value = equals ? trimmed_copy(equals + 1, end) : md_copy_text("", 0);
    if (key != NULL && (key[0] == '\0' || (equals != NULL && value != NULL && value[0] == '\0'))) {
        free(key);
        free(value);
        return md_fail(error, MEDLEY_USAGE,
                       "'%s': an option is empty; write name(key=value,key=value)", whole);
    }
    medley_status status = take_text(&spec->keys, spec->count, key, error);
    if (status < 0) {
        free(value);
        return status;
    }
    status = take_text(&spec->values, spec->count, value, error);
    spec->count++;
    return status;
}

medley_status md_spec_parse(md_spec *spec, const char *text, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    *spec = (md_spec){0};
    const char *p = skip_space(text);
    const char *start = p;
    while (isalnum((unsigned char)*p) || *p == '-' || *p == '_')
        p++;
    spec->name = md_copy_text(start, (size_t)(p - start));
    if (spec->name == NULL)
        return md_fail_memory(error, strlen(text));
    if (p == start) {
        status = md_fail(error, MEDLEY_USAGE, "'%s' does not start with a name", text);
        goto done;
    }
    p = skip_space(p);
    if (*p == '(') {
        const char *close = strchr(p, ')');
        if (close == NULL) {
            status = md_fail(error, MEDLEY_USAGE, "'%s': the '(' is never closed", text);
            goto done;
        }
        p = skip_space(p + 1);
        while (p < close) {
            const char *comma = memchr(p, ',', (size_t)(close - p));
            MEDLEY_TRY(add_pair(spec, p, comma ? comma : close, text, error));
            p = comma ? comma + 1 : close;
        }
        p = skip_space(close + 1);
    }
    if (*p == '@') {
        spec->view = trimmed_copy(p + 1, p + strlen(p));
        if (spec->view == NULL || spec->view[0] == '\0') {
            status = md_fail(error, MEDLEY_USAGE, "'%s': a view's name must follow the '@'", text);
            goto done;
        }
        p += strlen(p);
    }
    if (*p != '\0')
        status = md_fail(error, MEDLEY_USAGE,
                         "'%s': '%s' was not expected; write name(key=value,...)@view", text, p);
done:
    if (status < 0)
        md_spec_clear(spec);
    return status;
}

/* ---- expansion ---- */

/* The first thing to expand in text: a brace list, or a range a..b. kind 0: nothing. */
struct choice {
    const char *start, *end; /* the part of text that is replaced */
    bool is_list;
    long long low, high; /* a range */
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
    if (!md_parse_int(low, &choice->low) || !md_parse_int(high, &choice->high) ||
        choice->high < choice->low || choice->high - choice->low >= MAX_EXPANSION)
        return md_fail(error, MEDLEY_USAGE,
                       "'%s': '%.*s' is not a range of whole numbers, low..high", text,
                       (int)(end - start), start);
    choice->start = start;
    choice->end = end;
    return MEDLEY_OK;
}

static medley_status find_choice(struct choice *choice, const char *text, medley_error *error)
{
    *choice = (struct choice){0};
    const char *brace = strchr(text, '{');
    if (brace != NULL) {
        const char *close = strchr(brace, '}');
        if (close == NULL)
            return md_fail(error, MEDLEY_USAGE, "'%s': the '{' is never closed", text);
        *choice = (struct choice){.start = brace, .end = close + 1, .is_list = true};
        return MEDLEY_OK;
    }
    if (strchr(text, '}') != NULL)
        return md_fail(error, MEDLEY_USAGE, "'%s': a '}' without its '{'", text);
    const char *at = strchr(text, '@'); /* view names are not expanded */
    const char *dots = strstr(text, "..");
    if (dots != NULL && (at == NULL || dots < at))
        return find_range(choice, text, dots, error);
    return MEDLEY_OK;
}

static medley_status expand(char ***texts, size_t *count, const char *text, medley_error *error);

static medley_status expand_with(char ***texts, size_t *count, const char *text,
                                 const struct choice *choice, const char *item, size_t length,
                                 medley_error *error)
{
    md_text whole = {0};
    md_text_add(&whole, text, (size_t)(choice->start - text));
    md_text_add(&whole, item, length);
    md_text_add(&whole, choice->end, strlen(choice->end));
    const medley_status status =
        whole.failed ? md_fail_memory(error, length) : expand(texts, count, whole.data, error);
    md_text_clear(&whole);
    return status;
}

static medley_status expand(char ***texts, size_t *count, const char *text, medley_error *error)
{
    struct choice choice;
    medley_status status = find_choice(&choice, text, error);
    if (status < 0)
        return status;
    if (choice.start == NULL) {
        if (*count >= MAX_EXPANSION)
            return md_fail(error, MEDLEY_USAGE, "'%s' expands to more than %d kernels", text,
                           MAX_EXPANSION);
        status = take_text(texts, *count, md_copy_text(text, strlen(text)), error);
        *count += status == MEDLEY_OK;
        return status;
    }
    if (!choice.is_list) {
        for (long long i = choice.low; status == MEDLEY_OK && i <= choice.high; i++) {
            char number[32];
            const int length = snprintf(number, sizeof number, "%lld", i);
            status = expand_with(texts, count, text, &choice, number, (size_t)length, error);
        }
        return status;
    }
    const char *end = choice.end - 1;
    for (const char *p = choice.start + 1; status == MEDLEY_OK && p <= end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        const char *stop = comma ? comma : end;
        status = expand_with(texts, count, text, &choice, p, (size_t)(stop - p), error);
        p = stop + 1;
    }
    return status;
}

medley_status md_spec_expand(char ***texts, const char *text, medley_error *error)
{
    char **list = NULL;
    size_t count = 0;
    const medley_status status = expand(&list, &count, text, error);
    if (status < 0) {
        md_texts_free(list);
        return status;
    }
    *texts = list;
    return MEDLEY_OK;
}
