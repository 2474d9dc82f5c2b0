/* SPDX-License-Identifier: BSD-3-Clause */
/* Data in memory: rows with one or more tables of features, labels, folds and sequences. */
#ifndef MEDLEY_DATASET_H
#define MEDLEY_DATASET_H

#include "medley/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct medley_dataset medley_dataset;

typedef struct medley_read_options {
    size_t struct_size;
    const char *format;   /* NULL: by extension and content */
    const char *label;    /* label column by name, 1-based number, "last" or "none"; NULL: guess */
    const char *columns;  /* feature columns to keep: "1-5,8" or names; NULL: all */
    int header;           /* CSV: 1 yes, 0 no, -1 guess */
    size_t feature_count; /* columns a model expects, so that a file without labels is recognised;
                             0: unknown */
    bool ignore_labels;   /* do not look at labels: they may be missing or anything; tagged text
                             keeps those it has, so that they come back beside predictions */
    bool text_columns;    /* format columns: tokens are expected, even if all look like numbers */
} medley_read_options;

#define MEDLEY_READ_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(medley_read_options), NULL, NULL, NULL, -1, 0, false, false                         \
    }

/* Reads a file ("-": standard input; gzip is recognised). Codes: MEDLEY_BAD_INPUT with file and
 * line for malformed data, MEDLEY_FAILED if the file cannot be read. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_read(medley_dataset **dataset,
                                                            const char *path,
                                                            const medley_read_options *options,
                                                            medley_error *error);

/* A dataset over a copy of values[rows][columns]. labels: rows texts, or NULL. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_from_dense(medley_dataset **dataset,
                                                                  const double *values, size_t rows,
                                                                  size_t columns,
                                                                  const char *const *labels,
                                                                  medley_error *error);

/* Reads another file with the same rows as one more table called name. On an empty dataset
 * (medley_dataset_create) it becomes the first and brings the labels. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_add_table(medley_dataset *dataset,
                                                                 const char *name, const char *path,
                                                                 const medley_read_options *options,
                                                                 medley_error *error);

/* Reads precomputed kernel values: npy of shape (rows, training rows) or a stack of them. name
 * may be NULL; a stack's kernels are numbered name1, name2 ... */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_add_gram(medley_dataset *dataset,
                                                                const char *name, const char *path,
                                                                medley_error *error);

/* Kernel values are rounded to float32 (7 digits) as they are read. After this call those that
 * medley_dataset_add_gram reads are kept as float64 beside that, for learners that want all their
 * digits: three times the memory. Selections of rows keep them as well. */
MEDLEY_API void medley_dataset_keep_wide(medley_dataset *dataset);

/* Kernel values of each row with itself, npy of shape (M, rows) or (rows): needed at prediction
 * time by unit-diagonal precomputed kernels only. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_add_gram_diagonal(medley_dataset *dataset,
                                                                         const char *path,
                                                                         medley_error *error);

/* Labels from a file of their own: npy or idx (numbers), or text with one label a line. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_read_labels(medley_dataset *dataset,
                                                                   const char *path,
                                                                   medley_error *error);

MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_create(medley_dataset **dataset,
                                                              medley_error *error);
MEDLEY_API void medley_dataset_free(medley_dataset *dataset);

/* ---- data that are in memory already ---- */

/* Reads text (or any file's bytes) from memory as medley_dataset_read does from a file. name: what
 * messages call it; by its ending the format is guessed, as of a file. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_parse(medley_dataset **dataset,
                                                             const char *text, size_t length,
                                                             const char *name,
                                                             const medley_read_options *options,
                                                             medley_error *error);

typedef enum medley_number { MEDLEY_FLOAT32, MEDLEY_FLOAT64 } medley_number;

/* A table of numbers: dense rows, or sparse ones (CSR) if start is given. */
typedef struct medley_table {
    size_t struct_size;
    const char *name; /* NULL or "": DATA itself */
    size_t rows, columns;
    medley_number type;
    const void *values;   /* dense: rows of columns; sparse: [start[rows]] */
    size_t stride;        /* dense: numbers from one row to the next; 0: columns */
    const int64_t *start; /* [rows + 1] where each row begins; NULL: dense */
    const int32_t *index; /* [start[rows]] columns from 0; any order, those given twice add up */
    size_t height, width; /* of the image each row is; 0: none */
    bool borrow; /* the values outlive the dataset: they are not copied if they can be used as they
                    are (dense, float32, stride 0 or columns) */
} medley_table;

#define MEDLEY_TABLE_INIT                                                                          \
    {                                                                                              \
        sizeof(medley_table), NULL, 0, 0, MEDLEY_FLOAT64, NULL, 0, NULL, NULL, 0, 0, false         \
    }

/* Adds a table; the first one tells how many rows there are. Codes: MEDLEY_BAD_INPUT for values
 * that are not finite, with row and column, and for tables that do not fit. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_table(medley_dataset *dataset,
                                                                 const medley_table *table,
                                                                 medley_error *error);

/* Whole numbers beside every row that only a structure looks at, such as where a candidate segment
 * begins and ends: info[rows][width], copied. They stay with their rows in selections. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_info(medley_dataset *dataset,
                                                                const int32_t *info, size_t rows,
                                                                size_t width, medley_error *error);

/* Adds kernel values [rows][training rows], given as a dense table. diagonal: K(x,x) of each row,
 * needed at prediction time by unit-diagonal kernels only, else NULL. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_gram(medley_dataset *dataset,
                                                                const medley_table *values,
                                                                const double *diagonal,
                                                                medley_error *error);

/* Labels as numbers of names: label[rows], from 0, -1 where there is none. Names are kept in the
 * order given, and those that no row has count as known. Names that are numbers are written as
 * labels of files are ("1.0" and "+1" are "1"). */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_labels(medley_dataset *dataset,
                                                                  const int32_t *label, size_t rows,
                                                                  const char *const *names,
                                                                  size_t name_count,
                                                                  medley_error *error);

