/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of a program and what its job knows of it. */
#ifndef SESSION_H
#define SESSION_H

#include "driver.h"

enum { SANITIZED = 86 }; /* exit code after a word of a sanitizer */

struct session {
    const struct settings *settings;
    struct fault_case *c;
    struct tally *tally;
    char root[NAME_BYTES], box[NAME_BYTES]; /* of the job; where the program runs */
    struct faults_page *page;
    pid_t program;
    int hear, tell;
    struct bytes before[MOST_OUTPUTS]; /* what files were when the program forked */
    struct stat seen[MOST_OUTPUTS];    /* and which */
    off_t printed, said;               /* how much was printed to standard output and error then */
};

/* The path of a file in the folder of the program, or in that of the job. */
const char *in_box(char name[2 * NAME_BYTES], const struct session *s, const char *file);
const char *in_root(char name[2 * NAME_BYTES], const struct session *s, const char *file);

/* ---- check.c ---- */

/* Looks at what the child has left, tells of what is wrong, and puts the files back. */
void check_child(struct session *s);
bool is_version(const struct output *output, struct bytes bytes);
bool is_unchanged(const struct session *s, size_t output);
void show_text(FILE *file, const char *text);

#endif
