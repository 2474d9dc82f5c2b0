/* SPDX-License-Identifier: BSD-3-Clause */
/* From "all+each", "grid:2x2" or "shift/blur(0.7)" to views. Random ones: view_random.c. */
#include "view/view_internal.h"
#include <ctype.h>

enum { MOST_VIEWS = 50000 }; /* more is a mistake that would take hours to show */

medley_status md_view_new(md_view **view, md_view_maker *maker, const md_table *table,
                          const char *group, const char *name, size_t columns)
{
    const char *dot = table->name[0] != '\0' && name[0] != '\0' ? "." : "";
    MD_CLEARED(md_text_clear) md_text whole = {0};
    MD_CLEARED(md_view_clear)
    md_view made = {.table_columns = table->features.columns,
                    .sparse = md_matrix_is_sparse(&table->features)};
    md_text_addf(&whole, "%s%s%s", table->name, dot, name);
    MEDLEY_TRY(md_text_check(&whole, maker->error));
    MEDLEY_TRY(md_new_text(&made.name, whole.data, whole.length, maker->error));
    MEDLEY_TRY(md_new_text(&made.group, group, strlen(group), maker->error));
    MEDLEY_TRY(md_new_text(&made.table, table->name, strlen(table->name), maker->error));
    if (columns > 0)
        MEDLEY_TRY(md_new(&made.columns, columns, sizeof *made.columns, maker->error));
    MEDLEY_TRY(md_grow(&maker->views, &maker->capacity, maker->count + 1, sizeof *maker->views,
                       maker->error));
    *view = &maker->views[maker->count++];
    **view = md_take(&made);
    return MEDLEY_OK;
}

static medley_status make_all(md_view_maker *maker, const md_table *table)
{
    md_view *view;
    MEDLEY_TRY(md_view_new(&view, maker, table, "all", table->name[0] != '\0' ? "" : "all", 0));
    view->column_count = table->features.columns;
    return MEDLEY_OK;
}

/* The blocks of a view without a name could not be told from those of all views. */
static bool is_blank(const char *name, size_t length)
{
    return strspn(name, " \t\r\n\v\f") >= length;
}

/* Column number c, which has no name, is x3 or, where another column is called so, x3_2 ... */
static const char *name_by_number(char name[48], const md_table *table, size_t c)
{
    snprintf(name, 48, "x%zu", c + 1);
    for (size_t next = 2; md_strings_find(&table->column_names, name, strlen(name)) >= 0; next++)
        snprintf(name, 48, "x%zu_%zu", c + 1, next);
    return name;
}

static medley_status make_each(md_view_maker *maker, const md_table *table)
{
    if (table->features.columns > MOST_VIEWS)
        return md_fail(maker->error, MEDLEY_USAGE,
                       "views 'each': the data have %zu columns and at most %d may have a view of "
                       "their own; choose some with `view=NAME=FILE:COLUMNS`",
                       table->features.columns, MOST_VIEWS);
    for (size_t c = 0; c < table->features.columns; c++) {
        char number[48];
        const char *name = c < table->column_names.count ? table->column_names.items[c] : "";
        md_view *view;
        if (is_blank(name, strlen(name)))
            name = name_by_number(number, table, c);
        MEDLEY_TRY(md_view_new(&view, maker, table, "each", name, 1));
        view->columns[0] = c;
        view->column_count = 1;
    }
    return MEDLEY_OK;
}

static medley_status make_tile(md_view_maker *maker, const md_table *table, const size_t cut[4],
                               size_t image_width, const char *name)
{
    md_view *view;
    const size_t size = (cut[1] - cut[0]) * (cut[3] - cut[2]);
    MEDLEY_TRY(md_view_new(&view, maker, table, "grid", name, size));
    view->image = true;
    for (size_t y = cut[0]; y < cut[1]; y++)
        for (size_t x = cut[2]; x < cut[3]; x++)
            view->columns[view->column_count++] = y * image_width + x;
    return MEDLEY_OK;
}

