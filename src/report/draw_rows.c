/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of numbers as a table: what was right and what was said, how sure it was, and the values
 * that stand out. */
#include "report/report.h"

#include "base/memory.h"
#include "data/dataset.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { VALUES = 4 };

/* Mean and deviation of the columns of a dense table: how far out a value is; NULL of sparse ones,
 * where what is not zero stands out. */
static medley_status column_moments(const medley_dataset *data, double **moments,
                                    medley_error *error)
{
    *moments = NULL;
    if (data->table_count == 0 || md_matrix_is_sparse(&data->tables[0].features))
        return MEDLEY_OK;
    const md_matrix *m = &data->tables[0].features;
    double *mean = md_calloc(2 * m->columns, sizeof *mean);
    if (mean == NULL)
        return md_fail_memory(error, 2 * m->columns * sizeof *mean);
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
    *moments = mean;
    return MEDLEY_OK;
}

struct value {
    size_t column;
    double value, distance;
};

static size_t insert(struct value *values, size_t count, struct value value)
{
    size_t at = count;
    while (at > 0 && values[at - 1].distance < value.distance)
        at--;
    if (at == VALUES)
        return count;
    const size_t end = count < VALUES ? count : VALUES - 1;
    for (size_t i = end; i > at; i--)
        values[i] = values[i - 1];
    values[at] = value;
    return end + 1;
}

/* moments: of a dense matrix. */
static size_t outstanding(struct value *values, const md_matrix *m, size_t row,
                          const double *moments)
{
    size_t count = 0;
    if (md_matrix_is_sparse(m)) {
        for (size_t i = m->start[row]; i < m->start[row + 1]; i++)
            count = insert(values, count,
                           (struct value){(size_t)m->index[i], (double)m->value[i],
                                          fabs((double)m->value[i])});
        return count;
    }
    for (size_t c = 0; c < m->columns; c++) {
        const double value = (double)m->dense[row * m->columns + c];
        const double deviation = moments[m->columns + c];
        if (deviation > 0)
            count = insert(values, count,
                           (struct value){c, value, fabs(value - moments[c]) / deviation});
    }
    return count;
}

static void write_values(md_html *html, const md_table *table, size_t row, const double *moments)
{
    struct value values[VALUES];
    const size_t count = outstanding(values, &table->features, row, moments);
    for (size_t i = 0; i < count; i++) {
        const size_t column = values[i].column;
        md_html_text(html, i > 0 ? ", " : "");
        if (column < table->column_names.count)
            md_html_data(html, table->column_names.items[column]);
        else
            md_html_textf(html, "column %zu", column + 1);
        md_html_textf(html, " %s", md_figure_number(values[i].value).text);
    }
}

static void write_row(md_report *report, size_t row, const double *moments)
{
    md_html *html = &report->html;
    const medley_dataset *data = report->options.data;
    const bool wrong = md_report_is_wrong(report, row);
    md_html_open(html, "tr");
    md_cell_number(html, md_figure_count(row + 1).text);
    md_html_open(html, "td");
    md_html_data(html, md_report_gold_name(report, row));
    md_html_close(html);
    md_html_open_class(html, "td", wrong ? "wrong" : "right");
    md_html_text(html, wrong ? "✗ " : "✓ ");
    md_html_data(html, md_report_predicted_name(report, row));
    md_html_close(html);
    md_cell_number(html, md_figure_rough(md_report_confidence(report, row)).text);
    md_html_open(html, "td");
    if (data->table_count > 0 && row < data->tables[0].features.rows &&
        (moments != NULL || md_matrix_is_sparse(&data->tables[0].features)))
        write_values(html, &data->tables[0], row, moments);
    md_html_close(html);
    md_html_close(html);
}

medley_status md_draw_rows(md_report *report, const size_t *rows, size_t count, medley_error *error)
{
    static const char *const heads[] = {"#row",  "right",           "predicted",
                                        "#sure", "what stands out", NULL};
    md_html *html = &report->html;
    double *moments;
    const medley_status status = column_moments(report->options.data, &moments, error);
    if (status < 0)
        return status;
    md_frame_open(html, "Examples");
    md_table_open(html, NULL, heads);
    for (size_t i = 0; i < count; i++)
        write_row(report, rows[i], moments);
    md_table_close(html);
    md_frame_close(html);
    free(moments);
    return MEDLEY_OK;
}
