/* SPDX-License-Identifier: BSD-3-Clause */
/* A generator is one file and one line in generators.def. */
#ifndef MD_GENERATE_H
#define MD_GENERATE_H

#include "base/random.h"
#include "data/dataset.h"
#include "medley/generate.h"

typedef struct md_generator {
    const char *name, *summary;
    size_t default_rows;
    /* Fills an empty dataset; options->rows is never 0 here. */
    medley_status (*generate)(medley_dataset *dataset, const medley_generate_options *options,
                              md_random *random, medley_error *error);
} md_generator;

/* NULL-terminated, in the order of generators.def. */
extern const md_generator *const md_generators[];

#endif
