/* SPDX-License-Identifier: BSD-3-Clause */
/* medley_report_write: everything is put together in memory and then written at once. */
#include "report/report.h"

#include "base/struct_size.h"
#include <locale.h>

static const md_section *const sections[] = {
#define MD_SECTION(name) &md_section_##name,
#include "report/sections.def"
#undef MD_SECTION
};
enum { SECTIONS = sizeof sections / sizeof(void *) };

/* Even if a word of the data slipped through unescaped, nothing could run or be loaded. */
static const char POLICY[] = "default-src 'none'; style-src 'unsafe-inline'";

static void write_meta(md_html *html, const char *name, const char *content)
{
    md_html_open(html, "meta");
    md_html_attribute(html, "name", name);
    md_html_attribute(html, "content", content);
    md_html_close(html);
}

static void write_head(md_report *report, const char *title)
{
    md_html *html = &report->html;
    md_html_begin(html);
    md_html_open(html, "html");
    md_html_attribute(html, "lang", "en");
    md_html_open(html, "head");
    md_html_open(html, "meta");
    md_html_attribute(html, "charset", "utf-8");
    md_html_close(html);
    md_html_open(html, "meta");
    md_html_attribute(html, "http-equiv", "Content-Security-Policy");
    md_html_attribute(html, "content", POLICY);
    md_html_close(html);
    write_meta(html, "viewport", "width=device-width, initial-scale=1");
    write_meta(html, "color-scheme", "light dark");
    write_meta(html, "generator", "Medley " MEDLEY_VERSION);
    write_meta(html, "referrer", "no-referrer");
    md_html_element(html, "title", NULL, title);
    md_html_style(html);
    md_html_close(html);
}

/* Where there are few sections scrolling is quicker. */
static void write_contents(md_report *report)
{
    enum { FEW = 4 };
    md_html *html = &report->html;
    size_t count = 0;
    for (size_t s = 0; s < SECTIONS; s++)
        count += sections[s]->present(report);
    if (count < FEW)
        return;
    md_html_open(html, "nav");
    md_html_attribute(html, "aria-label", "Contents");
    for (size_t s = 0; s < SECTIONS; s++) {
        if (!sections[s]->present(report))
            continue;
        md_html_open(html, "a");
        md_html_link(html, sections[s]->id);
        md_html_text(html, sections[s]->title);
        md_html_close(html);
        md_html_text(html, " ");
    }
    md_html_close(html);
}

static medley_status write_body(md_report *report, const char *title, medley_error *error)
{
    md_html *html = &report->html;
    md_html_open(html, "body");
    md_html_open(html, "header");
    md_html_element(html, "p", "kicker", "Medley report");
    md_html_data_element(html, "h1", NULL, title);
    md_report_overview(report);
    write_contents(report);
    md_html_close(html);
    md_html_open(html, "main");
    for (size_t s = 0; s < SECTIONS; s++) {
        if (!sections[s]->present(report))
            continue;
        md_html_open(html, "section");
        md_html_attribute(html, "id", sections[s]->id);
        md_html_element(html, "h2", NULL, sections[s]->title);
        MEDLEY_TRY(sections[s]->write(report, error));
        md_html_close(html);
    }
    md_html_close(html);
    md_html_open(html, "footer");
    md_html_element(html, "p", NULL,
                    "Written by Medley " MEDLEY_VERSION
                    ". This file needs nothing else: it loads nothing and runs no script.");
    md_html_close(html);
    md_html_close(html); /* body */
    md_html_close(html); /* html */
    md_text_add(&html->text, "\n", 1);
    return md_html_check(html, error);
}

static medley_status compose(md_report *report, const char *path, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text title = {0};
    MEDLEY_TRY(md_report_measure(report, error));
    md_report_title(report, &title);
    if (title.failed || title.data == NULL)
        return md_fail_memory(error, title.capacity);
    write_head(report, title.data);
    MEDLEY_TRY(write_body(report, title.data, error));
    return medley_write_file(path, report->html.text.data, report->html.text.length, error);
}

medley_status medley_report_write(const medley_model *model, const char *path,
                                  const medley_report_options *options, medley_error *error)
{
    md_begin(error);
    MD_CLEARED(md_report_clear)
    md_report report = {.model = model,
                        .options = MEDLEY_REPORT_OPTIONS_INIT,
                        .evaluation = MEDLEY_EVALUATION_INIT};
    MEDLEY_TRY(MD_TAKE_STRUCT(&report.options, options, MEDLEY_REPORT_OPTIONS_INIT, error));
    if (model == NULL && report.options.path == NULL && report.options.tuning == NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "there is nothing to report on; give a model, a path or a tuning");
    if (model == NULL && report.options.data != NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "there is no model that could be measured on the data; leave them out");
    report.summary = model != NULL ? medley_model_summary(model) : NULL;
    report.task = model != NULL ? medley_task_about(report.summary->task) : NULL;
    /* Points, not commas, in numbers and coordinates, whatever the caller's language is. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;
    const medley_status status = compose(&report, path, error);
    if (plain != (locale_t)0) {
        uselocale(before);
        freelocale(plain);
    }
    return status;
}
