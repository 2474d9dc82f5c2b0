/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of the report: what was learnt, from how much, how well, how certain and how long, in
 * plain words and four large numbers. */
#include "report/report.h"

static const char *plural(size_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

/* What the task says of the model, with the number of its labels. */
static void add_phrase(md_text *text, const char *phrase, const md_report *report)
{
    static const char LABELS[] = "LABELS";
    const size_t labels = medley_model_label_count(report->model);
    const char *place = strstr(phrase, LABELS);
    if (place == NULL)
        md_text_addf(text, "%s", phrase);
    else
        md_text_addf(text, "%.*s%s%s", (int)(place - phrase), phrase,
                     md_figure_of(labels, "label", "labels").text, place + strlen(LABELS));
}

/* ---- title ---- */

void md_report_title(const md_report *report, md_text *title)
{
    if (report->options.title != NULL && report->options.title[0] != '\0') {
        md_text_add(title, report->options.title, strlen(report->options.title));
        return;
    }
    if (report->model == NULL) {
        md_text_addf(title, "%s",
                     report->options.tuning != NULL ? "Which options are best"
                                                    : "A path of penalties");
        return;
    }
    const size_t blocks = report->summary->block_count;
    add_phrase(title, report->task->title, report);
    md_text_addf(title, " with %s %s", md_figure_count(blocks).text,
                 md_report_block_word(report, blocks));
}

/* ---- the main measure ---- */

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

/* ---- sentences ---- */

static void tell_task(md_report *report)
{
    md_html *html = &report->html;
    const medley_summary *s = report->summary;
    const medley_task_info *task = report->task;
    const bool labelled = task->does_unlabelled == NULL || medley_model_label_count(report->model);
    MD_CLEARED(md_text_clear) md_text does = {0};
    add_phrase(&does, labelled ? task->does : task->does_unlabelled, report);
    html->text.failed = html->text.failed || does.failed;
    md_html_textf(html, "This model %s. It was learnt from %s %s", does.data ? does.data : "",
                  md_figure_count(s->examples).text,
                  plural(s->examples, task->example, task->examples));
    if (s->parts > s->examples)
        md_html_textf(html, " (%s %s)", md_figure_count(s->parts).text, task->parts);
    const double seconds = s->seconds_kernels + s->seconds_train;
    if (seconds > 0)
        md_html_textf(html, " in %s", md_figure_seconds(seconds).text);
    md_html_text(html, ". ");
}

static void tell_out(md_html *html, size_t out)
{
    if (out > 0)
        md_html_textf(html, "; %s left out. ", md_figure_of(out, "is", "are").text);
    else
        md_html_text(html, "; none is left out. ");
}

/* The fewest blocks that carry nine tenths of the weight. */
static void tell_weights(md_report *report)
{
    const medley_summary *s = report->summary;
    if (s->block_count < 2)
        return;
    if (report->uniform) {
        md_html_textf(&report->html, "Its %s have the same weight each",
                      md_report_block_word(report, s->block_count));
        tell_out(&report->html, s->block_count - s->active_blocks);
        return;
    }
    const double enough = 0.9;
    double carried = 0;
    size_t few = 0;
    while (few < s->block_count && carried < enough) {
        const double weight = s->blocks[report->by_weight[few]].weight;
        if (!(weight > 0))
            break;
        carried += weight;
        few++;
    }
    md_html *html = &report->html;
    const char *word = md_report_block_word(report, s->block_count);
    if (few == 0) {
        md_html_textf(html, "All %s %s are left out. ", md_figure_count(s->block_count).text, word);
        return;
    }
    md_html_elementf(html, "strong", NULL, "%s of %s %s %s %s of the weight",
                     md_figure_count(few).text, md_figure_count(s->block_count).text, word,
                     plural(few, "carries", "carry"), md_figure_rough(fmin(carried, 1)).text);
    tell_out(html, s->block_count - s->active_blocks);
}

/* Wilson's interval: where the share lies with a probability of 95 %, if rows are independent. */
static void tell_interval(md_html *html, double share, double n)
{
    const double z = 1.959964;
    const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n);
    md_html_textf(html, " (95 %% confidence: %.1f to %.1f %%)", 100 * fmax(middle - half, 0),
                  100 * fmin(middle + half, 1));
}

