/* SPDX-License-Identifier: BSD-3-Clause */
/* Better to know before an hour of work than after it: can a file be written there? */
#ifndef CLI_WRITABLE_H
#define CLI_WRITABLE_H

#include <medley/medley.h>

/* what: "the model", for the message. */
bool cli_can_write(const char *path, const char *what, medley_error *error);

/* For files that are not replaced by a new one: what is there must allow it too. */
bool cli_can_write_in_place(const char *path, const char *what, medley_error *error);

/* Do both name one file, be it there or not? Devices may be named twice. */
bool cli_same_file(const char *a, const char *b);

#endif
