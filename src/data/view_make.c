/* SPDX-License-Identifier: BSD-3-Clause */
/* From "all+each" or "grid:2x2" to views. */
#include "data/view.h"

#include "base/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct maker {
    md_view *views;
    size_t count, capacity;
    medley_error *error;
};

/* Appends a view; name is copied. The caller fills columns. */
static md_view *new_view(struct maker *maker, const md_table *table, const char *group,
                         const char *name)
{
    if (md_reserve((void **)&maker->views, &maker->capacity, maker->count + 1,
                   sizeof *maker->views) != 0)
        return NULL;
    md_view *view = &maker->views[maker->count++];
    *view = (md_view){.table_columns = table->features.columns,
                      .sparse = md_matrix_is_sparse(&table->features)};
    view->name = md_copy_text(name, strlen(name));
    view->group = md_copy_text(group, strlen(group));
    view->table = md_copy_text(table->name, strlen(table->name));
    return view->name && view->group && view->table ? view : NULL;
}

static medley_status make_all(struct maker *maker, const md_table *table)
{
    md_view *view = new_view(maker, table, "all", table->name[0] != '\0' ? table->name : "all");
    if (view == NULL)
        return md_fail_memory(maker->error, sizeof *view);
    view->column_count = table->features.columns;
    return MEDLEY_OK;
}

static void column_name(char *text, size_t size, const md_table *table, size_t column)
{
    char number[32];
    const char *name = number;
    if (column < table->column_names.count)
        name = table->column_names.items[column];
    else
        snprintf(number, sizeof number, "x%zu", column + 1);
    snprintf(text, size, "%s%s%s", table->name, table->name[0] ? "." : "", name);
}

static medley_status make_each(struct maker *maker, const md_table *table)
{
    enum { MOST_VIEWS = 50000 }; /* more is a mistake that would take hours to show */
    if (table->features.columns > MOST_VIEWS)
        return md_fail(maker->error, MEDLEY_USAGE,
                       "views 'each': the data have %zu columns and at most %d may have a view of "
                       "their own; choose some with --view NAME=FILE:COLUMNS",
                       table->features.columns, MOST_VIEWS);
    for (size_t c = 0; c < table->features.columns; c++) {
        char name[256];
        column_name(name, sizeof name, table, c);
        md_view *view = new_view(maker, table, "each", name);
        if (view == NULL || (view->columns = md_calloc(1, sizeof *view->columns)) == NULL)
            return md_fail_memory(maker->error, sizeof *view);
        view->columns[0] = c;
        view->column_count = 1;
    }
    return MEDLEY_OK;
}

static medley_status make_tile(struct maker *maker, const md_table *table, const size_t cut[4],
                               size_t image_width, const char *name)
{
    md_view *view = new_view(maker, table, "grid", name);
    const size_t size = (cut[1] - cut[0]) * (cut[3] - cut[2]);
    if (view == NULL || (view->columns = md_calloc(size, sizeof *view->columns)) == NULL)
        return md_fail_memory(maker->error, size * sizeof(size_t));
    for (size_t y = cut[0]; y < cut[1]; y++)
        for (size_t x = cut[2]; x < cut[3]; x++)
            view->columns[view->column_count++] = y * image_width + x;
    return MEDLEY_OK;
}

static medley_status make_grid(struct maker *maker, const md_table *table, const char *spec)
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
                           "views '%s': %zu columns are no square image; use a format that knows "
                           "its image size (idx, letter)",
                           spec, table->features.columns);
    }
    if (down > height || across > width)
        return md_fail(maker->error, MEDLEY_USAGE, "views '%s': the images are only %zux%zu", spec,
                       height, width);
    medley_status status = MEDLEY_OK;
    for (size_t i = 0; i < down && status == MEDLEY_OK; i++) {
        for (size_t j = 0; j < across && status == MEDLEY_OK; j++) {
            const size_t cut[4] = {i * height / down, (i + 1) * height / down, j * width / across,
                                   (j + 1) * width / across};
            char name[300];
            snprintf(name, sizeof name, "%s%stile%zux%zu", table->name, table->name[0] ? "." : "",
                     i + 1, j + 1);
            status = make_tile(maker, table, cut, width, name);
        }
    }
    return status;
}

static medley_status make_named(struct maker *maker, const md_table *table, const char *spec)
{
    if (strcmp(spec, "all") == 0)
        return make_all(maker, table);
    if (strcmp(spec, "each") == 0)
        return make_each(maker, table);
    if (strncmp(spec, "grid:", 5) == 0)
        return make_grid(maker, table, spec);
    return md_fail(maker->error, MEDLEY_USAGE,
                   "views '%s' are not known; use all, each, grid:2x2, joined by '+'", spec);
}

medley_status md_views_make(md_view **views, size_t *count, const medley_dataset *dataset,
                            const char *spec, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    struct maker maker = {.error = error};
    const bool has_data = dataset->table_count > 0 && dataset->tables[0].name[0] == '\0';
    for (size_t t = 0; t < dataset->table_count; t++) {
        const md_table *table = &dataset->tables[t];
        if (has_data && t > 0) {
            MEDLEY_TRY(make_all(&maker, table));
            continue;
        }
        for (const char *p = spec != NULL ? spec : "all"; p != NULL;) {
            const char *plus = strchr(p, '+');
            char part[64];
            snprintf(part, sizeof part, "%.*s", (int)(plus ? plus - p : (long)strlen(p)), p);
            MEDLEY_TRY(make_named(&maker, table, part));
            p = plus ? plus + 1 : NULL;
        }
    }
done:
    if (status < 0) {
        md_views_free(maker.views, maker.count);
        return status;
    }
    *views = maker.views;
    *count = maker.count;
    return status;
}
