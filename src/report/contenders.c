/* SPDX-License-Identifier: BSD-3-Clause */
/* The model beside others on the same data: dots on a common scale. A scale of dots need not begin
 * at nothing, as one of bars would have to. */
#include "report/report.h"

static bool present(const md_report *report)
{
    return report->options.contender_count > 0;
}

static void draw_dot(md_html *html, const md_axis *axis, double score, bool mine)
{
    md_svg_open_cell(html);
    md_svg_track(html, "46%", "2");
    md_svg_dot(html, axis, score, mine ? "dot" : "dot other", mine ? "7" : "5");
    md_html_close(html);
}

static void write_row(md_html *html, const medley_contender *contender, const md_axis *axis)
{
    md_html_open_class(html, "tr", contender->is_model ? "mine" : NULL);
    md_cell_head(html, "row", contender->name != NULL ? contender->name : "");
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
        md_html_textf(html, "The model is %.1f points below ", -points);
    md_html_data(html, other->name != NULL ? other->name : "");
    md_html_textf(html, " with %s.", md_figure_percent(other->score).text);
    md_html_close(html);
}

static double score_of(const void *contenders, size_t i)
{
    return ((const medley_contender *)contenders)[i].score;
}

static medley_status write_section(md_report *report, medley_error *error)
{
    md_html *html = &report->html;
    md_axis axis = MD_AXIS_INIT(md_figure_tick_percent, "");
    const medley_report_options *o = &report->options;
    MD_OWNED(free) size_t *order = NULL; /* best first */
    MEDLEY_TRY(md_rank(&order, o->contender_count, score_of, o->contenders, error));
    for (size_t i = 0; i < o->contender_count; i++)
        md_axis_include(&axis, o->contenders[i].score);
    md_axis_round(&axis, 5);
    tell_winner(report);
    md_figure_open(html, "Share of right answers on the same data", NULL);
    md_table_begin(html, "bars", "contender-dots");
    md_html_element(html, "th", "what", "learnt with");
    md_html_elementf(html, "th", NULL, "%s to %s", md_figure_tick_percent(axis.low).text,
                     md_figure_tick_percent(axis.high).text);
    md_html_element(html, "th", "n", "score");
    md_html_element(html, "th", "n extra", "time");
    md_table_body(html);
    for (size_t i = 0; i < o->contender_count; i++)
        write_row(html, &o->contenders[order[i]], &axis);
    md_html_close_all(html, 3);
    return MEDLEY_OK;
}

const md_section md_section_contenders = {"contenders", "Comparison", present, write_section};
