/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands tell of probabilities: how a model was calibrated, and how good they are. */
#ifndef CLI_PROBA_H
#define CLI_PROBA_H

#include <medley/medley.h>
#include <stdio.h>

/* The key "calibration": an object, or null; nothing for a regression. */
void cli_json_calibration(const medley_model *model);

/* "calibrated probabilities: temperature 0.52, offsets -0.2 to 0.3"; false: there are none. */
bool cli_print_calibration(FILE *file, const medley_model *model);

/* "log_loss", "brier", "calibration_error"; nothing where they were not measured. */
void cli_json_probabilities(const medley_evaluation *evaluation);
void cli_print_probabilities(FILE *file, const medley_evaluation *evaluation);

#endif
