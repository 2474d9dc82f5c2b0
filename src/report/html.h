/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing HTML and SVG that nothing in the data can break out of. Names of elements and attributes
 * are literals (the macros do not compile otherwise) from a list of harmless ones; everything else
 * goes through one of the functions that escape. There is no way to write markup given as text, and
 * no attribute that could hold a script, a style or an address. Mistakes of the caller and lack of
 * memory are remembered and told at the end. */
#ifndef MD_HTML_H
#define MD_HTML_H

#include "base/text.h"

enum { MD_HTML_DEPTH = 32 };

typedef struct md_html {
    md_text text;
    const char *open[MD_HTML_DEPTH]; /* elements that are not closed yet */
    size_t depth;
    bool in_tag;  /* attributes may still come */
    bool misused; /* a name that is not harmless, an attribute outside of a tag, wrong nesting */
} md_html;

/* The style sheet (style.c): light and dark, screen, phone and paper; its classes are hue1 ... hue8
 * and heat0 ... heat9. */
extern const char md_report_style[];
enum { MD_HUES = 8, MD_HEATS = 10 };

/* The only text that is written as it is: doctype, and the style sheet of the report. */
void md_html_begin(md_html *html);
void md_html_style(md_html *html);

#define md_html_open(html, element) md_html_open_named((html), "" element "")
void md_html_open_named(md_html *html, const char *element);
void md_html_close(md_html *html);                   /* the innermost one */
void md_html_close_all(md_html *html, size_t count); /* that many of them */

/* Attributes of the element that was opened last. */
#define md_html_attribute(html, name, value)  md_html_attribute_named((html), "" name "", (value))
#define md_html_coordinate(html, name, value) md_html_coordinate_named((html), "" name "", (value))
#define md_html_percent(html, name, value)    md_html_percent_named((html), "" name "", (value))
void md_html_attribute_named(md_html *html, const char *name, const char *value);
/* With one decimal; what is not finite becomes 0. */
void md_html_coordinate_named(md_html *html, const char *name, double value);
void md_html_percent_named(md_html *html, const char *name, double share); /* "12.5%" of 0.125 */
void md_html_link(md_html *html, const char *id);                          /* href="#id" */

/* Our own words. */
void md_html_text(md_html *html, const char *text);
void md_html_textf(md_html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Words of the data, kept apart from the direction of the text around them; long ones are cut. In
 * SVG, and in attributes, where there is no element for that, use plain text. */
void md_html_data(md_html *html, const char *text);

/* The same of the name of a block, such as "rbf(sigma2=5)@all": a line may end before an @. */
void md_html_name(md_html *html, const char *name);

/* An element with a class (NULL: none) and with text. */
#define md_html_open_class(html, element, class)                                                   \
    md_html_open_classed((html), "" element "", (class))
#define md_html_element(html, element, class, text)                                                \
    md_html_element_named((html), "" element "", (class), (text))
#define md_html_elementf(html, element, class, ...)                                                \
    md_html_elementf_named((html), "" element "", (class), __VA_ARGS__)
#define md_html_data_element(html, element, class, text)                                           \
    md_html_data_element_named((html), "" element "", (class), (text))
void md_html_open_classed(md_html *html, const char *element, const char *class);
void md_html_element_named(md_html *html, const char *element, const char *class, const char *text);
void md_html_elementf_named(md_html *html, const char *element, const char *class,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));
void md_html_data_element_named(md_html *html, const char *element, const char *class,
                                const char *text); /* words of the data */

/* Was everything written and closed? */
medley_status md_html_check(const md_html *html, medley_error *error);
void md_html_clear(md_html *html);

/* Appends text as HTML. Bytes that are no UTF-8, characters that are none and those that turn the
 * direction of text around become U+FFFD, control characters their pictures (U+2400 ...). */
void md_html_escape(md_text *out, const char *text);

/* The first characters of text and a sign that there is more, if there are more than most. */
void md_html_shorten(md_text *out, const char *text, size_t most);

/* Characters of a text (bytes that are no UTF-8 count one each). */
size_t md_html_length(const char *text);

/* How wide the first characters of a text are, in small letters; rather too wide than too narrow.
 */
double md_html_width(const char *text, size_t most);

#endif
