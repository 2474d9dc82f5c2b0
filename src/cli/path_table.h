/* SPDX-License-Identifier: BSD-3-Clause */
/* A path of penalties as a table for people, as JSON and as CSV. */
#ifndef CLI_PATH_TABLE_H
#define CLI_PATH_TABLE_H

#include <medley/medley.h>
#include <stdio.h>

/* The point that does best on held-out data, of equal ones the strongest penalty; without such data
 * the last. There is one. */
size_t cli_path_best(const medley_path *path);

/* A line for each lambda, and below it which blocks come in first. best: marked, if there are
 * held-out data. */
void cli_print_path(FILE *file, const medley_path *path, size_t best);

/* Members of a JSON object: task, method, loss, penalty, measure, blocks, path. */
void cli_json_path(FILE *file, const medley_path *path);

/* False: it cannot be written. */
bool cli_csv_path(FILE *file, const medley_path *path);

#endif
