/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of names and groups, and the views of each, counted, placed and filled in. */
#include "gram/view_index.h"

void md_view_index_clear(md_view_index *index)
{
    md_strings_clear(&index->names);
    free(index->start);
    free(index->views);
    free(index->all);
    *index = (md_view_index){0};
}

/* keys[2 v] and keys[2 v + 1]: numbers of the name and of the group of view v. */
static medley_status number_names(md_view_index *index, int32_t *keys, const md_view *views,
                                  medley_error *error)
{
    for (size_t v = 0; v < index->count; v++) {
        const char *texts[] = {views[v].name, views[v].group};
        for (size_t i = 0; i < 2; i++)
            MEDLEY_TRY(
                md_strings_put(&index->names, texts[i], strlen(texts[i]), &keys[2 * v + i], error));
    }
    return MEDLEY_OK;
}

/* A view called as its group, such as "all", counts once. */
static bool is_repeated(const int32_t *keys, size_t k)
{
    return k % 2 == 1 && keys[k] == keys[k - 1];
}

static void place_views(md_view_index *index, const int32_t *keys)
{
    const size_t names = index->names.count;
    for (size_t k = 0; k < 2 * index->count; k++)
        if (!is_repeated(keys, k))
            index->start[keys[k] + 1]++;
    for (size_t n = 0; n < names; n++)
        index->start[n + 1] += index->start[n];
    for (size_t k = 0; k < 2 * index->count; k++)
        if (!is_repeated(keys, k))
            index->views[index->start[keys[k]]++] = k / 2;
    /* filling moved every start to the next name's: move them back */
    memmove(index->start + 1, index->start, names * sizeof *index->start);
    index->start[0] = 0;
}

medley_status md_view_index_make(md_view_index *index, const md_view *views, size_t count,
                                 medley_error *error)
{
    MD_OWNED(free) int32_t *keys = NULL;
    *index = (md_view_index){.count = count};
    MEDLEY_TRY(md_new(&keys, 2 * count, sizeof *keys, error));
    MEDLEY_TRY(md_new(&index->views, 2 * count, sizeof *index->views, error));
    MEDLEY_TRY(md_new(&index->all, count, sizeof *index->all, error));
    for (size_t v = 0; v < count; v++)
        index->all[v] = v;
    MEDLEY_TRY(number_names(index, keys, views, error));
    MEDLEY_TRY(md_new(&index->start, index->names.count + 1, sizeof *index->start, error));
    place_views(index, keys);
    return MEDLEY_OK;
}

md_view_list md_view_index_find(const md_view_index *index, const char *name)
{
    if (name == NULL)
        return (md_view_list){index->all, index->count};
    const int32_t number = md_strings_find(&index->names, name, strlen(name));
    if (number < 0)
        return (md_view_list){0};
    const size_t first = index->start[number];
    return (md_view_list){index->views + first, index->start[number + 1] - first};
}
