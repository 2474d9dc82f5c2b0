/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loop of the text readers: decimal text to float.
 *
 * Up to 19 digits fit a 64-bit mantissa. Below 2^53 mantissa and power of ten are exact doubles and
 * one operation rounds correctly (Clinger). Above, the double is off by at most two units in its
 * last place, which changes the float only next to the midpoint of two floats: there, and for
 * anything longer or stranger, md_read_number decides.
 *
 * Numbers of few digits are read eight bytes at a time, without a branch for each digit: how many
 * digits there are is what a processor cannot foresee (Lemire, "Number parsing at a gigabyte per
 * second", 2021). */
#ifndef MD_FLOAT_TEXT_H
#define MD_FLOAT_TEXT_H

#include "base/text.h"

enum { MD_MOST_DIGITS = 19, MD_MOST_POWER = 22, MD_READABLE = 32 };

static const uint32_t MD_WHOLE_POWERS[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

/* Digits at p are appended to *mantissa; returns the place after them. The text must be followed
 * by something that is no digit (the '\n' after every input). */
static inline const char *md_read_digits(const char *p, uint64_t *mantissa)
{
    for (unsigned digit; (digit = (unsigned char)*p - (unsigned)'0') < 10; p++)
        *mantissa = *mantissa * 10 + digit;
    return p;
}

/* Up to 7 digits at p at once; *count is how many there are, 8 if there may be more. Eight bytes
 * must be readable. */
static inline uint32_t md_read_short_digits(const char *p, unsigned *count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    bytes ^= 0x3030303030303030u; /* digits become 0 .. 9 */
    /* The top bit of every byte above 9; carries only spoil bytes after the first of them. */
    const uint64_t other = ((bytes + 0x7676767676767676u) | bytes) & 0x8080808080808080u;
    if (other == 0) {
        *count = 8;
        return 0;
    }
    const unsigned bits = (unsigned)__builtin_ctzll(other) & 0x38u;
    *count = bits / 8;
    bytes = bytes << 8 << (56 - bits); /* the last digit to the top byte, zeros in front */
    bytes = (bytes * 10 + (bytes >> 8)) & 0x00ff00ff00ff00ffu;
    bytes = (bytes * 100 + (bytes >> 16)) & 0x0000ffff0000ffffu;
    return (uint32_t)(bytes * 10000 + (bytes >> 32));
#else
    uint64_t mantissa = 0;
    const long length = md_read_digits(p, &mantissa) - p;
    *count = length < 8 ? (unsigned)length : 8;
    return (uint32_t)mantissa;
#endif
}

/* Is the double so near the midpoint of two floats that its last bits decide the rounding? */
static inline bool md_near_midpoint(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t tail = bits & 0x1fffffff; /* the 29 bits a float has no room for */
    return tail - 0x0ffffffc <= 8;
}

static inline bool md_read_slow_float(const char **cursor, const char *end, float *value)
{
    double number;
    if (!md_read_number(cursor, end, &number))
        return false;
    *value = (float)number;
    return true;
}

/* At most 7 digits before and after a point, if any; false if the text is anything else. 32 bytes
 * must be readable. */
static inline bool md_read_short_float(const char **cursor, float *value)
{
    const char *p = *cursor;
    const bool negative = *p == '-';
    p += negative;
    unsigned whole_digits;
    unsigned places = 0;
    uint64_t mantissa = md_read_short_digits(p, &whole_digits);
    if (whole_digits == 8)
        return false;
    p += whole_digits;
    if (*p == '.') {
        const uint32_t fraction = md_read_short_digits(p + 1, &places);
        if (places == 8)
            return false;
        mantissa = mantissa * MD_WHOLE_POWERS[places] + fraction;
        p += places + 1;
    }
    if (whole_digits + places == 0 || (*p | 0x20) == 'e')
        return false;
    const double number = (double)(int64_t)mantissa / md_powers_of_ten[places];
    *value = (float)(negative ? -number : number);
    *cursor = p;
    return true;
}

/* Like md_read_number, for a float. text[end] must be readable and no digit, point or letter. */
static inline bool md_read_float(const char **cursor, const char *end, float *value)
{
    if (end - *cursor >= MD_READABLE && md_read_short_float(cursor, value))
        return true;
    const char *p = *cursor;
    const bool negative = *p == '-';
    p += negative;
    uint64_t mantissa = 0;
    const char *first = p;
    p = md_read_digits(p, &mantissa);
    long digits = p - first;
    long power = 0;
    if (*p == '.') {
        const char *fraction = ++p;
        p = md_read_digits(p, &mantissa);
        power = fraction - p;
        digits -= power;
    }
    if (digits < 1 || digits > MD_MOST_DIGITS)
        return md_read_slow_float(cursor, end, value);
    if (__builtin_expect((*p | 0x20) == 'e', 0)) {
        const char *q = p + 1;
        const bool minus = *q == '-';
        q += minus || *q == '+';
        uint64_t exponent = 0;
        const char *stop = md_read_digits(q, &exponent);
        if (stop == q || stop - q > 4)
            return md_read_slow_float(cursor, end, value);
        power += minus ? -(long)exponent : (long)exponent;
        p = stop;
    }
    if (power < -MD_MOST_POWER || power > MD_MOST_POWER)
        return md_read_slow_float(cursor, end, value);
    double number = (double)mantissa;
    number = power <= 0 ? number / md_powers_of_ten[-power] : number * md_powers_of_ten[power];
    if (mantissa >> 53 != 0 && md_near_midpoint(number))
        return md_read_slow_float(cursor, end, value);
    *value = (float)(negative ? -number : number);
    *cursor = p;
    return true;
}

#endif
