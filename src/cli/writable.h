/* SPDX-License-Identifier: BSD-3-Clause */
/* Better to know before an hour of work than after it: can a file be written there? */
#ifndef CLI_WRITABLE_H
#define CLI_WRITABLE_H

#include <medley/medley.h>

/* what: "the model", for the message. */
bool cli_can_write(const char *path, const char *what, medley_error *error);

#endif
