/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in and out of text. The fast path is Clinger's: a mantissa below 2^53 times a power of
 * ten up to 10^22 is one exact operation on two exact doubles; anything else goes to strtod. */
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double POWERS_OF_TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* strtod on a terminated copy. The C library's decimal point may be a comma under the caller's
 * locale, so the point is replaced by whatever it is. */
static bool read_slowly(const char **cursor, const char *end, double *value)
{
    char copy[128];
    size_t length = 0;
    while (*cursor + length < end && length < sizeof copy - 1 &&
           strchr("+-.0123456789aefintyAEFINTYxX", (*cursor)[length]) != NULL &&
           (*cursor)[length] != '\0') {
        copy[length] = (*cursor)[length];
        length++;
    }
    copy[length] = '\0';
    char probe[8];
    snprintf(probe, sizeof probe, "%.1f", 0.5);
    char *point = strchr(copy, '.');
    if (point != NULL)
        *point = probe[1];
    char *stop;
    *value = strtod(copy, &stop);
    *cursor += stop - copy;
    return stop != copy && memchr(copy, 'x', (size_t)(stop - copy)) == NULL &&
           memchr(copy, 'X', (size_t)(stop - copy)) == NULL;
}

bool md_read_number(const char **cursor, const char *end, double *value)
{
    const char *p = *cursor;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    uint64_t mantissa = 0;
    int digits = 0;
    int scale = 0;
    const char *first = p;
    for (; p < end && (unsigned char)(*p - '0') < 10; p++, digits += mantissa != 0)
        mantissa = mantissa * 10 + (uint64_t)(*p - '0');
    long seen = p - first;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        for (; p < end && (unsigned char)(*p - '0') < 10; p++, digits += mantissa != 0)
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
        seen += p - fraction;
        scale = p - fraction < 4096 ? -(int)(p - fraction) : -4096;
    }
    if (seen == 0)
        return read_slowly(cursor, end, value); /* nan, inf, or not a number */
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;
        const bool minus = q < end && *q == '-';
        if (q < end && (*q == '-' || *q == '+'))
            q++;
        int exponent = 0;
        const char *start = q;
        for (; q < end && (unsigned char)(*q - '0') < 10; q++)
            exponent = exponent < 10000 ? exponent * 10 + (*q - '0') : exponent;
        if (q > start) {
            scale += minus ? -exponent : exponent;
            p = q;
        }
    }
    if (digits > 19 || mantissa > (uint64_t)1 << 53 || scale < -22 || scale > 22)
        return read_slowly(cursor, end, value);
    double magnitude = (double)mantissa;
    magnitude = scale < 0 ? magnitude / POWERS_OF_TEN[-scale] : magnitude * POWERS_OF_TEN[scale];
    *value = negative ? -magnitude : magnitude;
    *cursor = p;
    return true;
}

bool md_parse_double(const char *text, double *value)
{
    const char *end = text + strlen(text);
    const char *cursor = text;
    return text != end && md_read_number(&cursor, end, value) && cursor == end;
}

bool md_parse_int(const char *text, long long *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && text[0] != ' ';
}

bool md_parse_size(const char *text, size_t *bytes)
{
    const char *end = text + strlen(text);
    const char *cursor = text;
    double number;
    if (text == end || !md_read_number(&cursor, end, &number) || !(number >= 0))
        return false;
    double unit = 1;
    if (cursor < end) {
        static const char letters[] = "KMGT";
        const char *letter = strchr(letters, *cursor & ~0x20);
        if (letter == NULL || *letter == '\0')
            return false;
        for (const char *p = letters; p <= letter; p++)
            unit *= 1024;
        cursor++;
        if (strcasecmp(cursor, "b") == 0 || strcasecmp(cursor, "ib") == 0)
            cursor = end;
    }
    if (cursor != end || number * unit > 9e18)
        return false;
    *bytes = (size_t)(number * unit);
    return true;
}

const char *md_format_double(char buffer[32], double value)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buffer, 32, "%.*g", digits, value);
        double back;
        if (md_parse_double(buffer, &back) && back == value)
            break;
    }
    return buffer;
}
