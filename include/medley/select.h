/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Choosing options by cross-validation, and following a path of penalty strengths.
 */
#ifndef MEDLEY_SELECT_H
#define MEDLEY_SELECT_H

#include "medley/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tuning ---- */

/**
 * An option and its values (neither is NULL). Values are separated by commas outside of brackets:
 * "0.1,1,10", "mkl,block(q=1.5)"; those of "kernel" by '|': "rbf(sigma2=1) | rbf(sigma2=5)".
 * Frozen.
 */
typedef struct medley_choice {
    const char *option, *values;
} medley_choice;

/**
 * How many values a choice has. Numbers may be a range, evenly spaced in logarithm: "0.01..100" has
 * one value per decade, "0.01..100:9" nine. Options that name blocks or files of this run are one
 * value whatever they contain, and so is the name of any existing file. MEDLEY_USAGE for an unknown
 * option or a malformed list.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_choice_count(size_t *count,
                                                            const medley_choice *choice,
                                                            medley_error *error);

/** Start with MEDLEY_TUNE_OPTIONS_INIT. */
typedef struct medley_tune_options {
    size_t struct_size;
    size_t folds;        /**< number of cross-validation folds */
    const char *measure; /**< "accuracy", "f1", "log-loss", "exact-match", "rmse", "uas", "las";
                              NULL: rmse for regression, f1 if labels are those of chunks, las for
                              trees with relations, uas for those without, else accuracy */
} medley_tune_options;

/** The defaults: 5 folds, the usual measure of the task. */
#define MEDLEY_TUNE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(medley_tune_options), 5, NULL                                                       \
    }

/** One combination of values. Frozen. */
typedef struct medley_trial {
    const char *const *values; /**< [option_count] */
    double mean, deviation;    /**< of the measure over the folds; NaN: a fold failed */
    double standard_error;     /**< deviation / sqrt(folds) */
    double active;             /**< nonzero blocks, mean over the folds that did not fail; NaN: all
                                    failed */
    double seconds;            /**< of training, mean over the same folds */
    const double *fold;        /**< [fold_count] the measure in each fold */
    const char *problem;       /**< why it failed; NULL: it did not */
} medley_trial;

/** The result of tuning. Allocated by the library only. */
typedef struct medley_tuning {
    const char *measure;
    bool higher_is_better;
    const char *const *options; /**< [option_count] those that were varied */
    size_t option_count;
    const medley_trial *trials; /**< [trial_count] */
    size_t trial_count, fold_count;
    size_t best;         /**< index of the trial with the best mean */
    size_t one_error;    /**< index of the trial with the strongest penalty (else the fewest blocks)
                              within one standard error of the best */
    bool kernels_shared; /**< kernels came ready made: no fold had to compute their values */
    double seconds_kernels; /**< 0: kernels are made in the folds, as part of each fit */
    double seconds_total;
    size_t threads;
    size_t folds_asked; /**< more than fold_count if the tuning was interrupted */
} medley_tuning;

/**
 * Cross-validates every combination of choices[count]; options (NULL: defaults) hold for the rest.
 * count 0: several strengths of the penalty around the default, or around that of options. Folds
 * are stratified by label; sequences and sentences stay whole. What kernels learn
 * from data (widths, scalings, traces, means) comes from the training rows of each fold, so a fold
 * is what medley_fit makes of these rows alone, and the table does not depend on memory or threads.
 * MEDLEY_STOPPED: *tuning has the folds that were finished until then (numbered anew); if none was,
 * one fold, where combinations that were not tried yet have a problem. It is NULL if nothing was
 * learnt by then, or if several ranks were at work. Free with medley_tuning_free.
 */
MEDLEY_API MEDLEY_CHECKED medley_status
medley_tune(medley_tuning **tuning, const medley_dataset *dataset, const medley_options *options,
            const medley_choice *choices, size_t count, const medley_tune_options *how,
            const medley_observer *observer, medley_error *error);
/** Frees a tuning; NULL is allowed. */
MEDLEY_API void medley_tuning_free(medley_tuning *tuning);

/**
 * Copies options (NULL: defaults) and sets the values of one trial: the options to train the final
 * model with. Free with medley_options_free.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_tuning_options(medley_options **chosen,
                                                              const medley_tuning *tuning,
                                                              size_t trial,
                                                              const medley_options *options,
                                                              medley_error *error);

/* ---- paths ---- */

/** The model of one penalty strength. Frozen. */
typedef struct medley_path_point {
    double lambda, C;
    double objective, dual, gap; /**< NaN: the method has none */
    double score;                /**< the measure on held-out data; NaN: there are none */
    size_t active;               /**< nonzero blocks */
    double seconds;              /**< since the path began */
    const double *weights;       /**< [block_count] */
    const double *norms;         /**< [block_count] */
} medley_path_point;

/** A path of models. Allocated by the library only. */
typedef struct medley_path {
    const char *task, *method, *loss, *penalty;
    const char *measure; /**< of score; NULL: there are no held-out data */
    bool higher_is_better;
    const char *const *blocks; /**< [block_count] names */
    size_t block_count;
    const medley_path_point *points; /**< [point_count] from strong to weak penalty */
    size_t point_count;
} medley_path;

/**
 * Trains as medley_fit_path does and records each model; held_out may be NULL. take (may be NULL)
 * receives each model, owns it, and may look at *path, whose last point is that model's. how NULL:
 * defaults. MEDLEY_STOPPED: the path as far as it went. Free with medley_path_free.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_trace_path(
    medley_path **path, const medley_dataset *train, const medley_dataset *held_out,
    const medley_options *options, const medley_path_options *how, medley_path_taker take,
    void *context, const medley_observer *observer, medley_error *error);
/** Frees a path; NULL is allowed. */
MEDLEY_API void medley_path_free(medley_path *path);

#ifdef __cplusplus
}
#endif
#endif
