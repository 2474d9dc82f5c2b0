/* SPDX-License-Identifier: BSD-3-Clause */
/* How training went: objective, certificate, held-out accuracy and active blocks, against seconds
 * where they are known, else against epochs. */
#include "report/report.h"

static bool present(const md_report *report)
{
    return report->summary != NULL && report->summary->epoch_count > 1;
}

/* One column per quantity, so that a chart can take it as it is. */
struct history {
    size_t count;
    double *x, *objective, *dual, *gap, *accuracy, *active;
    bool timed;
    const char *step, *steps; /* what an epoch is called */
};

/* A line that only ever shows one number need not be drawn. */
static bool any_change(const double *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (isfinite(values[i]) && values[i] != values[0])
            return true;
    return false;
}

static size_t count_finite(const double *values, size_t count)
{
    size_t finite = 0;
    for (size_t i = 0; i < count; i++)
        finite += isfinite(values[i]) ? 1 : 0;
    return finite;
}

static bool any_finite(const double *values, size_t count)
{
    return count_finite(values, count) > 0;
}

/* memory: for all columns. */
static void collect(struct history *history, const medley_summary *s, double *memory)
{
    const size_t n = s->epoch_count;
    double **const columns[] = {&history->x,   &history->objective, &history->dual,
                                &history->gap, &history->accuracy,  &history->active};
    for (size_t c = 0; c < 6; c++)
        *columns[c] = memory + c * n;
    history->count = n;
    history->timed = s->epochs[n - 1].seconds > 0;
    for (size_t i = 0; i < n; i++) {
        const medley_epoch *e = &s->epochs[i];
        history->x[i] = history->timed ? e->seconds : (double)(i + 1);
        history->objective[i] = e->objective;
        history->dual[i] = e->dual;
        history->gap[i] = e->gap;
        history->accuracy[i] = e->dev_accuracy;
        history->active[i] = e->active > 0 ? (double)e->active : NAN;
    }
    const bool bounded = any_finite(history->dual, n);
    history->step = bounded ? "iteration" : "epoch";
    history->steps = bounded ? "iterations" : "epochs";
}

/* A first objective far above the others would flatten all that follows. */
static bool wants_logarithm(const double *values, size_t count)
{
    double low = INFINITY;
    double high = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        if (values[i] <= 0)
            return false;
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    return high > 20 * low;
}

struct curve {
    const char *caption, *note, *label;
    const double *y, *second;                    /* second: a dashed line, or NULL */
    md_figure (*text)(double), (*value)(double); /* of ticks; of the last point */
    bool logarithmic;
};

static void draw(md_html *html, const struct history *history, const struct curve *curve)
{
    md_chart chart = {.x =
                          MD_AXIS_INIT(md_figure_tick, history->timed ? "seconds" : history->steps),
                      .y = MD_AXIS_INIT(curve->text, ""),
                      .height = 230,
                      .label = curve->label};
    chart.y.logarithmic = curve->logarithmic;
    chart.x.whole = !history->timed;
    chart.y.whole = curve->y == history->active;
    md_axis_include(&chart.x, history->timed ? 0 : 1);
    md_axis_include_all(&chart.x, history->x, history->count);
    md_axis_include_all(&chart.y, curve->y, history->count);
    if (curve->second != NULL)
        md_axis_include_all(&chart.y, curve->second, history->count);
    md_chart_figure(html, &chart, curve->caption, curve->note);
    if (curve->second != NULL)
        md_chart_line(html, &chart, history->x, curve->second, history->count, "line second");
    md_chart_line(html, &chart, history->x, curve->y, history->count, "line");
    const size_t last = history->count - 1;
    md_chart_dot(html, &chart, history->x[last], curve->y[last], "end");
    md_chart_mark(html, &chart, history->x[last], curve->y[last],
                  curve->value(curve->y[last]).text);
    md_html_close_all(html, 2);
}

/* Two points make no curve: "Objective: 0.9 after epoch 1, 0.5 after epoch 2." */
static void tell_points(md_html *html, const struct history *history, const struct curve *curve)
{
    const char *before = "";
    md_html_open(html, "p");
    md_html_textf(html, "%s: ", curve->caption);
    for (size_t i = 0; i < history->count; i++) {
        if (!isfinite(curve->y[i]))
            continue;
        md_html_textf(html, "%s%s after %s %s", before, curve->value(curve->y[i]).text,
                      history->step, md_figure_count(i + 1).text);
        before = ", ";
    }
    md_html_text(html, ".");
    md_html_close(html);
}

