/* SPDX-License-Identifier: BSD-3-Clause */
/* A path of penalties (path_table.c) and a cross-validation (tune_table.c) as tables: text, JSON,
 * CSV. */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include <medley/medley.h>
#include <stdio.h>

enum { CLI_MEASURE_BYTES = 32 };

/* A mean, deviation or score for people: shares, which are better high, in percent; errors, which
 * have no upper end, as they are. */
const char *cli_measure(char text[CLI_MEASURE_BYTES], bool higher_is_better, double value);

/* The point that does best on held-out data, of equal ones the strongest penalty; without such data
 * the last. There is one. */
size_t cli_path_best(const medley_path *path);

/* A line for each lambda, and below it which blocks come in first. best: marked, if there are
 * held-out data. */
void cli_print_path(FILE *file, const medley_path *path, size_t best);

/* Members of a JSON object: task, method, loss, penalty, measure, blocks, path. */
void cli_json_path(FILE *file, const medley_path *path);
void cli_csv_path(FILE *file, const void *path);

void cli_print_tuning(FILE *file, const medley_tuning *tuning);
/* "C 10, penalty mkl". */
void cli_print_trial(FILE *file, const medley_tuning *tuning, size_t trial);
/* The keys measure ... one_error of an object. */
void cli_json_tuning(const medley_tuning *tuning);
void cli_csv_tuning(FILE *file, const void *tuning); /* one line a trial */

#endif
