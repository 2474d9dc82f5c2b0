/* SPDX-License-Identifier: BSD-3-Clause */
/* A cross-validation under way: trials (combinations of values), each in every fold a cell. */
#ifndef MD_TUNER_H
#define MD_TUNER_H

#include "select/choice.h"
#include "select/folds.h"
#include "select/measure.h"
#include <pthread.h>

typedef struct md_cell {
    double score, active, seconds;
    medley_status code; /* negative: it failed */
    char *failure;      /* why, or NULL */
    bool noted;         /* by this rank */
} md_cell;

typedef struct md_attempt {
    medley_options *options; /* as a fit on all rows has them */
    const md_method *method; /* by all rows; NULL: none can be chosen */
    char *kernels;           /* all that decides which kernels there are, as a text */
    bool grouped;
} md_attempt;

typedef struct md_tuner {
    const medley_dataset *dataset;
    const md_grid *grid;
    const md_measure *measure;
    size_t folds;
    const int32_t *part;  /* [rows] */
    md_attempt *attempts; /* [grid->trial_count] */
    md_cell *cells;       /* [grid->trial_count][folds] */
    bool *counts;         /* [folds] in the result */
    size_t threads, memory;
    medley_comm *comm; /* folds are divided among its ranks */

    const medley_observer *observer;
    medley_observer watch; /* calls observer from one thread at a time */
    pthread_mutex_t lock;  /* of what follows */
    bool stopped;
    size_t done;
    double began;
} md_tuner;

static inline md_cell *md_tuner_cell(const md_tuner *tuner, size_t trial, size_t fold)
{
    return &tuner->cells[trial * tuner->folds + fold];
}

/* Fills the cells. MEDLEY_STOPPED: the observer asked to. Trials that fail are no failure. */
medley_status md_tuner_run(md_tuner *tuner, medley_error *error);

/* What became of one cell; tells the observer. */
void md_tuner_note(md_tuner *tuner, size_t trial, size_t fold, const medley_error *failure);

/* ---- attempt.c: one fold of some trials ---- */

/* Trials with the same kernels. */
typedef struct md_group {
    md_tuner *tuner;
    md_fold_source source;
    size_t *trials; /* in runs: trials that differ only in the strength, from strong to weak, or
                       single ones */
    size_t trial_count;
    size_t *run_start; /* [run_count + 1] */
    size_t run_count;
    size_t shares;  /* that the runs are divided into: those of a share have kernels in common */
    size_t threads; /* of a fit */
} md_group;

/* For md_parallel_for over the items of this rank, of shares * folds. */
void md_group_item(void *group, size_t item, size_t worker);

/* ---- tuner_ranks.c ---- */

/* All ranks get the cells that each of them has filled. */
medley_status md_tuner_join(md_tuner *tuner, medley_error *error);

#endif
