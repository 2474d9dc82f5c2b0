/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer: a stack of open elements, and names that are looked up before they are written. */
#include "report/html.h"

#include <stdarg.h>

enum { MOST_SHOWN = 160 }; /* characters of a word of the data */

/* Neither loads anything nor runs anything. style is written by md_html_style alone. */
static const char *const elements[] = {
    "html", "head", "body",   "meta",       "title",   "header",  "main",  "footer", "nav",
    "h1",   "h2",   "h3",     "p",          "section", "div",     "span",  "strong", "small",
    "ul",   "li",   "dl",     "dt",         "dd",      "table",   "thead", "tbody",  "tr",
    "th",   "td",   "figure", "figcaption", "details", "summary", "a",     "bdi",    "svg",
    "g",    "rect", "line",   "path",       "circle",  "text",    "br",    "code",   NULL};

static const char *const empty_elements[] = {"meta", "br", NULL};

static const char *const attributes[] = {
    "lang",     "charset", "name",        "content",     "http-equiv", "class", "id", "scope",
    "tabindex", "role",    "aria-label",  "aria-hidden", "viewBox",    "x",     "y",  "x1",
    "x2",       "y1",      "y2",          "cx",          "cy",         "r",     "rx", "width",
    "height",   "d",       "text-anchor", "title",       "data-value", NULL};

/* ---- escaping ---- */

/* Bytes of the UTF-8 character at p, and the character; 0 if there is none. Overlong forms,
 * surrogates and what lies beyond U+10FFFF are none. A terminating zero ends every attempt. */
static size_t read_character(const unsigned char *p, uint32_t *character)
{
    const size_t length = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (p[0] > 0xF4 || (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
        (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    static const unsigned char first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    *character = length ? p[0] & first_bits[length] : 0;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        *character = *character << 6 | (p[i] & 0x3F);
    }
    return length;
}

/* Embeddings, overrides and isolates of the direction: one that is not closed would reorder what
 * follows. C1 controls and U+FFFE, U+FFFF are no characters of HTML. */
static bool is_unwanted(uint32_t c)
{
    return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) ||
           (c >= 0x80 && c <= 0x9F) || (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF);
}

static void add(md_text *out, const char *text)
{
    md_text_add(out, text, strlen(text));
}

static void add_escaped(md_text *out, const unsigned char *p, size_t length, uint32_t c)
{
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    static const char special[] = "&<>\"'";
    const char *found = c < 0x80 ? strchr(special, (int)c) : NULL;
    if (found != NULL)
        add(out, names[found - special]);
    else if (c < 0x20) /* pictures of control characters: U+2400 ... */
        md_text_addf(out, "\xE2\x90%c", (char)(0x80 + c));
    else if (c == 0x7F)
        add(out, "\xE2\x90\xA1");
    else
        md_text_add(out, (const char *)p, length);
}

/* The same, and moves on: by one byte where there is no character. */
static size_t next_character(const unsigned char **p, uint32_t *character)
{
    const size_t length = read_character(*p, character);
    *p += length > 0 ? length : 1;
    return length;
}

static void escape_some(md_text *out, const char *text, size_t most)
{
    size_t count = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; count++) {
        uint32_t c = 0;
        const unsigned char *start = p;
        if (count == most) {
            add(out, "\xE2\x80\xA6"); /* an ellipsis */
            return;
        }
        const size_t length = next_character(&p, &c);
        if (length == 0 || is_unwanted(c))
            add(out, "\xEF\xBF\xBD"); /* U+FFFD */
        else
            add_escaped(out, start, length, c);
    }
}

void md_html_escape(md_text *out, const char *text)
{
    escape_some(out, text, SIZE_MAX);
}

size_t md_html_length(const char *text)
{
    size_t count = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; count++) {
        uint32_t c;
        next_character(&p, &c);
    }
    return count;
}

static double width_of(uint32_t c)
{
    if (c >= 0x2070 && c < 0x20A0) /* raised and lowered digits */
        return 0.8;
    if (c >= 0x1100 && c != 0x2212) /* Hangul, Chinese, signs, pictures */
        return 1.8;
    if (c < 0x80 && strchr("MW@%mw", (int)c) != NULL)
        return 1.6;
    return (c >= 'A' && c <= 'Z') || c >= 0x80 ? 1.25 : 1;
}

double md_html_width(const char *text, size_t most)
{
    double width = 0;
    const unsigned char *p = (const unsigned char *)text;
    for (size_t count = 0; *p != '\0' && count < most; count++) {
        uint32_t c = 0xFFFD;
        next_character(&p, &c);
        width += width_of(c);
    }
    return width;
}

void md_html_shorten(md_text *out, const char *text, size_t most)
{
    size_t count = 0;
    const unsigned char *p = (const unsigned char *)text;
    const unsigned char *cut = p; /* after most - 1 characters */
    for (; *p != '\0'; count++) {
        uint32_t c;
        next_character(&p, &c);
        cut = count + 2 <= most ? p : cut;
    }
    if (count <= most) {
        add(out, text);
        return;
    }
    md_text_add(out, text, (size_t)(cut - (const unsigned char *)text));
    add(out, "\xE2\x80\xA6");
}

/* ---- elements ---- */

static void end_tag(md_html *html)
{
    if (html->in_tag)
        add(&html->text, ">");
    html->in_tag = false;
}

void md_html_begin(md_html *html)
{
    add(&html->text, "<!DOCTYPE html>\n");
}

void md_html_style(md_html *html)
{
    end_tag(html);
    add(&html->text, "<style>\n");
    add(&html->text, md_report_style);
    add(&html->text, "</style>\n");
}

