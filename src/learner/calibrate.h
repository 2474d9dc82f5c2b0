/* SPDX-License-Identifier: BSD-3-Clause */
/* Training for calibrated probabilities (--calibrate). The model itself is the same with and
 * without: once it is there, a second one with the same settings is learnt from four fifths of the
 * examples, and how its scores of the last fifth turn into probabilities (model/calibration.h) is
 * what the first one gets. */
#ifndef MD_CALIBRATE_H
#define MD_CALIBRATE_H

#include "learner/problem.h"

/* Can this run be calibrated? Said before anything is learnt. */
medley_status md_calibrate_check(const md_problem *problem, medley_error *error);

/* Calibrates a model that an online run has just learnt, if the options say so. The blocks of
 * trained are used again: what they have learnt is lost. MEDLEY_STOPPED by the observer: the model
 * is not calibrated. A failure takes the model along: *model is NULL. */
medley_status md_calibrate(medley_model **model, md_problem *problem, const md_trained *trained,
                           medley_error *error);

/* The same for methods on whole matrices, which learn from a copy of the rows. */
medley_status md_calibrate_batch(medley_model **model, const medley_dataset *train,
                                 const medley_options *options, const medley_observer *observer,
                                 medley_error *error);

#endif
