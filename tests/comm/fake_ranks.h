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
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t change;
    size_t here, turn; /* ranks that wait; barriers that were passed */
    size_t gone;       /* ranks that have ended */
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

/* All ranks come here; 1: one has ended instead, and no one may wait for it. */
static int fake_wait(struct fake_rank *own)
{
    struct fake_group *group = own->group;
    pthread_mutex_lock(&group->lock);
    const size_t turn = group->turn;
    if (++group->here == group->size) {
        group->here = 0;
        group->turn++;
        pthread_cond_broadcast(&group->change);
    }
    while (group->turn == turn && group->gone == 0)
        pthread_cond_wait(&group->change, &group->lock);
    const int failed = group->turn == turn;
    pthread_mutex_unlock(&group->lock);
    return failed;
}

static void fake_leave(struct fake_rank *own)
{
    struct fake_group *group = own->group;
    pthread_mutex_lock(&group->lock);
    group->gone++;
    pthread_cond_broadcast(&group->change);
    pthread_mutex_unlock(&group->lock);
}

static int fake_broadcast(void *context, void *data, size_t bytes)
{
    struct fake_rank *own = context;
    own->shown = data;
    if (fake_wait(own) != 0)
        return 1;
    if (own->rank > 0)
        memcpy(data, own->group->ranks[0].shown, bytes);
    return fake_wait(own);
}

static int fake_gather(void *context, void *data, const size_t *offset)
{
    struct fake_rank *own = context;
    own->shown = data;
    if (fake_wait(own) != 0)
        return 1;
    for (size_t r = 0; r < own->group->size; r++)
        if (r != own->rank && offset[r + 1] > offset[r])
            memcpy((char *)data + offset[r], (const char *)own->group->ranks[r].shown + offset[r],
                   offset[r + 1] - offset[r]);
    return fake_wait(own);
}

static int fake_exchange(void *context, const void *send, const size_t *send_offset, void *receive,
                         const size_t *receive_offset)
{
    struct fake_rank *own = context;
    own->shown = send;
    own->shown_offset = send_offset;
    if (fake_wait(own) != 0)
        return 1;
    for (size_t r = 0; r < own->group->size; r++) {
        const struct fake_rank *from = &own->group->ranks[r];
        const size_t first = from->shown_offset[own->rank];
        memcpy((char *)receive + receive_offset[r], (const char *)from->shown + first,
               from->shown_offset[own->rank + 1] - first);
    }
    return fake_wait(own);
}

static int fake_meet(void *context, double seconds)
{
    (void)seconds;
    return fake_wait(context);
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
    fake_leave(own);
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
    pthread_mutex_init(&group->lock, NULL);
    pthread_cond_init(&group->change, NULL);
    for (size_t r = 0; r < size; r++) {
        group->ranks[r] =
            (struct fake_rank){.group = group, .rank = r, .body = body, .context = context};
        pthread_create(&threads[r], NULL, fake_main, &group->ranks[r]);
    }
    for (size_t r = 0; r < size; r++)
        pthread_join(threads[r], NULL);
    pthread_cond_destroy(&group->change);
    pthread_mutex_destroy(&group->lock);
}

#endif
