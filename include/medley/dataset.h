/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Data sets: rows with one or more tables of features, labels, folds and sequences; read from
 * files, or put together from arrays.
 */
#ifndef MEDLEY_DATASET_H
#define MEDLEY_DATASET_H

#include "medley/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A data set. */
typedef struct medley_dataset medley_dataset;

/* ---- files ---- */

/** How to read a file. Start with MEDLEY_READ_OPTIONS_INIT. */
typedef struct medley_read_options {
    size_t struct_size;
    const char *format;   /**< one of medley_list's "formats"; NULL: by extension and content */
    const char *label;    /**< label column: its name, its number from 1, "last" or "none"; NULL:
                               guess */
    const char *columns;  /**< feature columns to keep: "1-5,8" or names, or after a '!' those to
                               leave out: "!id"; NULL: all */
    int header;           /**< CSV: 1 yes, 0 no, -1 guess */
    size_t feature_count; /**< columns that a model expects (medley_model_columns), so that a file
                               without labels is recognised; 0: not known */
    bool ignore_labels;   /**< do not interpret labels: they may be missing or unknown; tagged text
                               keeps its own, so that they come back beside predictions */
    bool text_columns;    /**< format columns: expect tokens, even if all look like numbers */
    const char *const *feature_names; /**< [feature_count] names of these columns: a CSV file with a
                                           header is read by them, and its other columns are left
                                           out; NULL: not known */
    const char *label_name; /**< with feature_names, if label is NULL: the name of the label column;
                                 a file without it has no labels; NULL: guess */
    bool label_is_optional; /**< CSV: a file has no labels unless a column is called as label says,
                                 or, if label is NULL, label, class, target or y */
    int first_index; /**< svmlight: the index of the first feature, 0 or 1; -1: 0 if the file has an
                          index 0, else 1. Models and data know that of their own files */
} medley_read_options;

/** The defaults: everything is guessed. */
#define MEDLEY_READ_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(medley_read_options), NULL, NULL, NULL, -1, 0, false, false, NULL, NULL, false, -1  \
    }

/**
 * Reads a file ("-": standard input; gzip is recognised). options NULL: defaults. MEDLEY_BAD_INPUT
 * with file and line for malformed data, MEDLEY_FAILED if the file cannot be read. Free with
 * medley_dataset_free.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_read(medley_dataset **dataset,
                                                            const char *path,
                                                            const medley_read_options *options,
                                                            medley_error *error);

/** A data set from a copy of values[rows][columns]. labels: [rows] strings; NULL: none. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_from_dense(medley_dataset **dataset,
                                                                  const double *values, size_t rows,
                                                                  size_t columns,
                                                                  const char *const *labels,
                                                                  medley_error *error);

/**
 * Reads another file with the same rows as one more table, with this name. The first that
 * has labels brings them; those of others must be the same.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_add_table(medley_dataset *dataset,
                                                                 const char *name, const char *path,
                                                                 const medley_read_options *options,
                                                                 medley_error *error);

/**
 * Reads a file as medley_dataset_read does, in the way that `like` was read: a CSV file with a
 * header by the names of its columns and of the label. What options set explicitly holds; NULL:
 * defaults. For held-out data that go with training data.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_read_like(medley_dataset **dataset,
                                                                 const medley_dataset *like,
                                                                 const char *path,
                                                                 const medley_read_options *options,
                                                                 medley_error *error);

/**
 * Reads precomputed kernel values: npy of shape (rows, training rows), or a stack of such matrices.
 * name may be NULL; the kernels of a stack are numbered name1, name2 ...
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_add_gram(medley_dataset *dataset,
                                                                const char *name, const char *path,
                                                                medley_error *error);

/**
 * The same for distances d of 0 or more, symmetric, of which a kernel exp(-d / gamma) is made;
 * gamma is the mean distance of two training rows. Many distances give a kernel in this way, but
 * not all: methods that need a positive semi-definite one say so.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_add_distances(medley_dataset *dataset,
                                                                     const char *name,
                                                                     const char *path,
                                                                     medley_error *error);

/**
 * Kernel values are rounded to float32 (7 digits) as they are read. After this call,
 * medley_dataset_add_gram also keeps them as float64, for methods that need all digits: three times
 * the memory. Selections of rows keep them as well.
 */
MEDLEY_API void medley_dataset_keep_wide(medley_dataset *dataset);

