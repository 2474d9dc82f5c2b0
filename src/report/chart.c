/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/chart.h"

#include <float.h>

static const double LEAST_LEFT = 30;
static const double TOP = 8;
static const double RIGHT = 14;
static const double BOTTOM = 34;
static const double DIGIT = 7;  /* width of one */
static const double TITLE = 18; /* height of the title of y */

enum { MOST_TICKS = 24, Y_TICKS = 5, X_TICKS = 5 };

/* ---- axes ---- */

static bool has_place(const md_axis *axis, double value)
{
    return isfinite(value) && fabs(value) < 1e300 && (!axis->logarithmic || value > 1e-300);
}

void md_axis_include(md_axis *axis, double value)
{
    if (!has_place(axis, value))
        return;
    if (axis->low > axis->high) {
        axis->low = axis->high = value;
        return;
    }
    axis->low = fmin(axis->low, value);
    axis->high = fmax(axis->high, value);
}

void md_axis_include_all(md_axis *axis, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        md_axis_include(axis, values[i]);
}

/* 1, 2 or 5 times a power of ten: the least step with at most `wanted` of them in span. (The
 * tolerance forgives the rounding of quotients such as 0.3 / 3.) */
static double round_step(double span, size_t wanted)
{
    const double least = span / (double)(wanted > 0 ? wanted : 1);
    const double power = pow(10, floor(log10(least)));
    static const double factors[] = {1, 2, 5};
    for (size_t i = 0; i < 3; i++)
        if (factors[i] * power >= least * (1 - 1e-9))
            return factors[i] * power;
    return 10 * power;
}

static double step_of(const md_axis *axis, size_t wanted)
{
    const double step = round_step(axis->high - axis->low, wanted);
    return axis->whole ? fmax(step, 1) : step;
}

static void round_linear(md_axis *axis, size_t wanted)
{
    if (axis->high - axis->low <= 1e-9 * fmax(fabs(axis->low), fabs(axis->high))) {
        const double room = axis->high == 0 ? 1 : fabs(axis->high) / 2;
        axis->low -= room;
        axis->high += room;
    }
    const double step = step_of(axis, wanted);
    axis->low = step * floor(axis->low / step + 1e-9);
    axis->high = fmax(step * ceil(axis->high / step - 1e-9), axis->low + step);
}

/* Down or up to the next 1, 2 or 5 times a power of ten. */
static double round_logarithm(double value, bool up)
{
    const double power = pow(10, floor(log10(value)));
    static const double factors[] = {1, 2, 5, 10};
    double below = power;
    for (size_t i = 0; i < 4; i++) {
        const double candidate = factors[i] * power;
        if (up && candidate >= value * (1 - 1e-9))
            return candidate;
        if (candidate <= value * (1 + 1e-9))
            below = candidate;
    }
    return up ? 10 * power : below;
}

void md_axis_round(md_axis *axis, size_t wanted_ticks)
{
    if (axis->low > axis->high) {
        axis->low = axis->logarithmic ? 0.1 : 0;
        axis->high = 1;
    }
    if (!axis->logarithmic) {
        round_linear(axis, wanted_ticks);
        return;
    }
    axis->low = round_logarithm(axis->low, false);
    axis->high = round_logarithm(axis->high, true);
    if (axis->high < 1.5 * axis->low) {
        axis->low /= 2;
        axis->high *= 2;
    }
}

static size_t logarithmic_ticks(const md_axis *axis, size_t wanted, double *ticks, size_t most)
{
    const int first = (int)floor(log10(axis->low) + 1e-9);
    const int last = (int)floor(log10(axis->high) + 1e-9);
    const int decades = last - first;
    const bool fine = 3 * decades <= (int)wanted;
    const int stride = decades > (int)wanted ? (decades + (int)wanted - 1) / (int)wanted : 1;
    static const double factors[] = {1, 2, 5};
    size_t count = 0;
    for (int d = first; d <= last; d += stride)
        for (size_t f = 0; f < (fine ? 3 : 1) && count < most; f++) {
            const double value = factors[f] * pow(10, d);
            if (value >= axis->low * (1 - 1e-9) && value <= axis->high * (1 + 1e-9))
                ticks[count++] = value;
        }
    return count;
}

