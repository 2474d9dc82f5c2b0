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
void md_input_clear(md_input *input);

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
} md_format;

/* NULL-terminated, in the order of formats.def (the order of sniffing). */
extern const md_format *const md_formats[];

const md_format *md_format_find(const char *name); /* NULL: unknown */

/* ---- npy arrays, shared by the npy format, precomputed kernels and label files ---- */
typedef struct md_npy {
    size_t dimensions, shape[3];
    double *values; /* row-major, whatever the file's order and type were */
} md_npy;

medley_status md_npy_read(md_npy *array, const md_input *input, medley_error *error);
void md_npy_clear(md_npy *array);
/* Writes float32 values of the given shape. */
medley_status md_npy_write(md_output *output, const float *values, const size_t *shape,
                           size_t dimensions, medley_error *error);

#endif
