/* SPDX-License-Identifier: BSD-3-Clause */
/* The large numbers at the head of the report: how well the model does and with what certainty,
 * what one gets without learning, how many blocks it takes and how long it took. */
#include "report/report.h"

enum { LABEL_LETTERS = 24 };

struct headline {
    const char *name;
    md_figure value;
};

static struct headline headline_of(const md_report *report)
{
    const medley_evaluation *e = &report->evaluation;
    if (report->target != NULL && isfinite(e->r2))
        return (struct headline){"R\xC2\xB2", md_figure_number(e->r2)};
    if (report->target != NULL)
        return (struct headline){"root mean squared error", md_figure_number(e->rmse)};
    if (isfinite(e->las))
        return (struct headline){"right heads and relations (LAS)", md_figure_percent(e->las)};
    if (isfinite(e->uas))
        return (struct headline){"right heads (UAS)", md_figure_percent(e->uas)};
    if (e->has_chunks)
        return (struct headline){"F1 of chunks", md_figure_percent(e->chunk_f1)};
    return (struct headline){"accuracy", md_figure_percent(e->accuracy)};
}

static void tile(md_html *html, const char *name, const char *value, const char *below)
{
    md_html_open(html, "div");
    md_html_element(html, "dt", NULL, name);
    md_html_element(html, "dd", "big", value);
    if (below != NULL && below[0] != '\0')
        md_html_element(html, "dd", "small", below);
    md_html_close(html);
}

static void tile_score(md_report *report)
{
    char below[96] = "";
    const medley_evaluation *e = &report->evaluation;
    const struct headline headline = headline_of(report);
    const md_confidence_interval fit = md_report_fit_interval(report);
    const md_confidence_interval interval =
        e->has_chunks ? md_report_chunk_interval(report) : md_report_interval(report);
    if (report->target != NULL && !isfinite(e->rmse))
        return;
    if (report->options.data_chose)
        snprintf(below, sizeof below, "on data that chose %s", md_report_what_data_chose(report));
    else if (report->from_training != MD_NO_TRAINING_ROWS)
        snprintf(below, sizeof below, "%s",
                 report->from_training == MD_SOME_TRAINING_ROWS ? "with rows of the training data"
                                                                : "on the training data");
    else if (isfinite(fit.low))
        snprintf(below, sizeof below, "95 %% CI: %.3f to %.3f", fit.low, fit.high);
    else if (isfinite(interval.low))
        snprintf(below, sizeof below, "95 %% CI: %.1f to %.1f %%", 100 * interval.low,
                 100 * interval.high);
    else if (isfinite(e->las))
        snprintf(below, sizeof below, "UAS %s", md_figure_percent(e->uas).text);
    else if (e->has_chunks)
        snprintf(below, sizeof below, "labels %s", md_figure_percent(e->accuracy).text);
    else if (isfinite(e->exact_match))
        snprintf(below, sizeof below, "whole %s %s",
                 report->prediction->head != NULL ? "sentences" : "sequences",
                 md_figure_percent(e->exact_match).text);
    else if (isfinite(e->rmse) && isfinite(e->r2))
        snprintf(below, sizeof below, "rmse %s", md_figure_number(e->rmse).text);
    else if (isfinite(e->rmse))
        snprintf(below, sizeof below, "on %s", md_figure_of(e->parts, "row", "rows").text);
    else
        snprintf(below, sizeof below, "%s of %s", md_figure_count(e->correct).text,
                 md_figure_count(e->parts).text);
    tile(&report->html, headline.name, headline.value.text, below);
}

static void tile_baseline(md_report *report)
{
    const md_baseline *baseline = &report->baseline;
    MD_CLEARED(md_text_clear) md_text below = {0};
    if (!isfinite(baseline->value))
        return;
    if (baseline->label != NULL) {
        md_text_addf(&below, report->evaluation.has_chunks ? "of labels, always " : "always ");
        md_html_shorten(&below, baseline->label, LABEL_LETTERS);
        tile(&report->html, "majority-class baseline", md_figure_percent(baseline->value).text,
             below.data);
    } else if (report->target != NULL) {
        tile(&report->html, "mean baseline", md_figure_number(baseline->value).text,
             "rmse of always the mean");
    } else {
        tile(&report->html, "neighbour baseline (UAS)", md_figure_percent(baseline->value).text,
             baseline->is_next ? "head: the next word" : "head: the previous word");
    }
    report->html.text.failed = report->html.text.failed || below.failed;
}

static void tile_tuning(md_report *report)
{
    const medley_tuning *tuning = report->options.tuning;
    const md_figure_writer text = md_measure_text(tuning->higher_is_better);
    char name[64];
    char below[96];
    snprintf(name, sizeof name, "cross-validated %.40s", tuning->measure);
    if (tuning->best < tuning->trial_count) {
        snprintf(below, sizeof below, "best of %s",
                 md_figure_of(tuning->trial_count, "combination", "combinations").text);
        tile(&report->html, name, text(tuning->trials[tuning->best].mean).text, below);
        snprintf(below, sizeof below, "over %s",
                 md_figure_of(tuning->fold_count, "fold", "folds").text);
        tile(&report->html, "standard error",
             text(tuning->trials[tuning->best].standard_error).text, below);
    }
}

static void tile_time(md_report *report)
{
    char below[96] = "";
    const medley_summary *s = report->summary;
    const double seconds = s->seconds_kernels + s->seconds_train;
    if (seconds > 0) {
        if (s->seconds_kernels >= 0.0005)
            snprintf(below, sizeof below, "%s of it for kernels",
                     md_figure_seconds(s->seconds_kernels).text);
        tile(&report->html, "training time", md_figure_seconds(seconds).text, below);
        return;
    }
    if (s->parts > s->examples)
        snprintf(below, sizeof below, "%s %s", md_figure_count(s->parts).text, report->task->parts);
    tile(&report->html, "learnt from", md_figure_count(s->examples).text, below);
}

void md_report_tiles(md_report *report)
{
    const medley_summary *s = report->summary;
    char name[64];
    char below[64];
    md_html_open_class(&report->html, "dl", "tiles");
    if (report->options.tuning != NULL)
        tile_tuning(report);
    if (report->measured) {
        tile_score(report);
        tile_baseline(report);
    }
    snprintf(name, sizeof name, "active %s", md_report_block_word(report, s->active_blocks));
    snprintf(below, sizeof below, "of %s", md_figure_count(s->block_count).text);
    tile(&report->html, name, md_figure_count(s->active_blocks).text, below);
    tile_time(report);
    md_html_close(&report->html);
}
