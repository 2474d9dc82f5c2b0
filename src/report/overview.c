/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of the report: what was learnt, from how much, how well, how certain and how long, in
 * plain words. */
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
    const medley_tuning *tuning = report->options.tuning;
    if (tuning != NULL) {
        md_text_addf(title, "Tuning of");
        for (size_t o = 0; o < tuning->option_count; o++)
            md_text_addf(title, "%s %s",
                         o == 0                         ? ""
                         : o + 1 < tuning->option_count ? ","
                                                        : " and",
                         tuning->options[o]);
        return;
    }
    if (report->model == NULL) {
        md_text_addf(title, "A path of penalties");
        return;
    }
    const size_t blocks = report->summary->block_count;
    add_phrase(title, report->task->title, report);
    md_text_addf(title, " with %s %s", md_figure_count(blocks).text,
                 md_report_block_word(report, blocks));
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
    md_html_textf(html, "%s model %s. It was learnt from %s %s",
                  report->options.tuning != NULL ? "The final" : "This", does.data ? does.data : "",
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

static void tell_interval(md_html *html, md_confidence_interval interval)
{
    if (isfinite(interval.low))
        md_html_textf(html, " (95 %% confidence: %.1f to %.1f %%)", 100 * interval.low,
                      100 * interval.high);
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
    tell_interval(html, md_report_interval(report));
    if (isfinite(e->exact_match))
        md_html_textf(html, "; %s of the sequences are without an error",
                      md_figure_rough(e->exact_match).text);
    if (e->has_chunks) {
        md_html_textf(html, "; of the chunks it found %s are right, and it found %s of them: F1 %s",
                      md_figure_rough(e->chunk_precision).text,
                      md_figure_rough(e->chunk_recall).text, md_figure_percent(e->chunk_f1).text);
        tell_interval(html, md_report_chunk_interval(report));
    }
    md_html_text(html, ". ");
    if (report->baseline.label != NULL) {
        md_html_text(html, "Always answering ");
        md_html_data(html, report->baseline.label);
        md_html_textf(html, ", the most common label, would be right %s of the time. ",
                      md_figure_percent(report->baseline.value).text);
    }
    if (e->unknown_labels > 0)
        md_html_textf(html,
                      "%s of the %s %s a label that never occurred in training, which counts as "
                      "wrong. ",
                      md_figure_count(e->unknown_labels).text, report->task->parts,
                      plural(e->unknown_labels, "has", "have"));
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
        md_html_textf(html,
                      ", which is worse than the %s of always predicting the mean of these rows",
                      md_figure_number(report->baseline.value).text);
    else if (isfinite(e->r2))
        md_html_textf(
            html,
            "; always predicting their mean would be off by %s, so that %s of the variance is "
            "left unexplained",
            md_figure_number(report->baseline.value).text,
            md_figure_rough(fmax(1 - e->r2, 0)).text);
    const md_confidence_interval interval = md_report_fit_interval(report);
    if (isfinite(interval.low))
        md_html_textf(html, "; R\xC2\xB2 is %s (95 %% confidence: %.3f to %.3f)",
                      md_figure_number(e->r2).text, interval.low, interval.high);
    md_html_text(html, ". ");
}

/* What had to do with the choice of the model looks better than what is new. */
const char *md_report_what_data_chose(const md_report *report)
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
        tell_interval(html, md_report_interval(report));
        if (isfinite(e->exact_match))
            md_html_textf(html, "; %s of whole sentences are right",
                          md_figure_rough(e->exact_match).text);
        md_html_textf(html, ". The %s word as head of every word would be right %s of the time. ",
                      report->baseline.is_next ? "next" : "previous",
                      md_figure_percent(report->baseline.value).text);
    } else if (report->target != NULL) {
        tell_fit(report);
    } else {
        tell_labels(report);
    }
    if (report->options.data_chose)
        md_html_textf(html,
                      "These data chose %s of the model: on others it is likely to do worse. ",
                      md_report_what_data_chose(report));
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
    else if (isfinite(s->bound) && s->bound < s->objective) /* else it says nothing */
        md_html_textf(html,
                      "With a probability of 95 %% the objective is no farther than %s above the "
                      "best one. ",
                      md_figure_number(s->bound).text);
}

/* What speaks against the score. */
static void warn_of_training_data(md_report *report)
{
    md_html *html = &report->html;
    if (report->from_training == MD_NO_TRAINING_ROWS)
        return;
    md_html_open_class(html, "p", "warning");
    md_html_element(html, "strong", NULL, "Warning: ");
    if (report->from_training == MD_ALL_TRAINING_ROWS)
        md_html_text(html, "the model was trained on these data: all of its support rows are among "
                           "them. ");
    else if (report->from_training == MD_AS_MANY_ROWS)
        md_html_textf(
            html,
            "the model was probably trained on these data: they have as many %s and %s as "
            "there were in training. ",
            report->task->examples, report->task->parts);
    else
        md_html_textf(html, "%s of the %s are among those that the model was trained on. ",
                      md_figure_count(report->known_rows).text,
                      md_figure_of(report->prediction->rows, "row", "rows").text);
    md_html_text(html, "A model does better on what it has seen: measure it on other data.");
    md_html_close(html);
}

static void tell_tuning(md_html *html, const medley_tuning *tuning)
{
    md_html_textf(html, "%s of options, each measured by %s in %s. ",
                  md_figure_of(tuning->trial_count, "combination", "combinations").text,
                  tuning->measure, md_figure_of(tuning->fold_count, "fold", "folds").text);
    if (tuning->folds_asked > tuning->fold_count)
        md_html_textf(html, "The tuning was interrupted: this is what was finished, in %s of %s. ",
                      md_figure_count(tuning->fold_count).text,
                      md_figure_of(tuning->folds_asked, "fold", "folds").text);
    if (tuning->best >= tuning->trial_count)
        return;
    const medley_trial *best = &tuning->trials[tuning->best];
    md_html_open(html, "strong");
    md_html_text(html, "Best: ");
    for (size_t o = 0; o < tuning->option_count; o++) {
        md_html_textf(html, "%s%s ", o > 0 ? ", " : "", tuning->options[o]);
        md_html_data(html, best->values[o]);
    }
    md_html_textf(html, " with %s %s", tuning->measure,
                  md_measure_text(tuning->higher_is_better)(best->mean).text);
    md_html_close(html);
    if (isfinite(best->standard_error))
        md_html_textf(html, " (standard error %s over the folds)",
                      md_measure_text(tuning->higher_is_better)(best->standard_error).text);
    md_html_text(html, ". ");
}

/* What a path or a tuning is about; its section has the rest. */
static void write_selection(md_report *report)
{
    md_html *html = &report->html;
    const medley_path *path = report->options.path;
    md_html_open_class(html, "p", "story");
    if (report->options.tuning != NULL)
        tell_tuning(html, report->options.tuning);
    if (path != NULL)
        md_html_textf(
            html, "%s under %s.", md_figure_of(path->block_count, "block", "blocks").text,
            md_figure_of(path->point_count, "penalty", "penalties, from strong to weak").text);
    md_html_close(html);
}

void md_report_overview(md_report *report)
{
    if (report->model == NULL || report->options.tuning != NULL)
        write_selection(report);
    if (report->model == NULL)
        return;
    md_html_open_class(&report->html, "p", report->options.tuning != NULL ? NULL : "story");
    tell_task(report);
    tell_weights(report);
    tell_score(report);
    tell_certainty(report);
    md_html_close(&report->html);
    warn_of_training_data(report);
    md_report_tiles(report);
}
