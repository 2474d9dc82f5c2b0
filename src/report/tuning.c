/* SPDX-License-Identifier: BSD-3-Clause */
/* Cross-validation: every combination of options with its mean and standard error, best first; a
 * curve where one option was varied, a map where two were. */
#include "report/report.h"

#include "base/text.h"

enum { MOST_TRIALS = 60, MOST_VALUES = 30, FEW_VALUES = 8 };

static bool present(const md_report *report)
{
    return report->options.tuning != NULL && report->options.tuning->trial_count > 0;
}

/* ---- one option: a curve ---- */

/* The values of the option as numbers; false if one of them is none. */
static bool read_numbers(const medley_tuning *tuning, double *x, bool *wide)
{
    double low = INFINITY;
    double high = 0;
    for (size_t t = 0; t < tuning->trial_count; t++) {
        if (!md_parse_double(tuning->trials[t].values[0], &x[t]) || !isfinite(x[t]))
            return false;
        low = fmin(low, x[t]);
        high = fmax(high, x[t]);
    }
    *wide = low > 0 && high > 8 * low;
    return true;
}

/* Room for all means and their errors. */
static void include_trials(md_axis *axis, const medley_tuning *tuning)
{
    for (size_t t = 0; t < tuning->trial_count; t++) {
        md_axis_include(axis, tuning->trials[t].mean - tuning->trials[t].standard_error);
        md_axis_include(axis, tuning->trials[t].mean + tuning->trials[t].standard_error);
    }
}

static void draw_whisker(md_html *html, const md_chart *chart, double x, const medley_trial *trial)
{
    const double ends[2] = {trial->mean - trial->standard_error,
                            trial->mean + trial->standard_error};
    const double at[2] = {x, x};
    md_chart_line(html, chart, at, ends, 2, "line guide");
    md_chart_dot(html, chart, x, trial->mean, "end");
}

static void draw_curve(md_html *html, const medley_tuning *tuning, const double *x, double *mean,
                       bool wide)
{
    md_chart chart = {.x = MD_AXIS_INIT(md_figure_tick, tuning->options[0]),
                      .y = MD_AXIS_INIT(md_measure_tick(tuning->higher_is_better), ""),
                      .height = 260,
                      .above = 12,
                      .label =
                          "Line chart of the measure against the option, with standard errors"};
    chart.x.logarithmic = wide;
    md_axis_include_all(&chart.x, x, tuning->trial_count);
    include_trials(&chart.y, tuning);
    for (size_t t = 0; t < tuning->trial_count; t++)
        mean[t] = tuning->trials[t].mean;
    md_html_open_class(html, "div", "pair");
    md_chart_figure(html, &chart, tuning->measure, "mean and standard error over the folds");
    md_chart_line(html, &chart, x, mean, tuning->trial_count, "line");
    for (size_t t = 0; t < tuning->trial_count; t++)
        draw_whisker(html, &chart, x[t], &tuning->trials[t]);
    const size_t best = tuning->best;
    const size_t simple = tuning->one_error;
    md_chart_head(html, &chart, x[best], "★ best");
    if (simple != best && simple < tuning->trial_count)
        md_chart_mark(html, &chart, x[simple], mean[simple], "◆");
    md_html_close_all(html, 3);
}

static medley_status write_curve(md_html *html, const medley_tuning *tuning, medley_error *error)
{
    MD_OWNED(free) double *x = NULL;
    bool wide;
    MEDLEY_TRY(md_new(&x, 2 * tuning->trial_count, sizeof *x, error));
    if (read_numbers(tuning, x, &wide))
        draw_curve(html, tuning, x, x + tuning->trial_count, wide);
    return MEDLEY_OK;
}

/* ---- two options: a map ---- */

/* The distinct values of an option in their order; MOST_VALUES + 1 if there are too many. */
static size_t distinct(const medley_tuning *tuning, size_t option, const char **values)
{
    size_t count = 0;
    for (size_t t = 0; t < tuning->trial_count && count <= MOST_VALUES; t++) {
        const char *value = tuning->trials[t].values[option];
        size_t i = 0;
        while (i < count && strcmp(values[i], value) != 0)
            i++;
        if (i == count)
            values[count++] = value;
    }
    return count;
}

static size_t find_trial(const medley_tuning *tuning, const char *first, const char *second)
{
    size_t t = 0;
    while (t < tuning->trial_count && (strcmp(tuning->trials[t].values[0], first) != 0 ||
                                       strcmp(tuning->trials[t].values[1], second) != 0))
        t++;
    return t;
}

static void map_cell(md_html *html, const medley_tuning *tuning, size_t t, const md_axis *range)
{
    if (t == tuning->trial_count || !isfinite(tuning->trials[t].mean)) {
        md_html_element(html, "td", NULL, "–");
        return;
    }
    const double mean = tuning->trials[t].mean;
    const double share = md_axis_share(range, mean);
    const md_class class = md_class_heat(t == tuning->best ? "best" : "",
                                         tuning->higher_is_better ? share : 1 - share);
    md_html_elementf(html, "td", class.text, "%s%s%s", t == tuning->best ? "★ " : "",
                     t == tuning->one_error && t != tuning->best ? "◆ " : "",
                     md_measure_text(tuning->higher_is_better)(mean).text);
}

