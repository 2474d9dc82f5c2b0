/* SPDX-License-Identifier: BSD-3-Clause */
/* A path of penalties, from strong to weak: which blocks come in when, how many there are, and how
 * well each model does on held-out data. */
#include "report/report.h"

enum { COLOURED = 12, FAINT = 100, HUES = 8, BLOCK_NAME = 60 };

static const char NO_WEIGHTS[] = "No block has a weight anywhere on the path.";

static bool present(const md_report *report)
{
    return report->options.path != NULL && report->options.path->point_count > 0;
}

struct walk {
    const medley_path *path;
    double *lambda, *active, *score; /* [point_count] */
    double *line;                    /* [point_count] weights of one block */
    size_t *order;                   /* [block_count] by falling largest weight along the path */
    size_t ever, drawn, faint;       /* of order: with a weight; in colour; then in grey */
    size_t best;                     /* point; point_count: none */
    double *memory;
};

static void clear(struct walk *walk)
{
    free(walk->memory);
    free(walk->order);
}

static double largest_weight(const void *context, size_t block)
{
    const medley_path *path = context;
    double largest = 0;
    for (size_t p = 0; p < path->point_count; p++)
        if (path->points[p].weights != NULL && path->points[p].weights[block] > largest)
            largest = path->points[p].weights[block];
    return largest;
}

static medley_status collect(struct walk *walk, medley_error *error)
{
    const medley_path *path = walk->path;
    const size_t n = path->point_count;
    const bool small_is_good = path->measure != NULL && !path->higher_is_better;
    MEDLEY_TRY(md_new(&walk->memory, 4 * n, sizeof *walk->memory, error));
    walk->lambda = walk->memory;
    walk->active = walk->memory + n;
    walk->score = walk->memory + 2 * n;
    walk->line = walk->memory + 3 * n;
    walk->best = n;
    for (size_t p = 0; p < n; p++) {
        walk->lambda[p] = path->points[p].lambda;
        walk->active[p] = (double)path->points[p].active;
        walk->score[p] = path->points[p].score;
        if (!isfinite(walk->score[p]))
            continue;
        const double gain = walk->best == n ? 1 : walk->score[p] - walk->score[walk->best];
        if (small_is_good && walk->best < n ? gain < 0 : gain > 0)
            walk->best = p;
    }
    MEDLEY_TRY(md_rank(&walk->order, path->block_count, largest_weight, path, error));
    for (size_t m = 0; m < path->block_count; m++) /* the others are not drawn */
        walk->ever += largest_weight(path, m) > 0;
    walk->drawn = walk->ever < COLOURED ? walk->ever : COLOURED;
    walk->faint = walk->ever - walk->drawn < FAINT ? walk->ever - walk->drawn : FAINT;
    return MEDLEY_OK;
}

static const double *line_of(const struct walk *walk, size_t block)
{
    for (size_t p = 0; p < walk->path->point_count; p++)
        walk->line[p] =
            walk->path->points[p].weights != NULL ? walk->path->points[p].weights[block] : NAN;
    return walk->line;
}

static md_chart chart_of(const struct walk *walk, md_figure_writer text, const char *label)
{
    md_chart chart = {.x = MD_AXIS_INIT(md_figure_tick, "lambda: strong to weak penalty"),
                      .y = MD_AXIS_INIT(text, ""),
                      .height = 250,
                      .label = label};
    chart.x.logarithmic = chart.x.falling = true;
    md_axis_include_all(&chart.x, walk->lambda, walk->path->point_count);
    return chart;
}

/* ---- lines of blocks ---- */

static md_class line_class(size_t i)
{
    return md_class_hue(i < HUES ? "line hue" : "line hue dashed", i);
}

/* Where the number of a line stands. */
struct place {
    double x, y;
    size_t line;
};

enum { APART = 11 };

