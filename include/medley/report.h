/* SPDX-License-Identifier: BSD-3-Clause */
/* What was learnt, to look at: one HTML file that needs nothing else. */
#ifndef MEDLEY_REPORT_H
#define MEDLEY_REPORT_H

#include "medley/select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A line of a comparison: other models on the same data. */
typedef struct medley_contender {
    const char *name;
    double score; /* 0 to 1 */
    double seconds;
    bool is_model; /* this line is the model that is reported on */
} medley_contender;

typedef struct medley_report_options {
    size_t struct_size;
    const char *title; /* NULL: one from the model */
    const medley_dataset
        *data;             /* labelled data that the model is measured on and drawn from; NULL */
    const char *data_name; /* what the report calls them; NULL: no name */
    const medley_tuning *tuning; /* NULL: none */
    const medley_path *path;     /* NULL: none */
    const medley_contender *contenders;
    size_t contender_count;
    size_t examples;  /* most examples that are drawn, wrong ones first */
    size_t top;       /* most blocks that are drawn; a table has all of them */
    size_t threads;   /* 0: all processors */
    const char *tags; /* of parsers: the column of tags; NULL: that of training */
    bool data_chose;  /* data had a say in the model (its epoch, its penalty): the report says so,
                         and tells no confidence interval */
} medley_report_options;

#define MEDLEY_REPORT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(medley_report_options), NULL, NULL, NULL, NULL, NULL, NULL, 0, 24, 30, 0, NULL,     \
            false                                                                                  \
    }

/* Writes the report, whole or not at all; path NULL or "-": standard output. model may be NULL
 * where there is a path or a tuning to show; options may be NULL. Training curves are drawn against
 * time where the model was not loaded from a file, which does not tell it, else against epochs. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_report_write(const char *path,
                                                            const medley_model *model,
                                                            const medley_report_options *options,
                                                            medley_error *error);

#ifdef __cplusplus
}
#endif
#endif
