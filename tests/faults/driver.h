/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DRIVER_H
#define DRIVER_H

#include "faults.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_OUTPUTS = 4, MOST_WORDS = 64, MOST_VERSIONS = 400, MOST_FOREIGN = 8, NAME_BYTES = 512 };

extern const char *const kind_names[FAULT_KINDS];
extern const char *const mode_names[FAULT_MODES];

struct settings {
    const char *work, *preload, *cases, *build, *only_case;
    size_t jobs, sample; /* sample: most calls of a case and kind; 0: all */
    int only_kind, only_mode;
    size_t only_k;
};

struct bytes { /* of a file; data NULL: there is none */
    char *data;
    size_t size;
};

struct output { /* a file that a case writes */
    const char *name;
    uint64_t
        version[MOST_VERSIONS]; /* hashes of what it is without a fault, at one time or another */
    size_t versions;
};

struct fault_case {
    const char *name, *program;
    bool tells; /* a fault may be told of and the rest done */
    struct output output[MOST_OUTPUTS];
    size_t output_count;
    const char *word[MOST_WORDS + 1];
    size_t words;
    size_t count[FAULT_KINDS];                   /* calls of a run without a fault */
    struct bytes printed, written[MOST_OUTPUTS]; /* what it ends with */
    atomic_size_t *runs;                         /* [FAULT_KINDS], shared */
};

struct tally { /* shared by all jobs */
    atomic_size_t runs, findings;
    struct {
        atomic_size_t count;
        char name[64];
    } foreign[MOST_FOREIGN]; /* libraries that end the program */
};

/* Every how manieth call of a kind is tried. */
size_t faults_stride(const struct settings *settings, const struct fault_case *c, int kind);

/* A run without a fault: how many calls there are, and what comes out. */
void count_calls(const struct settings *settings, struct fault_case *c, struct tally *tally);

/* Faults at one of `shards` shares of the calls, in a folder of the job's own. */
void run_shard(const struct settings *settings, struct fault_case *c, size_t job, size_t shard,
               size_t shards, struct tally *tally);

/* ---- files.c ---- */

struct bytes read_bytes(const char *path);              /* data is NULL where there is no file */
void write_bytes(const char *path, struct bytes bytes); /* a new file, or none */
bool same_bytes(struct bytes a, struct bytes b);
uint64_t hash_bytes(struct bytes bytes);
void remove_folder(const char *path);

#endif
