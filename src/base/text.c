/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing text, hashes, the table of distinct strings (open addressing, at most half full) and the
 * Levenshtein distance for "did you mean". */
#include "base/text.h"

#include <ctype.h>
#ifdef MEDLEY_WITH_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

void md_text_clear(md_text *text)
{
    free(text->data);
    *text = (md_text){0};
}

static bool reserve(md_text *text, size_t more)
{
    if (text->failed ||
        md_reserve((void **)&text->data, &text->capacity, text->length + more + 1, 1) != 0) {
        text->failed = true;
        return false;
    }
    return true;
}

void md_text_expect(md_text *text, size_t more)
{
    size_t needed;
    if (text->failed || __builtin_add_overflow(text->length, more, &needed) ||
        md_reserve((void **)&text->data, &text->capacity, needed, 1) != 0)
        return;
    md_expect_large(text->data + text->length, text->capacity - text->length);
}

void md_text_add(md_text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void md_text_addf(md_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = md_vprint(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        text->failed = true;
    if (length < 0 || !reserve(text, (size_t)length))
        return;
    va_start(arguments, format);
    md_vprint(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

medley_status md_text_check(const md_text *text, medley_error *error)
{
    return text->failed ? md_fail_memory(error, text->capacity) : MEDLEY_OK;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

uint64_t md_hash_bytes(const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = mix(hash ^ word);
        p += 8;
        length -= 8;
    }
    uint64_t tail = 0;
    if (length > 0)
        memcpy(&tail, p, length);
    return mix(hash ^ tail);
}

uint32_t md_crc32(const void *bytes, size_t length)
{
#ifdef MEDLEY_WITH_LIBDEFLATE
    return libdeflate_crc32(0, bytes, length);
#else
    const Bytef *p = bytes;
    uLong crc = crc32(0L, Z_NULL, 0);
    while (length > 0) {
        const uInt piece = length < 1u << 30 ? (uInt)length : 1u << 30;
        crc = crc32(crc, p, piece);
        p += piece;
        length -= piece;
    }
    return (uint32_t)crc;
#endif
}

void md_strings_clear(md_strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        free(strings->items[i]);
    free(strings->items);
    free(strings->slots);
    *strings = (md_strings){0};
}

/* The slot that holds text, or the free one where it would go. slot_count is a power of two; text
 * has no zero byte, so strncmp never runs past the end of a shorter item. */
static size_t find_slot(const md_strings *strings, const char *text, size_t length)
{
    size_t slot = md_hash_bytes(text, length) & (strings->slot_count - 1);
    while (strings->slots[slot] != 0) {
        const char *item = strings->items[strings->slots[slot] - 1];
        if (strncmp(item, text, length) == 0 && item[length] == '\0')
            break;
        slot = (slot + 1) & (strings->slot_count - 1);
    }
    return slot;
}

int32_t md_strings_find(const md_strings *strings, const char *text, size_t length)
{
    if (strings->slot_count == 0)
        return -1;
    return strings->slots[find_slot(strings, text, strnlen(text, length))] - 1;
}

static bool grow_slots(md_strings *strings)
{
    const size_t count = strings->slot_count ? strings->slot_count * 2 : 64;
    int32_t *slots = md_calloc(count, sizeof *slots);
    if (slots == NULL)
        return false;
    free(strings->slots);
    strings->slots = slots;
    strings->slot_count = count;
    for (size_t i = 0; i < strings->count; i++) {
        const char *item = strings->items[i];
        slots[find_slot(strings, item, strlen(item))] = (int32_t)i + 1;
    }
    return true;
}

int32_t md_strings_add(md_strings *strings, const char *text, size_t length)
{
    length = strnlen(text, length);
    if (strings->count * 2 >= strings->slot_count && !grow_slots(strings))
        return -1;
    const size_t slot = find_slot(strings, text, length);
    if (strings->slots[slot] != 0)
        return strings->slots[slot] - 1;
    if (strings->count >= INT32_MAX - 1 ||
        md_reserve((void **)&strings->items, &strings->capacity, strings->count + 1,
                   sizeof *strings->items) != 0)
        return -1;
    char *copy = md_copy_text(text, length);
    if (copy == NULL)
        return -1;
    strings->items[strings->count++] = copy;
    strings->slots[slot] = (int32_t)strings->count;
    return (int32_t)strings->count - 1;
}

medley_status md_strings_put(md_strings *strings, const char *text, size_t length, int32_t *id,
                             medley_error *error)
{
    const int32_t number = md_strings_add(strings, text, length);
    if (number < 0)
        return md_fail_memory(error, length);
    if (id != NULL)
        *id = number;
    return MEDLEY_OK;
}

medley_status md_strings_copy(md_strings *target, const md_strings *source, medley_error *error)
{
    for (size_t i = 0; i < source->count; i++)
        MEDLEY_TRY(md_strings_put(target, source->items[i], strlen(source->items[i]), NULL, error));
    return MEDLEY_OK;
}

int md_text_index(const char *text, const char *const *list)
{
    for (int i = 0; list[i] != NULL; i++)
        if (strcmp(list[i], text) == 0)
            return i;
    return -1;
}

enum { NAME_MAX_LENGTH = 63 };

static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_LENGTH + 1];
    const size_t columns = strlen(b);
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < columns; j++) {
            const size_t above = row[j + 1];
            size_t best = diagonal + (a[i] != b[j]);
            best = above + 1 < best ? above + 1 : best;
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j + 1] = best;
            diagonal = above;
        }
    }
    return row[columns];
}

const char *md_text_nearest(const char *text, const char *const *list)
{
    const char *nearest = NULL;
    const size_t length = strlen(text);
    size_t best = length / 3 + 1;
    for (size_t i = 0; list[i] != NULL; i++) {
        if (strlen(list[i]) > NAME_MAX_LENGTH)
            continue;
        const size_t distance = edit_distance(text, list[i]);
        if (distance < length && distance <= best && (nearest == NULL || distance < best)) {
            best = distance;
            nearest = list[i];
        }
    }
    /* "lasso" for group-lasso: a part of a name that stands between dashes */
    for (size_t i = 0; nearest == NULL && length >= 3 && list[i] != NULL; i++) {
        const char *part = strstr(list[i], text);
        if (part != NULL && (part == list[i] || part[-1] == '-') &&
            (part[length] == '-' || part[length] == '\0'))
            nearest = list[i];
    }
    return nearest;
}

bool md_text_is_word(const char *text, size_t most)
{
    size_t length = 0;
    for (; text[length] != '\0'; length++)
        if (!isalnum((unsigned char)text[length]) && (unsigned char)text[length] < 0x80 &&
            strchr("_.", text[length]) == NULL)
            return false;
    return length > 0 && length <= most;
}