/* Lines of some length, so that the file can be looked at. */
static bool starts_a_line(const char *element)
{
    static const char *const names[] = {
        "section", "h1",     "h2",   "h3", "p",    "tr",    "table", "figure", "ul",  "details",
        "div",     "header", "main", "li", "meta", "title", "body",  "footer", "svg", NULL};
    return md_text_index(element, names) >= 0;
}

void md_html_open_named(md_html *html, const char *element)
{
    end_tag(html);
    if (md_text_index(element, elements) < 0 || html->depth == MD_HTML_DEPTH) {
        html->misused = true;
        return;
    }
    if (starts_a_line(element))
        add(&html->text, "\n");
    add(&html->text, "<");
    add(&html->text, element);
    html->open[html->depth++] = element;
    html->in_tag = true;
}

void md_html_close(md_html *html)
{
    if (html->depth == 0) {
        html->misused = true;
        return;
    }
    end_tag(html);
    const char *element = html->open[--html->depth];
    if (md_text_index(element, empty_elements) >= 0)
        return;
    add(&html->text, "</");
    add(&html->text, element);
    add(&html->text, ">");
}

void md_html_close_all(md_html *html, size_t count)
{
    while (count-- > 0)
        md_html_close(html);
}

/* ---- attributes ---- */

void md_html_attribute_named(md_html *html, const char *name, const char *value)
{
    if (!html->in_tag || md_text_index(name, attributes) < 0) {
        html->misused = true;
        return;
    }
    add(&html->text, " ");
    add(&html->text, name);
    add(&html->text, "=\"");
    md_html_escape(&html->text, value);
    add(&html->text, "\"");
}

/* One decimal and no zeros that say nothing. */
void md_html_coordinate_named(md_html *html, const char *name, double value)
{
    char text[32];
    const double limited = isfinite(value) ? fmin(fmax(value, -1e6), 1e6) : 0;
    const double rounded = nearbyint(limited * 10);
    const double tidy = rounded == 0 ? 0 : rounded / 10; /* not -0 */
    snprintf(text, sizeof text, fmod(rounded, 10) == 0 ? "%.0f" : "%.1f", tidy);
    md_html_attribute_named(html, name, text);
}

void md_html_percent_named(md_html *html, const char *name, double share)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g%%", isfinite(share) ? 100 * fmin(fmax(share, 0), 1) : 0);
    md_html_attribute_named(html, name, text);
}

void md_html_link(md_html *html, const char *id)
{
    if (!html->in_tag) {
        html->misused = true;
        return;
    }
    add(&html->text, " href=\"#");
    md_html_escape(&html->text, id);
    add(&html->text, "\"");
}

/* ---- text ---- */

void md_html_text(md_html *html, const char *text)
{
    end_tag(html);
    md_html_escape(&html->text, text);
}

static void write_formatted(md_html *html, const char *format, va_list list)
{
    char small[512];
    va_list again;
    va_copy(again, list);
    const int length = vsnprintf(small, sizeof small, format, list);
    char *large = length < (int)sizeof small ? NULL : malloc((size_t)length + 1);
    if (large != NULL)
        vsnprintf(large, (size_t)length + 1, format, again);
    va_end(again);
    if (length < 0 || (length >= (int)sizeof small && large == NULL))
        html->text.failed = true;
    else
        md_html_text(html, large != NULL ? large : small);
    free(large);
}

void md_html_textf(md_html *html, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    write_formatted(html, format, list);
    va_end(list);
}

void md_html_data(md_html *html, const char *text)
{
    md_html_open_named(html, "bdi");
    end_tag(html);
    escape_some(&html->text, text, MOST_SHOWN);
    md_html_close(html);
}

void md_html_name(md_html *html, const char *name)
{
    MD_CLEARED(md_text_clear) md_text shown = {0};
    md_html_shorten(&shown, name, MOST_SHOWN);
    html->text.failed = html->text.failed || shown.failed;
    md_html_open_named(html, "bdi");
    end_tag(html);
    for (char *p = shown.data, *at; p != NULL; p = at) {
        at = p[0] != '\0' ? strchr(p + 1, '@') : NULL;
        if (at != NULL)
            *at = '\0';
        md_html_escape(&html->text, p);
        if (at != NULL) {
            add(&html->text, "<wbr>");
            *at = '@';
        }
    }
    md_html_close(html);
}

void md_html_open_classed(md_html *html, const char *element, const char *class)
{
    md_html_open_named(html, element);
    if (class != NULL)
        md_html_attribute(html, "class", class);
}

void md_html_element_named(md_html *html, const char *element, const char *class, const char *text)
{
    md_html_open_classed(html, element, class);
    md_html_text(html, text);
    md_html_close(html);
}

void md_html_elementf_named(md_html *html, const char *element, const char *class,
                            const char *format, ...)
{
    va_list list;
    md_html_open_classed(html, element, class);
    va_start(list, format);
    write_formatted(html, format, list);
    va_end(list);
    md_html_close(html);
}

void md_html_data_element_named(md_html *html, const char *element, const char *class,
                                const char *text)
{
    md_html_open_classed(html, element, class);
    md_html_data(html, text);
    md_html_close(html);
}

/* ---- the end ---- */

medley_status md_html_check(const md_html *html, medley_error *error)
{
    if (html->text.failed)
        return md_fail_memory(error, html->text.capacity);
    if (html->misused || html->depth > 0)
        return md_fail(error, MEDLEY_FAILED,
                       "the report is not well formed; this is a mistake in Medley: please tell "
                       "what it was made of");
    return MEDLEY_OK;
}

void md_html_clear(md_html *html)
{
    md_text_clear(&html->text);
    *html = (md_html){0};
}
