/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing: sentences to trees. */
#ifndef MD_PARSE_H
#define MD_PARSE_H

#include "model/model.h"

/* Fills head, label and the seconds of a prediction for dataset. */
medley_status md_parse(medley_prediction *prediction, const medley_model *model,
                       const medley_dataset *dataset, const medley_predict_options *options,
                       size_t threads, medley_error *error);

#endif
