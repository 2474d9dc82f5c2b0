/* SPDX-License-Identifier: BSD-3-Clause */
/* What prediction is made of: the outputs of rows, before bias and decoding. */
#ifndef MD_SCORE_H
#define MD_SCORE_H

#include "model/model.h"

/* scores[rows][outputs] of new data, that is of their row parts, without the bias; zeroed here. */
medley_status md_model_score(const medley_model *model, const medley_dataset *dataset,
                             const md_feature_ids *ids, size_t threads, float *scores,
                             medley_error *error);

/* Adds a block's weights to groups of parts that belong to rows first, first + 1, ... */
void md_weights_score(const md_weights *weights, const md_feature_ids *ids, size_t first,
                      size_t groups, float *out);

#endif
