/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning piece by piece: labelled examples come in pieces, each is learnt from once and may then
 * be forgotten, and the model is the same as if they had come in one piece, up to rounding.
 *
 * It is the first stage of method obscure: wherever an example has a loss, a step of length eta
 * towards what was right, and a p-norm (option "p") that weighs kernels against one another. What
 * is chosen from data is chosen from the first piece and then fixed: kernels and their widths,
 * scalings of columns, traces, named columns, whether linear kernels are kept as weights, and eta
 * (auto: 2 over the largest K(x,x) of the first piece). So pieces give the same model however they
 * are cut if the first piece is the same, or if nothing is left to be chosen.
 *
 * Labels may come that were never seen before; those that a data set names count as known even if
 * none of its rows has them. An example is judged by the labels that are known when it is met.
 *
 * A piece costs as much as its rows times the support so far and the examples of the piece that
 * lead to a step; a model costs the square of the support, for exact norms. A learner is used by
 * one thread at a time. */
#ifndef MEDLEY_LEARNER_H
#define MEDLEY_LEARNER_H

#include "medley/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct medley_learner medley_learner;

/* options are copied; NULL: defaults. Codes: MEDLEY_USAGE for options that have no place here:
 * another method than obscure, numbers to predict, templates, centred kernels, several passes, a
 * second stage, batches, averages, checkpoints, calibration. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_learner_create(medley_learner **learner,
                                                              const medley_options *options,
                                                              medley_error *error);
MEDLEY_API void medley_learner_free(medley_learner *learner);

/* Learns from every example of piece once, in the order given; piece is borrowed for the call. The
 * first one must hold two different labels; later ones have the same tables and may be as short as
 * one example. Precomputed kernels have no place here. On failure the learner is as it was. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_learner_partial_fit(medley_learner *learner,
                                                                   const medley_dataset *piece,
                                                                   medley_error *error);

/* What has been learnt so far, to keep and to free; learning may go on. The summary's objective has
 * the loss of each example when it was met. Codes: MEDLEY_USAGE before the first piece. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_learner_model(medley_model **model,
                                                             medley_learner *learner,
                                                             medley_error *error);

#ifdef __cplusplus
}
#endif
#endif
