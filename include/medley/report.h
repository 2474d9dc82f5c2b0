/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Reports: what was learnt, as one HTML file that needs nothing else.
 */
#ifndef MEDLEY_REPORT_H
#define MEDLEY_REPORT_H

#include "medley/select.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One line of a comparison with other models on the same data. Frozen. */
typedef struct medley_contender {
    const char *name;
    double score;   /**< 0 to 1 */
    double seconds; /**< of training */
    bool is_model;  /**< this line is the model that the report is about */
} medley_contender;

/** Start with MEDLEY_REPORT_OPTIONS_INIT. */
typedef struct medley_report_options {
    size_t struct_size;
    const char *title;           /**< NULL: one made from the model */
    const medley_dataset *data;  /**< labelled data to evaluate the model on and to take examples
                                      from; NULL: none */
    const char *data_name;       /**< what the report calls these data; NULL: no name */
    const medley_tuning *tuning; /**< NULL: none */
    const medley_path *path;     /**< NULL: none */
    const medley_contender *contenders; /**< [contender_count]; NULL: none */
    size_t contender_count;
    size_t examples;  /**< examples to draw at most, wrong ones first */
    size_t top;       /**< blocks to draw at most; a table has all of them */
    size_t threads;   /**< 0: all processors */
    const char *tags; /**< of parsers: the column of tags; NULL: the one used in training */
    bool data_chose;  /**< the model was selected with these data (its epoch, its penalty): the
                           report says so, and gives no confidence interval */
    const char *const *block_names; /**< [blocks of the model's summary] what the report calls them;
                                         an entry that is NULL: the block's own name; NULL: all of
                                         them by their own names */
    const char *command; /**< for those who want to repeat it: the command line or the code, which
                            may have several lines; NULL: none */
    const char *date;    /**< the same: when it was written, as text; NULL: none. The library does
                              not look at the clock, so that the same calls write the same bytes */
    const char *device;  /**< "auto", "cpu", "cuda" or "cuda:N"; NULL: auto */
} medley_report_options;

/** The defaults: 24 examples, 30 blocks, all processors. */
#define MEDLEY_REPORT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(medley_report_options), NULL, NULL, NULL, NULL, NULL, NULL, 0, 24, 30, 0, NULL,     \
            false, NULL, NULL, NULL, NULL                                                          \
    }

/**
 * Writes a report, whole or not at all; path NULL or "-": standard output. model may be NULL if the
 * options have a path or a tuning to show; options may be NULL. Training curves are drawn against
 * time, or against epochs if the model was loaded from a file, which does not store times.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_report_write(const medley_model *model,
                                                            const char *path,
                                                            const medley_report_options *options,
                                                            medley_error *error);

#ifdef __cplusplus
}
#endif
#endif
