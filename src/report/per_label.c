/* SPDX-License-Identifier: BSD-3-Clause */
/* Precision and recall of each label (of chunks: of each type; of trees: of each relation with its
 * head), the hardest first. */
#include "report/report.h"

#include "metrics/chunk.h"
#include "model/model.h"

enum { MOST_SHOWN = 30, MOST_ROWS = 2000 };

static bool present(const md_report *report)
{
    return report->measured && report->gold != NULL && report->prediction->label != NULL &&
           medley_model_label_count(report->model) > 1;
}

struct table {
    const md_strings *names;
    md_chunk_counts *counts; /* [names->count] */
    size_t *order;
    md_chunk_scheme scheme; /* of chunks */
};

static void clear(struct table *table)
{
    md_chunk_scheme_clear(&table->scheme);
    free(table->counts);
    free(table->order);
}

static void count_labels(struct table *table, const md_report *report)
{
    const medley_prediction *p = report->prediction;
    for (size_t r = 0; r < p->rows; r++) {
        const int32_t gold = report->gold[r];
        if (gold >= 0)
            table->counts[gold].given++;
        table->counts[p->label[r]].found++;
        if (gold >= 0 && !md_report_is_wrong(report, r))
            table->counts[gold].correct++;
    }
}

static medley_status count_all(struct table *table, const md_report *report, medley_error *error)
{
    const bool chunks = report->evaluation.has_chunks;
    table->names = &report->model->labels;
    if (chunks) {
        MEDLEY_TRY(md_chunk_scheme_init(&table->scheme, table->names, error));
        table->names = &table->scheme.types;
    }
    MEDLEY_TRY(md_new(&table->counts, table->names->count, sizeof *table->counts, error));
    if (!chunks)
        count_labels(table, report);
    const medley_dataset *data = report->options.data;
    for (size_t s = 0; chunks && s < md_dataset_units(data); s++) {
        const size_t first = md_dataset_unit_start(data, s);
        const size_t end = md_dataset_unit_start(data, s + 1);
        md_chunk_count(&table->scheme, report->gold + first, report->prediction->label + first,
                       end - first, table->counts);
    }
    return MEDLEY_OK;
}

/* For rising F1; labels that neither occur nor were predicted have nothing to tell and come last.
 */
static double hardness(const void *counts, size_t label)
{
    const md_chunk_counts *c = (const md_chunk_counts *)counts + label;
    return c->given + c->found > 0 ? -md_chunk_f1(*c) : (double)NAN;
}

/* Precision and recall on one line, and what lies between them. */
static void draw_pair(md_html *html, const md_axis *axis, double precision, double recall)
{
    md_svg_open_cell(html);
    md_svg_track(html, "48%", "1");
    md_svg_between(html, axis, precision, recall, "between");
    md_svg_dot(html, axis, recall, "dot hollow", "5");
    md_svg_dot(html, axis, precision, "dot", "5");
    md_html_close(html);
}

static double precision_of(const md_chunk_counts *c)
{
    return c->found > 0 ? md_chunk_precision(*c) : (double)NAN;
}

static double recall_of(const md_chunk_counts *c)
{
    return c->given > 0 ? md_chunk_recall(*c) : (double)NAN;
}

static void write_row(md_html *html, const char *name, const md_chunk_counts *c,
                      const md_axis *axis)
{
    md_html_open(html, "tr");
    md_cell_head(html, "row", name);
    md_html_open(html, "td");
    draw_pair(html, axis, precision_of(c), recall_of(c));
    md_html_close(html);
    md_html_element(html, "td", "n extra", md_figure_percent(precision_of(c)).text);
    md_html_element(html, "td", "n extra", md_figure_percent(recall_of(c)).text);
    md_cell_number(html, md_figure_percent(md_chunk_f1(*c)).text);
    md_cell_number(html, md_figure_count(c->given).text);
    md_html_close(html);
}

static void write_rows(md_html *html, const struct table *table, size_t first, size_t end,
                       const md_axis *axis)
{
    char range[96];
    snprintf(range, sizeof range, "%s to %s", md_figure_tick_percent(axis->low).text,
             md_figure_tick_percent(axis->high).text);
    const char *const heads[][2] = {{"what", ""},          {NULL, range}, {"n extra", "precision"},
                                    {"n extra", "recall"}, {"n", "F1"},   {"n", "support"}};
    md_table_begin(html, "bars labels", NULL);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        md_html_element(html, "th", heads[i][0], heads[i][1]);
    md_table_body(html);
    for (size_t i = first; i < end; i++)
        write_row(html, table->names->items[table->order[i]], &table->counts[table->order[i]],
                  axis);
    md_html_close_all(html, 2);
}

/* From the lowest of all to the whole. */
static md_axis common_axis(const struct table *table)
{
    md_axis axis = MD_AXIS_INIT(md_figure_tick_percent, "");
    for (size_t l = 0; l < table->names->count; l++) {
        md_axis_include(&axis, precision_of(&table->counts[l]));
        md_axis_include(&axis, recall_of(&table->counts[l]));
    }
    md_axis_include(&axis, 1);
    md_axis_round(&axis, 5);
    axis.low = fmax(axis.low, 0);
    axis.high = 1;
    return axis;
}

static medley_status write_section(md_report *report, medley_error *error)
{
    md_html *html = &report->html;
    MD_CLEARED(clear) struct table table = {0};
    MEDLEY_TRY(count_all(&table, report, error));
    MEDLEY_TRY(md_rank(&table.order, table.names->count, hardness, table.counts, error));
    const size_t count = table.names->count < MOST_ROWS ? table.names->count : MOST_ROWS;
    const size_t shown = count < MOST_SHOWN ? count : MOST_SHOWN;
    md_figure_open(html,
                   report->evaluation.has_chunks      ? "Chunks by type, hardest first"
                   : report->prediction->head != NULL ? "Relations, hardest first"
                                                      : "Labels, hardest first",
                   "full dot: precision, the share of predictions that are right; hollow: recall, "
                   "the share of "
                   "the support (rows with this label) that was found; F1: their harmonic mean");
    const md_axis axis = common_axis(&table);
    write_rows(html, &table, 0, shown, &axis);
    md_html_close(html);
    if (count > shown) {
        char title[64];
        snprintf(title, sizeof title, "%s more", md_figure_count(table.names->count - shown).text);
        md_details_open(html, title);
        write_rows(html, &table, shown, count, &axis);
        if (table.names->count > count)
            md_html_textf(html, "… and %s more", md_figure_count(table.names->count - count).text);
        md_html_close_all(html, 2);
    }
    return MEDLEY_OK;
}

const md_section md_section_labels = {"labels", "Per-class precision and recall", present,
                                      write_section};
