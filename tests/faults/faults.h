/* SPDX-License-Identifier: BSD-3-Clause */
/* What the driver (driver.c) and the library that it loads into a program (preload.c) tell each
 * other: a page of shared memory and two pipes. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stddef.h>
#include <stdint.h>

#define FAULTS_VARIABLE "MEDLEY_FAULTS" /* the file of the shared page */

enum { FAULTS_TELL = 198, FAULTS_HEAR = 199 }; /* descriptors: to the driver, from it */

/* X(kind, name, what fails) */
#define FAULTS_KINDS(X)                                                                            \
    X(FAULT_ALLOCATION, "allocation", 0)                                                           \
    X(FAULT_OPEN, "open", EMFILE) /* and dup */                                                    \
    X(FAULT_READ, "read", EIO)                                                                     \
    X(FAULT_WRITE, "write", ENOSPC)                                                                \
    X(FAULT_FSYNC, "fsync", EIO)                                                                   \
    X(FAULT_RENAME, "rename", EIO)                                                                 \
    X(FAULT_CLOSE, "close", EIO)                                                                   \
    X(FAULT_UNLINK, "unlink", EIO)                                                                 \
    X(FAULT_TRUNCATE, "ftruncate", EIO)                                                            \
    X(FAULT_LOCK, "flock", ENOLCK)                                                                 \
    X(FAULT_MMAP, "mmap", ENOMEM)

enum faults_kind {
#define X(kind, name, error) kind,
    FAULTS_KINDS(X)
#undef X
        FAULT_KINDS
};

/* Only this call fails; it and all later ones of its kind do; it transfers half of the bytes; the
 * process is killed instead. */
enum faults_mode { FAULT_ONCE, FAULT_FOREVER, FAULT_SHORT, FAULT_KILL, FAULT_MODES };

enum { FAULTS_FRAMES = 24, FAULTS_MODULES = 64, FAULTS_NAME = 256 };

struct faults_module { /* something that is loaded: where, and what */
    uintptr_t base, end;
    char name[FAULTS_NAME];
};

struct faults_page {
    /* what the driver wants */
    int counting;  /* no fault: only look at the calls */
    size_t shard;  /* calls number k of a kind that are a multiple of its stride, */
    size_t shards; /* shared out among that many runs */
    size_t stride[FAULT_KINDS];
    size_t offset[FAULT_KINDS];
    int only_kind, only_mode; /* -1: all */
    size_t only_k;            /* 0: all */

    /* what it is told */
    size_t count[FAULT_KINDS]; /* calls so far */
    int kind, mode;            /* of the fault that was tried */
    size_t k;
    int status;       /* how the process ended, as of wait */
    char files[4096]; /* what the calls that failed were about, one a line */
    size_t frames;
    uintptr_t frame[FAULTS_FRAMES];
    size_t modules;
    struct faults_module module[FAULTS_MODULES];
};

#endif