size_t md_axis_ticks(const md_axis *axis, size_t wanted, double *ticks, size_t most)
{
    if (!(axis->low < axis->high))
        return 0;
    if (axis->logarithmic)
        return logarithmic_ticks(axis, wanted, ticks, most);
    const double step = step_of(axis, wanted);
    const double first = ceil(axis->low / step - 1e-9);
    size_t count = 0;
    for (double k = first; k * step <= axis->high + 1e-9 * step && count < most; k++)
        ticks[count++] = k == 0 ? 0 : k * step;
    return count;
}

double md_axis_share(const md_axis *axis, double value)
{
    if (!has_place(axis, value))
        return NAN;
    const double share = axis->logarithmic ? log(value / axis->low) / log(axis->high / axis->low)
                                           : (value - axis->low) / (axis->high - axis->low);
    return axis->falling ? 1 - share : share;
}

/* ---- charts ---- */

double md_chart_x(const md_chart *chart, double value)
{
    return chart->left +
           md_axis_share(&chart->x, value) * (MD_CHART_WIDTH - chart->left - RIGHT - chart->right);
}

double md_chart_y(const md_chart *chart, double value)
{
    return chart->height - BOTTOM -
           md_axis_share(&chart->y, value) * (chart->height - BOTTOM - TOP - chart->above);
}

static void grid_line(md_html *html, double x1, double y1, double x2, double y2, const char *class)
{
    md_html_open_class(html, "line", class);
    md_html_coordinate(html, "x1", x1);
    md_html_coordinate(html, "y1", y1);
    md_html_coordinate(html, "x2", x2);
    md_html_coordinate(html, "y2", y2);
    md_html_close(html);
}

static double width_of(const char *text)
{
    enum { ALL = 1000 };
    return DIGIT * md_html_width(text, ALL);
}

/* The ticks of an axis and their labels. */
struct ticks {
    double value[MOST_TICKS];
    md_figure text[MOST_TICKS];
    size_t count;
    double widest; /* text */
};

static void find_ticks(struct ticks *ticks, const md_axis *axis, size_t wanted)
{
    const double step = axis->logarithmic ? 0 : step_of(axis, wanted);
    ticks->count = md_axis_ticks(axis, wanted, ticks->value, MOST_TICKS);
    ticks->widest = 0;
    for (size_t t = 0; t < ticks->count; t++) {
        ticks->text[t] = axis->text == md_figure_tick_percent
                             ? md_figure_tick_percent_of(ticks->value[t], step)
                         : axis->text == md_figure_tick ? md_figure_tick_of(ticks->value[t], step)
                                                        : axis->text(ticks->value[t]);
        ticks->widest = fmax(ticks->widest, width_of(ticks->text[t].text));
    }
}

static void find_y_ticks(struct ticks *ticks, const md_chart *chart)
{
    find_ticks(ticks, &chart->y, chart->y.logarithmic ? Y_TICKS + 2 : Y_TICKS);
}

/* Fewer where they would run into each other. */
static void find_x_ticks(struct ticks *ticks, const md_chart *chart)
{
    find_ticks(ticks, &chart->x, X_TICKS);
    const double room = MD_CHART_WIDTH - chart->left - RIGHT - chart->right;
    if ((double)ticks->count * (ticks->widest + DIGIT) > room)
        find_ticks(ticks, &chart->x, 2);
}

static void draw_grid(md_html *html, const md_chart *chart)
{
    struct ticks ticks;
    const double left = chart->left;
    const double right = MD_CHART_WIDTH - RIGHT - chart->right;
    const double floor_y = chart->height - BOTTOM;
    find_y_ticks(&ticks, chart);
    for (size_t t = 0; t < ticks.count; t++) {
        const double y = md_chart_y(chart, ticks.value[t]);
        grid_line(html, left, y, right, y, NULL);
        md_svg_text(html, NULL, left - 6, y + 4, "end", ticks.text[t].text);
    }
    find_x_ticks(&ticks, chart);
    for (size_t t = 0; t < ticks.count; t++) {
        const double x = md_chart_x(chart, ticks.value[t]);
        const double half = width_of(ticks.text[t].text) / 2;
        grid_line(html, x, floor_y, x, floor_y + 4, NULL);
        md_svg_text(html, NULL, fmax(fmin(x, MD_CHART_WIDTH - half), half), floor_y + 17, "middle",
                    ticks.text[t].text);
    }
    grid_line(html, left, floor_y, right, floor_y, "axis");
    if (chart->y.title[0] != '\0')
        md_svg_text(html, NULL, 0, 11, "start", chart->y.title);
    md_svg_text(html, NULL, right, chart->height - 3, "end", chart->x.title);
}

