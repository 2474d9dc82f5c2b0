/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching follows all ways through the pattern at once, one step for each character of the text:
 * a place in the pattern remembers the earliest start of a match that has come that far. Ways that
 * meet in one place have the same future, so the earliest start is all that matters. */
#include "feature/pattern.h"

/* The bytes of the UTF-8 character at text; 1 where the bytes are no such character. */
static size_t character_bytes(const char *text, size_t length)
{
    const unsigned char first = (unsigned char)text[0];
    size_t bytes = 1;
    if (first >= 0xc2 && first <= 0xdf)
        bytes = 2;
    else if (first >= 0xe0 && first <= 0xef)
        bytes = 3;
    else if (first >= 0xf0 && first <= 0xf4)
        bytes = 4;
    if (bytes > length)
        return 1;
    for (size_t i = 1; i < bytes; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 1;
    return bytes;
}

/* ASCII only and the same in every locale. */
static bool is_in_class(char name, unsigned c)
{
    const bool is_lower = c >= 'a' && c <= 'z';
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_digit = c >= '0' && c <= '9';
    switch (name) {
    case 'a':
        return is_lower || is_upper;
    case 'd':
        return is_digit;
    case 'l':
        return is_lower;
    case 'p':
        return c > ' ' && c < 127 && !is_lower && !is_upper && !is_digit;
    case 's':
        return c == ' ' || (c >= '\t' && c <= '\r');
    case 'u':
        return is_upper;
    default: /* w */
        return is_lower || is_upper || is_digit;
    }
}

static void take_class(md_pattern_item *item, char name, bool is_complement)
{
    for (unsigned c = 0; c < 128; c++)
        if (is_in_class(name, c) != is_complement)
            item->ascii[c / 64] |= UINT64_C(1) << c % 64;
    item->takes_other = is_complement;
}

static void take_literal(md_pattern_item *item, const char *text, size_t bytes)
{
    const unsigned char first = (unsigned char)text[0];
    if (first < 128) {
        item->ascii[first / 64] |= UINT64_C(1) << first % 64;
        return;
    }
    memcpy(item->literal, text, bytes);
    item->literal_bytes = (unsigned char)bytes;
}

/* Reads what follows a backslash. */
static const char *take_escape(md_pattern_item *item, const char *text, size_t length, size_t *used)
{
    if (length == 0)
        return "ends in a lone \\; write \\\\ for the character itself";
    const char c = text[0];
    const bool is_upper = c >= 'A' && c <= 'Z';
    const char name = (char)(is_upper ? c - 'A' + 'a' : c);
    *used = character_bytes(text, length);
    if (name != '\0' && strchr("adlpsuw", name) != NULL)
        take_class(item, name, is_upper);
    else if (is_in_class('w', (unsigned char)c))
        return "has an unknown class; the classes are \\a \\d \\l \\p \\s \\u \\w and their "
               "complements \\A \\D \\L \\P \\S \\U \\W";
    else
        take_literal(item, text, *used);
    return NULL;
}

_Static_assert(MD_PATTERN_MOST == 128, "a message names the limit");

static md_repeat read_repeat(const char *text, size_t length)
{
    if (length == 0)
        return MD_ONCE;
    return text[0] == '*' ? MD_ANY_NUMBER : text[0] == '?' ? MD_AT_MOST_ONCE : MD_ONCE;
}

const char *md_pattern_compile(md_pattern *pattern, const char *text, size_t length)
{
    *pattern = (md_pattern){.at_start = length > 0 && text[0] == '^'};
    if (length == 0)
        return "is empty; write \".\" to match any character";
    for (size_t p = pattern->at_start; p < length;) {
        if (text[p] == '$' && p + 1 == length) {
            pattern->at_end = true;
            break;
        }
        if (text[p] == '*' || text[p] == '?')
            return "repeats nothing; * and ? must follow a character (\\* and \\? are the "
                   "characters themselves)";
        if (pattern->count == MD_PATTERN_MOST)
            return "is too long; at most 128 characters are possible";
        md_pattern_item *item = &pattern->item[pattern->count++];
        size_t used = character_bytes(text + p, length - p);
        if (text[p] == '\\') {
            const char *wrong = take_escape(item, text + p + 1, length - p - 1, &used);
            if (wrong != NULL)
                return wrong;
            used++;
        } else if (text[p] == '.') {
            item->ascii[0] = item->ascii[1] = UINT64_MAX;
            item->takes_other = true;
        } else {
            take_literal(item, text + p, used);
        }
        p += used;
        item->repeat = read_repeat(text + p, length - p);
        p += item->repeat != MD_ONCE;
    }
    return NULL;
}

static bool takes(const md_pattern_item *item, const char *text, size_t bytes)
{
    const unsigned char first = (unsigned char)text[0];
    if (first < 128)
        return (item->ascii[first / 64] >> first % 64 & 1) != 0;
    return item->takes_other ||
           (item->literal_bytes == bytes && memcmp(item->literal, text, bytes) == 0);
}

#define NOWHERE SIZE_MAX

static void reach(size_t *place, size_t start)
{
    if (start < *place)
        *place = start;
}

/* All places one character further; false if no way is left. */
static bool advance(const md_pattern *pattern, size_t *from, const char *text, size_t bytes)
{
    size_t to[MD_PATTERN_MOST + 1];
    bool is_alive = false;
    for (size_t i = 0; i <= pattern->count; i++)
        to[i] = NOWHERE;
    for (size_t i = 0; i < pattern->count; i++) {
        const md_pattern_item *item = &pattern->item[i];
        if (from[i] == NOWHERE || !takes(item, text, bytes))
            continue;
        reach(&to[item->repeat == MD_ANY_NUMBER ? i : i + 1], from[i]);
        is_alive = true;
    }
    memcpy(from, to, (pattern->count + 1) * sizeof *to);
    return is_alive;
}

bool md_pattern_find(const md_pattern *pattern, const char *text, size_t length, size_t *start,
                     size_t *size)
{
    size_t place[MD_PATTERN_MOST + 1]; /* the start of the match that is there, or NOWHERE */
    size_t best = NOWHERE;
    for (size_t i = 0; i <= pattern->count; i++)
        place[i] = NOWHERE;
    for (size_t p = 0;;) {
        if (best == NOWHERE && (p == 0 || !pattern->at_start))
            reach(&place[0], p);
        for (size_t i = 0; i < pattern->count; i++)
            if (pattern->item[i].repeat != MD_ONCE)
                reach(&place[i + 1], place[i]);
        const size_t found = place[pattern->count];
        if (found != NOWHERE && found <= best && (p == length || !pattern->at_end)) {
            best = found;
            *start = found;
            *size = p - found;
        }
        if (p == length)
            break;
        const size_t bytes = character_bytes(text + p, length - p);
        const bool is_alive = advance(pattern, place, text + p, bytes);
        if (!is_alive && (best != NOWHERE || pattern->at_start))
            break;
        p += bytes;
    }
    return best != NOWHERE;
}