/**
 * Kernel values of each row with itself, npy of shape (kernels, rows) or (rows): needed only for
 * prediction with unit-diagonal precomputed kernels.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_add_gram_diagonal(medley_dataset *dataset,
                                                                         const char *path,
                                                                         medley_error *error);

/** Labels from a separate file: npy or idx (numbers), or text with one label per line. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_read_labels(medley_dataset *dataset,
                                                                   const char *path,
                                                                   medley_error *error);

/** An empty data set, to be filled by the functions that add or put. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_create(medley_dataset **dataset,
                                                              medley_error *error);
/** Frees a data set; NULL is allowed. */
MEDLEY_API void medley_dataset_free(medley_dataset *dataset);

/* ---- data that are in memory already ---- */

/**
 * Reads text (or the bytes of any file) from memory, as medley_dataset_read does from a file. name:
 * what messages call it; the format is guessed from its extension, as for a file.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_parse(medley_dataset **dataset,
                                                             const char *text, size_t length,
                                                             const char *name,
                                                             const medley_read_options *options,
                                                             medley_error *error);

/** Types of numbers in a medley_table. */
typedef enum medley_number { MEDLEY_FLOAT32, MEDLEY_FLOAT64 } medley_number;

/** A table of numbers: dense rows, or sparse ones (CSR) if start is set. Start with
 *  MEDLEY_TABLE_INIT. */
typedef struct medley_table {
    size_t struct_size;
    const char *name; /**< NULL or "": the main table, which kernels use unless they name another */
    size_t rows, columns;
    medley_number type;   /**< of values */
    const void *values;   /**< dense: [rows][stride]; sparse: [start[rows]] */
    size_t stride;        /**< dense: numbers from one row to the next; 0: columns */
    const int64_t *start; /**< [rows + 1] where each row begins; NULL: the table is dense */
    const int32_t *index; /**< [start[rows]] columns from 0, in any order; duplicates add up */
    size_t height, width; /**< of the image that each row is; 0: rows are no images */
    bool borrow;          /**< the values outlive the data set: they are not copied if they can be
                               used as they are (dense, float32, stride 0 or columns) */
    const char *const *column_names; /**< [columns] of a dense table, all different: models find
                                          their columns in other data by these names, in any order;
                                          NULL: by their places */
} medley_table;

/** An empty dense table of float64. */
#define MEDLEY_TABLE_INIT                                                                          \
    {                                                                                              \
        sizeof(medley_table), NULL, 0, 0, MEDLEY_FLOAT64, NULL, 0, NULL, NULL, 0, 0, false, NULL   \
    }

/**
 * Adds a table; the first one determines the number of rows. MEDLEY_BAD_INPUT for values that are
 * not finite, with row and column, and for tables of another size.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_table(medley_dataset *dataset,
                                                                 const medley_table *table,
                                                                 medley_error *error);

/**
 * Integers for every row that only a structure looks at, such as where a candidate segment begins
 * and ends: info[rows][width], copied. They stay with their rows in selections.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_info(medley_dataset *dataset,
                                                                const int32_t *info, size_t rows,
                                                                size_t width, medley_error *error);

/**
 * Adds kernel values [rows][training rows], given as a dense table. diagonal: K(x,x) of each row,
 * needed only for prediction with unit-diagonal kernels; else NULL.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_gram(medley_dataset *dataset,
                                                                const medley_table *values,
                                                                const double *diagonal,
                                                                medley_error *error);

/** The same for distances [rows][training rows], as medley_dataset_add_distances reads them. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_distances(medley_dataset *dataset,
                                                                     const medley_table *values,
                                                                     medley_error *error);

/**
 * Labels as indices into names: label[rows], from 0, or -1 for none. Names keep their order, and
 * those that no row has count as known. Names that are numbers are normalised as labels in files
 * are ("1.0" and "+1" become "1").
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_labels(medley_dataset *dataset,
                                                                  const int32_t *label, size_t rows,
                                                                  const char *const *names,
                                                                  size_t name_count,
                                                                  medley_error *error);

/** Numbers to be predicted by regression, in place of labels: target[rows], finite. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_targets(medley_dataset *dataset,
                                                                   const double *target,
                                                                   size_t rows,
                                                                   medley_error *error);

/** Rows form sequences of these lengths, which are positive and add up to the number of rows. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_put_sequences(medley_dataset *dataset,
                                                                     const size_t *length,
                                                                     size_t count,
                                                                     medley_error *error);

/* ---- selections ---- */

