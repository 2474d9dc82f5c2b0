/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in and out of text against the C library (bit for bit), growing text, the table of
 * distinct strings against linear search, and "did you mean". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_same_bits(double found, double expected, const char *text)
{
    uint64_t found_bits;
    uint64_t expected_bits;
    memcpy(&found_bits, &found, sizeof found);
    memcpy(&expected_bits, &expected, sizeof expected);
    if (found_bits != expected_bits)
        fail_msg("'%s' was read as %a, strtod gives %a", text, found, expected);
}

/* md_read_number must agree with strtod in value and in where it stops. */
static void assert_reads_like_strtod(const char *text)
{
    char *stop;
    const double expected = strtod(text, &stop);
    const char *cursor = text;
    double found = 0;
    assert_true(md_read_number(&cursor, text + strlen(text), &found));
    assert_same_bits(found, expected, text);
    assert_ptr_equal(cursor, stop);
}

static void add_digits(md_text *text, md_random *random, size_t count)
{
    for (size_t i = 0; i < count; i++)
        md_text_addf(text, "%d", (int)md_random_below(random, 10));
}

/* Shapes: plain decimals, long mantissas, many leading zeros, exponents of all sizes. */
static void make_decimal(md_text *text, md_random *random)
{
    static const char *const signs[] = {"", "-", "+"};
    static const size_t lengths[] = {1, 3, 8, 15, 16, 17, 19, 20, 30, 60};
    text->length = 0;
    md_text_addf(text, "%s", signs[md_random_below(random, 3)]);
    const size_t whole = md_random_below(random, 4) ? lengths[md_random_below(random, 10)] : 0;
    add_digits(text, random, whole);
    if (whole == 0 || md_random_below(random, 3) > 0) {
        md_text_add(text, ".", 1);
        if (md_random_below(random, 5) == 0)
            for (size_t zeros = md_random_below(random, 30); zeros > 0; zeros--)
                md_text_add(text, "0", 1);
        add_digits(text, random, lengths[md_random_below(random, 10)]);
    }
    static const size_t spans[] = {10, 50, 700};
    if (md_random_below(random, 4) > 0)
        md_text_addf(text, "%c%s%zu", md_random_below(random, 2) ? 'e' : 'E',
                     signs[md_random_below(random, 3)],
                     md_random_below(random, spans[md_random_below(random, 3)]));
}

static void numbers_are_read_like_strtod_on_random_decimals(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 1);
    md_text text = {0};
    for (int i = 0; i < 60000; i++) {
        make_decimal(&text, &random);
        assert_reads_like_strtod(text.data);
    }
    assert_false(text.failed);
    md_text_clear(&text);
}

/* Any bit pattern, printed with 1 to 20 digits: all magnitudes, denormals among them. */
static void numbers_are_read_like_strtod_on_random_doubles(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 2);
    for (int i = 0; i < 40000; i++) {
        uint64_t bits = md_random_bits(&random);
        if (i % 4 == 0)
            bits &= 0x800fffffffffffffu; /* denormal */
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char text[64];
        snprintf(text, sizeof text, "%.*g", 1 + (int)md_random_below(&random, 20), value);
        assert_reads_like_strtod(text);
    }
}

/* The exact decimal expansion of the middle between two neighbours, and one unit to either side in
 * its last place: ties go to even, the others to their side. */
static void numbers_halfway_between_doubles_round_to_even(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 3);
    for (int i = 0; i < 3000; i++) {
        const int exponent = (int)md_random_below(&random, 120) - 60;
        const double low = ldexp(1 + md_random_uniform(&random), exponent);
        const long double middle =
            (long double)low + ((long double)nextafter(low, INFINITY) - (long double)low) / 2;
        char text[400];
        snprintf(text, sizeof text, "%.120Lf", middle);
        assert_reads_like_strtod(text);
        char *last = text + strlen(text) - 1;
        *last = '1';
        assert_reads_like_strtod(text);
        snprintf(text, sizeof text, "%.115Le", middle);
        assert_reads_like_strtod(text);
    }
    assert_reads_like_strtod("9007199254740993"); /* 2^53 + 1 */
    assert_reads_like_strtod("9007199254740993.0000000000000000000000000000001");
    assert_reads_like_strtod("2.4703282292062327208e-324"); /* half the least denormal */
    assert_reads_like_strtod("2.4703282292062328e-324");
}

