/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a file so that it is there whole or not at all: bytes go to a temporary name beside the
 * target, which is renamed at the end. "-" is standard output. */
#ifndef MD_OUTPUT_H
#define MD_OUTPUT_H

#include "base/text.h"

typedef struct md_output {
    FILE *file;
    char *path, *temporary; /* both NULL for standard output */
    void *compressed;       /* a gzFile where the name ends in .gz */
    bool has_text;          /* something was written by md_output_text */
} md_output;

medley_status md_output_open(md_output *output, const char *path, medley_error *error);
medley_status md_output_write(md_output *output, const void *bytes, size_t count,
                              medley_error *error);

/* Writes and empties text; waits until a large piece has gathered unless this is the last. A text
 * that begins with U+FEFF gets another one in front: readers take the first for a byte order mark.
 */
medley_status md_output_text(md_output *output, md_text *text, bool is_last, medley_error *error);

/* Flushes, checks that everything reached the disk, and gives the file its name. */
medley_status md_output_commit(md_output *output, medley_error *error);

/* Drops an output that was not committed and leaves no trace. Harmless after commit. */
void md_output_abandon(md_output *output);

#endif