/**
 * A new data set with these rows, in this order; sequences must be whole and in order. Kernel
 * values between all rows keep the columns of the same rows, for training on them.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_rows_of(medley_dataset **selected,
                                                               const medley_dataset *dataset,
                                                               const size_t *rows, size_t count,
                                                               medley_error *error);

/**
 * A new data set with the rows of these folds: "0", "1-9", "0,3" by the file's fold column, or
 * "0/5", "1-4/5": parts of a fixed stratified division into that many.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_folds(medley_dataset **selected,
                                                             const medley_dataset *dataset,
                                                             const char *folds,
                                                             medley_error *error);

/** A new data set with count rows (or sequences) drawn at random without replacement. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_sample(medley_dataset **selected,
                                                              const medley_dataset *dataset,
                                                              size_t count, uint64_t seed,
                                                              medley_error *error);

/** Splits at random, stratified by label: about `fraction` of the rows go to held_out. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_split(medley_dataset **kept,
                                                             medley_dataset **held_out,
                                                             const medley_dataset *dataset,
                                                             double fraction, uint64_t seed,
                                                             medley_error *error);

/** A new data set with one of the tables (by its index from 0) and everything else. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_keep_table(medley_dataset **selected,
                                                                  const medley_dataset *dataset,
                                                                  size_t index,
                                                                  medley_error *error);

/* ---- writing ---- */

/**
 * Writes bytes to a file that appears whole or not at all, as all files that the library writes do;
 * a name that ends in .gz compresses. path NULL or "-": standard output.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_write_file(const char *path, const void *bytes,
                                                          size_t size, medley_error *error);

/**
 * Can such a file be written under this name? Before long work, so that its result can be saved:
 * the folder is tried by creating a file in it, which is removed again; a file that is there stays
 * as it is.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_check_writable(const char *path,
                                                              medley_error *error);

/**
 * Writes the data in this format ("svmlight", "csv" ...; NULL: by extension, else as they were
 * read). path NULL or "-": standard output.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_write(const medley_dataset *dataset,
                                                             const char *path, const char *format,
                                                             medley_error *error);

/**
 * Writes predictions in the format that the data were read in: tagged text comes back with
 * labels[rows] beside or in place of its own; other formats have one label per line. path NULL or
 * "-": standard output.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_write_labels(const medley_dataset *dataset,
                                                                    const char *const *labels,
                                                                    const char *path,
                                                                    medley_error *error);

/**
 * Writes dependency trees in the format that the data were read in, which must be CoNLL-U:
 * head[rows] of each word within its sentence (0: the root, -1: none) goes to HEAD and
 * relations[rows] to DEPREL; everything else stays as it was. relations NULL, or NULL for a word:
 * the data's own. path NULL or "-": standard output.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_write_trees(const medley_dataset *dataset,
                                                                   const int32_t *head,
                                                                   const char *const *relations,
                                                                   const char *path,
                                                                   medley_error *error);

/* ---- looking at data ---- */

/** Number of tables. */
MEDLEY_API size_t medley_dataset_table_count(const medley_dataset *dataset);
/** Name of a table; "": the main one. */
MEDLEY_API const char *medley_dataset_table_name(const medley_dataset *dataset, size_t index);

/** Number of rows. */
MEDLEY_API size_t medley_dataset_rows(const medley_dataset *dataset);
/** Number of columns of the first table. */
MEDLEY_API size_t medley_dataset_columns(const medley_dataset *dataset);
/** Number of sequences; 0: rows are independent. */
MEDLEY_API size_t medley_dataset_sequences(const medley_dataset *dataset);
/** First row of a sequence; for the number of sequences: the number of rows. */
MEDLEY_API size_t medley_dataset_sequence_row(const medley_dataset *dataset, size_t sequence);
/** Number of labels. */
MEDLEY_API size_t medley_dataset_label_count(const medley_dataset *dataset);
/** Name of a label. */
MEDLEY_API const char *medley_dataset_label_name(const medley_dataset *dataset, size_t label);

/** The label of a row as an index, or -1 if it has none. */
MEDLEY_API int32_t medley_dataset_label(const medley_dataset *dataset, size_t row);

/** Copies one row of the first table into values[columns], dense. */
MEDLEY_API void medley_dataset_row(float *values, const medley_dataset *dataset, size_t row);

/** Number of columns of tagged words, without that of the labels. CoNLL-U has all ten. */
MEDLEY_API size_t medley_dataset_word_columns(const medley_dataset *dataset);
/** The string of a row in one of these columns, from 0 (of CoNLL-U, 1 is FORM); NULL: none. */
MEDLEY_API const char *medley_dataset_word(const medley_dataset *dataset, size_t row,
                                           size_t column);

/** The head of a word within its sentence, from 1; 0: the root, -1: not given, or no trees. */
MEDLEY_API int32_t medley_dataset_head(const medley_dataset *dataset, size_t row);

/** The shape of the images that rows are; false: they are not images. */
MEDLEY_API bool medley_dataset_image_shape(size_t *height, size_t *width,
                                           const medley_dataset *dataset);

#ifdef __cplusplus
}
#endif
#endif