static void write_map(md_html *html, const medley_tuning *tuning)
{
    const char *rows[MOST_VALUES + 1];
    const char *columns[MOST_VALUES + 1];
    const size_t height = distinct(tuning, 0, rows);
    const size_t width = distinct(tuning, 1, columns);
    if (height > MOST_VALUES || width > MOST_VALUES)
        return;
    md_axis range = MD_AXIS_INIT(md_figure_tick, "");
    for (size_t t = 0; t < tuning->trial_count; t++)
        md_axis_include(&range, tuning->trials[t].mean);
    if (range.high <= range.low)
        md_axis_round(&range, 2);
    md_figure_open(html, tuning->measure, "stronger colour is better; mean over the folds");
    md_frame_open(html, "Map of the measure");
    md_table_begin(html, width <= FEW_VALUES ? "map large" : "map", NULL);
    md_html_elementf(html, "th", "corner", "%s ↓ %s →", tuning->options[0], tuning->options[1]);
    for (size_t c = 0; c < width; c++)
        md_cell_head(html, "col", columns[c]);
    md_table_body(html);
    for (size_t r = 0; r < height; r++) {
        md_html_open(html, "tr");
        md_cell_head(html, "row", rows[r]);
        for (size_t c = 0; c < width; c++)
            map_cell(html, tuning, find_trial(tuning, rows[r], columns[c]), &range);
        md_html_close(html);
    }
    md_html_close_all(html, 4);
}

/* ---- all of them ---- */

static void draw_trial(md_html *html, const md_axis *axis, const medley_trial *trial)
{
    md_svg_open_cell(html);
    md_svg_between(html, axis, trial->mean - trial->standard_error,
                   trial->mean + trial->standard_error, "whisker");
    md_svg_dot(html, axis, trial->mean, "dot", "5");
    md_html_close(html);
}

static void write_values(md_html *html, const medley_tuning *tuning, size_t t)
{
    for (size_t o = 0; o < tuning->option_count; o++) {
        md_html_textf(html, "%s%s ", o > 0 ? ", " : "", tuning->options[o]);
        md_html_data(html, tuning->trials[t].values[o]);
    }
}

static void name_trial(md_html *html, const medley_tuning *tuning, size_t t)
{
    md_html_open(html, "th");
    md_html_attribute(html, "scope", "row");
    write_values(html, tuning, t);
    if (t == tuning->best)
        md_html_text(html, " ★ best");
    if (t == tuning->one_error && t != tuning->best)
        md_html_text(html, " ◆ simplest within one error");
    md_html_close(html);
}

static void write_trials(md_html *html, const medley_tuning *tuning, const size_t *order)
{
    md_axis axis = MD_AXIS_INIT(md_figure_tick, "");
    const md_figure_writer text = md_measure_text(tuning->higher_is_better);
    const md_figure_writer tick = md_measure_tick(tuning->higher_is_better);
    include_trials(&axis, tuning);
    md_axis_round(&axis, 5);
    md_figure_open(html, "All combinations, best first", "dot: mean; line: one standard error");
    md_table_begin(html, "bars", "trial-dots");
    md_html_element(html, "th", "what", "options");
    md_html_elementf(html, "th", NULL, "%s to %s", tick(axis.low).text, tick(axis.high).text);
    md_html_element(html, "th", "n", "mean");
    md_html_element(html, "th", "n extra", "± error");
    md_html_element(html, "th", "n extra", "blocks");
    md_html_element(html, "th", "n extra", "time");
    md_table_body(html);
    for (size_t i = 0; i < tuning->trial_count && i < MOST_TRIALS; i++) {
        const medley_trial *trial = &tuning->trials[order[i]];
        md_html_open_class(html, "tr", order[i] == tuning->best ? "mine" : NULL);
        name_trial(html, tuning, order[i]);
        md_html_open(html, "td");
        if (trial->problem != NULL)
            md_html_data(html, trial->problem);
        else
            draw_trial(html, &axis, trial);
        md_html_close(html);
        md_cell_number(html, text(trial->mean).text);
        md_html_element(html, "td", "n extra", text(trial->standard_error).text);
        md_html_element(html, "td", "n extra",
                        md_figure_tick(nearbyint(10 * trial->active) / 10).text);
        md_html_element(html, "td", "n extra", md_figure_seconds(trial->seconds).text);
        md_html_close(html);
    }
    md_html_close_all(html, 2);
    if (tuning->trial_count > MOST_TRIALS)
        md_html_elementf(html, "p", "note", "%s not among the best %d.",
                         md_figure_of(tuning->trial_count - MOST_TRIALS, "other combination is",
                                      "other combinations are")
                             .text,
                         MOST_TRIALS);
    md_html_close(html);
}

static void tell(md_html *html, const medley_tuning *tuning)
{
    md_html_open(html, "p");
    md_html_textf(html, "%s in %s, learnt in %s altogether.",
                  md_figure_of(tuning->trial_count, "combination", "combinations").text,
                  md_figure_of(tuning->fold_count, "fold", "folds").text,
                  md_figure_seconds(tuning->seconds_total).text);
    md_html_close(html);
}

static double merit(const void *context, size_t trial)
{
    const medley_tuning *tuning = context;
    const double mean = tuning->trials[trial].mean;
    return tuning->higher_is_better ? mean : -mean;
}

static medley_status write_section(md_report *report, medley_error *error)
{
    md_html *html = &report->html;
    const medley_tuning *tuning = report->options.tuning;
    MD_OWNED(free) size_t *order = NULL;
    MEDLEY_TRY(md_rank(&order, tuning->trial_count, merit, tuning, error));
    tell(html, tuning);
    if (tuning->option_count == 1 && tuning->trial_count > 2 && tuning->best < tuning->trial_count)
        MEDLEY_TRY(write_curve(html, tuning, error));
    if (tuning->option_count == 2)
        write_map(html, tuning);
    write_trials(html, tuning, order);
    return MEDLEY_OK;
}

const md_section md_section_tuning = {"tuning", "Choosing the options", present, write_section};
