/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of HTML: whatever goes in, nothing comes out that a browser could take for markup, the
 * result is UTF-8, and what is harmless stays as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "report/html.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *escaped(const char *text)
{
    md_text out = {0};
    md_html_escape(&out, text);
    md_text_add(&out, "", 0);
    assert_false(out.failed);
    assert_non_null(out.data);
    return out.data;
}

static void check(const char *text, const char *expected)
{
    char *found = escaped(text);
    assert_string_equal(found, expected);
    free(found);
}

static void signs_of_markup_are_escaped(void **state)
{
    (void)state;
    check("plain", "plain");
    check("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
    check("\"><img src=x onerror='a'>", "&quot;&gt;&lt;img src=x onerror=&#39;a&#39;&gt;");
    check("]]>&lt;", "]]&gt;&amp;lt;");
    check("na\xC3\xAFve \xE6\xBC\xA2 \xF0\x9F\x99\x82",
          "na\xC3\xAFve \xE6\xBC\xA2 \xF0\x9F\x99\x82");
}

static void what_is_no_character_is_replaced(void **state)
{
    (void)state;
    check("\xFF"
          "a",
          "\xEF\xBF\xBD"
          "a");
    check("a\xC3", "a\xEF\xBF\xBD");                                               /* cut off */
    check("\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD");                                 /* overlong */
    check("\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");                 /* a surrogate */
    check("\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"); /* too large */
    check("\xEF\xBF\xBF", "\xEF\xBF\xBD");                                         /* U+FFFF */
    check("\xC2\x85", "\xEF\xBF\xBD"); /* a C1 control */
    check("\t\n\x01\x7F", "\xE2\x90\x89\xE2\x90\x8A\xE2\x90\x81\xE2\x90\xA1");
    check("\xE2\x80\xAEtxt", "\xEF\xBF\xBDtxt"); /* right-to-left override */
    check("\xE2\x81\xA9", "\xEF\xBF\xBD");       /* end of an isolate */
}

/* Valid UTF-8 without controls? (another decoder than the writer's: by ranges of bytes) */
static bool is_clean(const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        size_t length = 1;
        if (*p < 0x20 || *p == 0x7F)
            return false;
        if (*p >= 0xF0)
            length = 4;
        else if (*p >= 0xE0)
            length = 3;
        else if (*p >= 0xC2)
            length = 2;
        else if (*p >= 0x80)
            return false;
        for (size_t i = 1; i < length; i++)
            if (p[i] < 0x80 || p[i] > 0xBF)
                return false;
        p += length;
    }
    return true;
}

static void random_bytes_never_come_out_as_markup(void **state)
{
    (void)state;
    static const char pool[] = "<>&\"'/=;#x \t\n\xC3\xA9\xE2\x80\xAE\xF0\x9F\xED\xFFscript";
    md_random random;
    md_random_seed(&random, 7);
    for (int round = 0; round < 20000; round++) {
        char text[33];
        const size_t length = md_random_below(&random, 32);
        for (size_t i = 0; i < length; i++)
            text[i] = md_random_below(&random, 3) == 0
                          ? (char)(1 + md_random_below(&random, 255))
                          : pool[md_random_below(&random, sizeof pool - 1)];
        text[length] = '\0';
        char *found = escaped(text);
        assert_null(strpbrk(found, "<>\"'"));
        assert_true(is_clean(found));
        for (const char *p = strchr(found, '&'); p != NULL; p = strchr(p + 1, '&'))
            assert_true(strncmp(p, "&amp;", 5) == 0 || strncmp(p, "&lt;", 4) == 0 ||
                        strncmp(p, "&gt;", 4) == 0 || strncmp(p, "&quot;", 6) == 0 ||
                        strncmp(p, "&#39;", 5) == 0);
        free(found);
    }
}

