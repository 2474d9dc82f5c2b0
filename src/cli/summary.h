/* SPDX-License-Identifier: BSD-3-Clause */
/* What several commands tell of a run, beyond its settings and blocks (cli.h): the model, how it
 * was calibrated, and how good its predictions are. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include <medley/medley.h>
#include <stdio.h>

/* The key "epochs"; what a method does not measure is left out. */
void cli_json_epochs(const medley_summary *summary);

/* objective, dual, gap, iterations; of models with a bias also bias, newton_steps, passes. */
void cli_json_result(const medley_summary *summary);

/* A line for models that come with a certificate, nothing for others. */
void cli_print_certificate(FILE *file, const medley_summary *summary);

/* What was learnt: task ... spicy_C, eta0, examples, blocks, the result, calibration, epochs. */
void cli_json_model(const medley_model *model);

/* The same as text: settings, examples, certificate, the blocks with the largest weights. */
void cli_print_model(FILE *file, const medley_model *model);

/* Where it was written and how large it is. */
void cli_print_saved(FILE *file, const medley_summary *summary, const char *path, size_t bytes,
                     bool interrupted);

/* The key "calibration": an object, or null; nothing for a regression. */
void cli_json_calibration(const medley_model *model);

/* "calibrated probabilities: temperature 0.52, offsets -0.2 to 0.3"; false: there are none. */
bool cli_print_calibration(FILE *file, const medley_model *model);

/* "log_loss", "brier", "calibration_error"; nothing where they were not measured. */
void cli_json_probabilities(const medley_evaluation *evaluation);
void cli_print_probabilities(FILE *file, const medley_evaluation *evaluation);

/* "rmse 0.2134, R2 0.9312". */
void cli_print_fit(FILE *file, const medley_evaluation *evaluation);

#endif
