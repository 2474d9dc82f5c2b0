/* SPDX-License-Identifier: BSD-3-Clause */
/* The confusion matrix: with its numbers, or with many labels the most common confusions and a
 * matrix that is made coarser until it fits. */
#include "report/report.h"

enum { MOST_LABELS = 30, MOST_PAIRS = 25, MAP_CELLS = 64, SHORT_LABEL = 3, FEW_LABELS = 8 };

static bool present(const md_report *report)
{
    return report->measured && report->evaluation.confusion != NULL &&
           report->evaluation.labels > 1;
}

static size_t row_total(const medley_evaluation *e, size_t label)
{
    size_t total = 0;
    for (size_t k = 0; k < e->labels; k++)
        total += e->confusion[label * e->labels + k];
    return total;
}

/* ---- few labels: every number ---- */

static void write_cell(md_html *html, const medley_evaluation *e, size_t l, size_t k, size_t total)
{
    const size_t count = e->confusion[l * e->labels + k];
    if (count == 0) {
        md_html_element(html, "td", NULL, "");
        return;
    }
    const double share = (double)count / (double)total;
    /* confusions are rare, and a scale for both would show none of them */
    const md_class class =
        l == k ? md_class_heat("diagonal", share) : md_class_heat("warm", sqrt(share));
    md_html_element(html, "td", class.text, md_figure_count(count).text);
}

static void write_matrix(md_report *report)
{
    md_html *html = &report->html;
    const medley_evaluation *e = &report->evaluation;
    md_figure_open(html, "True labels down, predicted ones across",
                   "bold on the diagonal: right answers; others: errors, redder where they are a "
                   "larger share of their row");
    md_frame_open(html, "Confusion matrix");
    size_t longest = 0;
    for (size_t k = 0; k < e->labels; k++) {
        const size_t length = md_html_length(medley_model_label_name(report->model, k));
        longest = length > longest ? length : longest;
    }
    md_table_begin(html,
                   e->labels <= FEW_LABELS ? "map large"
                   : longest > SHORT_LABEL ? "map upright"
                                           : "map",
                   "confusion-matrix");
    md_html_element(html, "th", "corner", "true \xE2\x86\x93");
    for (size_t k = 0; k < e->labels; k++)
        md_cell_head(html, "col", medley_model_label_name(report->model, k));
    md_table_body(html);
    for (size_t l = 0; l < e->labels; l++) {
        const size_t total = row_total(e, l);
        md_html_open(html, "tr");
        md_cell_head(html, "row", medley_model_label_name(report->model, l));
        for (size_t k = 0; k < e->labels; k++)
            write_cell(html, e, l, k, total);
        md_html_close(html);
    }
    md_html_close_all(html, 4);
}

/* ---- many labels ---- */

static double opacity_level(size_t count, size_t most)
{
    return most > 0 ? log1p((double)count) / log1p((double)most) : 0;
}

static void draw_cell(md_html *html, size_t x, size_t y, double level)
{
    char class[32];
    snprintf(class, sizeof class, "cell%s ink%d", x == y ? "" : " off",
             1 + (int)fmin(3, floor(4 * level)));
    md_html_open_class(html, "rect", class);
    md_html_coordinate(html, "x", (double)x);
    md_html_coordinate(html, "y", (double)y);
    md_html_attribute(html, "width", "1");
    md_html_attribute(html, "height", "1");
    md_html_close(html);
}

static void draw_cells(md_html *html, const size_t *cells, size_t side)
{
    size_t most[2] = {0, 0}; /* off the diagonal, on it */
    for (size_t y = 0; y < side; y++)
        for (size_t x = 0; x < side; x++) {
            const size_t count = cells[y * side + x];
            most[x == y] = count > most[x == y] ? count : most[x == y];
        }
    for (size_t y = 0; y < side; y++)
        for (size_t x = 0; x < side; x++)
            if (cells[y * side + x] > 0)
                draw_cell(html, x, y, opacity_level(cells[y * side + x], most[x == y]));
}