static void elements_nest_and_attributes_are_quoted(void **state)
{
    (void)state;
    md_html html = {0};
    medley_error error = {0};
    md_html_open(&html, "p");
    md_html_attribute(&html, "class", "a\"b");
    md_html_data(&html, "<i>");
    md_html_open(&html, "br");
    md_html_close(&html);
    md_html_element(&html, "span", NULL, "&");
    md_html_close(&html);
    assert_int_equal(md_html_check(&html, &error), MEDLEY_OK);
    assert_string_equal(html.text.data, "\n<p class=\"a&quot;b\"><bdi>&lt;i&gt;</bdi><br>"
                                        "<span>&amp;</span></p>");
    md_html_clear(&html);
}

static void refuses(void (*misuse)(md_html *))
{
    md_html html = {0};
    medley_error error = {0};
    misuse(&html);
    assert_true(md_html_check(&html, &error) < 0);
    assert_true(html.text.data == NULL || strstr(html.text.data, "script") == NULL);
    md_html_clear(&html);
}

static void opens_a_script(md_html *html)
{
    md_html_open_named(html, "script");
}
static void writes_an_event(md_html *html)
{
    md_html_open(html, "p");
    md_html_attribute_named(html, "onclick", "x");
    md_html_close(html);
}
static void writes_a_style(md_html *html)
{
    md_html_open(html, "p");
    md_html_attribute_named(html, "style", "x");
    md_html_close(html);
}
static void leaves_one_open(md_html *html)
{
    md_html_open(html, "p");
}
static void closes_too_many(md_html *html)
{
    md_html_close(html);
}
static void writes_an_attribute_too_late(md_html *html)
{
    md_html_open(html, "p");
    md_html_text(html, "x");
    md_html_attribute(html, "class", "x");
    md_html_close(html);
}
static void nests_too_deeply(md_html *html)
{
    for (size_t i = 0; i <= MD_HTML_DEPTH; i++)
        md_html_open(html, "div");
    for (size_t i = 0; i < MD_HTML_DEPTH; i++)
        md_html_close(html);
}

static void misuse_is_told_and_not_written(void **state)
{
    (void)state;
    refuses(opens_a_script);
    refuses(writes_an_event);
    refuses(writes_a_style);
    refuses(leaves_one_open);
    refuses(closes_too_many);
    refuses(writes_an_attribute_too_late);
    refuses(nests_too_deeply);
}

static void coordinates_are_short_and_finite(void **state)
{
    (void)state;
    md_html html = {0};
    medley_error error = {0};
    md_html_open(&html, "rect");
    md_html_coordinate(&html, "x", 1.0 / 3);
    md_html_coordinate(&html, "y", -0.01);
    md_html_coordinate(&html, "width", (double)NAN);
    md_html_coordinate(&html, "height", (double)INFINITY);
    md_html_coordinate(&html, "rx", 12);
    md_html_percent(&html, "cx", 0.125);
    md_html_percent(&html, "cy", (double)NAN);
    md_html_percent(&html, "r", 7);
    md_html_close(&html);
    assert_int_equal(md_html_check(&html, &error), MEDLEY_OK);
    assert_string_equal(html.text.data,
                        "<rect x=\"0.3\" y=\"0\" width=\"0\" height=\"0\" rx=\"12\" "
                        "cx=\"12.5%\" cy=\"0%\" r=\"100%\"></rect>");
    md_html_clear(&html);
}

static void long_words_are_cut_between_characters(void **state)
{
    (void)state;
    md_text out = {0};
    md_html_shorten(&out, "\xC3\xA9\xC3\xA9\xC3\xA9", 3);
    assert_string_equal(out.data, "\xC3\xA9\xC3\xA9\xC3\xA9");
    md_text_clear(&out);
    md_html_shorten(&out, "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 3);
    assert_string_equal(out.data, "\xC3\xA9\xC3\xA9\xE2\x80\xA6");
    md_text_clear(&out);
    assert_int_equal(md_html_length("a\xC3\xA9\xFF"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_of_markup_are_escaped),
        cmocka_unit_test(what_is_no_character_is_replaced),
        cmocka_unit_test(random_bytes_never_come_out_as_markup),
        cmocka_unit_test(elements_nest_and_attributes_are_quoted),
        cmocka_unit_test(misuse_is_told_and_not_written),
        cmocka_unit_test(coordinates_are_short_and_finite),
        cmocka_unit_test(long_words_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
