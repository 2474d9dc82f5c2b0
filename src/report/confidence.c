/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the probabilities of heads can be trusted: words in bins by the probability of the head
 * that was predicted, and of each bin the share that is right. */
#include "report/report.h"

#include "metrics/reliability.h"

enum { FEWEST = 10 }; /* words of a bin that has a place in the chart */

static bool present(const md_report *report)
{
    return report->measured && report->prediction->head_probability != NULL &&
           report->prediction->rows > 0;
}

static const double MOST_ERROR = 0.1; /* of probabilities that are of use */

bool md_report_is_reliable(const md_report *report)
{
    return present(report) &&
           (md_report_is_calibrated(report) || report->evaluation.calibration_error <= MOST_ERROR);
}

static md_reliability count_words(const md_report *report)
{
    const medley_prediction *p = report->prediction;
    md_reliability reliability = {.rows = (double)p->rows};
    for (size_t r = 0; r < p->rows; r++)
        md_reliability_put(&reliability, (double)p->head_probability[r],
                           p->head[r] == medley_dataset_head(report->options.data, r));
    return reliability;
}

static void tell(md_report *report)
{
    md_html *html = &report->html;
    const medley_evaluation *e = &report->evaluation;
    md_html_open(html, "p");
    md_html_textf(html,
                  "Of words whose heads have a probability of 90\xC2\xA0%%, nine in ten should be "
                  "right. The mean distance from that is %s, the calibration error.",
                  md_figure_percent(e->calibration_error).text);
    if (e->calibration_error > MOST_ERROR)
        md_html_text(html, !md_report_is_calibrated(report)
                               ? " The scores were not calibrated: train with --calibrate."
                               : " That is much: the scores were calibrated with few sentences, or "
                                 "with others than these.");
    md_html_close(html);
}

static void draw(md_report *report, const md_reliability *reliability)
{
    md_html *html = &report->html;
    md_chart chart = {
        .x = MD_AXIS_INIT(md_figure_tick_percent, md_report_is_calibrated(report)
                                                      ? "probability of the head"
                                                      : "probability of the head, uncalibrated"),
        .y = MD_AXIS_INIT(md_figure_tick_percent, "right heads"),
        .square = true,
        .label = "Share of right heads against their probability"};
    const double ends[2] = {0, 1};
    double x[MD_RELIABILITY_BINS];
    double y[MD_RELIABILITY_BINS];
    size_t count = 0;
    md_axis_include_all(&chart.x, ends, 2);
    md_axis_include_all(&chart.y, ends, 2);
    for (size_t b = 0; b < MD_RELIABILITY_BINS; b++) {
        const md_reliability_bin *bin = &reliability->bins[b];
        if (bin->rows < FEWEST)
            continue;
        x[count] = bin->probability / (double)bin->rows;
        y[count++] = bin->right / (double)bin->rows;
    }
    if (count < 3) /* the table tells as much */
        return;
    md_chart_figure(html, &chart, "Right heads by their probability",
                    "on the dotted line both are the same");
    md_chart_line(html, &chart, ends, ends, 2, "line guide");
    md_chart_line(html, &chart, x, y, count, "line");
    for (size_t i = 0; i < count; i++)
        md_chart_dot(html, &chart, x[i], y[i], "end");
    md_html_close_all(html, 2);
}

static void write_table(md_html *html, const md_reliability *reliability)
{
    static const char *const heads[] = {"#from",  "#to", "#words", "#mean probability",
                                        "#right", NULL};
    md_details_open(html, "The same as a table");
    md_table_open(html, "numbers", heads);
    for (size_t b = 0; b < MD_RELIABILITY_BINS; b++) {
        const md_reliability_bin *bin = &reliability->bins[b];
        if (bin->rows == 0)
            continue;
        md_html_open(html, "tr");
        md_cell_number(html, md_figure_rough((double)b / MD_RELIABILITY_BINS).text);
        md_cell_number(html, md_figure_rough((double)(b + 1) / MD_RELIABILITY_BINS).text);
        md_cell_number(html, md_figure_count(bin->rows).text);
        md_cell_number(html, md_figure_percent(bin->probability / (double)bin->rows).text);
        md_cell_number(html, md_figure_percent(bin->right / (double)bin->rows).text);
        md_html_close(html);
    }
    md_html_close_all(html, 4);
}

static medley_status write_section(md_report *report, medley_error *error)
{
    (void)error;
    const md_reliability reliability = count_words(report);
    tell(report);
    md_html_open_class(&report->html, "div", "pair");
    draw(report, &reliability);
    md_html_close(&report->html);
    write_table(&report->html, &reliability);
    return MEDLEY_OK;
}

const md_section md_section_confidence = {"confidence", "Confidence", present, write_section};
