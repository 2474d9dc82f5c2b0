/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files about views share. */
#ifndef MD_VIEW_INTERNAL_H
#define MD_VIEW_INTERNAL_H

#include "view/transform.h"
#include "view/view.h"

/* Bytes of a table that came sparse and is made dense. */
#define MD_MOST_DENSE ((size_t)1 << 30)

/* What is seen of a column, zeros of sparse rows included. Sums are taken of differences from a
 * reference, the first value (0 in sparse rows), so that a small spread around a large mean keeps
 * its digits and a constant column has none at all. */
typedef struct md_column_range {
    double reference, sum, square, least, most;
    size_t count;
} md_column_range;

/* ranges[columns]; without rows least and most are infinite. */
void md_measure_columns(md_column_range *ranges, const md_matrix *matrix);
/* 0: the column is constant, but for the rounding of its values. */
double md_column_deviation(const md_column_range *range, size_t rows);

/* Views that are being made. */
typedef struct md_view_maker {
    md_view *views;
    size_t count, capacity;
    medley_error *error;
} md_view_maker;

/* Appends a view of table, called name after the name that the table may have. It takes all columns
 * if `columns` is 0; otherwise there is room for so many, and the caller fills and counts them. */
medley_status md_view_new(md_view **view, md_view_maker *maker, const md_table *table,
                          const char *group, const char *name, size_t columns);

/* "random:COUNT" or "random:COUNT:SEED" (view_random.c). */
medley_status md_view_make_random(md_view_maker *maker, const md_table *table, const char *spec);

/* Columns that the view takes from its table. */
static inline size_t md_view_input_columns(const md_view *view)
{
    return view->steps != NULL ? view->table_columns : view->column_count;
}

/* The steps of a view that has some; *columns: of the rows that come out. */
medley_status md_view_parse_steps(md_steps *steps, size_t *columns, const md_view *view,
                                  medley_error *error);

/* Refuses steps that would need more memory than there is, or that would make a large sparse table
 * dense. */
medley_status md_view_check_size(const md_view *view, const md_steps *steps, const md_table *table,
                                 medley_error *error);

/* Does the table give every column a name that should be kept? */
bool md_view_wants_names(const md_table *table);
medley_status md_view_keep_names(md_view *view, const md_table *table, medley_error *error);

/* The columns called wanted of a table that names all of its columns, as sparse rows; unknown names
 * are dropped and missing ones are zero. before: where they were in training, NULL: 0, 1, 2 ... */
medley_status md_gather_named(md_matrix *matrix, const md_strings *wanted, const size_t *before,
                              const md_table *table, medley_error *error);

/* The columns that the view takes, found by their names, as sparse rows. Unknown names are dropped
 * and missing ones are zero. */
medley_status md_view_gather_named(md_matrix *matrix, const md_view *view, const md_table *table,
                                   medley_error *error);

#endif