static medley_status make_grid(md_view_maker *maker, const md_table *table, const char *spec)
{
    size_t down = 0;
    size_t across = 0;
    int used = 0;
    if (sscanf(spec, "grid:%zux%zu%n", &down, &across, &used) != 2 || spec[used] != '\0' ||
        down == 0 || across == 0)
        return md_fail(maker->error, MEDLEY_USAGE,
                       "views '%s': write grid:ROWSxCOLUMNS, e.g. grid:2x2", spec);
    size_t height = table->height;
    size_t width = table->width;
    if (height == 0) { /* square images are recognised by their size */
        height = width = (size_t)lround(sqrt((double)table->features.columns));
        if (height * width != table->features.columns)
            return md_fail(maker->error, MEDLEY_USAGE,
                           "views '%s': %zu columns are no square image; give its height and "
                           "width, or use a format that knows them (idx, letter)",
                           spec, table->features.columns);
    }
    if (down > height || across > width)
        return md_fail(maker->error, MEDLEY_USAGE, "views '%s': the images are only %zux%zu", spec,
                       height, width);
    for (size_t i = 0; i < down; i++) {
        for (size_t j = 0; j < across; j++) {
            const size_t cut[4] = {i * height / down, (i + 1) * height / down, j * width / across,
                                   (j + 1) * width / across};
            char name[64];
            snprintf(name, sizeof name, "tile%zux%zu", i + 1, j + 1);
            MEDLEY_TRY(make_tile(maker, table, cut, width, name));
        }
    }
    return MEDLEY_OK;
}

/* ---- prefixes of names ---- */

/* The number of each column's prefix, and how many columns have each. Names without a prefix go
 * together under "other". */
struct prefixes {
    md_strings names;
    int32_t *of_column;
    size_t *count;
};

static void clear_prefixes(struct prefixes *prefixes)
{
    md_strings_clear(&prefixes->names);
    free(prefixes->of_column);
    free(prefixes->count);
}

static medley_status find_prefixes(struct prefixes *prefixes, const md_table *table,
                                   medley_error *error)
{
    const size_t columns = table->features.columns;
    MEDLEY_TRY(md_new(&prefixes->of_column, columns, sizeof *prefixes->of_column, error));
    MEDLEY_TRY(md_new(&prefixes->count, columns, sizeof *prefixes->count, error));
    for (size_t c = 0; c < columns; c++) {
        const char *name = table->column_names.items[c];
        size_t length = strcspn(name, "=");
        if (is_blank(name, length) || name[length] == '\0') {
            name = "other";
            length = strlen(name);
        }
        MEDLEY_TRY(md_strings_put(&prefixes->names, name, length, &prefixes->of_column[c], error));
        prefixes->count[prefixes->of_column[c]]++;
    }
    return MEDLEY_OK;
}

static medley_status make_prefix_views(md_view_maker *maker, const md_table *table,
                                       const struct prefixes *prefixes)
{
    const size_t first = maker->count;
    for (size_t p = 0; p < prefixes->names.count; p++) {
        md_view *view;
        MEDLEY_TRY(md_view_new(&view, maker, table, "prefix", prefixes->names.items[p],
                               prefixes->count[p]));
    }
    for (size_t c = 0; maker->views != NULL && c < table->features.columns; c++) {
        md_view *view = &maker->views[first + (size_t)prefixes->of_column[c]];
        view->columns[view->column_count++] = c;
    }
    return MEDLEY_OK;
}

static medley_status make_prefix(md_view_maker *maker, const md_table *table)
{
    if (table->column_names.count == 0 || table->column_names.count != table->features.columns)
        return md_fail(maker->error, MEDLEY_USAGE,
                       "views 'prefix': the columns of the data have no names; use a format whose "
                       "columns have names such as w[0]=the, or other views");
    MD_CLEARED(clear_prefixes) struct prefixes prefixes = {0};
    MEDLEY_TRY(find_prefixes(&prefixes, table, maker->error));
    if (prefixes.names.count > MOST_VIEWS)
        return md_fail(maker->error, MEDLEY_USAGE,
                       "views 'prefix': the names have %zu prefixes and at most %d may have a "
                       "view of their own; use all",
                       prefixes.names.count, MOST_VIEWS);
    return make_prefix_views(maker, table, &prefixes);
}

/* ---- transforms ---- */