static void numbers_at_the_edges_are_read_like_strtod(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "0.0",
        "-0e500",
        "1e308",
        "1.7976931348623157e308",
        "1e309",
        "-1e999999999999",
        "1e-400",
        "1e22",
        "1e23",
        "5e-324",
        "1.",
        ".5",
        "+.5e1",
        "1e",
        "1e+",
        "1e-",
        "1.5.2",
        "7,5",
        "3 4",
        "0x10",
        "12abc",
        "1e5e5",
        "00012",
        "1e00005",
        "18446744073709551616",
        "9007199254740992",
        "123456789012345678e-22",
        "inf",
        "-infinity",
        "1-2",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i], "0x10") != 0) {
            assert_reads_like_strtod(texts[i]);
            continue;
        }
        const char *cursor = texts[i]; /* hexadecimal is not a decimal number: only the 0 is read */
        double value = 1;
        assert_true(md_read_number(&cursor, texts[i] + 4, &value));
        assert_true(value == 0 && cursor == texts[i] + 1);
    }
    double value;
    assert_true(md_parse_double("nan", &value) && isnan(value));
}

static void very_long_numbers_are_read_whole(void **state)
{
    (void)state;
    md_text text = {0};
    md_text_add(&text, "0.", 2);
    for (int i = 0; i < 6000; i++)
        md_text_add(&text, "0", 1);
    md_text_addf(&text, "%s", "123456789e6003");
    assert_reads_like_strtod(text.data);
    double value = 0;
    assert_true(md_parse_double(text.data, &value));
    assert_true(value == 123.456789);
    text.length = 0;
    for (int i = 0; i < 300; i++)
        md_text_add(&text, "7", 1);
    assert_reads_like_strtod(text.data);
    md_text_clear(&text);
}

static void reading_stops_at_the_given_end(void **state)
{
    (void)state;
    const char *text = "12345e678";
    for (size_t length = 1; length <= 9; length++) {
        char copy[16];
        snprintf(copy, sizeof copy, "%.*s", (int)length, text);
        const char *cursor = text;
        double value;
        assert_true(md_read_number(&cursor, text + length, &value));
        assert_same_bits(value, strtod(copy, NULL), copy);
    }
    const char *cursor = text;
    double value;
    assert_false(md_read_number(&cursor, text, &value));
    assert_ptr_equal(cursor, text);
}

static void texts_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",   "-",   "+",  ".",    "-.", "e5",  "abc", " 1",
                                        "1 ", "--1", "na", "1..2", "1x", "0x1", ".e1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value;
        if (md_parse_double(texts[i], &value))
            fail_msg("'%s' was taken for a number", texts[i]);
    }
}

static void whole_numbers_are_read_whole_or_refused(void **state)
{
    (void)state;
    long long value;
    assert_true(md_parse_int("-9223372036854775808", &value) && value == INT64_MIN);
    assert_true(md_parse_int("+17", &value) && value == 17);
    static const char *const texts[] = {
        "", "-", "1.0", "1e3", " 1", "\t1", "1 ", "x", "9223372036854775808"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (md_parse_int(texts[i], &value))
            fail_msg("'%s' was taken for a whole number", texts[i]);
}

static void sizes_are_read_in_powers_of_1024(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
    } good[] = {
        {"0", 0},
        {"17", 17},
        {"1k", 1024},
        {"512M", 512u << 20},
        {"2G", (size_t)2 << 30},
        {"2gb", (size_t)2 << 30},
        {"1.5KiB", 1536},
        {"1T", (size_t)1 << 40},
    };
    static const char *const bad[] = {"",    "-1",  "M",    "2X",  "2G ", "2GBB",
                                      "nan", "inf", "1e30", "2 G", "2 ",  "10000000T"};
    size_t bytes;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(md_parse_size(good[i].text, &bytes));
        assert_int_equal(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (md_parse_size(bad[i], &bytes))
            fail_msg("'%s' was taken for a size", bad[i]);
}

static void printed_numbers_read_back_bit_for_bit(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 4);
    char buffer[32];
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = md_random_bits(&random);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (i % 3 == 0)
            value = (double)md_random_below(&random, 2000000) / 1000 - 1000;
        if (isnan(value))
            continue;
        const char *text = md_format_double(buffer, value);
        assert_same_bits(strtod(text, NULL), value, text);
    }
}