/* Numbers to be predicted: target[rows], finite. They take the place of labels. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_targets(medley_dataset *dataset,
                                                                   const double *target,
                                                                   size_t rows,
                                                                   medley_error *error);

/* Rows come in sequences of these lengths (positive, adding up to the rows). */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_sequences(medley_dataset *dataset,
                                                                     const size_t *length,
                                                                     size_t count,
                                                                     medley_error *error);

/* A new dataset with the rows named, in that order; of sequences whole ones only, each in order.
 * Kernel values between all rows keep the columns of the same rows, as if to learn from them. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_rows_of(medley_dataset **selected,
                                                               const medley_dataset *dataset,
                                                               const size_t *rows, size_t count,
                                                               medley_error *error);

/* A new dataset with the rows of the named folds: "0", "1-9", "0,3" by the file's fold column, or
 * "0/5", "1-4/5": parts of a fixed stratified division into that many. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_folds(medley_dataset **selected,
                                                             const medley_dataset *dataset,
                                                             const char *folds,
                                                             medley_error *error);

/* A new dataset with count rows (or sequences) drawn at random without replacement. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_sample(medley_dataset **selected,
                                                              const medley_dataset *dataset,
                                                              size_t count, uint64_t seed,
                                                              medley_error *error);

/* Divides at random, stratified by label: about `fraction` of the rows go to held_out. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_split(medley_dataset **kept,
                                                             medley_dataset **held_out,
                                                             const medley_dataset *dataset,
                                                             double fraction, uint64_t seed,
                                                             medley_error *error);

/* Writes bytes to a file that appears whole or not at all, as all files that the library writes do;
 * a name that ends in .gz compresses. path NULL or "-": standard output. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_write_file(const char *path, const void *bytes,
                                                          size_t size, medley_error *error);

/* Writes in the named format ("svmlight", "csv" ...; NULL: by extension, else as the data were
 * read). */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_write(const medley_dataset *dataset,
                                                             const char *path, const char *format,
                                                             medley_error *error);

/* Writes predictions in the format that DATA was read in: tagged text comes back with labels[rows]
 * beside or in place of its own; other formats have one label a line. path NULL or "-": standard
 * output. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_write_labels(const medley_dataset *dataset,
                                                                    const char *const *labels,
                                                                    const char *path,
                                                                    medley_error *error);

/* Writes dependency trees in the format that DATA was read in, which must be CoNLL-U: head[rows] of
 * each word within its sentence (0: the root, -1: none) goes to HEAD and relations[rows] to DEPREL;
 * everything else stays as it was. relations NULL, or NULL for a word: those of the data stay. path
 * NULL or "-": standard output. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_write_trees(const medley_dataset *dataset,
                                                                   const int32_t *head,
                                                                   const char *const *relations,
                                                                   const char *path,
                                                                   medley_error *error);

/* A new dataset with one of the tables (index 0 .. table_count-1) and everything else. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_keep_table(medley_dataset **selected,
                                                                  const medley_dataset *dataset,
                                                                  size_t index,
                                                                  medley_error *error);
MEDLEY_API size_t medley_dataset_table_count(const medley_dataset *dataset);
MEDLEY_API const char *medley_dataset_table_name(const medley_dataset *dataset, size_t index);

MEDLEY_API size_t medley_dataset_rows(const medley_dataset *dataset);
MEDLEY_API size_t medley_dataset_columns(const medley_dataset *dataset);   /* of the first table */
MEDLEY_API size_t medley_dataset_sequences(const medley_dataset *dataset); /* 0: rows stand alone */
/* First row of a sequence; of the number of sequences: the number of rows. */
MEDLEY_API size_t medley_dataset_sequence_row(const medley_dataset *dataset, size_t sequence);
MEDLEY_API size_t medley_dataset_label_count(const medley_dataset *dataset);
MEDLEY_API const char *medley_dataset_label_name(const medley_dataset *dataset, size_t label);

/* The label of a row as an index, or -1 if it has none. */
MEDLEY_API int32_t medley_dataset_label(const medley_dataset *dataset, size_t row);

/* The values of one row of the first table, dense, into values[columns]. */
MEDLEY_API void medley_dataset_row(const medley_dataset *dataset, size_t row, float *values);

/* The tagged words of a row: the text in one of its columns, without that of labels (0 ..
 * word_columns-1). Of CoNLL-U all ten columns are there, and 1 is FORM. NULL if there is none. */
MEDLEY_API size_t medley_dataset_word_columns(const medley_dataset *dataset);
MEDLEY_API const char *medley_dataset_word(const medley_dataset *dataset, size_t row,
                                           size_t column);

/* The head of a word within its sentence, from 1; 0: the root, -1: not given, or there are no
 * trees. */
MEDLEY_API int32_t medley_dataset_head(const medley_dataset *dataset, size_t row);

/* The shape of the rows where they are images; false otherwise. */
MEDLEY_API bool medley_dataset_image_shape(const medley_dataset *dataset, size_t *height,
                                           size_t *width);

#ifdef __cplusplus
}
#endif
#endif
