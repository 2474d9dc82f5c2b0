/* SPDX-License-Identifier: BSD-3-Clause */
/* The model beside others on the same data: dots on a common scale. A scale of dots need not begin
 * at nothing, as one of bars would have to. */
#include "report/rank.h"
#include "report/report.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>

static bool present(const md_report *report)
{
    return report->options.contender_count > 0;
}

static void draw_dot(md_html *html, const md_axis *axis, double score, bool mine)
{
    const double share = md_axis_share(axis, score);
    md_html_open(html, "svg");
    md_html_attribute(html, "aria-hidden", "true");
    md_html_open_class(html, "rect", "track");
    md_html_attribute(html, "width", "100%");
    md_html_attribute(html, "height", "2");
    md_html_attribute(html, "y", "46%");
    md_html_close(html);
    if (isfinite(share)) {
        md_html_open_class(html, "circle", mine ? "dot" : "dot other");
        md_html_attribute(html, "data-value", md_figure_exact(score).text);
        md_html_percent(html, "cx", share);
        md_html_attribute(html, "cy", "50%");
        md_html_attribute(html, "r", mine ? "7" : "5");
        md_html_close(html);
    }
    md_html_close(html);
}

static void write_row(md_html *html, const medley_contender *contender, const md_axis *axis)
{
    md_html_open_class(html, "tr", contender->is_model ? "mine" : NULL);
    md_html_open(html, "th");
    md_html_attribute(html, "scope", "row");
    md_html_data(html, contender->name != NULL ? contender->name : "");
    md_html_close(html);
    md_html_open(html, "td");
    draw_dot(html, axis, contender->score, contender->is_model);
    md_html_close(html);
    md_cell_number(html, md_figure_percent(contender->score).text);
    md_html_element(html, "td", "n extra", md_figure_seconds(contender->seconds).text);
    md_html_close(html);
}

static void tell_winner(md_report *report)
{
    const medley_contender *mine = NULL;
    const medley_contender *other = NULL;
    for (size_t i = 0; i < report->options.contender_count; i++) {
        const medley_contender *c = &report->options.contenders[i];
        if (!isfinite(c->score))
            continue;
        if (c->is_model)
            mine = c;
        else if (other == NULL || c->score > other->score)
            other = c;
    }
    if (mine == NULL || other == NULL)
        return;
    md_html *html = &report->html;
    const double points = 100 * (mine->score - other->score);
    md_html_open(html, "p");
    if (points > 0)
        md_html_textf(html, "The model is ahead of all others by %.1f points or more; next is ",
                      points);
    else if (points == 0)
        md_html_text(html, "The model is as good as the best of the others, ");
    else
        md_html_textf(html, "The model is %.1f points behind ", -points);
    md_html_data(html, other->name != NULL ? other->name : "");
    md_html_textf(html, " with %s.", md_figure_percent(other->score).text);
    md_html_close(html);
}

/* Best first. */
static medley_status order_lines(const md_report *report, size_t **order, medley_error *error)
{
    const size_t count = report->options.contender_count;
    double *scores = md_calloc(count, sizeof *scores);
    if (scores == NULL)
        return md_fail_memory(error, count * sizeof *scores);
    for (size_t i = 0; i < count; i++)
        scores[i] = report->options.contenders[i].score;
    const medley_status status = md_rank(order, scores, count, error);
    free(scores);
    return status;
}

static medley_status write_section(md_report *report, medley_error *error)
{
    size_t *order;
    const medley_status status = order_lines(report, &order, error);
    if (status < 0)
        return status;
    md_html *html = &report->html;
    md_axis axis = MD_AXIS_INIT(md_figure_tick_percent, "");
    const medley_report_options *o = &report->options;
    for (size_t i = 0; i < o->contender_count; i++)
        md_axis_include(&axis, o->contenders[i].score);
    md_axis_round(&axis, 5);
    tell_winner(report);
    md_figure_open(html, "Share of right answers on the same data", NULL);
    md_html_open_class(html, "table", "bars");
    md_html_attribute(html, "id", "contender-dots");
    md_html_open(html, "thead");
    md_html_open(html, "tr");
    md_html_element(html, "th", "what", "learnt with");
    md_html_open(html, "th");
    md_html_textf(html, "%s to %s", md_figure_tick_percent(axis.low).text,
                  md_figure_tick_percent(axis.high).text);
    md_html_close(html);
    md_html_element(html, "th", "n", "score");
    md_html_element(html, "th", "n extra", "time");
    md_html_close(html);
    md_html_close(html);
    md_html_open(html, "tbody");
    for (size_t i = 0; i < o->contender_count; i++)
        write_row(html, &o->contenders[order[i]], &axis);
    md_table_close(html);
    md_figure_close(html);
    free(order);
    return MEDLEY_OK;
}

extern const md_section md_section_contenders;
const md_section md_section_contenders = {"contenders", "Compared with", present, write_section};
