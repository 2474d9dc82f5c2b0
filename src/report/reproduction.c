/* SPDX-License-Identifier: BSD-3-Clause */
/* What one needs to make the same report again: command line or code, data, date and version. */
#include "report/report.h"

static bool given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static bool present(const md_report *report)
{
    return given(report->options.command) || given(report->options.date);
}

static void row(md_html *html, const char *name, const char *value)
{
    if (!given(value))
        return;
    md_html_open(html, "tr");
    md_html_open(html, "th");
    md_html_attribute(html, "scope", "row");
    md_html_text(html, name);
    md_html_close(html);
    md_html_data_element(html, "td", NULL, value);
    md_html_close(html);
}

static medley_status write_section(md_report *report, medley_error *error)
{
    (void)error;
    md_html *html = &report->html;
    static const char *const heads[] = {"what", "value", NULL};
    if (given(report->options.command)) { /* whole, however long it is */
        md_frame_open(html, "How it was made");
        md_html_element(html, "code", "command", report->options.command);
        md_html_close(html);
    }
    md_frame_open(html, "Reproduction");
    md_table_open(html, NULL, heads);
    row(html, "data", report->options.data_name);
    row(html, "date", report->options.date);
    row(html, "version", "Medley " MEDLEY_VERSION);
    md_html_close_all(html, 3);
    return MEDLEY_OK;
}

const md_section md_section_reproduction = {"reproduction", "Reproduction", present, write_section};