static int by_x(const void *a, const void *b)
{
    const double difference = ((const struct place *)a)->x - ((const struct place *)b)->x;
    return (difference > 0) - (difference < 0);
}

static int by_y(const void *a, const void *b)
{
    const double difference = ((const struct place *)a)->y - ((const struct place *)b)->y;
    return (difference > 0) - (difference < 0);
}

/* Moves numbers that stand one above the other apart, each as little as can be: minimises
 * sum (y_i' - y_i)^2 with y_i' + APART <= y_(i+1)'. With z_i = y_i - APART i this is isotonic
 * regression, solved by pooling adjacent violators: neighbours in the wrong order become a pile
 * around the mean of where they want to be. */
static void spread(struct place *places, size_t count, double highest, double lowest)
{
    double mean[COLOURED]; /* of piles: of y less what the numbers above take */
    size_t size[COLOURED];
    size_t piles = 0;
    qsort(places, count, sizeof *places, by_y);
    for (size_t i = 0; i < count; i++) {
        mean[piles] = places[i].y - (double)(APART * i);
        size[piles++] = 1;
        for (; piles > 1 && mean[piles - 2] > mean[piles - 1]; piles--) {
            const size_t both = size[piles - 2] + size[piles - 1];
            mean[piles - 2] = (mean[piles - 2] * (double)size[piles - 2] +
                               mean[piles - 1] * (double)size[piles - 1]) /
                              (double)both;
            size[piles - 2] = both;
        }
    }
    const double last = lowest - (double)(APART * (count - 1));
    for (size_t p = 0, i = 0; p < piles; p++)
        for (size_t k = 0; k < size[p]; k++, i++)
            places[i].y = fmax(fmin(mean[p], last), highest) + (double)(APART * i);
}

static void write_labels(md_html *html, struct place *places, size_t count, double height)
{
    qsort(places, count, sizeof *places, by_x);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && places[end].x - places[end - 1].x < APART;)
            end++;
        spread(places + first, end - first, APART, height);
    }
    for (size_t i = 0; i < count; i++) {
        md_html_open_class(html, "text", md_class_hue("label", places[i].line).text);
        md_html_coordinate(html, "x", places[i].x);
        md_html_coordinate(html, "y", places[i].y);
        md_html_textf(html, "%zu", places[i].line + 1);
        md_html_close(html);
    }
}

/* Where a line is highest. */
static size_t peak_of(const struct walk *walk, size_t i)
{
    const double *line = line_of(walk, walk->order[i]);
    size_t peak = 0;
    for (size_t p = 1; p < walk->path->point_count; p++)
        peak = line[p] > line[peak] ? p : peak;
    return peak;
}

/* Numbers at the ends of the lines; those of lines that end at nothing at their highest points. */
static void label_lines(md_html *html, const struct walk *walk, const md_chart *chart)
{
    const size_t last = walk->path->point_count - 1;
    struct place places[COLOURED] = {0};
    size_t placed = 0;
    for (size_t i = 0; i < walk->drawn; i++) {
        const bool ends = line_of(walk, walk->order[i])[last] > 0;
        const size_t at = ends ? last : peak_of(walk, i);
        const double x = md_chart_x(chart, walk->lambda[at]) + (ends ? 5 : -3);
        const double y = md_chart_y(chart, line_of(walk, walk->order[i])[at]) + (ends ? 4 : -5);
        if (!isfinite(x) || !isfinite(y))
            continue;
        places[placed++] = (struct place){x, y, i};
    }
    write_labels(html, places, placed, md_chart_y(chart, chart->y.low) + 4);
}

