/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Several processes that work together, on one machine or on many: the ranks of an MPI job, or
 * whatever else can exchange bytes.
 *
 * Every rank makes the same calls with the same data and the same options. The work is divided
 * among them, and each gets the whole result: the model is the same on all of them. A call that is
 * given a comm returns when all ranks have made it; there is one such call at a time in a process.
 *
 * docs/guides/cluster.md is the guide, docs/scale.md tells what is divided and what it costs.
 */
#ifndef MEDLEY_COMM_H
#define MEDLEY_COMM_H

#include "medley/error.h"
#include "medley/options.h"
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The ranks that work together. Wherever one can be given, NULL means that the process is alone.
 */
typedef struct medley_comm medley_comm;

/**
 * How bytes are exchanged: for programs that have a way of their own. Start with
 * MEDLEY_COMM_FUNCTIONS_INIT. All ranks call the same functions in the same order. Those that
 * return an int return 0, or another number for a failure.
 */
typedef struct medley_comm_functions {
    size_t struct_size;
    void *context; /**< handed to every function */
    size_t rank, size;
    size_t local_size; /**< ranks on this machine, which share its processors and memory; 0: all */

    /** The bytes of rank 0 become those of all. */
    int (*broadcast)(void *context, void *data, size_t bytes);
    /** Bytes offset[r] .. offset[r + 1] - 1 of rank r become those of all; offset has size + 1
     *  entries and is the same on all ranks. */
    int (*gather)(void *context, void *data, const size_t *offset);
    /** Bytes send_offset[r] .. send_offset[r + 1] - 1 of `send` go to rank r; what comes from rank
     *  r is written at receive_offset[r] of `receive`. */
    int (*exchange)(void *context, const void *send, const size_t *send_offset, void *receive,
                    const size_t *receive_offset);
    /** Do all ranks call this within so many seconds? 0: yes. NULL: ranks never fail alone. */
    int (*meet)(void *context, double seconds);
    /** Ends all ranks, with this exit code where that is possible. NULL: it cannot be done. */
    void (*end_all)(void *context, int code);
    /** Called by medley_comm_free; may be NULL. */
    void (*close)(void *context);
} medley_comm_functions;

/** No functions yet; one rank. */
#define MEDLEY_COMM_FUNCTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(medley_comm_functions), NULL, 0, 1, 0, NULL, NULL, NULL, NULL, NULL, NULL           \
    }

/** Makes a comm of functions, which are copied; the context is borrowed. Collective: all ranks must
 *  run the same version on processors that compute the same, or the call fails on all of them. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_comm_create(medley_comm **comm,
                                                           const medley_comm_functions *functions,
                                                           medley_error *error);

/**
 * The ranks of an MPI communicator, by the plug-in libmedley-mpi.so, which is looked for in
 * the folder MEDLEY_PLUGINS of the environment, beside the library and where it was installed.
 *
 * @param communicator the address of an MPI_Comm, which is duplicated, after MPI_Init; NULL: all
 * processes that mpirun (or mpiexec, srun) has started, and MPI is initialised if need be. Then
 * *comm is NULL, and the call succeeds, if the process was not started that way, or by itself.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_comm_open(medley_comm **comm, void *communicator,
                                                         medley_error *error);

/** Frees a comm, collectively; NULL is allowed. */
MEDLEY_API void medley_comm_free(medley_comm *comm);

/** The number of this process, from 0. */
MEDLEY_API size_t medley_comm_rank(const medley_comm *comm);
/** How many there are. */
MEDLEY_API size_t medley_comm_size(const medley_comm *comm);

/** What a comm has done so far. Start with MEDLEY_COMM_COUNTS_INIT. */
typedef struct medley_comm_counts {
    size_t struct_size;
    size_t calls;        /**< collective ones */
    double bytes_sent;   /**< that this rank had to send at least: each byte once to each rank that
                              needs it is counted once for each */
    double bytes_gotten; /**< by this rank */
    double seconds;      /**< in these calls, waiting for others included */
    double work;         /**< divided work that this rank has done: kernel values, or scores of
                              parts by templates, that it has computed or looked at */
} medley_comm_counts;

/** Nothing counted. */
#define MEDLEY_COMM_COUNTS_INIT                                                                    \
    {                                                                                              \
        sizeof(medley_comm_counts), 0, 0, 0, 0, 0                                                  \
    }

/** Tells what a comm has done so far. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_comm_count(medley_comm_counts *counts,
                                                          const medley_comm *comm,
                                                          medley_error *error);

/** Learning with these options is divided among the ranks of comm, which is borrowed and must
 *  outlive the options; NULL: it is not. */
MEDLEY_API void medley_options_set_comm(medley_options *options, medley_comm *comm);

/**
 * All ranks say how their work has ended. If all of them come here, as they do after a success or
 * where options or data are wrong, it is true, and *teller is the first rank that has failed, which
 * should tell its error (the number of ranks: none has). A rank that fails while others go on (its
 * memory is full, say) gets false after a few seconds: it cannot go on, and neither can those that
 * wait for it. It should tell its error and call medley_comm_end.
 */
MEDLEY_API bool medley_comm_settle(size_t *teller, medley_comm *comm, medley_status status);

/** The bytes of rank 0 become those of all. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_comm_broadcast(medley_comm *comm, void *data,
                                                              size_t bytes, medley_error *error);

/** Ends all ranks, with this exit code where that is possible. */
MEDLEY_API void medley_comm_end(medley_comm *comm, int code);

/**
 * A file of rank 0, for all ranks: where this rank finds its own copy. That is path itself if the
 * rank sees the same bytes there; if it sees no such file, a copy in a temporary folder, which
 * medley_comm_free removes; `-` is the standard input of rank 0. Fails on all ranks if one of them
 * sees another file.
 *
 * @param found at most size bytes
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_comm_file(char *found, size_t size,
                                                         medley_comm *comm, const char *path,
                                                         medley_error *error);

#ifdef __cplusplus
}
#endif
#endif
