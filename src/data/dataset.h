/* SPDX-License-Identifier: BSD-3-Clause */
/* The in-memory data model. Readers (io) fill it, generators fill it, everything above reads it. */
#ifndef MD_DATASET_H
#define MD_DATASET_H

#include "base/text.h"
#include "linalg/matrix.h"
#include "medley/dataset.h"

/* The numeric columns of one file. */
/* Whether the indices of a file begin with 0 or 1, as model files have it. */
typedef enum md_first_index { MD_NO_INDICES, MD_FROM_ZERO, MD_FROM_ONE } md_first_index;

typedef struct md_table {
    char *name;   /* "" for DATA itself, else the view's name */
    char *source; /* the file, for messages */
    md_matrix features;
    size_t height, width;    /* of the image each row is; 0 if it is none */
    md_strings column_names; /* empty: columns are known by number */
    char *label_name;        /* of the label's column in that file; NULL: none, or no header */
    md_first_index first;    /* of a file that has indices */
} md_table;

/* Kernel values that came ready made. */
typedef struct md_precomputed {
    char *name;
    md_matrix values; /* [rows][training rows], dense */
    double *wide;     /* the same values before rounding, [rows][training rows], or NULL */
    double *diagonal; /* [rows] K(x,x) where it is known apart from values, else NULL */
    int norm;         /* how they are normalised: 0: as the options say, else 1 + an md_norm */
    bool sound;       /* computed here from a positive definite kernel: there is nothing to check */
    bool is_distance; /* values are distances, which a kernel is made of */
    bool is_named;    /* by the user, who may give them in another order later */
    size_t family;    /* the first of those that came in one file */
} md_precomputed;

/* A line of the input that carries no row but must come back on output (CoNLL-U comments,
 * multiword tokens, empty nodes): it stands before `row`. */
typedef struct md_verbatim {
    size_t row;
    char *text;
} md_verbatim;

MD_OWNER(medley_dataset_free, medley_dataset)

struct medley_dataset {
    char *source; /* path of the first file, for messages */
    size_t rows;

    md_table *tables;
    size_t table_count, table_capacity;
    md_precomputed *grams;
    size_t gram_count, gram_capacity;
    bool keeps_wide; /* kernel values that are read from now on are kept as doubles too */

    /* Labels have names, and targets as well if all names are numbers. Numbers to be predicted that
     * came from memory are targets alone: there is no label then, and no name. */
    md_strings label_names; /* sorted (numbers by value, else by byte order), or as they were put */
    int32_t *label;         /* [rows] index into label_names, -1 unlabelled; NULL: no labels */
    double *target;         /* [rows] the labels as numbers, NULL unless all are numeric */
    int32_t *fold;          /* [rows], or NULL */

    size_t sequence_count;  /* 0: every row stands alone */
    size_t *sequence_start; /* [sequence_count + 1] rows of sequence s: start[s] .. start[s+1]-1 */
    int32_t *head; /* [rows] head of each word within its sentence, 0 root, -1 not given; NULL: no
                      such column */
    int32_t *info; /* [rows][info_width] what only a structure of the caller looks at, or NULL */
    size_t info_width;
    uint32_t *line; /* [rows] line of the file, for messages; NULL: not known */

    size_t token_columns;     /* text columns of tagged words, label column excluded */
    md_strings *token_values; /* [token_columns] distinct strings of each column */
    int32_t *token;           /* [rows][token_columns] ids into token_values */
    bool more_tokens; /* a model may have been trained with fewer, which are the first of them */

    md_verbatim *verbatim;
    size_t verbatim_count, verbatim_capacity;

    /* How DATA was written, so that predictions can be written alike. */
    const char *format;     /* its name among the formats, never freed; NULL: no file */
    char separator;         /* of tagged columns: ' ' or '\t' */
    size_t label_column;    /* place of the label among the fields of a line */
    md_strings label_texts; /* distinct strings of the label's field, not made canonical */
    int32_t *label_text;    /* [rows] ids into label_texts, NULL where there is no such field */
};

/* Units: sequences or, where there are none, rows. */
static inline size_t md_dataset_units(const medley_dataset *dataset)
{
    return dataset->sequence_count > 0 ? dataset->sequence_count : dataset->rows;
}

/* The first row of a unit; of the one after the last: the number of rows. */
static inline size_t md_dataset_unit_start(const medley_dataset *dataset, size_t unit)
{
    return dataset->sequence_count > 0 ? dataset->sequence_start[unit] : unit;
}

/* Rows of the longest unit. */
size_t md_dataset_longest(const medley_dataset *dataset);

/* The unit that row lies in. */
size_t md_dataset_unit_of(const medley_dataset *dataset, size_t row);

/* to[count] rounded to float; false if one of them is not finite then. */
bool md_round_doubles(float *to, const double *from, size_t count);

/* The table of that name, or NULL; is there a precomputed kernel of that name? */
md_table *md_dataset_table(const medley_dataset *dataset, const char *name);