static void draw_weights(md_html *html, const struct walk *walk)
{
    const size_t n = walk->path->point_count;
    md_chart chart = chart_of(walk, md_figure_tick_percent,
                              "Line chart of the weight of each block along the "
                              "path of penalties");
    char note[96];
    if (walk->drawn == 0) {
        md_html_element(html, "p", NULL, NO_WEIGHTS);
        return;
    }
    chart.right = 18;
    chart.height = 280;
    md_axis_include(&chart.y, 0);
    for (size_t i = 0; i < walk->drawn; i++)
        md_axis_include_all(&chart.y, line_of(walk, walk->order[i]), n);
    md_html_open_class(html, "div", "pair");
    snprintf(note, sizeof note, "the largest are numbered, %s%s grey",
             walk->faint < walk->ever - walk->drawn ? "the next " : "",
             md_figure_of(walk->faint, "other is", "others are").text);
    md_chart_figure(html, &chart, "Weight of each block", walk->faint > 0 ? note : NULL);
    for (size_t i = walk->drawn + walk->faint; i-- > walk->drawn;)
        md_chart_line(html, &chart, walk->lambda, line_of(walk, walk->order[i]), n, "line faint");
    for (size_t i = walk->drawn; i-- > 0;)
        md_chart_line(html, &chart, walk->lambda, line_of(walk, walk->order[i]), n,
                      line_class(i).text);
    label_lines(html, walk, &chart);
    md_html_close_all(html, 2);
    md_html_open_class(html, "ul", "legend");
    for (size_t i = 0; i < walk->drawn; i++) {
        md_html_open_class(html, "li", md_class_hue("", i).text);
        md_html_elementf(html, "span", "key", "%zu", i + 1);
        md_svg_open_cell(html);
        md_svg_path(html, line_class(i).text, "M1 6H24");
        md_html_close(html);
        md_html_name(html, walk->path->blocks[walk->order[i]]);
        md_html_close(html);
    }
    md_html_close_all(html, 2);
}

/* ---- what belongs to the points ---- */

static void draw_points(md_html *html, const struct walk *walk, const double *y,
                        const char *caption, md_figure_writer text)
{
    const size_t n = walk->path->point_count;
    md_chart chart = chart_of(walk, text, caption);
    chart.y.whole = y == walk->active;
    chart.above = walk->best < n ? 12 : 0;
    md_axis_include_all(&chart.y, y, n);
    if (y == walk->active)
        md_axis_include(&chart.y, 0);
    md_chart_figure(html, &chart, caption, NULL);
    if (walk->best < n) {
        const double x[2] = {walk->lambda[walk->best], walk->lambda[walk->best]};
        const double ends[2] = {chart.y.low, chart.y.high};
        md_chart_line(html, &chart, x, ends, 2, "line guide");
    }
    md_chart_line(html, &chart, walk->lambda, y, n, "line");
    for (size_t p = 0; p < n; p++)
        md_chart_dot(html, &chart, walk->lambda[p], y[p], "end");
    if (walk->best < n)
        md_chart_head(html, &chart, walk->lambda[walk->best], "★ best");
    md_html_close_all(html, 2);
}

static void tell(md_html *html, const struct walk *walk)
{
    const medley_path *path = walk->path;
    md_html_open(html, "p");
    md_html_textf(html, "The penalty %s in %s", path->penalty != NULL ? path->penalty : "",
                  md_figure_of(path->point_count, "strength", "strengths").text);
    md_html_text(html, path->point_count > 1
                           ? ", from strong to weak; each model starts from the one before. "
                           : ". ");
    if (walk->best < path->point_count) {
        const medley_path_point *best = &path->points[walk->best];
        md_html_elementf(html, "strong", NULL, "Best on held-out data is lambda %s",
                         md_figure_number(best->lambda).text);
        md_html_textf(html, " with %s of %s and %s %s, the best of %zu on the same data.",
                      md_figure_count(best->active).text,
                      md_figure_of(path->block_count, "block", "blocks").text, path->measure,
                      md_measure_text(path->higher_is_better)(best->score).text, path->point_count);
    }
    md_html_close(html);
}