static medley_status make_transformed(md_view_maker *maker, const md_table *table, const char *spec)
{
    const size_t columns = table->features.columns;
    const bool sparse = md_matrix_is_sparse(&table->features);
    md_row_shape shape = {.columns = columns,
                          .height = table->height,
                          .width = table->width,
                          .may_grow = sparse && !md_view_wants_names(table)};
    md_steps steps;
    md_view *view;
    MD_CLEARED(md_text_clear) md_text group = {0}; /* the names of the steps: "blur/window" */
    MEDLEY_TRY(md_steps_parse(&steps, spec, &shape, maker->error));
    for (size_t s = 0; s < steps.count; s++)
        md_text_addf(&group, "%s%s", s ? "/" : "", steps.step[s].transform->name);
    MEDLEY_TRY(md_text_check(&group, maker->error));
    MEDLEY_TRY(md_view_new(&view, maker, table, group.data ? group.data : "", spec, 0));
    MEDLEY_TRY(md_new_text(&view->steps, spec, strlen(spec), maker->error));
    view->table_columns =
        steps.step[0].input_columns; /* the image's, if a sparse file ends early */
    view->column_count = shape.columns;
    if (table->height * table->width == view->table_columns) {
        view->height = table->height;
        view->width = table->width;
    }
    view->sparse = false;
    for (size_t s = 0; s < steps.count; s++)
        view->image = view->image || steps.step[s].height > 0;
    return md_view_check_size(view, &steps, table, maker->error);
}

/* ---- specs ---- */

static medley_status fail_unknown(const char *spec, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text known = {0};
    md_transforms_list(&known);
    return md_fail(error, MEDLEY_USAGE,
                   "views '%s' are not known; use all, each, prefix, grid:2x2, random:COUNT, or "
                   "transforms (%s) joined by '/', and join views by '+'",
                   spec, known.data ? known.data : "");
}

static medley_status make_named(md_view_maker *maker, const md_table *table, const char *spec)
{
    if (strcmp(spec, "all") == 0)
        return make_all(maker, table);
    if (strcmp(spec, "each") == 0)
        return make_each(maker, table);
    if (strcmp(spec, "prefix") == 0)
        return make_prefix(maker, table);
    if (strncmp(spec, "grid:", 5) == 0)
        return make_grid(maker, table, spec);
    if (strncmp(spec, "random:", 7) == 0)
        return md_view_make_random(maker, table, spec);
    if (md_transform_find(spec) != NULL)
        return make_transformed(maker, table, spec);
    return fail_unknown(spec, maker->error);
}

/* The end of the part of a spec that starts at p: a '+' outside parentheses, or the end. */
static const char *part_end(const char *p)
{
    size_t depth = 0;
    for (; *p != '\0' && (*p != '+' || depth > 0); p++) {
        if (*p == '(')
            depth++;
        else if (*p == ')' && depth > 0)
            depth--;
    }
    return p;
}

static medley_status make_parts(md_view_maker *maker, const md_table *table, const char *spec)
{
    const size_t first = maker->count;
    for (const char *p = spec; p != NULL;) {
        MD_OWNED(free) char *part = NULL;
        const char *next = part_end(p);
        const char *end = next;
        while (p < end && isspace((unsigned char)*p))
            p++;
        while (end > p && isspace((unsigned char)end[-1]))
            end--;
        MEDLEY_TRY(md_new_text(&part, p, (size_t)(end - p), maker->error));
        MEDLEY_TRY(make_named(maker, table, part));
        p = *next == '+' ? next + 1 : NULL;
    }
    for (size_t v = first; md_view_wants_names(table) && v < maker->count; v++)
        MEDLEY_TRY(md_view_keep_names(&maker->views[v], table, maker->error));
    return MEDLEY_OK;
}

static void clear_maker(md_view_maker *maker)
{
    md_views_free(maker->views, maker->count);
}

medley_status md_views_make(md_view **views, size_t *count, const medley_dataset *dataset,
                            const char *spec, medley_error *error)
{
    MD_CLEARED(clear_maker) md_view_maker maker = {.error = error};
    const bool has_data = dataset->table_count > 0 && dataset->tables[0].name[0] == '\0';
    for (size_t t = 0; t < dataset->table_count; t++) {
        const char *parts = spec != NULL && !(has_data && t > 0) ? spec : "all";
        MEDLEY_TRY(make_parts(&maker, &dataset->tables[t], parts));
    }
    *count = maker.count;
    *views = md_take(&maker.views);
    return MEDLEY_OK;
}
