/* SPDX-License-Identifier: BSD-3-Clause */
/* The front doors of learning. */
#ifndef MD_FIT_H
#define MD_FIT_H

#include "setup/setup.h"

/* The model of the task's second problem; NULL if it has none. problem->progress.stopped: the
 * observer asked to stop. */
medley_status md_fit_companion(medley_model **companion, md_problem *problem, medley_error *error);

/* Calibrates a model of a method on whole matrices, which learns from a copy of the rows; as
 * md_calibrate of online/calibrate.h. */
medley_status md_calibrate_batch(medley_model **model, const medley_dataset *train,
                                 const medley_options *options, const medley_observer *observer,
                                 medley_error *error);

/* medley_evaluate_with that hands the prediction over, too; kept NULL: it is freed. */
medley_status md_evaluate(medley_evaluation *evaluation, medley_prediction **kept,
                          const medley_model *model, const medley_dataset *dataset,
                          const medley_evaluate_options *given, medley_error *error);

#endif