void md_chart_open(md_html *html, md_chart *chart)
{
    struct ticks ticks;
    find_y_ticks(&ticks, chart);
    chart->left = fmax(LEAST_LEFT, 6 + ticks.widest);
    if (chart->y.title[0] != '\0') /* it stands above the axis */
        chart->above = fmax(chart->above, TITLE);
    if (chart->square)
        chart->height =
            MD_CHART_WIDTH - chart->left - RIGHT - chart->right + TOP + chart->above + BOTTOM;
    md_svg_open(html, "chart", MD_CHART_WIDTH, chart->height, chart->label);
    md_html_open_class(html, "g", "grid");
    draw_grid(html, chart);
    md_html_close(html);
}

void md_chart_figure(md_html *html, md_chart *chart, const char *caption, const char *note)
{
    md_axis_round(&chart->x, X_TICKS);
    md_axis_round(&chart->y, Y_TICKS);
    md_figure_open(html, caption, note);
    md_chart_open(html, chart);
}

void md_chart_line(md_html *html, const md_chart *chart, const double *x, const double *y,
                   size_t count, const char *class)
{
    enum { MOST_POINTS = 400 };
    const size_t stride = count > MOST_POINTS ? count / MOST_POINTS + 1 : 1;
    md_text path = {0};
    bool drawing = false;
    for (size_t i = 0; i < count; i++) {
        if (i % stride != 0 && i + 1 != count)
            continue;
        const double px = md_chart_x(chart, x[i]);
        const double py = md_chart_y(chart, y[i]);
        if (isfinite(px) && isfinite(py))
            md_text_addf(&path, "%c%.1f %.1f", drawing ? 'L' : 'M', px, py);
        drawing = isfinite(px) && isfinite(py);
    }
    md_svg_take_path(html, class, &path);
}

/* Where a point lies; false: nowhere. */
static bool place(const md_chart *chart, double x, double y, double *px, double *py)
{
    *px = md_chart_x(chart, x);
    *py = md_chart_y(chart, y);
    return isfinite(*px) && isfinite(*py);
}

void md_chart_dot(md_html *html, const md_chart *chart, double x, double y, const char *class)
{
    double px;
    double py;
    if (!place(chart, x, y, &px, &py))
        return;
    md_html_open_class(html, "circle", class);
    md_html_coordinate(html, "cx", px);
    md_html_coordinate(html, "cy", py);
    md_html_coordinate(html, "r", 3.5);
    md_html_close(html);
}

void md_chart_mark(md_html *html, const md_chart *chart, double x, double y, const char *text)
{
    double px;
    double py;
    if (!place(chart, x, y, &px, &py))
        return;
    const bool far_right = px > MD_CHART_WIDTH - 60;
    const bool far_left = px < chart->left + 30;
    const double place = far_right ? fmin(px + 8, MD_CHART_WIDTH) : far_left ? px - 4 : px;
    md_svg_text(html, "mark", place, fmax(py - 9, 11),
                far_right  ? "end"
                : far_left ? "start"
                           : "middle",
                text);
}

void md_chart_head(md_html *html, const md_chart *chart, double x, const char *text)
{
    const double px = md_chart_x(chart, x);
    const double half = width_of(text) / 2;
    if (isfinite(px))
        md_svg_text(html, "mark", fmax(fmin(px, MD_CHART_WIDTH - half), half), 11, "middle", text);
}

/* ---- pieces ---- */

void md_svg_open(md_html *html, const char *class, double width, double height, const char *label)
{
    char box[64];
    snprintf(box, sizeof box, "0 0 %.0f %.0f", width, height);
    md_html_open_class(html, "svg", class);
    md_html_attribute(html, "viewBox", box);
    md_html_attribute(html, "role", "img");
    md_html_attribute(html, "aria-label", label);
}

void md_svg_path(md_html *html, const char *class, const char *d)
{
    md_html_open_class(html, "path", class);
    md_html_attribute(html, "d", d);
    md_html_close(html);
}

void md_svg_take_path(md_html *html, const char *class, md_text *d)
{
    html->text.failed = html->text.failed || d->failed;
    if (d->data != NULL)
        md_svg_path(html, class, d->data);
    md_text_clear(d);
}

