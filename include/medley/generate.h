/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Synthetic data from a seed: the classic benchmarks, and handwriting and sentences of our own.
 */
#ifndef MEDLEY_GENERATE_H
#define MEDLEY_GENERATE_H

#include "medley/dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Start with MEDLEY_GENERATE_OPTIONS_INIT. */
typedef struct medley_generate_options {
    size_t struct_size;
    size_t rows;   /**< rows; words of handwriting; sentences of tagged text and treebanks; 0: the
                        generator's default */
    uint64_t seed; /**< the same seed gives the same data */
    size_t dimension; /**< features per view, where that is free; 0: the generator's default */
    size_t views;     /**< of multi-view data only; 0: the generator's default */
    size_t classes;   /**< of multi-view data only; 0: the generator's default */
    double noise;     /**< 1: the usual amount, 0: none */
} medley_generate_options;

/** The defaults: seed 1, the generator's own sizes, the usual noise. */
#define MEDLEY_GENERATE_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(medley_generate_options), 0, 1, 0, 0, 0, 1.0                                        \
    }

/** Generates data. name: one of medley_list's "generators". options NULL: defaults. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_generate(medley_dataset **dataset, const char *name,
                                                        const medley_generate_options *options,
                                                        medley_error *error);

#ifdef __cplusplus
}
#endif
#endif
