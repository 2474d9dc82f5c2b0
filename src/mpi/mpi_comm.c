/* SPDX-License-Identifier: BSD-3-Clause */
/* The plug-in that speaks MPI (docs/guides/cluster.md): exchanges bytes for medley/comm.h, and
 * knows nothing else. One source for Open MPI and MPICH, compiled once for each. */
#include <limits.h>
#include <medley/comm.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LARGEST = 1 << 30 }; /* bytes of one message: MPI counts by int */

struct ranks {
    MPI_Comm comm;
    MPI_Comm meeting; /* of ranks that have failed, whatever the others are waiting for */
    int rank, size;
    int *count, *place, *from_count, *from_place; /* [size] */
    bool finalize;                                /* MPI was initialised here */
};

static void clear(struct ranks *ranks)
{
    free(ranks->count);
    free(ranks);
}

static int broadcast_from(struct ranks *ranks, int root, char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const size_t now = bytes - done < LARGEST ? bytes - done : LARGEST;
        if (MPI_Bcast(data + done, (int)now, MPI_BYTE, root, ranks->comm) != MPI_SUCCESS)
            return 1;
        done += now;
    }
    return 0;
}

static int broadcast(void *context, void *data, size_t bytes)
{
    return broadcast_from(context, 0, data, bytes);
}

static void fill(int *count, int *place, const size_t *offset, int size)
{
    for (int r = 0; r < size; r++) {
        count[r] = (int)(offset[r + 1] - offset[r]);
        place[r] = (int)(offset[r] - offset[0]);
    }
}

static int gather(void *context, void *data, const size_t *offset)
{
    struct ranks *ranks = context;
    char *bytes = data;
    if (offset[ranks->size] - offset[0] > INT_MAX) {
        int failed = 0;
        for (int r = 0; r < ranks->size && !failed; r++)
            failed = broadcast_from(ranks, r, bytes + offset[r], offset[r + 1] - offset[r]);
        return failed;
    }
    fill(ranks->count, ranks->place, offset, ranks->size);
    return MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, bytes + offset[0], ranks->count,
                          ranks->place, MPI_BYTE, ranks->comm) != MPI_SUCCESS;
}

static int exchange(void *context, const void *send, const size_t *send_offset, void *receive,
                    const size_t *receive_offset)
{
    struct ranks *ranks = context;
    const int size = ranks->size;
    if (send_offset[size] - send_offset[0] > INT_MAX ||
        receive_offset[size] - receive_offset[0] > INT_MAX)
        return 1; /* the library exchanges less at a time */
    fill(ranks->count, ranks->place, send_offset, size);
    fill(ranks->from_count, ranks->from_place, receive_offset, size);
    return MPI_Alltoallv((const char *)send + send_offset[0], ranks->count, ranks->place, MPI_BYTE,
                         (char *)receive + receive_offset[0], ranks->from_count, ranks->from_place,
                         MPI_BYTE, ranks->comm) != MPI_SUCCESS;
}

/* Waits without MPI_Wait, which would wait for ever. */
static int meet(void *context, double seconds)
{
    struct ranks *ranks = context;
    const struct timespec nap = {.tv_nsec = 10000000};
    const double until = MPI_Wtime() + seconds;
    MPI_Request request;
    int here = 0;
    if (MPI_Ibarrier(ranks->meeting, &request) != MPI_SUCCESS)
        return 1;
    while (MPI_Test(&request, &here, MPI_STATUS_IGNORE) == MPI_SUCCESS && !here) {
        if (MPI_Wtime() > until)
            return 1;
        nanosleep(&nap, NULL);
    }
    return !here;
}

static void end_all(void *context, int code)
{
    const struct ranks *ranks = context;
    MPI_Abort(ranks->comm, code);
}

static void close_ranks(void *context)
{
    struct ranks *ranks = context;
    int finalized = 1;
    MPI_Finalized(&finalized);
    if (!finalized) {
        MPI_Comm_free(&ranks->comm);
        MPI_Comm_free(&ranks->meeting);
    }
    if (!finalized && ranks->finalize)
        MPI_Finalize();
    clear(ranks);
}

/* Ranks on this machine. */
static size_t count_local(MPI_Comm comm)
{
    MPI_Comm local;
    int size = 0;
    if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local) != MPI_SUCCESS)
        return 0;
    MPI_Comm_size(local, &size);
    MPI_Comm_free(&local);
    return (size_t)size;
}

static int start(struct ranks *ranks, MPI_Comm of)
{
    if (MPI_Comm_dup(of, &ranks->comm) != MPI_SUCCESS ||
        MPI_Comm_dup(of, &ranks->meeting) != MPI_SUCCESS)
        return 1;
    MPI_Comm_set_errhandler(ranks->comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(ranks->meeting, MPI_ERRORS_RETURN);
    MPI_Comm_rank(ranks->comm, &ranks->rank);
    MPI_Comm_size(ranks->comm, &ranks->size);
    ranks->count = calloc(4 * (size_t)ranks->size, sizeof(int));
    if (ranks->count == NULL)
        return 1;
    ranks->place = ranks->count + ranks->size;
    ranks->from_count = ranks->place + ranks->size;
    ranks->from_place = ranks->from_count + ranks->size;
    return 0;
}

/* The entry that the library calls; version: the library's. */
__attribute__((visibility("default"))) int medley_mpi_open(medley_comm_functions *functions,
                                                           void *communicator, const char *version,
                                                           char *message, size_t size);
int medley_mpi_open(medley_comm_functions *functions, void *communicator, const char *version,
                    char *message, size_t size)
{
    int initialized = 0;
    int provided;
    if (strcmp(version, MEDLEY_VERSION) != 0) {
        snprintf(message, size, "it belongs to Medley %s and this is %s; install both anew",
                 MEDLEY_VERSION, version);
        return 1;
    }
    struct ranks *ranks = calloc(1, sizeof *ranks);
    if (ranks == NULL) {
        snprintf(message, size, "out of memory");
        return 1;
    }
    MPI_Initialized(&initialized);
    if (!initialized && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) == MPI_SUCCESS)
        initialized = ranks->finalize = true;
    if (!initialized ||
        start(ranks, communicator != NULL ? *(MPI_Comm *)communicator : MPI_COMM_WORLD) != 0) {
        snprintf(message, size, "MPI could not be initialised");
        clear(ranks);
        return 1;
    }
    functions->context = ranks;
    functions->rank = (size_t)ranks->rank;
    functions->size = (size_t)ranks->size;
    functions->local_size = count_local(ranks->comm);
    functions->broadcast = broadcast;
    functions->gather = gather;
    functions->exchange = exchange;
    functions->meet = meet;
    functions->end_all = end_all;
    functions->close = close_ranks;
    return 0;
}
