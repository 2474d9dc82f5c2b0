/* SPDX-License-Identifier: BSD-3-Clause */
/* A cross-validation as a table: text, JSON, CSV. */
#ifndef CLI_TUNE_TABLE_H
#define CLI_TUNE_TABLE_H

#include <medley/medley.h>
#include <stdio.h>

void cli_print_tuning(FILE *file, const medley_tuning *tuning);
/* "C 10, penalty mkl". */
void cli_print_trial(FILE *file, const medley_tuning *tuning, size_t trial);
/* A mean or deviation as people want it: shares in percent. */
void cli_print_measure(FILE *file, const medley_tuning *tuning, double value);

/* The keys measure ... one_error of an object. */
void cli_json_tuning(const medley_tuning *tuning);

/* One line a trial; false: it could not be written. */
bool cli_csv_tuning(FILE *file, const medley_tuning *tuning);

#endif
