/* SPDX-License-Identifier: BSD-3-Clause */
/* Scaling learnt from training rows. */
#include "view/view_internal.h"

#include <float.h>

const char *const md_scale_names[] = {"none",   "center", "standard", "minmax",
                                      "maxabs", "auto",   NULL};

static void see_value(md_column_range *range, float value)
{
    const double difference = (double)value - range->reference;
    range->sum += difference;
    range->square += difference * difference;
    /* fmin and fmax would be calls */
    range->least = (double)value < range->least ? (double)value : range->least;
    range->most = (double)value > range->most ? (double)value : range->most;
    range->count++;
}

void md_measure_columns(md_column_range *ranges, const md_matrix *matrix)
{
    for (size_t c = 0; c < matrix->columns; c++) {
        const double first = md_matrix_is_sparse(matrix) ? 0 : (double)matrix->dense[c];
        ranges[c] = (md_column_range){.reference = first, .least = INFINITY, .most = -INFINITY};
    }
    for (size_t r = 0; r < matrix->rows; r++) {
        const md_row row = md_matrix_row(matrix, r);
        for (size_t e = 0; e < row.count; e++)
            see_value(&ranges[md_row_column(row, e)], row.value[e]);
    }
    for (size_t c = 0; c < matrix->columns; c++)
        if (ranges[c].count < matrix->rows) { /* zeros that are not stored */
            ranges[c].least = fmin(ranges[c].least, 0);
            ranges[c].most = fmax(ranges[c].most, 0);
        }
}

double md_column_deviation(const md_column_range *range, size_t rows)
{
    const double mean = range->sum / (double)rows; /* from the reference */
    const double deviation = sqrt(fmax(0, range->square / (double)rows - mean * mean));
    const double largest = fmax(fabs(range->least), fabs(range->most));
    return deviation > (double)FLT_EPSILON * largest ? deviation : 0;
}

/* A constant column carries nothing: it becomes 0 (factor 0) rather than a division by zero. */
static double set_column_scale(md_view *view, size_t c, md_scale scale,
                               const md_column_range *range, size_t rows)
{
    double shift = 0;
    double width;
    const double mean = range->sum / (double)rows; /* from the reference */
    if (scale == MD_SCALE_MAXABS) {
        width = fmax(fabs(range->least), fabs(range->most));
    } else if (scale == MD_SCALE_MINMAX) {
        shift = range->least;
        width = range->most - range->least;
    } else {
        shift = range->reference + mean;
        width = scale == MD_SCALE_CENTER ? 1 : md_column_deviation(range, rows);
    }
    view->shift[c] = (float)shift;
    view->factor[c] = width > 0 ? (float)(1 / width) : 0;
    return width;
}

static medley_status set_scale(md_view *view, md_scale scale, md_column_range *ranges,
                               const md_matrix *matrix, medley_error *error)
{
    md_measure_columns(ranges, matrix);
    for (size_t c = 0; c < view->column_count; c++) {
        const double width = set_column_scale(view, c, scale, &ranges[c], matrix->rows);
        if (width > 0 && width < (double)FLT_MIN && view->chosen)
            view->factor[c] = 0; /* nobody has asked; beside the others it has no weight */
        else if (width > 0 && width < (double)FLT_MIN)
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "view '%s': the values of column %zu are too small to be scaled (they "
                           "differ by about %.3g); multiply them by a large number",
                           view->name, c + 1, width);
    }
    return MEDLEY_OK;
}

static bool has_shift(const md_view *view)
{
    for (size_t c = 0; c < view->column_count; c++)
        if (view->shift[c] != 0 && view->factor[c] != 0)
            return true;
    return false;
}

/* A shift turns zeros into other numbers, which are then stored. */
static medley_status make_dense(md_view *view, md_scale scale, size_t rows,
                                const medley_dataset *dataset, medley_error *error)
{
    const double bytes = (double)rows * (double)view->column_count * sizeof(float);
    const md_table *table = md_dataset_table(dataset, view->table);
    if (bytes > (double)MD_MOST_DENSE)
        return md_fail_at(error, MEDLEY_USAGE, table->source ? table->source : dataset->source, 0,
                          "`scale=%s` shifts columns, which would make the sparse data of view "
                          "'%s' dense: %zu rows of %zu columns, %.1f GB, and at most %.1f are "
                          "allowed; use `scale=maxabs`, which keeps zeros",
                          md_scale_names[scale], view->name, rows, view->column_count, bytes / 1e9,
                          (double)MD_MOST_DENSE / 1e9);
    view->sparse = false;
    return MEDLEY_OK;
}

medley_status md_view_fit_scale(md_view *view, md_scale scale, const medley_dataset *dataset,
                                medley_error *error)
{
    MD_CLEARED(md_matrix_clear) md_matrix matrix = {0};
    MD_OWNED(free) md_column_range *ranges = NULL;
    MD_OWNED(free) float *shift = NULL;
    MD_OWNED(free) float *factor = NULL;
    view->scale = MD_SCALE_NONE;
    if (scale == MD_SCALE_NONE)
        return MEDLEY_OK;
    MEDLEY_TRY(md_view_check_width(view, dataset, "`scale`", error));
    MEDLEY_TRY(md_view_extract(&matrix, view, dataset, error));
    MEDLEY_TRY(md_new(&ranges, view->column_count, sizeof *ranges, error));
    MEDLEY_TRY(md_new(&shift, view->column_count, sizeof *shift, error));
    MEDLEY_TRY(md_new(&factor, view->column_count, sizeof *factor, error));
    md_view scaled = *view;
    scaled.shift = shift;
    scaled.factor = factor;
    MEDLEY_TRY(set_scale(&scaled, scale, ranges, &matrix, error));
    if (view->sparse && has_shift(&scaled)) {
        MEDLEY_TRY(make_dense(view, scale, matrix.rows, dataset, error));
        md_matrix_clear(&matrix);
        MEDLEY_TRY(md_view_extract(&matrix, view, dataset, error));
        MEDLEY_TRY(set_scale(&scaled, scale, ranges, &matrix, error));
    }
    view->scale = scale;
    view->shift = md_take(&shift);
    view->factor = md_take(&factor);
    return MEDLEY_OK;
}
