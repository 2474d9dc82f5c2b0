/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Incremental learning: labelled examples arrive in chunks. Each chunk is learnt from once and may
 * then be forgotten; the model is the same as if all had arrived in one chunk, up to rounding.
 *
 * The algorithm is the first stage of method obscure: each example with a loss causes a step of
 * length eta towards the right output, and a p-norm (option "p") weighs the kernels. What is chosen
 * from data is chosen from the first chunk and then fixed: kernels and their widths, scalings of
 * columns (without a word about `scale` only if the chunk has 50 rows: fewer say nothing about
 * deviations), traces, named columns, whether linear kernels are kept as weights, and eta (auto: 2
 * divided by the largest K(x,x) of the first chunk). So the model does not depend on how examples
 * are divided into chunks if the first chunk is the same, or if nothing is left to be chosen.
 *
 * Labels that were never seen before may appear in later chunks; labels that a data set names count
 * as known even if none of its rows has them. An example is judged by the labels that are known
 * when it is met.
 *
 * Time: a chunk costs its rows times the support so far plus the examples of the chunk that cause a
 * step; a model costs the square of the support, for exact norms. A learner is used by one thread
 * at a time.
 */
#ifndef MEDLEY_LEARNER_H
#define MEDLEY_LEARNER_H

#include "medley/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An incremental learner. */
typedef struct medley_learner medley_learner;

/**
 * Creates a learner. options are copied; NULL: defaults. MEDLEY_USAGE for options that do not apply
 * here: another method than obscure, regression, templates, centred kernels, several passes, a
 * second stage, batches, averages, checkpoints, calibration. Free with medley_learner_free.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_learner_create(medley_learner **learner,
                                                              const medley_options *options,
                                                              medley_error *error);
/** Frees a learner; NULL is allowed. */
MEDLEY_API void medley_learner_free(medley_learner *learner);

/**
 * Learns from every example of a chunk once, in the order given. The first chunk must contain two
 * different labels; later ones have the same tables and may be as short as one example. Precomputed
 * kernels are not supported. On failure the learner is unchanged.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_learner_partial_fit(medley_learner *learner,
                                                                   const medley_dataset *chunk,
                                                                   medley_error *error);

/**
 * A model of what has been learnt so far; learning may continue afterwards. Its summary's objective
 * uses the loss of each example at the time it was met. MEDLEY_USAGE before the first chunk. Free
 * with medley_model_free.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_learner_model(medley_model **model,
                                                             medley_learner *learner,
                                                             medley_error *error);

#ifdef __cplusplus
}
#endif
#endif
