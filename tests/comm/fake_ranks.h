/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that are threads of one process, for tests: they show each other their memory. */
#ifndef FAKE_RANKS_H
#define FAKE_RANKS_H

#include <medley/comm.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FAKE_RANKS = 16 };

struct fake_group {
    size_t size;
    pthread_barrier_t barrier;
    struct fake_rank {
        struct fake_group *group;
        size_t rank;
        const void *shown; /* to the others, between two barriers */
        const size_t *shown_offset;
        medley_status (*body)(medley_comm *comm, size_t rank, void *context, medley_error *error);
        void *context;
        medley_status status;
        medley_error error;
    } ranks[MOST_FAKE_RANKS];
};

static void fake_wait(struct fake_rank *own)
{
    pthread_barrier_wait(&own->group->barrier);
}

static int fake_broadcast(void *context, void *data, size_t bytes)
{
    struct fake_rank *own = context;
    own->shown = data;
    fake_wait(own);
    if (own->rank > 0)
        memcpy(data, own->group->ranks[0].shown, bytes);
    fake_wait(own);
    return 0;
}

static int fake_gather(void *context, void *data, const size_t *offset)
{
    struct fake_rank *own = context;
    own->shown = data;
    fake_wait(own);
    for (size_t r = 0; r < own->group->size; r++)
        if (r != own->rank && offset[r + 1] > offset[r])
            memcpy((char *)data + offset[r], (const char *)own->group->ranks[r].shown + offset[r],
                   offset[r + 1] - offset[r]);
    fake_wait(own);
    return 0;
}

static int fake_exchange(void *context, const void *send, const size_t *send_offset, void *receive,
                         const size_t *receive_offset)
{
    struct fake_rank *own = context;
    own->shown = send;
    own->shown_offset = send_offset;
    fake_wait(own);
    for (size_t r = 0; r < own->group->size; r++) {
        const struct fake_rank *from = &own->group->ranks[r];
        const size_t first = from->shown_offset[own->rank];
        memcpy((char *)receive + receive_offset[r], (const char *)from->shown + first,
               from->shown_offset[own->rank + 1] - first);
    }
    fake_wait(own);
    return 0;
}

static int fake_meet(void *context, double seconds)
{
    (void)seconds;
    fake_wait(context);
    return 0;
}

static void *fake_main(void *context)
{
    struct fake_rank *own = context;
    medley_comm *comm = NULL;
    medley_comm_functions functions = MEDLEY_COMM_FUNCTIONS_INIT;
    functions.context = own;
    functions.rank = own->rank;
    functions.size = own->group->size;
    functions.broadcast = fake_broadcast;
    functions.gather = fake_gather;
    functions.exchange = fake_exchange;
    functions.meet = fake_meet;
    own->status = medley_comm_create(&comm, &functions, &own->error);
    if (own->status == MEDLEY_OK)
        own->status = own->body(comm, own->rank, own->context, &own->error);
    medley_comm_free(comm);
    return NULL;
}

/* Calls body in `size` ranks; the statuses and errors are in group->ranks afterwards. */
static void run_fake_ranks(struct fake_group *group, size_t size,
                           medley_status (*body)(medley_comm *comm, size_t rank, void *context,
                                                 medley_error *error),
                           void *context)
{
    pthread_t threads[MOST_FAKE_RANKS];
    *group = (struct fake_group){.size = size};
    pthread_barrier_init(&group->barrier, NULL, (unsigned)size);
    for (size_t r = 0; r < size; r++) {
        group->ranks[r] =
            (struct fake_rank){.group = group, .rank = r, .body = body, .context = context};
        pthread_create(&threads[r], NULL, fake_main, &group->ranks[r]);
    }
    for (size_t r = 0; r < size; r++)
        pthread_join(threads[r], NULL);
    pthread_barrier_destroy(&group->barrier);
}

#endif