static int significant_digits(const char *text)
{
    int digits = 0;
    int zeros = 0; /* since the last other digit */
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text == '0') {
            zeros += digits > 0;
        } else if (*text >= '1' && *text <= '9') {
            digits += 1 + zeros;
            zeros = 0;
        }
    }
    return digits;
}

static void printed_numbers_have_no_digit_too_many(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 5);
    for (int i = 0; i < 2000; i++) {
        double value = ldexp(md_random_uniform(&random), (int)md_random_below(&random, 600) - 300);
        if (i % 2 == 0)
            value = (double)md_random_below(&random, 1000) / 8;
        if (i % 10 == 1)
            value = (double)(1 + md_random_below(&random, 50)) * 0x1p-1074;
        char buffer[32];
        char shorter[400];
        const int digits = significant_digits(md_format_double(buffer, value));
        for (int fewer = 1; fewer < digits; fewer++) {
            snprintf(shorter, sizeof shorter, "%.*g", fewer, value);
            if (strtod(shorter, NULL) == value)
                fail_msg("%s was printed, %s would do", buffer, shorter);
        }
    }
}

static void printed_numbers_look_as_people_write_them(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},     {5, "5"},           {10, "10"},        {100000, "100000"},
        {0.1, "0.1"}, {1e-7, "1e-07"},    {-2.5, "-2.5"},    {1.0 / 3, "0.3333333333333333"},
        {-0.0, "-0"}, {5e-324, "5e-324"}, {1e100, "1e+100"}, {INFINITY, "inf"}};
    char buffer[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(md_format_double(buffer, cases[i].value), cases[i].text);
    assert_string_equal(md_format_double(buffer, 1e15), "1e+15");
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    const char *found = NULL;
    for (size_t i = 0; found == NULL && i < sizeof names / sizeof *names; i++)
        found = setlocale(LC_NUMERIC, names[i]);
    if (found == NULL) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    char buffer[32];
    char comma[32];
    double value = 0;
    snprintf(comma, sizeof comma, "%.1f", 0.5);
    md_format_double(buffer, 1234.5);
    const bool read = md_parse_double("1.00000000000000000000001e30", &value);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(comma, "0,5");
    assert_string_equal(buffer, "1234.5");
    assert_true(read && value == 1e30);
}

static void growing_text_holds_everything_added(void **state)
{
    (void)state;
    md_text text = {0};
    char expected[4000] = "";
    for (int i = 0; i < 500; i++) {
        md_text_addf(&text, "%d,", i);
        md_text_add(&text, "x", 1);
        snprintf(expected + strlen(expected), 16, "%d,x", i);
    }
    md_text_add(&text, "", 0);
    assert_false(text.failed);
    assert_string_equal(text.data, expected);
    assert_int_equal(text.length, strlen(expected));
    md_text_clear(&text);
    assert_null(text.data);
}

static void strings_are_numbered_in_order_of_arrival(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    md_random random;
    md_random_seed(&random, 6);
    md_strings strings = {0};
    int32_t *id = malloc(COUNT * sizeof *id);
    char(*word)[24] = malloc(COUNT * sizeof *word);
    assert_int_equal(md_strings_find(&strings, "a", 1), -1);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t length = md_random_below(&random, 20);
        for (size_t k = 0; k < length; k++)
            word[i][k] = (char)(length < 4 ? 'a' + (char)md_random_below(&random, 3)
                                           : 1 + (char)md_random_below(&random, 127));
        word[i][length] = '\0';
        const int32_t before = md_strings_find(&strings, word[i], length);
        const size_t count = strings.count;
        id[i] = md_strings_add(&strings, word[i], length);
        assert_int_equal(id[i], before >= 0 ? before : (int32_t)count);
        assert_int_equal(strings.count, count + (before < 0));
    }
    for (size_t i = 0; i < COUNT; i++) { /* ids stay, names are kept, distinct ids differ */
        assert_string_equal(strings.items[id[i]], word[i]);
        assert_int_equal(md_strings_find(&strings, word[i], strlen(word[i])), id[i]);
    }
    for (size_t i = 1; i < 2000 && i < strings.count; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(strings.items[i], strings.items[j]);
    md_strings_clear(&strings);
    free(word);
    free(id);
}

