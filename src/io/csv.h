/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the CSV reader: fields, the layout of a file, its records. */
#ifndef MD_CSV_H
#define MD_CSV_H

#include "io/io.h"

typedef struct md_csv_field {
    const char *text; /* without quotes and surrounding blanks */
    const char *end;  /* the delimiter or '\n' after the field */
    size_t length;
} md_csv_field;

/* Reads the field at p. unquoted is scratch memory for fields with doubled quotes, whose text is
 * good until the next call. Fails for a quote that is not closed. */
medley_status md_csv_read_field(md_csv_field *field, const char *p, char delimiter,
                                const md_input *input, md_text *unquoted, medley_error *error);

/* Comma, semicolon or tab: whichever is most frequent in the first record. */
char md_csv_delimiter(const char *text, const char *end);

/* The first place at or after p that is not in an empty line. */
const char *md_csv_skip_empty(const char *p, const char *end);

/* Copies of the fields of a record. */
typedef struct md_csv_record {
    char **items; /* [count], owned; an item may be NULL */
    size_t count, capacity;
} md_csv_record;

/* The record at *p, which moves past it. */
medley_status md_csv_read_record(md_csv_record *record, const char **p, char delimiter,
                                 const md_input *input, medley_error *error);
void md_csv_clear_record(md_csv_record *record);

enum { MD_MOST_REPEATED = 200 };

typedef struct md_csv_layout {
    char delimiter;
    const char *body; /* the first record of data */
    size_t columns;
    md_csv_record header; /* an item is NULL where it says nothing; items NULL: no header */
    size_t repeated[MD_MOST_REPEATED], repeated_count; /* columns called `a.2`: the second `a` */
    bool *is_feature;                                  /* [columns] */
    size_t label; /* column of the label; `columns` if there is none */
    size_t feature_count;
} md_csv_layout;

/* ---- csv_header.c ---- */

extern const char *const md_csv_usual_labels[]; /* what label columns are called; NULL ends them */
/* Takes the first record as the header, or leaves it as data. */
medley_status md_csv_read_header(md_csv_layout *layout, const char *first, const md_input *input,
                                 const medley_read_options *options, medley_error *error);

/* ---- csv_layout.c ---- */

medley_status md_csv_read_layout(md_csv_layout *layout, const md_input *input,
                                 const medley_read_options *options, medley_error *error);
void md_csv_clear_layout(md_csv_layout *layout);

/* ---- csv_mistakes.c: what is wrong with a field or record, and what to do ---- */

typedef struct md_csv_place {
    const md_input *input;
    const md_csv_layout *layout;
    const char *record, *text; /* where both begin in the input */
    size_t column;
    bool is_for_model; /* that needs all of the columns */
} md_csv_place;

/* Does a label that is not in quotes stand for a missing one? */
bool md_csv_is_missing_label(const char *text, size_t length);
/* In a column of numbers, a value that is missing ("n/a"; Na may be sodium), or written otherwise
 * ("0,5", "12%"). */
bool md_csv_is_missing(const char *text, size_t length);
bool md_csv_is_value(const char *text, size_t length);

medley_status md_csv_fail_value(md_csv_place place, const md_csv_field *field, medley_error *error);
medley_status md_csv_fail_label(md_csv_place place, const md_csv_field *field, medley_error *error);
/* Of the fields of the record. unquoted: scratch memory. */
medley_status md_csv_fail_count(md_csv_place place, md_text *unquoted, medley_error *error);

#endif
