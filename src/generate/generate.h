/* SPDX-License-Identifier: BSD-3-Clause */
/* A generator is one file and one line in generators.def. */
#ifndef MD_GENERATE_H
#define MD_GENERATE_H

#include "base/random.h"
#include "data/dataset.h"
#include "medley/generate.h"

/* One table whose rows are drawn one by one, each from a class chosen with equal probability. */
typedef struct md_row_source {
    size_t dimension; /* features, unless the user chose */
    bool has_free_dimension;
    size_t class_count;
    const char *class_names[3]; /* [class_count] */
    /* noise: factor on the standard deviations. */
    void (*draw)(float *values, size_t dimension, size_t class_index, double noise,
                 md_random *random);
} md_row_source;

typedef struct md_generator {
    const char *name, *summary;
    const char *format; /* where neither the user nor a file's name says one */
    size_t default_rows;
    const md_row_source *rows; /* all there is to it, or NULL */
    /* Without rows: fills an empty dataset; options->rows is never 0 here. */
    medley_status (*generate)(medley_dataset *dataset, const medley_generate_options *options,
                              md_random *random, medley_error *error);
} md_generator;
#define MD_GENERATOR(name) extern const md_generator md_generator_##name;
#include "generate/generators.def"
#undef MD_GENERATOR

/* NULL-terminated, in the order of generators.def. */
extern const md_generator *const md_generators[];

/* ---- shared by the generators ---- */

/* Appends a zeroed dense table of dataset->rows rows. */
medley_status md_generate_table(md_table **table, medley_dataset *dataset, const char *name,
                                size_t columns, medley_error *error);

/* Options that only some generators understand are errors everywhere else. */
medley_status md_generate_refuse_dimension(const medley_generate_options *options, size_t fixed,
                                           medley_error *error);
medley_status md_generate_refuse_views(const medley_generate_options *options, medley_error *error);

#endif