static void name_data(md_report *report)
{
    md_html *html = &report->html;
    if (report->options.data_name == NULL || report->options.data_name[0] == '\0')
        return;
    md_html_text(html, " of ");
    md_html_data(html, report->options.data_name);
}

static void tell_labels(md_report *report)
{
    md_html *html = &report->html;
    const medley_evaluation *e = &report->evaluation;
    md_html_elementf(html, "strong", NULL, "%s of %s", md_figure_count(e->correct).text,
                     md_figure_of(e->parts, "label", "labels").text);
    name_data(report);
    md_html_textf(html, " %s right, %s", plural(e->parts < 2 ? 1 : e->correct, "is", "are"),
                  md_figure_percent(e->accuracy).text);
    if (!isfinite(e->exact_match) && e->parts > 0 && !report->options.data_chose)
        tell_interval(html, e->accuracy, (double)e->parts);
    if (isfinite(e->exact_match))
        md_html_textf(html, "; %s of the sequences are without an error",
                      md_figure_rough(e->exact_match).text);
    if (e->has_chunks)
        md_html_textf(html, "; of the chunks it found %s are right, and it found %s of them",
                      md_figure_rough(e->chunk_precision).text,
                      md_figure_rough(e->chunk_recall).text);
    md_html_text(html, ". ");
    if (e->unknown_labels > 0)
        md_html_textf(html, "%s never seen in training and %s as wrong. ",
                      md_figure_of(e->unknown_labels, "label was", "labels were").text,
                      plural(e->unknown_labels, "counts", "count"));
}

static void tell_fit(md_report *report)
{
    md_html *html = &report->html;
    const medley_evaluation *e = &report->evaluation;
    const char *name = report->options.data_name;
    if (!isfinite(e->rmse))
        return;
    md_html_text(html, "On ");
    md_html_data(html, name != NULL && name[0] != '\0' ? name : "the data");
    md_html_textf(html, " (%s) it is off by %s, the root of the mean squared error",
                  md_figure_of(e->parts, "row", "rows").text, md_figure_number(e->rmse).text);
    if (isfinite(e->r2) && e->r2 < 0)
        md_html_text(html, ", which is worse than always saying the mean of these rows");
    else if (isfinite(e->r2))
        md_html_textf(html, ", which leaves %s of the variance unexplained",
                      md_figure_rough(fmax(1 - e->r2, 0)).text);
    md_html_text(html, ". ");
}

/* What had to do with the choice of the model looks better than what is new. */
static const char *what_data_chose(const md_report *report)
{
    return report->options.path != NULL ? "the penalty" : "the epoch";
}

static void tell_score(md_report *report)
{
    md_html *html = &report->html;
    const medley_evaluation *e = &report->evaluation;
    if (!report->measured)
        return;
    if (report->prediction->head != NULL) {
        md_html_elementf(html, "strong", NULL, "%s of %s", md_figure_count(e->correct).text,
                         md_figure_of(e->parts, "word", "words").text);
        name_data(report);
        md_html_textf(html, " got the right head, %s", md_figure_percent(e->uas).text);
        if (isfinite(e->las))
            md_html_textf(html, ", and %s the right relation as well",
                          md_figure_percent(e->las).text);
        md_html_text(html, ". ");
    } else if (report->target != NULL) {
        tell_fit(report);
    } else {
        tell_labels(report);
    }
    if (report->options.data_chose)
        md_html_textf(html,
                      "These data chose %s of the model: on others it is likely to do worse. ",
                      what_data_chose(report));
}

