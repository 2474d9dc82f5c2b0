/* SPDX-License-Identifier: BSD-3-Clause */
/* Training for calibrated probabilities (--calibrate). The model itself is the same with and
 * without: once it is there, a second one with the same settings is learnt from four fifths of the
 * examples, and how its scores of the last fifth turn into probabilities (model/calibration.h) is
 * what the first one gets. */
#ifndef MD_CALIBRATE_H
#define MD_CALIBRATE_H

#include "setup/held_out.h"

/* Can this run be calibrated? Said before anything is learnt. */
medley_status md_calibrate_check(const md_problem *problem, medley_error *error);

/* Calibrates a model that an online run has just learnt, if the options say so. Its blocks are used
 * again, with its first rate eta0: what they have learnt is lost. MEDLEY_STOPPED by the observer:
 * the model is not calibrated. A failure takes the model along: *model is NULL. */
medley_status md_calibrate(medley_model **model, md_problem *problem, const md_run_blocks *blocks,
                           double eta0, medley_error *error);

/* Which examples are held out. */
md_division_rule md_calibrate_rule(bool sequences);

/* Adds the time since start to the model's summary; a model that could not be calibrated (status)
 * is freed. */
void md_calibrate_finish(medley_model **model, double start, medley_status status);

#endif
