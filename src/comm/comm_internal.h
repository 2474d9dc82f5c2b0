/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of comm. */
#ifndef MD_COMM_INTERNAL_H
#define MD_COMM_INTERNAL_H

#include "comm/comm.h"

struct medley_comm {
    medley_comm_functions functions;
    medley_comm_counts counts;
    char **copies; /* [copy_count] files that medley_comm_file has written */
    size_t copy_count, copy_capacity;
    char *folder; /* that they are in; NULL: there are none */
};

/* Who a rank is, for messages: "rank 1 (on node7)". */
enum { MD_HOST_BYTES = 64 };
typedef struct md_rank_name {
    char text[MD_HOST_BYTES + 32];
} md_rank_name;
typedef struct md_host {
    char name[MD_HOST_BYTES];
} md_host;
md_host md_own_host(void);
md_rank_name md_name_rank(size_t rank, const md_host *host);

/* Removes the copies of files. */
void md_comm_remove_copies(medley_comm *comm);

/* A comm that fails cannot be used to tell the others. */
#define MD_COMM_BROKEN                                                                             \
    "the processes cannot reach each other any more; look for the message of the one that failed"

#endif
