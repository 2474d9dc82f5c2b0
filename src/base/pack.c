/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pack.h"

#include <endian.h>

void md_pack_u64(md_text *out, uint64_t value)
{
    const uint64_t little = htole64(value);
    md_text_add(out, (const char *)&little, sizeof little);
}

void md_pack_f64(md_text *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    md_pack_u64(out, bits);
}

void md_pack_text(md_text *out, const char *text)
{
    const size_t length = strlen(text);
    static const char zeros[8];
    md_pack_u64(out, length);
    md_text_add(out, text, length);
    md_text_add(out, zeros, (8 - length % 8) % 8); /* so that numbers stay aligned */
}

void md_pack_strings(md_text *out, const md_strings *strings)
{
    md_pack_u64(out, strings->count);
    for (size_t i = 0; i < strings->count; i++)
        md_pack_text(out, strings->items[i]);
}

void md_pack_sizes(md_text *out, const size_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        md_pack_u64(out, values[i]);
}

/* Words of 4 bytes whose order is this machine's. */
static void pack_words(md_text *out, const void *words, size_t count)
{
    static const char zeros[4];
#if __BYTE_ORDER == __LITTLE_ENDIAN
    md_text_add(out, words, count * sizeof(uint32_t));
#else
    const char *bytes = words;
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, bytes + i * sizeof word, sizeof word);
        word = htole32(word);
        md_text_add(out, (const char *)&word, sizeof word);
    }
#endif
    md_text_add(out, zeros, count % 2 * sizeof zeros);
}

void md_pack_u32s(md_text *out, const uint32_t *values, size_t count)
{
    pack_words(out, values, count);
}

void md_pack_floats(md_text *out, const float *values, size_t count)
{
    pack_words(out, values, count);
}

static const char *take(md_unpack *in, size_t bytes)
{
    if (in->bad || bytes > in->length - in->position) {
        in->bad = true;
        return NULL;
    }
    const char *start = in->data + in->position;
    in->position += bytes;
    return start;
}

static void *check_memory(md_unpack *in, void *memory)
{
    if (memory == NULL)
        in->bad = in->no_memory = true;
    return memory;
}

uint64_t md_unpack_u64(md_unpack *in)
{
    uint64_t value = 0;
    const char *bytes = take(in, sizeof value);
    if (bytes != NULL)
        memcpy(&value, bytes, sizeof value);
    return le64toh(value);
}

double md_unpack_f64(md_unpack *in)
{
    const uint64_t bits = md_unpack_u64(in);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

size_t md_unpack_count(md_unpack *in, size_t bytes)
{
    const uint64_t count = md_unpack_u64(in);
    if (in->bad || count > (in->length - in->position) / bytes) {
        in->bad = true;
        return 0;
    }
    return (size_t)count;
}

char *md_unpack_text(md_unpack *in)
{
    const size_t length = md_unpack_count(in, 1);
    const char *bytes = take(in, length + (8 - length % 8) % 8);
    if (bytes == NULL || memchr(bytes, '\0', length) != NULL) {
        in->bad = true;
        return NULL;
    }
    return check_memory(in, md_copy_text(bytes, length));
}

void md_unpack_strings(md_unpack *in, md_strings *strings)
{
    const size_t count = md_unpack_count(in, 8);
    for (size_t i = 0; i < count && !in->bad; i++) {
        MD_OWNED(free) char *text = md_unpack_text(in);
        const int32_t id = text != NULL ? md_strings_add(strings, text, strlen(text)) : -1;
        in->no_memory = in->no_memory || (text != NULL && id < 0);
        in->bad = in->bad || id != (int32_t)i;
    }
}

size_t *md_unpack_sizes(md_unpack *in, size_t count)
{
    const char *bytes = take(in, count <= SIZE_MAX / 8 ? count * 8 : SIZE_MAX);
    size_t *values = bytes ? check_memory(in, md_calloc(count, sizeof *values)) : NULL;
    for (size_t i = 0; values != NULL && i < count; i++) {
        uint64_t value;
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        values[i] = (size_t)le64toh(value);
    }
    return values;
}

static void *unpack_words(md_unpack *in, size_t count)
{
    const char *bytes = take(in, count < SIZE_MAX / 4 ? (count + count % 2) * 4 : SIZE_MAX);
    char *words = bytes ? check_memory(in, md_copy(bytes, count * 4)) : NULL;
#if __BYTE_ORDER != __LITTLE_ENDIAN
    for (size_t i = 0; words != NULL && i < count; i++) {
        uint32_t word;
        memcpy(&word, words + i * sizeof word, sizeof word);
        word = le32toh(word);
        memcpy(words + i * sizeof word, &word, sizeof word);
    }
#endif
    return words;
}

uint32_t *md_unpack_u32s(md_unpack *in, size_t count)
{
    return unpack_words(in, count);
}

/* By the largest exponent: whole numbers make a vector loop, which isfinite does not. */
static bool are_finite(const float *values, size_t count)
{
    const uint32_t magnitude = 0x7fffffff;
    const uint32_t infinity = 0x7f800000;
    uint32_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits &= magnitude;
        largest = bits > largest ? bits : largest;
    }
    return largest < infinity;
}

float *md_unpack_floats(md_unpack *in, size_t count)
{
    MD_OWNED(free) float *values = unpack_words(in, count);
    const bool finite = values == NULL || are_finite(values, count);
    in->bad = in->bad || !finite;
    return finite ? md_take(&values) : NULL;
}

bool md_unpack_done(const md_unpack *in)
{
    return !in->bad && in->position == in->length;
}