static void strings_need_not_be_terminated_and_end_at_a_zero_byte(void **state)
{
    (void)state;
    md_strings strings = {0};
    assert_int_equal(md_strings_add(&strings, "abcdef", 3), 0);
    assert_int_equal(md_strings_add(&strings, "abc", 3), 0);
    assert_int_equal(md_strings_add(&strings, "ab", 2), 1);
    assert_int_equal(md_strings_add(&strings, "", 0), 2);
    assert_int_equal(md_strings_add(&strings, "ab\0zzzzzzzzzzzzzzzzzzzzzzzzzz", 28), 1);
    assert_int_equal(md_strings_find(&strings, "\0b", 2), 2);
    assert_int_equal(strings.count, 3);
    md_strings_clear(&strings);
}

static void the_nearest_name_is_offered_if_it_is_near(void **state)
{
    (void)state;
    static const char *const names[] = {"sigma2", "gamma", "norm", "degree", "C", NULL};
    assert_string_equal(md_text_nearest("sigma", names), "sigma2");
    assert_string_equal(md_text_nearest("gama", names), "gamma");
    assert_string_equal(md_text_nearest("nrom", names), "norm");
    assert_string_equal(md_text_nearest("dergee", names), "degree");
    assert_string_equal(md_text_nearest("norm", names), "norm");
    assert_null(md_text_nearest("bandwidth", names));
    assert_null(md_text_nearest("q", names));
    assert_null(md_text_nearest("", names));
    char longer[300];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_null(md_text_nearest(longer, names));
}

static void list_index_finds_exact_names_only(void **state)
{
    (void)state;
    static const char *const names[] = {"one", "two", NULL};
    assert_int_equal(md_text_index("two", names), 1);
    assert_int_equal(md_text_index("tw", names), -1);
    assert_int_equal(md_text_index("", names), -1);
}

static void checksums_and_hashes_see_every_byte(void **state)
{
    (void)state;
    assert_int_equal(md_crc32("123456789", 9), 0xcbf43926u); /* the standard's check value */
    char bytes[40] = {0};
    const uint64_t hash = md_hash_bytes(bytes, sizeof bytes);
    const uint32_t crc = md_crc32(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = 1;
        assert_true(md_hash_bytes(bytes, sizeof bytes) != hash);
        assert_true(md_crc32(bytes, sizeof bytes) != crc);
        bytes[i] = 0;
        assert_true(md_hash_bytes(bytes, i) != hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_like_strtod_on_random_decimals),
        cmocka_unit_test(numbers_are_read_like_strtod_on_random_doubles),
        cmocka_unit_test(numbers_halfway_between_doubles_round_to_even),
        cmocka_unit_test(numbers_at_the_edges_are_read_like_strtod),
        cmocka_unit_test(very_long_numbers_are_read_whole),
        cmocka_unit_test(reading_stops_at_the_given_end),
        cmocka_unit_test(texts_that_are_no_numbers_are_refused),
        cmocka_unit_test(whole_numbers_are_read_whole_or_refused),
        cmocka_unit_test(sizes_are_read_in_powers_of_1024),
        cmocka_unit_test(printed_numbers_read_back_bit_for_bit),
        cmocka_unit_test(printed_numbers_have_no_digit_too_many),
        cmocka_unit_test(printed_numbers_look_as_people_write_them),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(growing_text_holds_everything_added),
        cmocka_unit_test(strings_are_numbered_in_order_of_arrival),
        cmocka_unit_test(strings_need_not_be_terminated_and_end_at_a_zero_byte),
        cmocka_unit_test(the_nearest_name_is_offered_if_it_is_near),
        cmocka_unit_test(list_index_finds_exact_names_only),
        cmocka_unit_test(checksums_and_hashes_see_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
