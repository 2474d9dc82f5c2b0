/* SPDX-License-Identifier: BSD-3-Clause */
/* By what held-out data judge a model. */
#ifndef MD_MEASURE_H
#define MD_MEASURE_H

#include "settings/options.h"
#include "medley/select.h"

typedef struct md_measure {
    const char *name;
    bool higher_is_better;
    bool probabilities; /* must be asked for */
    double (*of)(const medley_evaluation *evaluation);
} md_measure;

/* The measure called name, if data and options allow it; NULL: the one that suits them. */
medley_status md_measure_find(const md_measure **measure, const char *name,
                              const medley_dataset *dataset, const medley_options *options,
                              medley_error *error);

/* Predicts the rows of held and measures; an error where it is not defined. */
medley_status md_measure_model(double *value, const md_measure *measure, const medley_model *model,
                               const medley_dataset *held, size_t threads, medley_error *error);

#endif
