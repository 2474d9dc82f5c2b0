/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds views by their name or group, so that thousands of specs that each name one of thousands of
 * views cost no more than one look each. */
#ifndef MD_VIEW_INDEX_H
#define MD_VIEW_INDEX_H

#include "view/view.h"

typedef struct md_view_index {
    md_strings names; /* of views and of groups */
    size_t *start;    /* [names.count + 1] */
    size_t *views;    /* views[start[n]] .. views[start[n+1] - 1] go by name n, increasing */
    size_t *all;      /* [count] 0, 1, 2 ... */
    size_t count;
} md_view_index;

typedef struct md_view_list {
    const size_t *views;
    size_t count;
} md_view_list;

/* Whatever was made is released by md_view_index_clear, also after a failure. */
medley_status md_view_index_make(md_view_index *index, const md_view *views, size_t count,
                                 medley_error *error);
void md_view_index_clear(md_view_index *index);

/* The views called name, or whose group is; NULL: all. */
md_view_list md_view_index_find(const md_view_index *index, const char *name);

#endif
