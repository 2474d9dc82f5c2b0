/* SPDX-License-Identifier: BSD-3-Clause */
/* Seeded synthetic data: the classic benchmarks, and handwriting and sentences of our own. */
#ifndef MEDLEY_GENERATE_H
#define MEDLEY_GENERATE_H

#include "medley/dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct medley_generate_options {
    size_t struct_size;
    size_t rows; /* rows, of handwriting words, of tagged and treebank sentences; 0: the
                    generator's default */
    uint64_t seed;
    size_t dimension; /* features per view where that is free; 0: the generator's default */
    size_t views;     /* multi-view data only; 0: default */
    size_t classes;   /* multi-view data only; 0: default */
    double noise;     /* generator's own scale, 1 = default amount */
} medley_generate_options;

#define MEDLEY_GENERATE_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(medley_generate_options), 0, 1, 0, 0, 0, 1.0                                        \
    }

/* name: one of medley_list("generators"). */
MEDLEY_API MEDLEY_CHECKED medley_status medley_generate(medley_dataset **dataset, const char *name,
                                                        const medley_generate_options *options,
                                                        medley_error *error);

#ifdef __cplusplus
}
#endif
#endif
