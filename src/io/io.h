/* SPDX-License-Identifier: BSD-3-Clause */
/* Turning bytes into data and back. A format is one file and one line in formats.def. */
#ifndef MD_IO_H
#define MD_IO_H

#include "base/output.h"
#include "data/dataset.h"

/* The whole input in memory, decompressed. data[length] is a '\n' sentinel that does not count. */
typedef struct md_input {
    const char *path; /* as the user wrote it ("standard input" for -) */
    char *data;
    size_t length;
} md_input;

medley_status md_input_read(md_input *input, const char *path, medley_error *error);
/* A copy of bytes that are in memory; messages call them path, which must outlive the input. */
medley_status md_input_copy(md_input *input, const char *bytes, size_t length, const char *path,
                            medley_error *error);
void md_input_clear(md_input *input);

/* The 1-based line of a place in the data. Counted when an error is reported, so that reading need
 * not keep count. */
size_t md_input_line(const md_input *input, const char *place);

/* The first character of a text after a byte order mark; an error if there are NUL bytes, which
 * the tables of strings cannot hold. */
medley_status md_input_text(const char **first, const md_input *input, medley_error *error);

/* Predictions for the rows of a dataset. With heads the labels are relations, and those that
 * are NULL stay as they are in the data. */
typedef struct md_predicted {
    const char *const *labels; /* [rows]; NULL: those of the data stay */
    const int32_t *head;       /* [rows] within the sentence, 0 root, -1 none; NULL: no trees */
    /* What is written beside the labels, a number for each label there is. */
    const float *score; /* [rows][names->count]; NULL: nothing */
    const md_strings *names;
    bool probabilities; /* that is what they are */
    /* [rows] of heads and of labels that are relations; NULL: not known */
    const float *head_probability, *label_probability;
} md_predicted;

/* Several trees of each sentence, the best first. */
typedef struct md_ranking {
    const md_predicted *outputs; /* [count] */
    size_t count;
    const double *score;       /* [sequences][count]; NaN: the sentence has no tree of this rank */
    const double *probability; /* [sequences][count]; NULL: not known */
} md_ranking;

typedef struct md_format {
    const char *name, *summary;
    const char *const *extensions; /* NULL-terminated, without .gz: ".csv" */
    /* Does the beginning of a file (at most 64 KiB) look like this format? NULL: only by name. */
    bool (*sniff)(const char *head, size_t length);
    /* Fills an empty dataset: one table, labels, sequences ... */
    medley_status (*read)(medley_dataset *dataset, const md_input *input,
                          const medley_read_options *options, medley_error *error);
    /* NULL: this format is not written. */
    medley_status (*write)(md_output *output, const medley_dataset *dataset, medley_error *error);
    /* Writes dataset as it was read with what was predicted; heads only if holds_trees. NULL: one
     * label a line. */
    medley_status (*write_labelled)(md_output *output, const medley_dataset *dataset,
                                    const md_predicted *predicted, medley_error *error);
    bool holds_trees; /* has places for heads and relations */
    /* Writes every sentence once for each of its trees; NULL: where there are no trees. */
    medley_status (*write_ranking)(md_output *output, const medley_dataset *dataset,
                                   const md_ranking *ranking, medley_error *error);
    /* read obeys options->columns itself; else the columns are taken out of its table after it. */
    bool chooses_columns;
} md_format;
#define MD_FORMAT(name) extern const md_format md_format_##name;
#include "io/formats.def"
#undef MD_FORMAT

/* NULL-terminated, in the order of formats.def (the order of sniffing). */
extern const md_format *const md_formats[];

const md_format *md_format_find(const char *name); /* NULL: unknown */

/* By name; an error that lists the known ones if there is none. */
medley_status md_format_named(const md_format **format, const char *name, medley_error *error);

/* By the extension of path, whatever follows as .gz; NULL if it tells nothing. */
const md_format *md_format_of_path(const char *path);

