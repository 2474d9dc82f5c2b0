/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands write: not onto what they read, not between their own results, and whole or not at
 * all. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "cli.h"

/* "-" or one of the names that systems have for it. */
bool cli_is_standard_output(const char *path);

/* Is what an option writes (path is its value, or the default) none of the files that the command
 * reads or writes otherwise? */
medley_status cli_check_output(const cli_arguments *arguments, const char *option, const char *path,
                               medley_error *error);

/* The same of --model, --output and --report, as far as they are given. --report must not go to
 * standard output, where the results go. */
medley_status cli_check_outputs(const cli_arguments *arguments, medley_error *error);

/* And can they be written? It is better to know before an hour of work than after it. */
medley_status cli_check_writable(const cli_arguments *arguments, medley_error *error);

/* Prints to standard output (path NULL or "-") or into a file. */
typedef void (*cli_printer)(FILE *file, const void *context);
medley_status cli_write_text(const char *path, cli_printer print, const void *context,
                             medley_error *error);

enum { CLI_NAME_BYTES = 256 };

/* What reports call a file: its name without folder and ending .medley; a very long one is cut
 * between two characters. */
const char *cli_report_name(char name[CLI_NAME_BYTES], const char *path);

#endif