static void draw_all(md_html *html, const struct history *history)
{
    const bool dual = any_finite(history->dual, history->count);
    const struct curve curves[] = {
        {"Objective", dual ? "solid: objective reached; dashed: lower bound for any model" : NULL,
         "Line chart of the objective during training", history->objective,
         dual ? history->dual : NULL, md_figure_tick, md_figure_number,
         !dual && wants_logarithm(history->objective, history->count)},
        {"Gap", "distance to the best possible objective, logarithmic scale",
         "Line chart of the relative duality gap during training", history->gap, NULL,
         md_figure_tick_percent, md_figure_rough, true},
        {"Held-out accuracy", NULL, "Line chart of the accuracy on held-out data during training",
         history->accuracy, NULL, md_figure_tick_percent, md_figure_percent, false},
        {"Active blocks", NULL, "Line chart of the number of active blocks during training",
         history->active, NULL, md_figure_tick, md_figure_number, false}};
    enum { COUNT = sizeof curves / sizeof *curves, FEWEST = 3 };
    for (size_t c = 0; c < COUNT; c++)
        if (count_finite(curves[c].y, history->count) < FEWEST &&
            any_change(curves[c].y, history->count))
            tell_points(html, history, &curves[c]);
    md_html_open_class(html, "div", "pair");
    for (size_t c = 0; c < COUNT; c++)
        if (count_finite(curves[c].y, history->count) >= FEWEST &&
            any_change(curves[c].y, history->count))
            draw(html, history, &curves[c]);
    md_html_close(html);
}

static void write_table(md_html *html, const struct history *history)
{
    enum { MOST_ROWS = 200 };
    char first[16];
    const char *heads[8] = {first};
    snprintf(first, sizeof first, "#%s", history->step);
    const double *columns[8] = {NULL};
    size_t count = 1;
    const struct {
        const char *head;
        const double *values;
    } all[] = {{"#objective", history->objective},
               {"#dual", history->dual},
               {"#gap", history->gap},
               {"#held-out accuracy", history->accuracy},
               {"#active blocks", history->active}};
    if (history->timed) {
        heads[count] = "#seconds";
        columns[count++] = history->x;
    }
    for (size_t c = 0; c < sizeof all / sizeof *all; c++)
        if (any_finite(all[c].values, history->count)) {
            heads[count] = all[c].head;
            columns[count++] = all[c].values;
        }
    heads[count] = NULL;
    const size_t stride = history->count > MOST_ROWS ? history->count / MOST_ROWS + 1 : 1;
    char title[64] = "Training as a table";
    if (stride > 1)
        snprintf(title, sizeof title, "Training as a table, one %s in %zu", history->step, stride);
    md_details_open(html, title);
    md_table_open(html, "numbers", heads);
    for (size_t i = 0; i < history->count; i++) {
        if (i % stride != 0 && i + 1 != history->count)
            continue;
        md_html_open(html, "tr");
        md_cell_number(html, md_figure_count(i + 1).text);
        for (size_t c = 1; c < count; c++)
            md_cell_number(html, columns[c] == history->accuracy
                                     ? md_figure_percent(columns[c][i]).text
                                     : md_figure_number(columns[c][i]).text);
        md_html_close(html);
    }
    md_html_close_all(html, 4);
}

/* What the head of the report says of the same things, and why it may be another number. */
static void tell_differences(md_report *report, const struct history *history)
{
    md_html *html = &report->html;
    const medley_summary *s = report->summary;
    const double last = history->objective[history->count - 1];
    const double seconds = s->seconds_kernels + s->seconds_train;
    const md_figure final = md_figure_number(s->objective);
    const bool other = isfinite(last) && isfinite(s->objective) &&
                       strcmp(final.text, md_figure_number(last).text) != 0;
    const double clock = history->x[history->count - 1];
    const bool longer = history->timed &&
                        strcmp(md_figure_seconds(seconds).text, md_figure_seconds(clock).text) != 0;
    if (!other && !longer)
        return;
    md_html_open_class(html, "p", "note");
    if (other)
        md_html_textf(html,
                      "These are objectives while the model was learning; that of the final model "
                      "is %s. ",
                      final.text);
    if (longer)
        md_html_textf(html,
                      "The %s ended after %s; the training time of %s includes the work before "
                      "and after them, such as computing kernels.",
                      history->steps, md_figure_seconds(clock).text,
                      md_figure_seconds(seconds).text);
    md_html_close(html);
}

static medley_status write_section(md_report *report, medley_error *error)
{
    MD_OWNED(free) double *memory = NULL;
    struct history history;
    MEDLEY_TRY(md_new(&memory, 6 * report->summary->epoch_count, sizeof *memory, error));
    collect(&history, report->summary, memory);
    draw_all(&report->html, &history);
    tell_differences(report, &history);
    write_table(&report->html, &history);
    return MEDLEY_OK;
}

const md_section md_section_curves = {"training", "How training went", present, write_section};
