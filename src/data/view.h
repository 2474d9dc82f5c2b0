/* SPDX-License-Identifier: BSD-3-Clause */
/* Views: which columns of which table a kernel looks at, and how they are scaled. A view is made
 * once, from training data, and applied to any data set with the same tables. */
#ifndef MD_VIEW_H
#define MD_VIEW_H

#include "data/dataset.h"

typedef enum md_scale { MD_SCALE_NONE, MD_SCALE_STANDARD, MD_SCALE_MINMAX } md_scale;
extern const char *const md_scale_names[]; /* "none", "standard", "minmax", NULL */

typedef struct md_view {
    char *name;           /* "all", "V3", "fou", "tile1x2" */
    char *group;          /* "all", "each", "grid": @each names all views of the group */
    char *table;          /* name of its table, "" for DATA */
    size_t table_columns; /* of the table it was made from */
    size_t *columns;      /* [column_count] increasing; NULL: all */
    size_t column_count;
    float *shift, *factor; /* [column_count] x -> (x - shift) * factor; NULL: as it is */
    bool sparse;           /* the training table was sparse: further columns may appear */
} md_view;

void md_view_clear(md_view *view);
void md_views_free(md_view *views, size_t count);

/* Makes the views that spec names ("all", "each", "grid:2x2", joined by '+'; NULL: "all") of DATA,
 * and one view of all columns for each further table. Without DATA the spec is for every table. */
medley_status md_views_make(md_view **views, size_t *count, const medley_dataset *dataset,
                            const char *spec, medley_error *error);

/* Learns the scaling from the rows of dataset. Sparse views keep their zeros: they are divided by
 * each column's largest magnitude (minmax) or root mean square (standard). */
medley_status md_view_fit_scale(md_view *view, md_scale scale, const medley_dataset *dataset,
                                medley_error *error);

/* The view's columns of every row, scaled. Errors if dataset lacks the table or its columns. */
medley_status md_view_extract(md_matrix *matrix, const md_view *view, const medley_dataset *dataset,
                              medley_error *error);

#endif