/* `what` keeps a number for each of so many columns: refused where hardly any of them occur, since
 * a file of a few bytes may claim a hundred million. */
medley_status md_table_check_width(const md_table *table, const medley_dataset *dataset,
                                   size_t columns, const char *what, medley_error *error);
bool md_dataset_has_gram(const medley_dataset *dataset, const char *name);

/* Appends an empty one, which may have moved when the next is appended. */
medley_status md_dataset_new_table(md_table **table, medley_dataset *dataset, const char *name,
                                   const char *source, medley_error *error);
medley_status md_dataset_new_gram(md_precomputed **gram, medley_dataset *dataset, const char *name,
                                  medley_error *error);
void md_precomputed_clear(md_precomputed *gram);

/* Names of columns; one may be NULL. */
typedef struct md_names {
    char *const *items;
    size_t count;
} md_names;

/* The error for columns that a model was trained with and that these data do not have: which. */
medley_status md_fail_missing(md_names wanted, md_names have, const char *source,
                              medley_error *error);

/* How tagged words stood in the training data. */
typedef struct md_word_layout {
    const char *format;  /* NULL: not known */
    size_t columns;      /* of words; 0: there were none */
    size_t label_column; /* from 1; 0: not known */
} md_word_layout;

/* An error unless dataset has as many columns of words (or more_tokens), and, where its format is
 * another one, the label in the same place: columns of another format mean something else. */
medley_status md_check_words(const md_word_layout *expected, const medley_dataset *dataset,
                             medley_error *error);

/* Labels arrive as strings in file order; this collects them. Those that are numbers are written
 * canonically ("+1", "1.0" and "1" are one label). */
typedef struct md_label_builder {
    md_strings names; /* in order of arrival */
    int32_t *label;
    double *number; /* [distinct] value of each name, NaN if it is no number */
    size_t count, capacity, number_capacity;
} md_label_builder;

/* How a label's name of *length bytes is written, maybe in buffer: numbers that a double holds
 * exactly in their shortest form. *number: its value, NaN if it is no number. */
const char *md_label_canonical(const char *text, size_t *length, double *number, char buffer[32]);

/* text NULL: this row has no label. */
medley_status md_labels_add(md_label_builder *builder, const char *text, size_t length,
                            medley_error *error);
/* Sorts the names and moves everything into dataset (whose rows must match, else an error). */
medley_status md_labels_finish(md_label_builder *builder, medley_dataset *dataset,
                               medley_error *error);
void md_labels_clear(md_label_builder *builder);

/* target[rows]: the labels of the rows as numbers, NaN where there is none; *target is NULL unless
 * all names are numbers. number[names]: value of each name, NaN if it is no number. */
medley_status md_labels_as_targets(double **target, const double *number, size_t names,
                                   const int32_t *label, size_t rows, medley_error *error);

/* Everything is taken over. */
void md_dataset_replace_labels(medley_dataset *dataset, md_strings names, int32_t *label,
                               double *target);

/* The text of a row's label or number to be predicted, maybe in buffer; NULL: it has none. */
const char *md_dataset_label_text(const medley_dataset *dataset, size_t row, char buffer[32]);

/* The rows of a dataset whose columns a square precomputed kernel keeps. */
typedef struct md_columns {
    const size_t *rows;
    size_t count;
} md_columns;

/* Appends a line to verbatim that stands before row. */
medley_status md_dataset_add_verbatim(medley_dataset *dataset, size_t row, const char *text,
                                      size_t length, medley_error *error);

/* A new dataset with the named rows (whole sequences if there are sequences: then the rows must
 * be complete sequences in order). columns: those that square precomputed kernels keep, NULL for
 * all of them. */
medley_status md_dataset_select(medley_dataset **selected, const medley_dataset *dataset,
                                const size_t *rows, size_t count, const md_columns *columns,
                                medley_error *error);

/* ---- dependency trees (trees.c): words are numbered from 1 within their sentence and 0 is the
 * root, as in files ---- */

/* Every sentence must be a tree: every head given and one of its words or 0, no cycle, exactly one
 * word that hangs from the root, or with many_roots at least one. Files may hold anything else, so
 * that what is to be predicted need not be there: this is asked before training. Errors name the
 * line where it is known, else sentence and word. */
medley_status md_dataset_check_trees(const medley_dataset *dataset, bool many_roots,
                                     medley_error *error);

/* ---- dividing ---- */

/* part[unit] of a division into parts that is stratified by label; a unit is a sequence, or a row
 * where there are none. variant 0 is the division of "LIST/K" (medley_dataset_folds); every other
 * one is another. */
medley_status md_dataset_divide(int32_t *part, const medley_dataset *dataset, size_t parts,
                                uint64_t variant, medley_error *error);

/* Translates the labels of dataset into the numbering of names; unknown ones become -1. The caller
 * frees them. */
medley_status md_dataset_map_labels(int32_t **mapped, const medley_dataset *dataset,
                                    const md_strings *names, medley_error *error);

#endif