static medley_status write_compact(md_report *report, medley_error *error)
{
    md_html *html = &report->html;
    const medley_evaluation *e = &report->evaluation;
    const size_t step = (e->labels + MAP_CELLS - 1) / MAP_CELLS;
    const size_t side = (e->labels + step - 1) / step;
    MD_OWNED(free) size_t *cells = NULL;
    MEDLEY_TRY(md_new(&cells, side * side, sizeof *cells, error));
    for (size_t l = 0; l < e->labels; l++)
        for (size_t k = 0; k < e->labels; k++)
            cells[l / step * side + k / step] += e->confusion[l * e->labels + k];
    char note[96];
    snprintf(note, sizeof note,
             step > 1 ? "each cell is %zu by %zu labels" : "a cell for each pair", step, step);
    md_html_open_class(html, "div", "pair");
    md_figure_open(html, "True labels down, predicted ones across", note);
    md_svg_open(html, "chart", (double)side, (double)side,
                "Map of confusions: the diagonal holds right answers; the most common errors "
                "are in the table of confusions");
    md_html_open_class(html, "rect", "track");
    md_html_coordinate(html, "width", (double)side);
    md_html_coordinate(html, "height", (double)side);
    md_html_close(html);
    draw_cells(html, cells, side);
    md_html_close_all(html, 3);
    return MEDLEY_OK;
}

/* ---- the most common ---- */

struct pair {
    double count;
    size_t right, predicted;
};

/* Right labels that the model does not know have no line in the matrix: "ghost (3), spirit (1)". */
static medley_status write_unknown(md_report *report, medley_error *error)
{
    enum { MOST_NAMES = 20 };
    md_html *html = &report->html;
    const medley_dataset *data = report->options.data;
    const size_t names = medley_dataset_label_count(data);
    if (report->evaluation.unknown_labels == 0 || report->gold == NULL || names == 0)
        return MEDLEY_OK;
    MD_OWNED(free) size_t *count = NULL;
    MEDLEY_TRY(md_new(&count, names, sizeof *count, error));
    size_t rows = 0;
    size_t listed = 0;
    for (size_t r = 0; r < medley_dataset_rows(data); r++)
        if (report->gold[r] < 0 && medley_dataset_label(data, r) >= 0) {
            count[medley_dataset_label(data, r)]++;
            rows++;
        }
    md_html_open(html, "p");
    md_html_textf(html, "%s that training did not see, so that every answer is wrong: ",
                  md_figure_of(rows, "row has a label", "rows have labels").text);
    for (size_t l = 0; l < names; l++) {
        if (count[l] == 0 || listed++ >= MOST_NAMES)
            continue;
        md_html_text(html, listed > 1 ? ", " : "");
        md_html_data(html, medley_dataset_label_name(data, l));
        md_html_textf(html, " (%s)", md_figure_count(count[l]).text);
    }
    if (listed > MOST_NAMES)
        md_html_textf(html, " and %s", md_figure_of(listed - MOST_NAMES, "other", "others").text);
    md_html_text(html, ".");
    md_html_close(html);
    return MEDLEY_OK;
}

static void write_pairs(md_report *report, bool folded)
{
    static const char *const heads[] = {"true", "predicted", "#times", "#of its rows", NULL};
    md_html *html = &report->html;
    const medley_evaluation *e = &report->evaluation;
    struct pair pairs[MOST_PAIRS];
    size_t count = 0;
    for (size_t l = 0; l < e->labels; l++)
        for (size_t k = 0; k < e->labels; k++)
            if (l != k && e->confusion[l * e->labels + k] > 0)
                count =
                    md_keep_largest(pairs, count, MOST_PAIRS, sizeof *pairs,
                                    &(struct pair){(double)e->confusion[l * e->labels + k], l, k});
    if (count == 0) {
        md_html_element(
            html, "p", NULL,
            e->unknown_labels > 0
                ? "None of the labels that the model knows was confused with another one."
                : "No label was confused with another one.");
        return;
    }
    if (folded)
        md_details_open(html, "The most common confusions as a table");
    else
        md_frame_open(html, "The most common confusions");
    md_table_open(html, "numbers", heads);
    for (size_t i = 0; i < count; i++) {
        md_html_open(html, "tr");
        md_html_data_element(html, "td", NULL,
                             medley_model_label_name(report->model, pairs[i].right));
        md_html_data_element(html, "td", NULL,
                             medley_model_label_name(report->model, pairs[i].predicted));
        md_cell_number(html, md_figure_count((size_t)pairs[i].count).text);
        md_cell_number(html,
                       md_figure_rough(pairs[i].count / (double)row_total(e, pairs[i].right)).text);
        md_html_close(html);
    }
    md_html_close_all(html, folded ? 4 : 3);
}

static medley_status write_section(md_report *report, medley_error *error)
{
    const bool few = report->evaluation.labels <= MOST_LABELS;
    if (few)
        write_matrix(report);
    write_pairs(report, few);
    MEDLEY_TRY(write_unknown(report, error));
    return few ? MEDLEY_OK : write_compact(report, error);
}

const md_section md_section_confusion = {"confusion", "Confusion matrix", present, write_section};
