/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel values that all folds share: computed once on all rows, kept as precomputed kernels of a
 * data set that is otherwise the caller's, and cut for each fold. What needs labels or knows the
 * training rows (traces, means) is left to the folds; so are kernels with a weight for each column,
 * templates and trees, which have no values to share. */
#ifndef MD_SHARE_H
#define MD_SHARE_H

#include "setup/setup.h"

typedef struct md_share {
    medley_dataset data;   /* borrowed from the caller's but for the kernels: never freed */
    md_precomputed *grams; /* [data.gram_count] */
    size_t computed;       /* the first of them: those computed here */
    md_pool pool;          /* of grams, and of diagonals that were added to them */
    char **weights;        /* specs of the kernels that are left to the folds, or NULL */
    bool replaces;         /* the kernels of the options are among grams */
    bool too_large;        /* they would be, but memory has no room for them and a fold */
    bool alone;            /* a task without kernels: a fold is better off with all threads */
    double shared_bytes, cut_bytes, learner_bytes; /* of grams, of a fold's data, of its kernels */
    size_t workers;                                /* folds that the memory allows at a time */
    size_t budget; /* of the learner of a fold; 0: as the options say */
    double seconds;
} md_share;

/* The kernels of a run: what they are made from, and what they are. */
typedef struct md_kernel_set {
    const medley_dataset *data;
    const medley_options *options;
    const md_task *task;
    const md_method *method;
    md_bank bank;
    md_prepared prepared; /* rows, once values are to be computed */
} md_kernel_set;

typedef struct md_share_limits {
    size_t memory; /* for kernel values and folds; 0: no limit */
    size_t threads, folds;
    const medley_observer *observer;
} md_share_limits;

/* Stopped by the observer: MEDLEY_STOPPED, and *share stays what it was. */
medley_status md_share_make(md_share *share, const medley_dataset *dataset,
                            const medley_options *options, const md_method *method,
                            const md_share_limits *limits, medley_error *error);
void md_share_clear(md_share *share);

/* ---- share_fold.c ---- */

/* Turns the options of a fit on all rows into those of a fold: the shared kernels in place of
 * theirs, no files, the threads given, its share of the memory. */
medley_status md_share_adapt(const md_share *share, medley_options *options,
                             const md_method *method, size_t threads, medley_error *error);

/* The kernels of set->options that these leave in, in set->bank. */
medley_status md_share_make_bank(md_kernel_set *set, medley_error *error);
void md_kernel_set_clear(md_kernel_set *set);

/* Would the folds be learnt by the same method on the kernels of the set, each of them once? Sets
 * share->weights such that they are; without kernel values, which may come later. */
medley_status md_share_check(bool *same, md_share *share, const md_kernel_set *set,
                             medley_error *error);

/* ---- folds ---- */

/* The rows that are learnt from and those that are held out: part[rows] says which fold each row
 * is in. */
medley_status md_fold_cut(medley_dataset **train, medley_dataset **held,
                          const medley_dataset *dataset, const int32_t *part, int32_t fold,
                          medley_error *error);

/* part[rows], rows of a sequence together; the caller frees it. */
medley_status md_folds_make(int32_t **part, const medley_dataset *dataset, size_t folds,
                            uint64_t seed, medley_error *error);

#endif