static void write_table(md_html *html, const struct walk *walk)
{
    static const char *const heads[] = {"#lambda", "#C",        "#active",  "#objective",
                                        "#gap",    "#held-out", "#seconds", NULL};
    const medley_path *path = walk->path;
    md_details_open(html, "The path as a table");
    md_table_open(html, "numbers", heads);
    for (size_t p = 0; p < path->point_count; p++) {
        const medley_path_point *point = &path->points[p];
        md_html_open_class(html, "tr", p == walk->best ? "mine" : NULL);
        md_cell_number(html, md_figure_number(point->lambda).text);
        md_cell_number(html, md_figure_number(point->C).text);
        md_cell_number(html, md_figure_count(point->active).text);
        md_cell_number(html, md_figure_number(point->objective).text);
        md_cell_number(html, md_figure_at_most(point->gap).text);
        md_cell_number(html, path->measure != NULL
                                 ? md_measure_text(path->higher_is_better)(point->score).text
                                 : md_figure_number(NAN).text);
        md_cell_number(html, md_figure_number(point->seconds).text);
        md_html_close(html);
    }
    md_html_close_all(html, 4);
}

/* Of the blocks in colour: those that are grey would make a table of millions of numbers. */
static void write_weights_table(md_html *html, const struct walk *walk)
{
    const medley_path *path = walk->path;
    md_details_open(html, "Weights along the path as a table");
    md_table_begin(html, "numbers", NULL);
    md_html_element(html, "th", "n", "lambda");
    for (size_t i = 0; i < walk->drawn; i++)
        md_html_data_element(html, "th", "n", path->blocks[walk->order[i]]);
    md_table_body(html);
    for (size_t p = 0; p < path->point_count; p++) {
        md_html_open(html, "tr");
        md_cell_number(html, md_figure_number(path->points[p].lambda).text);
        for (size_t i = 0; i < walk->drawn; i++)
            md_cell_number(html, md_figure_percent(line_of(walk, walk->order[i])[p]).text);
        md_html_close(html);
    }
    md_html_close_all(html, 4);
}

static void draw_all(md_html *html, const struct walk *walk)
{
    const medley_path *path = walk->path;
    draw_weights(html, walk);
    md_html_open_class(html, "div", "pair");
    draw_points(html, walk, walk->active, "Active blocks", md_figure_tick);
    if (walk->best < path->point_count) {
        char caption[64];
        snprintf(caption, sizeof caption, "Held-out %.40s", path->measure);
        draw_points(html, walk, walk->score, caption, md_measure_tick(path->higher_is_better));
    }
    md_html_close(html);
}

/* One or two points make no curve. */
static void tell_points(md_html *html, const struct walk *walk)
{
    const medley_path *path = walk->path;
    if (walk->drawn == 0) {
        md_html_element(html, "p", NULL, NO_WEIGHTS);
        return;
    }
    md_html_open(html, "p");
    for (size_t p = 0; p < path->point_count; p++) {
        md_html_textf(html, "With lambda %s there %s %s", md_figure_number(walk->lambda[p]).text,
                      path->points[p].active == 1 ? "is" : "are",
                      md_figure_of(path->points[p].active, "active block", "active blocks").text);
        if (path->measure != NULL && isfinite(walk->score[p]))
            md_html_textf(html, ", held-out %s %s", path->measure,
                          md_measure_text(path->higher_is_better)(walk->score[p]).text);
        md_html_text(html, ". ");
    }
    md_html_close(html);
}

static medley_status write_section(md_report *report, medley_error *error)
{
    md_html *html = &report->html;
    MD_CLEARED(clear) struct walk walk = {.path = report->options.path};
    MEDLEY_TRY(collect(&walk, error));
    tell(html, &walk);
    if (walk.path->point_count > 2)
        draw_all(html, &walk);
    else
        tell_points(html, &walk);
    write_table(html, &walk);
    if (walk.drawn > 0)
        write_weights_table(html, &walk);
    return MEDLEY_OK;
}

const md_section md_section_path = {"path", "From strong to weak penalties", present,
                                    write_section};
