/* SPDX-License-Identifier: BSD-3-Clause */
/* Folds of a cross-validation. A fold learns from its training rows alone: they are cut out of all
 * rows, and widths, scalings, traces and means come from them, as if they had been given to a fit.
 * Kernel values are therefore a fold's own, computed once for all that learns from them there; only
 * those that came ready made are cut for it. */
#ifndef MD_FOLDS_H
#define MD_FOLDS_H

#include "setup/setup.h"

/* part[rows], rows of a sequence together; the caller frees it. */
medley_status md_folds_make(int32_t **part, const medley_dataset *dataset, size_t folds,
                            uint64_t seed, medley_error *error);

/* The rows that are learnt from and those that are held out: part[rows] says which fold each row
 * is in. */
medley_status md_fold_cut(medley_dataset **train, medley_dataset **held,
                          const medley_dataset *dataset, const int32_t *part, int32_t fold,
                          medley_error *error);

/* ---- fold_source.c: what folds are cut out of, and how many of them at a time ---- */

typedef struct md_fold_source {
    medley_dataset data; /* borrowed from the caller's but for diagonals of kernels: never freed */
    md_pool pool;        /* of data.grams and of their diagonals */
    size_t workers;      /* folds that the memory allows at a time */
    size_t budget;       /* of the learner of a fold; 0: as the options say */
    size_t ranks;        /* that learn folds beside each other */
} md_fold_source;

typedef struct md_fold_limits {
    size_t memory; /* for all folds at work; 0: no limit */
    size_t threads, folds, ranks;
} md_fold_limits;

medley_status md_fold_source_make(md_fold_source *source, const medley_dataset *dataset,
                                  const medley_options *options, const md_method *method,
                                  const md_fold_limits *limits, medley_error *error);
void md_fold_source_clear(md_fold_source *source);

/* Turns the options of a fit on all rows into those of a fold: the method that all rows have, no
 * files, the threads given, its share of the memory. */
medley_status md_fold_adapt(const md_fold_source *source, medley_options *options,
                            const md_method *method, size_t threads, medley_error *error);

#endif
