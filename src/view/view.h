/* SPDX-License-Identifier: BSD-3-Clause */
/* Views: which columns of which table a kernel looks at, what they pass through (transform.h), and
 * how the result is scaled. A view is made once, from training data, and applied to any data set
 * with the same tables. */
#ifndef MD_VIEW_H
#define MD_VIEW_H

#include "base/pack.h"
#include "data/dataset.h"

typedef enum md_scale {
    MD_SCALE_NONE,
    MD_SCALE_CENTER,   /* mean 0 */
    MD_SCALE_STANDARD, /* mean 0, deviation 1 */
    MD_SCALE_MINMAX,   /* from 0 to 1 */
    MD_SCALE_MAXABS,   /* divided by the largest magnitude: zeros stay zeros */
    MD_SCALE_AUTO,     /* what suits the table (auto_scale.c); of a view: scaled, not known how */
    MD_SCALES
} md_scale;
extern const char *const md_scale_names[]; /* "none", "center", ..., "auto", NULL */

typedef struct md_view {
    char *name;            /* "all", "V3", "fou", "tile1x2", "blur(0.7)/window:1" */
    char *group;           /* "all", "each", "grid", "random", "prefix", "blur/window": @each names
                            * all views of the group */
    char *table;           /* name of its table, "" for DATA */
    size_t table_columns;  /* of the table it was made from */
    size_t *columns;       /* [column_count] increasing; NULL: all */
    size_t column_count;   /* of the rows that come out */
    float *shift, *factor; /* [column_count] x -> (x - shift) * factor; NULL: as it is */
    md_scale scale;        /* what shift and factor are; auto: of a model file that does not say */
    bool chosen;           /* by auto; known while a bank is made, as the next one is */
    bool image;            /* tiles and transforms of images */
    bool sparse;           /* rows come out sparse; without names further columns may appear */
    char *steps;           /* what all the columns pass through, "blur(0.7)/window:1"; or NULL */
    size_t height, width;  /* with steps: of the table's images; 0: not known */
    /* Of the columns it takes, by which it finds them in other data; empty: by number. Only views
     * of sparse tables that name every column have names. */
    md_strings names;
} md_view;

void md_view_clear(md_view *view);
void md_views_free(md_view *views, size_t count);
medley_status md_view_copy(md_view *copy, const md_view *view, medley_error *error);

/* Makes the views that spec names, joined by '+', of DATA, and one view of all columns for each
 * further table. Without DATA the spec is for every table. spec NULL: "all". Parts of a spec:
 *   all           all columns
 *   each          one view per column
 *   prefix        one view per prefix of the columns' names, up to the first '='
 *   grid:2x2      tiles of images
 *   random:50:7   50 sets of columns drawn from seed 7 (1 if it is left out): random1, random2 ...
 *   STEP/STEP     all columns passed through steps: center/blur(0.5)/orient, window:1 */
medley_status md_views_make(md_view **views, size_t *count, const medley_dataset *dataset,
                            const char *spec, medley_error *error);

/* Fails for sparse data of very many columns of which hardly any occur; what: needs them to. */
medley_status md_view_check_width(const md_view *view, const medley_dataset *dataset,
                                  const char *what, medley_error *error);

/* What auto makes of each view, from the rows of dataset, for scales[count] that are auto; the
 * others stay. as_is[count]: views whose kernels need the values as they are. The columns of a
 * table are standardised, in all of its views, where their deviations differ tenfold and they are
 * no pixels, which are known by their format, by a view of images or by their range; else it is as
 * `otherwise` says. Sparse rows and single rows are left alone. */
medley_status md_views_auto_scale(md_scale *scales, const md_view *views, size_t count,
                                  const bool *as_is, md_scale otherwise,
                                  const medley_dataset *dataset, medley_error *error);

/* How views[count] are scaled, as the option `scale` would say it: "standard", or where they differ
 * "fou=standard, pix=none", the first ones of many; "" without views. */
void md_views_tell_scale(md_text *text, const md_view *views, size_t count);

/* Learns the scaling from the rows of dataset. It does not depend on how these are stored: a sparse
 * view that must be shifted becomes a dense one, and is refused if that would be too large. Columns
 * of values too small to be scaled are an error, or left out where auto has chosen. */
medley_status md_view_fit_scale(md_view *view, md_scale scale, const medley_dataset *dataset,
                                medley_error *error);

/* The view's columns of every row, transformed and scaled. Errors if dataset lacks the table or its
 * columns. */
medley_status md_view_extract(md_matrix *matrix, const md_view *view, const medley_dataset *dataset,
                              medley_error *error);

/* Everything of a view as bytes for a model file, and back. Bytes that make no view set in->bad,
 * leave an empty view and return MEDLEY_BAD_INPUT (MEDLEY_FAILED for lack of memory): the caller
 * knows the file and says so. */
void md_view_pack(md_text *out, const md_view *view);
/* tells_scale: the bytes say what kind of scaling it is, as md_view_pack writes it. */
medley_status md_view_unpack(md_view *view, md_unpack *in, bool tells_scale);

#endif