/* By name (may be NULL), else extension, else content. */
medley_status md_format_of_input(const md_format **format, const md_input *input, const char *name,
                                 medley_error *error);

/* Do the options ask for this column of the labels: "none", "last" ... ? */
static inline bool md_label_is(const medley_read_options *options, const char *column)
{
    return options->label != NULL && strcmp(options->label, column) == 0;
}

/* Writes one label a line; with scores a table between tabs, below a header. */
medley_status md_write_plain(md_output *output, size_t rows, const md_predicted *predicted,
                             medley_error *error);

/* Writes what was predicted in the format of dataset. path NULL: standard output. */
medley_status md_write_predicted(const medley_dataset *dataset, const md_predicted *predicted,
                                 const char *path, medley_error *error);

/* The same of trees: an error where the format has no places for them. */
medley_status md_write_trees(const medley_dataset *dataset, const md_predicted *predicted,
                             const char *path, medley_error *error);
medley_status md_write_ranking(const medley_dataset *dataset, const md_ranking *ranking,
                               const char *path, medley_error *error);

/* For writers that keep one table of numbers: an error naming format where dataset has none, or
 * has several. */
medley_status md_format_needs_one_table(const char *format, const medley_dataset *dataset,
                                        medley_error *error);

/* The shortest text that reads back as this float. buffer: 32 bytes. */
const char *md_float_text(char buffer[32], float value);

/* Marks in keep[columns] the columns that text names: "1-5,8" or names; or all but these: "!id".
 * names[columns] may hold
 * NULL, and may be NULL as a whole: then columns are known by number only. */
medley_status md_columns_choose(bool *keep, size_t columns, char *const *names, const char *text,
                                medley_error *error);

bool md_columns_are_left_out(const char *text); /* does it name those that are not kept? */

/* The column with that name, or else with that 1-based number; `columns` if there is none. */
size_t md_column_find(const char *text, size_t length, size_t columns, char *const *names);

/* The columns for an error message: "'a', 'b', 'c' ..." or "1 to 7". Cleared by the caller. */
md_text md_columns_list(size_t columns, char *const *names);

/* ---- npy arrays, shared by the npy format, precomputed kernels and label files ---- */

/* An array as it lies in its file. It is read by runs, the elements that differ in the last index
 * only: run r of shape (2, 3, 4) is [r / 3][r % 3][0 .. 3]. Borrows the input. */
typedef void md_npy_convert(double *values, const char *bytes, size_t count, size_t stride,
                            bool swap);
typedef struct md_element_type {
    const char *name; /* "f4", "u1" ... */
    size_t size;
    md_npy_convert *convert;
} md_element_type;
const md_element_type *md_element_type_find(const char *name); /* two letters; NULL: unknown */

typedef struct md_npy_file {
    size_t dimensions, shape[3];
    size_t stride[3]; /* bytes from one element to the next of that index */
    char *elements;
    md_npy_convert *convert;
    bool swap;
    size_t released; /* bytes of elements given back */
} md_npy_file;

medley_status md_npy_open(md_npy_file *file, const md_input *input, medley_error *error);
void md_npy_get_run(const md_npy_file *file, size_t run, double *values); /* the last extent */
/* Runs before this one are not needed any more: gives their memory back where that is possible, so
 * that a file and what is made of it need not be in memory together. */
void md_npy_release(md_npy_file *file, size_t run);

/* An array whole. */
typedef struct md_npy {
    size_t dimensions, shape[3];
    double *values; /* row-major, whatever the file's order and type were */
} md_npy;

medley_status md_npy_read(md_npy *array, const md_input *input, medley_error *error);
void md_npy_clear(md_npy *array);
/* Writes the header of float32 values of the given shape; the values follow in the same order. */
medley_status md_npy_write_header(md_output *output, const size_t *shape, size_t dimensions,
                                  medley_error *error);
/* Writes float32 values of the given shape. */
medley_status md_npy_write(md_output *output, const float *values, const size_t *shape,
                           size_t dimensions, medley_error *error);

#endif
