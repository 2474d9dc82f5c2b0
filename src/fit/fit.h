/* SPDX-License-Identifier: BSD-3-Clause */
/* The front doors of learning. */
#ifndef MD_FIT_H
#define MD_FIT_H

#include "setup/setup.h"

/* medley_fit and medley_fit_path for several fits on the same rows with the same kernels, one after
 * the other. problem: empty at first, to be cleared at the end; on failure it is empty again. The
 * kernels of all of them are those of the first. */
medley_status md_fit_again(medley_model **model, md_problem *problem, const medley_dataset *train,
                           const medley_options *options, const medley_observer *observer,
                           medley_error *error);
medley_status md_fit_path_again(md_problem *problem, const medley_dataset *train,
                                const medley_options *options, const medley_path_options *path,
                                medley_path_taker take, void *context,
                                const medley_observer *observer, medley_error *error);

/* The task's first problem, if it has one, is learnt and followed. */
medley_status md_fit_scout(md_problem *problem, medley_error *error);

/* The model of the task's second problem; NULL if it has none. problem->progress.stopped: the
 * observer asked to stop. */
medley_status md_fit_companion(medley_model **companion, md_problem *problem, medley_error *error);

/* Calibrates a model of a method on whole matrices, which learns from a copy of the rows; as
 * md_calibrate of online/calibrate.h. */
medley_status md_calibrate_batch(medley_model **model, const medley_dataset *train,
                                 const medley_options *options, const medley_observer *observer,
                                 medley_error *error);

/* medley_predict_with, by the ranks of request->options.comm: each has a share of the rows. */
medley_status md_predict_together(medley_prediction **result, const md_request *request,
                                  medley_error *error);

/* medley_evaluate_with that hands the prediction over, too; kept NULL: it is freed. */
medley_status md_evaluate(medley_evaluation *evaluation, medley_prediction **kept,
                          const medley_model *model, const medley_dataset *dataset,
                          const medley_evaluate_options *given, medley_error *error);

#endif
