/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing text, numbers in and out of text, and a table of distinct strings. Nothing here depends
 * on the locale. */
#ifndef MD_TEXT_H
#define MD_TEXT_H

#include "base/base.h"
#include <stdarg.h>

/* ---- a string that grows; a failed allocation is remembered in `failed` and reported once ---- */
typedef struct md_text {
    char *data; /* terminated, NULL while empty */
    size_t length, capacity;
    bool failed;
} md_text;

void md_text_clear(md_text *text); /* releases the memory */
/* Room for so many more bytes, which are about to come, if it is to be had: the text need not grow
 * and move then. */
void md_text_expect(md_text *text, size_t more);
void md_text_add(md_text *text, const char *bytes, size_t length);
void md_text_addf(md_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
medley_status md_text_check(const md_text *text, medley_error *error); /* an error if failed */

static inline const char *md_text_string(const md_text *text) /* "" while empty */
{
    return text->data != NULL ? text->data : "";
}

/* ---- numbers ---- */

/* Reads a decimal number at *cursor (stops before end); moves *cursor past it. False if there is
 * none. Correctly rounded for up to 19 digits and small exponents, else by strtod. Accepts
 * nan and inf: callers decide. */
bool md_read_number(const char **cursor, const char *end, double *value);

/* 1e0 .. 1e22: the powers of ten that doubles hold exactly. */
extern const double md_powers_of_ten[23];

/* The whole of text is a number / a whole number / a size such as 512M or 2G (powers of 1024). */
bool md_parse_double(const char *text, double *value);
/* One word for a shell and in lists between commas, of at most so many bytes. */
bool md_text_is_word(const char *text, size_t most);
bool md_parse_int(const char *text, long long *value);
bool md_parse_size(const char *text, size_t *bytes);

/* snprintf and vsnprintf with points in numbers, whatever the locale of the program. */
int md_print(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int md_vprint(char *buffer, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* The fewest digits that read back as value ("0.1", "100", "1e-07"). buffer: 32 bytes. */
const char *md_format_double(char buffer[32], double value);

/* ---- distinct strings, numbered 0, 1, 2 ... in order of arrival; a zero byte ends a string ----
 */
typedef struct md_strings {
    char **items; /* [count], owned, terminated */
    size_t count, capacity;
    int32_t *slots; /* open addressing, id + 1 or 0 */
    size_t slot_count;
} md_strings;

void md_strings_clear(md_strings *strings);
int32_t md_strings_find(const md_strings *strings, const char *text, size_t length); /* -1: none */
int32_t md_strings_add(md_strings *strings, const char *text, size_t length); /* -1: memory */

/* The same with a status, for MEDLEY_TRY; id may be NULL. And all strings of another table. */
medley_status md_strings_put(md_strings *strings, const char *text, size_t length, int32_t *id,
                             medley_error *error);
medley_status md_strings_copy(md_strings *target, const md_strings *source, medley_error *error);

/* Index of text in a NULL-terminated list, or -1. */
int md_text_index(const char *text, const char *const *list);

/* The name in a NULL-terminated list nearest to text, for "did you mean"; NULL if none is near
 * (edit distance at most a third of the length plus one, and less than the length). */
const char *md_text_nearest(const char *text, const char *const *list);

uint64_t md_hash_bytes(const void *bytes, size_t length);
uint32_t md_crc32(const void *bytes, size_t length);

#endif
