/* SPDX-License-Identifier: BSD-3-Clause */
/* Mixing (McDonald, Hall, Mann, NAACL 2010): each rank learns from its share of the examples of an
 * epoch, and all go on from the mean of their weights. One exchange an epoch, whatever the number
 * of rounds; but an epoch then moves the weights as far as a part of it does in one process.
 *
 * Bytes of an epoch: 8 for each weight, and for each term of an average, from every rank. */
#include "online/rule.h"

/* What the ranks have counted, each for its share. */
static medley_status add_counts(md_online *online, const md_epoch_start *start, medley_error *error)
{
    double counts[] = {online->loss_sum, (double)(online->updates - start->updates),
                       (double)(online->left_out - start->left_out)};
    MEDLEY_TRY(md_comm_sum(online->settings.comm, counts, sizeof counts / sizeof *counts, error));
    online->loss_sum = counts[0];
    online->updates = start->updates + (size_t)counts[1];
    online->left_out = start->left_out + (size_t)counts[2];
    return MEDLEY_OK;
}

/* Each example of an epoch belongs to one rank. */
static medley_status share_stepped(md_online *online, size_t visited, medley_error *error)
{
    MD_OWNED(free) bool *stepped = NULL;
    MEDLEY_TRY(md_new(&stepped, visited, sizeof *stepped, error));
    for (size_t i = 0; i < visited; i++)
        stepped[i] = online->stepped[online->order[i]];
    MEDLEY_TRY(md_comm_gather(online->settings.comm, stepped, visited, online->settings.batch,
                              sizeof *stepped, error));
    for (size_t i = 0; i < visited; i++)
        online->stepped[online->order[i]] = stepped[i];
    return MEDLEY_OK;
}

medley_status md_online_mix(md_online *online, const md_epoch_start *start, size_t visited,
                            medley_error *error)
{
    medley_comm *comm = online->settings.comm;
    bool failed = online->failure != NULL;
    MEDLEY_TRY(md_comm_any(comm, &failed, error));
    MEDLEY_TRY(md_comm_any(comm, &online->diverged, error));
    if (failed && online->failure == NULL)
        online->failure = "it failed on another rank";
    if (failed || online->diverged)
        return MEDLEY_OK;
    MEDLEY_TRY(add_counts(online, start, error));
    MEDLEY_TRY(share_stepped(online, visited, error));
    online->round = start->round + visited;
    for (size_t m = 0; m < online->problem.block_count; m++) {
        md_block *block = online->problem.blocks[m];
        MEDLEY_TRY(block->class->mix(block, comm, error));
    }
    return MEDLEY_OK;
}
