/* SPDX-License-Identifier: BSD-3-Clause */
/* How it was learnt, for the record. */
#include "report/report.h"

static bool present(const md_report *report)
{
    return report->summary != NULL;
}

static void row(md_html *html, const char *name, const char *value)
{
    md_html_open(html, "tr");
    md_html_open(html, "th");
    md_html_attribute(html, "scope", "row");
    md_html_text(html, name);
    md_html_close(html);
    md_html_data_element(html, "td", NULL, value);
    md_html_close(html);
}

static void number(md_html *html, const char *name, double value)
{
    if (isfinite(value))
        row(html, name, md_figure_number(value).text);
}

static void share(md_html *html, const char *name, double value)
{
    if (isfinite(value))
        row(html, name, md_figure_percent(value).text);
}

static void count(md_html *html, const char *name, size_t value)
{
    if (value > 0)
        row(html, name, md_figure_count(value).text);
}

static void write_measures(md_html *html, const md_report *report)
{
    const medley_evaluation *e = &report->evaluation;
    const bool calibrated = md_report_is_calibrated(report);
    count(html, "rows measured", e->parts);
    number(html, calibrated ? "log loss" : "log loss, uncalibrated", e->log_loss);
    number(html, calibrated ? "Brier score" : "Brier score, uncalibrated", e->brier);
    number(html, calibrated ? "calibration error" : "calibration error, uncalibrated",
           e->calibration_error);
    share(html, "UAS without punctuation", e->uas_no_punct);
    share(html, "LAS without punctuation", e->las_no_punct);
    share(html, "precision of non-projective arcs", e->nonprojective_precision);
    share(html, "recall of non-projective arcs", e->nonprojective_recall);
    if (e->seconds_total > 0)
        row(html, "time to predict", md_figure_seconds(e->seconds_total).text);
}

static medley_status write_section(md_report *report, medley_error *error)
{
    (void)error;
    md_html *html = &report->html;
    const medley_summary *s = report->summary;
    static const char *const heads[] = {"setting", "value", NULL};
    md_frame_open(html, "Settings and results");
    md_table_open(html, NULL, heads);
    row(html, "task", s->task);
    row(html, "method", s->method);
    row(html, "loss", s->loss);
    row(html, s->lambda > 0 ? "penalty" : "norm, without a penalty", s->penalty);
    if (s->scale[0] != '\0')
        row(html, "scale", s->scale);
    number(html, "lambda", s->lambda);
    number(html, "C, which is 1/(lambda N)", s->C);
    number(html, "spicy-C, which is lambda N", s->spicy_C);
    number(html, "first learning rate", s->eta0);
    count(html, "examples", s->examples);
    if (s->parts != s->examples)
        count(html, "positions", s->parts);
    count(html, "labels", medley_model_label_count(report->model));
    count(html, "blocks", s->block_count);
    row(html, "active blocks", md_figure_count(s->active_blocks).text);
    count(html, "support rows", s->support_rows);
    number(html, "objective", s->objective);
    number(html, "dual", s->dual);
    if (isfinite(s->gap))
        row(html, "gap", md_figure_at_most(s->gap).text);
    count(html, "iterations", s->iterations);
    count(html, "epochs", s->epoch_count);
    row(html, "converged", s->converged ? "yes" : "no");
    number(html, "bias", s->bias);
    number(html, "temperature of probabilities", s->temperature);
    row(html, "seed", md_figure_count((size_t)s->seed).text);
    count(html, "threads", s->threads);
    if (s->device_use[0] != '\0')
        row(html, "card", s->device);
    if (s->peak_rss_mb > 0)
        number(html, "peak memory, MB", nearbyint(s->peak_rss_mb));
    if (report->measured)
        write_measures(html, report);
    md_html_close_all(html, 3);
    return MEDLEY_OK;
}

const md_section md_section_settings = {"settings", "Settings", present, write_section};
