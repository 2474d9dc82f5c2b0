/* SPDX-License-Identifier: BSD-3-Clause */
/* `scale=auto`: what suits a table. Kernels see the columns with the largest deviations only, so
 * columns whose deviations differ by much are standardised, unless they are of one range: pixels
 * and answers on one scale have one unit, and those that hardly vary count little for a reason. For
 * the usual kernels other columns are centred, since the angles between rows far from 0, which
 * linear and polynomial kernels of unit diagonal look at, say little; kernels that somebody has
 * asked for see their columns as they are. The decision is taken for a table, so that all views of
 * it see the same numbers, from quantities that do not depend on the order of its columns. It was
 * found on tables that docs/math.md names. */
#include "view/view_internal.h"

static const double MUCH = 10; /* of deviations, largest to least */
static const double NEARLY =
    0.9; /* of the range of all columns: what a column of that range covers */

/* Do all columns that vary begin at the same value, and most of them end at about the same? */
static bool are_of_one_range(const md_column_range *ranges, size_t columns, size_t rows)
{
    double least = INFINITY;
    double most = -INFINITY;
    size_t vary = 0;
    size_t cover = 0;
    for (size_t c = 0; c < columns; c++) {
        least = fmin(least, ranges[c].least);
        most = fmax(most, ranges[c].most);
    }
    for (size_t c = 0; c < columns; c++) {
        if (!(md_column_deviation(&ranges[c], rows) > 0))
            continue;
        if (ranges[c].least > least)
            return false;
        vary++;
        cover += ranges[c].most - least >= NEARLY * (most - least);
    }
    return 2 * cover >= vary;
}

static md_scale choose(const md_column_range *ranges, size_t columns, size_t rows, bool image,
                       md_scale otherwise)
{
    double largest = 0;
    double least = INFINITY;
    for (size_t c = 0; c < columns; c++) {
        const double deviation = md_column_deviation(&ranges[c], rows);
        largest = fmax(largest, deviation);
        least = deviation > 0 ? fmin(least, deviation) : least;
    }
    if (!(largest > 0))
        return MD_SCALE_NONE;
    const bool standard =
        !image && largest >= MUCH * least && !are_of_one_range(ranges, columns, rows);
    return standard ? MD_SCALE_STANDARD : otherwise;
}

static medley_status choose_for_table(md_scale *scale, const md_table *table, bool image,
                                      md_scale otherwise, medley_error *error)
{
    const md_matrix *matrix = &table->features;
    MD_OWNED(free) md_column_range *ranges = NULL;
    *scale = MD_SCALE_NONE;
    if (md_matrix_is_sparse(matrix) || matrix->rows < 2 ||
        (image && otherwise == MD_SCALE_NONE)) /* the same without a look at all pixels */
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&ranges, matrix->columns, sizeof *ranges, error));
    md_measure_columns(ranges, matrix);
    *scale = choose(ranges, matrix->columns, matrix->rows, image, otherwise);
    return MEDLEY_OK;
}

medley_status md_views_auto_scale(md_scale *scales, const md_view *views, size_t count,
                                  const bool *as_is, md_scale otherwise,
                                  const medley_dataset *dataset, medley_error *error)
{
    for (size_t t = 0; t < dataset->table_count; t++) {
        const md_table *table = &dataset->tables[t];
        md_scale scale;
        bool image = table->height > 0;
        for (size_t v = 0; v < count; v++)
            image = image || (views[v].image && strcmp(views[v].table, table->name) == 0);
        MEDLEY_TRY(choose_for_table(&scale, table, image, otherwise, error));
        for (size_t v = 0; v < count; v++)
            if (scales[v] == MD_SCALE_AUTO && strcmp(views[v].table, table->name) == 0)
                scales[v] = as_is[v] ? MD_SCALE_NONE : scale;
    }
    return MEDLEY_OK;
}

static const char *told(const md_view *view)
{
    return view->scale == MD_SCALE_AUTO ? "scaled" : md_scale_names[view->scale];
}

void md_views_tell_scale(md_text *text, const md_view *views, size_t count)
{
    enum { MOST_TOLD = 8 };
    bool alike = true;
    for (size_t v = 1; v < count; v++)
        alike = alike && views[v].scale == views[0].scale;
    if (alike && count > 0)
        md_text_addf(text, "%s", told(&views[0]));
    for (size_t v = 0; !alike && v < count && v < MOST_TOLD; v++)
        md_text_addf(text, "%s%s=%s", v ? ", " : "", views[v].name, told(&views[v]));
    if (!alike && count > MOST_TOLD)
        md_text_addf(text, ", ...");
}
