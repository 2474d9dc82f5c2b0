/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing options by cross-validation, and looking at a whole path of penalties. */
#ifndef MEDLEY_SELECT_H
#define MEDLEY_SELECT_H

#include "medley/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tuning ---- */

/* An option and its values, neither of them NULL, separated by commas outside of brackets:
 * "0.1,1,10", "mkl,block(q=1.5)"; those of "kernel" by '|': "rbf(sigma2=1) | rbf(sigma2=5)". */
typedef struct medley_choice {
    const char *option, *values;
} medley_choice;

/* How many values a choice has. Numbers may be a range, evenly spaced in logarithm: "0.01..100" has
 * one value a decade, "0.01..100:9" nine; options that name blocks or files of this run are one
 * value whatever is in it, and so is the name of any file that exists. Codes: MEDLEY_USAGE for an
 * unknown option or a list that is none. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_choice_count(size_t *count,
                                                            const medley_choice *choice,
                                                            medley_error *error);

typedef struct medley_tune_options {
    size_t struct_size;
    size_t folds;        /* parts of the cross-validation */
    const char *measure; /* "accuracy", "f1", "log-loss", "exact-match", "rmse", "uas", "las"; NULL:
                            rmse of numbers, chunk f1 where labels are those of chunks, las of trees
                            with relations, else uas, else accuracy */
} medley_tune_options;

#define MEDLEY_TUNE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(medley_tune_options), 5, NULL                                                       \
    }

/* One combination of values. */
typedef struct medley_trial {
    const char *const *values; /* [option_count] */
    double mean, deviation;    /* of the measure over the folds; NaN: it failed in one of them */
    double standard_error;     /* deviation / sqrt(folds) */
    double active;             /* blocks, mean over the folds that did not fail; NaN: all did */
    double seconds;            /* of training, mean over the same */
    const double *fold;        /* [fold_count] the measure in each */
    const char *problem;       /* why it failed, else NULL */
} medley_trial;

typedef struct medley_tuning {
    const char *measure;
    bool higher_is_better;
    const char *const *options; /* [option_count] those that were varied */
    size_t option_count;
    const medley_trial *trials;
    size_t trial_count, fold_count;
    size_t best;         /* the trial with the best mean */
    size_t one_error;    /* the strongest penalty, else the fewest blocks, within one standard error
                            of the best */
    bool kernels_shared; /* kernel values were computed once, not in every fold */
    double
        seconds_kernels; /* of kernel values that are shared; NaN: there was no memory for them */
    double seconds_total;
    size_t threads;
} medley_tuning;

/* Cross-validates every combination of choices[count], with options (may be NULL) for the rest.
 * count 0: some strengths of the penalty around the default, or around that of options.
 * Folds are stratified by label; sequences and sentences stay whole. Kernels' own choices (widths,
 * scalings) are made once, on all rows, without a look at labels. MEDLEY_STOPPED: no result. Free
 * with medley_tuning_free. */
MEDLEY_API MEDLEY_CHECKED medley_status
medley_tune(medley_tuning **tuning, const medley_dataset *dataset, const medley_options *options,
            const medley_choice *choices, size_t count, const medley_tune_options *how,
            const medley_observer *observer, medley_error *error);
MEDLEY_API void medley_tuning_free(medley_tuning *tuning);

/* Copies options (NULL: defaults) with the values of one trial: what a final model is learnt with.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_tuning_options(medley_options **chosen,
                                                              const medley_tuning *tuning,
                                                              size_t trial,
                                                              const medley_options *options,
                                                              medley_error *error);

/* ---- paths ---- */

typedef struct medley_path_point {
    double lambda, C;
    double objective, dual, gap; /* NaN where the method has none */
    double score;                /* the measure on held-out data; NaN: there are none */
    size_t active;
    double seconds;        /* since the path began */
    const double *weights; /* [block_count] */
    const double *norms;   /* [block_count] */
} medley_path_point;

typedef struct medley_path {
    const char *task, *method, *loss, *penalty;
    const char *measure; /* of score; NULL: no held-out data */
    bool higher_is_better;
    const char *const *blocks;
    size_t block_count;
    const medley_path_point *points; /* from strong to weak penalty */
    size_t point_count;
} medley_path;

/* Walks along medley_fit_path and notes what there is to see; held_out may be NULL. take (may be
 * NULL) gets each model, to keep and to free, and may look at *path, whose last point is that
 * model's. how NULL: defaults. MEDLEY_STOPPED: the path as far as it went. Free with
 * medley_path_free. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_trace_path(
    medley_path **path, const medley_dataset *train, const medley_dataset *held_out,
    const medley_options *options, const medley_path_options *how, medley_path_taker take,
    void *context, const medley_observer *observer, medley_error *error);
MEDLEY_API void medley_path_free(medley_path *path);

#ifdef __cplusplus
}
#endif
#endif
