/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in and out of text. The fast path is Clinger's: a mantissa below 2^53 times a power of
 * ten up to 10^22 is one exact operation on two exact doubles; anything else goes to strtod. */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <strings.h>

const double md_powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* strtod on a terminated copy, in the "C" locale: the caller's may write a comma for the point.
 * (newlocale hands out a static object for "C", so this costs next to nothing.) */
static bool read_slowly(const char **cursor, const char *end, double *value)
{
    char small[128];
    size_t length = 0;
    while (*cursor + length < end && (*cursor)[length] != '\0' &&
           strchr("+-.0123456789aefintyAEFINTY", (*cursor)[length]) != NULL)
        length++;
    char *copy = length < sizeof small ? small : malloc(length + 1);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *stop = copy;
    if (copy != NULL && plain != (locale_t)0) {
        memcpy(copy, *cursor, length);
        copy[length] = '\0';
        *value = strtod_l(copy, &stop, plain);
    }
    const size_t read = (size_t)(stop - copy);
    if (plain != (locale_t)0)
        freelocale(plain);
    if (copy != small)
        free(copy);
    *cursor += read;
    return read > 0;
}

/* Adds the digits at p to the mantissa, which may wrap: the count of significant ones tells. */
static const char *read_digits(const char *p, const char *end, uint64_t *mantissa, size_t *digits)
{
    for (; p < end && (unsigned char)(*p - '0') < 10; p++) {
        *mantissa = *mantissa * 10 + (uint64_t)(*p - '0');
        *digits += *digits > 0 || *p != '0';
    }
    return p;
}

/* The exponent at p ("e-7"), or 0 and p itself if there is none. */
static const char *read_exponent(const char *p, const char *end, long *exponent)
{
    *exponent = 0;
    if (p >= end || (*p != 'e' && *p != 'E'))
        return p;
    const char *q = p + 1;
    const bool minus = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+'))
        q++;
    const char *first = q;
    for (; q < end && (unsigned char)(*q - '0') < 10; q++)
        *exponent = *exponent < 100000000 ? *exponent * 10 + (*q - '0') : *exponent;
    *exponent = minus ? -*exponent : *exponent;
    return q > first ? q : p;
}

bool md_read_number(const char **cursor, const char *end, double *value)
{
    const char *p = *cursor;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    uint64_t mantissa = 0;
    size_t digits = 0; /* significant ones: leading zeros do not count */
    const char *first = p;
    p = read_digits(p, end, &mantissa, &digits);
    long seen = p - first;
    long scale = 0;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = read_digits(p, end, &mantissa, &digits);
        scale = fraction - p;
        seen -= scale;
    }
    if (seen == 0)
        return read_slowly(cursor, end, value); /* nan, inf, or not a number */
    long exponent;
    p = read_exponent(p, end, &exponent);
    scale += exponent;
    if (digits > 19 || mantissa > (uint64_t)1 << 53 || scale < -22 || scale > 22)
        return read_slowly(cursor, end, value);
    double magnitude = (double)mantissa;
    magnitude =
        scale < 0 ? magnitude / md_powers_of_ten[-scale] : magnitude * md_powers_of_ten[scale];
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
    return errno == 0 && end != text && *end == '\0' && !isspace((unsigned char)text[0]);
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
    if (cursor != end || number * unit >= (double)(SIZE_MAX / 2))
        return false;
    *bytes = (size_t)(number * unit);
    return true;
}

int md_vprint(char *buffer, size_t size, const char *format, va_list arguments)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;
    const int length = vsnprintf(buffer, size, format, arguments);
    if (plain != (locale_t)0) {
        uselocale(before);
        freelocale(plain);
    }
    return length;
}

int md_print(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = md_vprint(buffer, size, format, arguments);
    va_end(arguments);
    return length;
}

/* A decimal of up to 15 digits survives the way to double and back, so %.15g finds it if there is
 * one; %g drops the trailing zeros. Below DBL_MIN the precision fades and fewer may do. */
const char *md_format_double(char buffer[32], double value)
{
    const bool is_whole = fabs(value) < 1e15 && value == (double)(long long)value;
    if (is_whole && !(value == 0 && signbit(value))) { /* labels mostly are: the same, sooner */
        snprintf(buffer, 32, "%lld", (long long)value);
        return buffer;
    }
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        double back;
        if (md_print(buffer, 32, "%.*g", digits, value) < 32 && md_parse_double(buffer, &back) &&
            back == value)
            break;
    }
    return buffer;
}
