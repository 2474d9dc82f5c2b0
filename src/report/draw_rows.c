/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of numbers as a table: what was right and what was said, its confidence, and the values
 * that stand out. */
#include "report/report.h"

enum { VALUES = 4 };

bool md_rows_are_sparse(const md_report *report)
{
    const medley_dataset *data = report->options.data;
    for (size_t t = 0; t < data->table_count; t++)
        if (!md_matrix_is_sparse(&data->tables[t].features))
            return false;
    return data->table_count > 0;
}

/* Mean and deviation of the columns of a dense matrix, in two passes, which do not cancel as the
 * difference of squares would: |x - mean| / deviation says how far out a value is. */
static void find_moments(const md_matrix *m, double *mean)
{
    double *deviation = mean + m->columns;
    const double n = (double)m->rows;
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->columns; c++)
            mean[c] += (double)m->dense[r * m->columns + c] / n;
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->columns; c++) {
            const double distance = (double)m->dense[r * m->columns + c] - mean[c];
            deviation[c] += distance * distance / n;
        }
    for (size_t c = 0; c < m->columns; c++)
        deviation[c] = sqrt(deviation[c]);
}

static size_t moments_of(const md_table *table)
{
    return md_matrix_is_sparse(&table->features) ? 0 : 2 * table->features.columns;
}

/* Of all dense tables, one after the other. Of sparse ones, what is not zero stands out. */
static medley_status column_moments(const medley_dataset *data, double **moments,
                                    medley_error *error)
{
    size_t total = 0;
    for (size_t t = 0; t < data->table_count; t++)
        total += moments_of(&data->tables[t]);
    MEDLEY_TRY(md_new(moments, total + 1, sizeof **moments, error));
    for (size_t t = 0, at = 0; t < data->table_count; at += moments_of(&data->tables[t]), t++)
        if (!md_matrix_is_sparse(&data->tables[t].features))
            find_moments(&data->tables[t].features, *moments + at);
    return MEDLEY_OK;
}

struct value {
    double distance, value;
    const md_table *table;
    size_t column;
};

static size_t insert(struct value *values, size_t count, struct value value)
{
    return md_keep_largest(values, count, VALUES, sizeof *values, &value);
}

/* Adds those of a table to values; moments: of its columns if it is dense. */
static size_t outstanding(struct value *values, size_t count, const md_table *table, size_t row,
                          const double *moments)
{
    const md_matrix *m = &table->features;
    if (md_matrix_is_sparse(m)) {
        for (size_t i = m->start[row]; i < m->start[row + 1]; i++)
            count = insert(values, count,
                           (struct value){fabs((double)m->value[i]), (double)m->value[i], table,
                                          (size_t)m->index[i]});
        return count;
    }
    for (size_t c = 0; c < m->columns; c++) {
        const double value = (double)m->dense[row * m->columns + c];
        const double deviation = moments[m->columns + c];
        if (deviation > 0)
            count = insert(values, count,
                           (struct value){fabs(value - moments[c]) / deviation, value, table, c});
    }
    return count;
}

/* "view.column 3.5" */
static void write_value(md_html *html, const struct value *value)
{
    const md_table *table = value->table;
    if (table->name[0] != '\0') {
        md_html_data(html, table->name);
        md_html_text(html, ".");
    }
    if (value->column < table->column_names.count)
        md_html_data(html, table->column_names.items[value->column]);
    else
        md_html_textf(html, "column %zu", value->column + 1);
    md_html_textf(html, " %s", md_figure_number(value->value).text);
}

static void write_values(md_html *html, const medley_dataset *data, size_t row,
                         const double *moments)
{
    struct value values[VALUES];
    size_t count = 0;
    for (size_t t = 0; t < data->table_count; moments += moments_of(&data->tables[t]), t++)
        if (row < data->tables[t].features.rows)
            count = outstanding(values, count, &data->tables[t], row, moments);
    for (size_t i = 0; i < count; i++) {
        md_html_text(html, i > 0 ? ", " : "");
        write_value(html, &values[i]);
    }
}

static void write_row(md_report *report, size_t row, const double *moments)
{
    md_html *html = &report->html;
    const medley_dataset *data = report->options.data;
    const bool wrong = md_report_is_wrong(report, row);
    md_html_open(html, "tr");
    md_cell_number(html, md_figure_count(row + 1).text);
    md_html_data_element(html, "td", NULL, md_report_gold_name(report, row));
    md_html_open_class(html, "td", wrong ? "wrong" : "right");
    md_html_text(html, wrong ? "✗ " : "✓ ");
    md_html_data(html, md_report_predicted_name(report, row));
    md_html_close(html);
    md_cell_number(html, md_figure_rough(md_report_confidence(report, row)).text);
    if (data->table_count > 0) {
        md_html_open_class(html, "td", "values");
        write_values(html, data, row, moments);
        md_html_close(html);
    }
    md_html_close(html);
}

medley_status md_draw_rows(md_report *report, const size_t *rows, size_t count, medley_error *error)
{
    const char *const heads[] = {"#row",
                                 "true",
                                 "predicted",
                                 "#confidence",
                                 report->options.data->table_count > 0 ? "what stands out" : NULL,
                                 NULL};
    md_html *html = &report->html;
    MD_OWNED(free) double *moments = NULL;
    MEDLEY_TRY(column_moments(report->options.data, &moments, error));
    md_frame_open(html, "Examples");
    md_table_open(html, NULL, heads);
    for (size_t i = 0; i < count; i++)
        write_row(report, rows[i], moments);
    md_html_close_all(html, 3);
    return MEDLEY_OK;
}
