/* SPDX-License-Identifier: BSD-3-Clause */
/* Where reports may go: not onto what the command reads, and not between its own words. */
#ifndef CLI_REPORT_OUTPUT_H
#define CLI_REPORT_OUTPUT_H

#include "cli.h"

/* "-" or one of the names that systems have for it. */
bool cli_is_standard_output(const char *path);

/* Is what an option writes (path is its value, or what it stands for) none of the files that the
 * command reads or writes otherwise? If not, says so. */
bool cli_check_output(const cli_arguments *arguments, const char *option, const char *path);

/* The same for --report, which must not go where the results go either; path may be NULL. */
bool cli_check_report(const cli_arguments *arguments, const char *path);

/* Both, for commands that write --model, --output and --report. */
bool cli_check_outputs(const cli_arguments *arguments);

/* Can these be written? in_place: --output is, not through a new file that takes its name. */
bool cli_can_write_all(const cli_arguments *arguments, bool in_place, medley_error *error);

#endif