static void tell_certainty(md_report *report)
{
    md_html *html = &report->html;
    const medley_summary *s = report->summary;
    if (!isfinite(s->objective))
        return;
    if (isfinite(s->gap) && s->gap >= 0 && !s->converged)
        md_html_textf(html,
                      "Training has not converged: another choice of weights and coefficients may "
                      "have an objective that is lower by up to %s. ",
                      md_figure_at_most(s->gap).text);
    else if (isfinite(s->gap) && s->gap >= 0)
        md_html_textf(html,
                      "Training ended with a certificate: no other choice of weights and "
                      "coefficients has an objective lower by more than %s. ",
                      md_figure_at_most(s->gap).text);
    else if (isfinite(s->bound))
        md_html_textf(html,
                      "With a probability of 95 %% the objective is no farther than %s above the "
                      "best one. ",
                      md_figure_number(s->bound).text);
}

/* ---- large numbers ---- */

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
    if (report->target != NULL && !isfinite(e->rmse))
        return;
    if (report->options.data_chose)
        snprintf(below, sizeof below, "on data that chose %s", what_data_chose(report));
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

static void tile_objective(md_report *report)
{
    char below[96] = "";
    const medley_summary *s = report->summary;
    if (isfinite(s->gap))
        snprintf(below, sizeof below, "gap %s", md_figure_at_most(s->gap).text);
    else if (s->epoch_count > 0)
        snprintf(below, sizeof below, "after %s",
                 md_figure_of(s->epoch_count, "epoch", "epochs").text);
    tile(&report->html, "objective", md_figure_number(s->objective).text, below);
}

static void tile_time(md_report *report)
{
    char below[96] = "";
    const medley_summary *s = report->summary;
    const double seconds = s->seconds_kernels + s->seconds_train;
    if (seconds > 0) {
        if (s->seconds_kernels >= 0.0005)
            snprintf(below, sizeof below, "of it kernels %s",
                     md_figure_seconds(s->seconds_kernels).text);
        tile(&report->html, "training time", md_figure_seconds(seconds).text, below);
        return;
    }
    if (s->parts > s->examples)
        snprintf(below, sizeof below, "%s %s", md_figure_count(s->parts).text, report->task->parts);
    tile(&report->html, "learnt from", md_figure_count(s->examples).text, below);
}

static void write_tiles(md_report *report)
{
    const medley_summary *s = report->summary;
    char name[64];
    char below[64];
    md_html_open_class(&report->html, "dl", "tiles");
    if (report->measured)
        tile_score(report);
    snprintf(name, sizeof name, "active %s", md_report_block_word(report, s->active_blocks));
    snprintf(below, sizeof below, "of %s", md_figure_count(s->block_count).text);
    tile(&report->html, name, md_figure_count(s->active_blocks).text, below);
    if (isfinite(s->objective))
        tile_objective(report);
    tile_time(report);
    md_html_close(&report->html);
}

/* Without a model: what a path or a tuning is about; its section has the rest. */
static void write_selection(md_report *report)
{
    md_html *html = &report->html;
    const medley_path *path = report->options.path;
    const medley_tuning *tuning = report->options.tuning;
    md_html_open_class(html, "p", "story");
    if (tuning != NULL)
        md_html_textf(html, "%s of options, each measured by %s in %s of the data. ",
                      md_figure_of(tuning->trial_count, "combination", "combinations").text,
                      tuning->measure, md_figure_of(tuning->fold_count, "part", "parts").text);
    if (path != NULL)
        md_html_textf(
            html, "%s under %s.", md_figure_of(path->block_count, "block", "blocks").text,
            md_figure_of(path->point_count, "penalty", "penalties, from strong to weak").text);
    md_html_close(html);
}

void md_report_overview(md_report *report)
{
    if (report->model == NULL) {
        write_selection(report);
        return;
    }
    md_html_open_class(&report->html, "p", "story");
    tell_task(report);
    tell_weights(report);
    tell_score(report);
    tell_certainty(report);
    md_html_close(&report->html);
    write_tiles(report);
}
