/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that were predicted against those that are true. */
#include "report/report.h"

enum { MOST_POINTS = 2000 };

static bool present(const md_report *report)
{
    return report->measured && report->target != NULL && report->prediction->value != NULL &&
           report->prediction->rows > 0;
}

/* Points as strokes of no length with round ends: the shortest way to write a dot. */
static void draw_cloud(md_html *html, const md_report *report, const md_chart *chart)
{
    const medley_prediction *p = report->prediction;
    const size_t stride = p->rows > MOST_POINTS ? p->rows / MOST_POINTS + 1 : 1;
    md_text path = {0};
    for (size_t r = 0; r < p->rows; r += stride) {
        const double x = md_chart_x(chart, report->target[r]);
        const double y = md_chart_y(chart, p->value[r]);
        if (isfinite(x) && isfinite(y))
            md_text_addf(&path, "M%.1f %.1fh0", x, y);
    }
    md_svg_take_path(html, "cloud", &path);
}

static void draw(md_report *report)
{
    md_html *html = &report->html;
    const medley_prediction *p = report->prediction;
    md_chart chart = {.x = MD_AXIS_INIT(md_figure_tick, "true value"),
                      .y = MD_AXIS_INIT(md_figure_tick, "predicted value"),
                      .square = true,
                      .label = "Scatter plot of predicted against true values"};
    md_axis_include_all(&chart.x, report->target, p->rows);
    md_axis_include_all(&chart.x, p->value, p->rows);
    chart.y.low = chart.x.low; /* one scale for both, so that the diagonal is one */
    chart.y.high = chart.x.high;
    char note[96] = "dotted: predicted = true";
    if (p->rows > MOST_POINTS)
        snprintf(note, sizeof note, "dotted: predicted = true; one row in %zu",
                 p->rows / MOST_POINTS + 1);
    md_chart_figure(html, &chart, "Predicted against true values", note);
    const double ends[2] = {chart.x.low, chart.x.high};
    md_chart_line(html, &chart, ends, ends, 2, "line guide");
    draw_cloud(html, report, &chart);
    md_html_close_all(html, 2);
}

static double off_by(const void *report, size_t row)
{
    const md_report *r = report;
    return fabs(r->prediction->value[row] - r->target[row]);
}

static medley_status write_worst(md_report *report, medley_error *error)
{
    static const char *const heads[] = {"#row", "#true", "#predicted", "#off by", NULL};
    md_html *html = &report->html;
    const medley_prediction *p = report->prediction;
    MD_OWNED(free) size_t *order = NULL;
    MEDLEY_TRY(md_rank(&order, p->rows, off_by, report, error));
    md_details_open(html, "The rows that are farthest off, numbered among those looked at");
    md_table_open(html, "numbers", heads);
    for (size_t i = 0; i < p->rows && i < report->options.examples; i++) {
        md_html_open(html, "tr");
        md_cell_number(html, md_figure_count(order[i] + 1).text);
        md_cell_number(html, md_figure_number(report->target[order[i]]).text);
        md_cell_number(html, md_figure_number(p->value[order[i]]).text);
        md_cell_number(html, md_figure_number(off_by(report, order[i])).text);
        md_html_close(html);
    }
    md_html_close_all(html, 4);
    return MEDLEY_OK;
}

static medley_status write_section(md_report *report, medley_error *error)
{
    md_html_open_class(&report->html, "div", "pair");
    draw(report);
    md_html_close(&report->html);
    return report->options.examples > 0 ? write_worst(report, error) : MEDLEY_OK;
}

const md_section md_section_scatter = {"predictions", "Predictions", present, write_section};