void md_svg_text(md_html *html, const char *class, double x, double y, const char *anchor,
                 const char *text)
{
    md_html_open_class(html, "text", class);
    md_html_coordinate(html, "x", x);
    md_html_coordinate(html, "y", y);
    md_html_attribute(html, "text-anchor", anchor);
    md_html_text(html, text);
    md_html_close(html);
}

void md_svg_dot(md_html *html, const md_axis *axis, double value, const char *class,
                const char *radius)
{
    const double share = md_axis_share(axis, value);
    if (!isfinite(share))
        return;
    md_html_open_class(html, "circle", class);
    md_html_attribute(html, "data-value", md_figure_exact(value).text);
    md_html_percent(html, "cx", share);
    md_html_attribute(html, "cy", "50%");
    md_html_attribute(html, "r", radius);
    md_html_close(html);
}

void md_svg_open_cell(md_html *html)
{
    md_html_open(html, "svg");
    md_html_attribute(html, "aria-hidden", "true");
}

void md_svg_track(md_html *html, const char *y, const char *height)
{
    md_html_open_class(html, "rect", "track");
    md_html_attribute(html, "width", "100%");
    md_html_attribute(html, "height", height);
    md_html_attribute(html, "y", y);
    md_html_close(html);
}

void md_svg_between(md_html *html, const md_axis *axis, double from, double to, const char *class)
{
    const double first = md_axis_share(axis, from);
    const double last = md_axis_share(axis, to);
    if (!isfinite(first) || !isfinite(last))
        return;
    md_html_open_class(html, "line", class);
    md_html_percent(html, "x1", first);
    md_html_percent(html, "x2", last);
    md_html_attribute(html, "y1", "50%");
    md_html_attribute(html, "y2", "50%");
    md_html_close(html);
}

/* ---- around them ---- */

void md_figure_open(md_html *html, const char *caption, const char *note)
{
    md_html_open(html, "figure");
    md_html_open(html, "figcaption");
    md_html_text(html, caption);
    if (note != NULL) {
        md_html_text(html, " ");
        md_html_element(html, "span", "note", note);
    }
    md_html_close(html);
}

void md_frame_open(md_html *html, const char *name)
{
    md_html_open_class(html, "div", "frame");
    md_html_attribute(html, "tabindex", "0");
    md_html_attribute(html, "role", "region");
    md_html_attribute(html, "aria-label", name);
}

void md_details_open(md_html *html, const char *summary)
{
    md_html_open(html, "details");
    md_html_element(html, "summary", NULL, summary);
    md_frame_open(html, summary);
}

void md_table_begin(md_html *html, const char *class, const char *id)
{
    md_html_open_class(html, "table", class);
    if (id != NULL)
        md_html_attribute(html, "id", id);
    md_html_open(html, "thead");
    md_html_open(html, "tr");
}

void md_table_body(md_html *html)
{
    md_html_close_all(html, 2);
    md_html_open(html, "tbody");
}

void md_table_open(md_html *html, const char *class, const char *const *heads)
{
    md_table_begin(html, class, NULL);
    for (; *heads != NULL; heads++) {
        const bool number = (*heads)[0] == '#';
        md_html_open_class(html, "th", number ? "n" : NULL);
        md_html_attribute(html, "scope", "col");
        md_html_text(html, *heads + number);
        md_html_close(html);
    }
    md_table_body(html);
}

void md_cell_number(md_html *html, const char *text)
{
    md_html_element(html, "td", "n", text);
}

void md_cell_head(md_html *html, const char *scope, const char *text)
{
    md_html_open(html, "th");
    md_html_attribute(html, "scope", scope);
    md_html_data(html, text);
    md_html_close(html);
}

md_class md_class_of(const char *before, const char *name)
{
    md_class class;
    snprintf(class.text, sizeof class.text, "%s%s%s", before, before[0] && name[0] ? " " : "",
             name);
    return class;
}

md_class md_class_hue(const char *before, size_t index)
{
    char name[24];
    snprintf(name, sizeof name, "hue%zu", index % MD_HUES + 1);
    return md_class_of(before, name);
}

md_class md_class_heat(const char *before, double share)
{
    char name[24];
    const double level = isfinite(share) ? fmin(fmax(share, 0), 1) * MD_HEATS : 0;
    snprintf(name, sizeof name, "heat%d", level >= MD_HEATS ? MD_HEATS - 1 : (int)level);
    return md_class_of(before, name);
}
