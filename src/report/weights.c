/* SPDX-License-Identifier: BSD-3-Clause */
/* Which blocks matter: bars by falling weight, and a table of all of them. */
#include "report/report.h"

#include <math.h>
#include <stdio.h>

static bool present(const md_report *report)
{
    return report->summary != NULL && report->summary->block_count > 0;
}

static void draw_bar(md_html *html, double share, double value)
{
    md_html_open(html, "svg");
    md_html_attribute(html, "aria-hidden", "true"); /* the number stands beside it */
    md_html_open_class(html, "rect", "bar");
    md_html_attribute(html, "data-value", md_figure_exact(value).text);
    md_html_attribute(html, "height", "70%");
    md_html_attribute(html, "y", "15%");
    md_html_percent(html, "width", share);
    md_html_close(html);
    md_html_close(html);
}

static void bar_row(md_html *html, const medley_block_info *block, double largest,
                    double cumulative)
{
    md_html_open(html, "tr");
    md_html_open(html, "th");
    md_html_attribute(html, "scope", "row");
    md_html_data(html, block->name);
    md_html_close(html);
    md_html_open(html, "td");
    draw_bar(html, largest > 0 ? block->weight / largest : 0, block->weight);
    md_html_close(html);
    md_cell_number(html, md_figure_percent(block->weight).text);
    md_html_element(html, "td", "n extra", md_figure_percent(fmin(cumulative, 1)).text);
    md_html_close(html);
}

static void bars_head(md_html *html)
{
    md_html_open_class(html, "table", "bars");
    md_html_attribute(html, "id", "weight-bars");
    md_html_open(html, "thead");
    md_html_open(html, "tr");
    static const char *const heads[][2] = {
        {"what", "block"}, {NULL, "weight"}, {"n", "share"}, {"n extra", "together"}};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        md_html_open_class(html, "th", heads[i][0]);
        md_html_attribute(html, "scope", "col");
        md_html_text(html, heads[i][1]);
        md_html_close(html);
    }
    md_html_close(html);
    md_html_close(html);
    md_html_open(html, "tbody");
}

/* The largest, down to the last that is not zero; `top` of them at most. */
static size_t write_bars(md_report *report)
{
    md_html *html = &report->html;
    const medley_summary *s = report->summary;
    const double largest = s->blocks[report->by_weight[0]].weight;
    size_t shown = 0;
    double cumulative = 0;
    md_figure_open(html, "Weights, largest first", NULL);
    bars_head(html);
    for (; shown < s->block_count && shown < report->options.top; shown++) {
        const medley_block_info *block = &s->blocks[report->by_weight[shown]];
        if (shown > 0 && !(block->weight > 0))
            break;
        cumulative += isfinite(block->weight) ? block->weight : 0;
        bar_row(html, block, largest, cumulative);
    }
    md_table_close(html);
    md_figure_close(html);
    return shown;
}

static void write_table(md_report *report)
{
    enum { MOST_ROWS = 10000 };
    static const char *const heads[] = {"block", "#weight", "#norm", "#features", NULL};
    md_html *html = &report->html;
    const medley_summary *s = report->summary;
    char title[96];
    snprintf(title, sizeof title, "All %s %s as a table", md_figure_count(s->block_count).text,
             md_report_block_word(report));
    md_details_open(html, title);
    md_table_open(html, "numbers", heads);
    for (size_t i = 0; i < s->block_count && i < MOST_ROWS; i++) {
        const medley_block_info *block = &s->blocks[report->by_weight[i]];
        md_html_open(html, "tr");
        md_html_open(html, "td");
        md_html_data(html, block->name);
        md_html_close(html);
        md_cell_number(html, md_figure_number(block->weight).text);
        md_cell_number(html, md_figure_number(block->norm).text);
        md_cell_number(html, md_figure_count(block->features).text);
        md_html_close(html);
    }
    md_table_close(html);
    if (s->block_count > MOST_ROWS)
        md_html_textf(html, "… and %s more", md_figure_count(s->block_count - MOST_ROWS).text);
    md_details_close(html);
}

/* Blocks that the bars do not show: too many of them, or without a share because a penalty of their
 * own keeps them apart from the others (pairs of labels). */
static void write_notes(md_report *report, size_t shown)
{
    md_html *html = &report->html;
    const medley_summary *s = report->summary;
    size_t more = 0;
    size_t apart = 0;
    for (size_t i = shown; i < s->block_count; i++) {
        const medley_block_info *block = &s->blocks[report->by_weight[i]];
        more += block->weight > 0;
        apart += !(block->weight > 0) && block->norm > 0;
    }
    if (more > 0) {
        md_html_open_class(html, "p", "note");
        md_html_textf(html, "%s more %s a weight: see the table.", md_figure_count(more).text,
                      more == 1 ? "has" : "have");
        md_html_close(html);
    }
    if (apart > 0) {
        md_html_open_class(html, "p", "note");
        md_html_textf(html,
                      "%s %s part of the model under a penalty of %s own, and %s no share: see the "
                      "table.",
                      md_figure_count(apart).text, apart == 1 ? "is" : "are",
                      apart == 1 ? "its" : "their", apart == 1 ? "has" : "have");
        md_html_close(html);
    }
}

static medley_status write_section(md_report *report, medley_error *error)
{
    (void)error;
    md_html *html = &report->html;
    md_html_element(html, "p", NULL,
                    "Each block has a weight, the share of its norm in the sum of all norms. A "
                    "block without weight is not part of the model: it need not be computed when "
                    "new data are predicted.");
    const size_t shown = write_bars(report);
    write_notes(report, shown);
    write_table(report);
    return MEDLEY_OK;
}

extern const md_section md_section_weights;
const md_section md_section_weights = {"weights", "What matters", present, write_section};
