/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run has met, for a lower bound of its objective (docs/math.md): the average over epochs of
 * each example's gradient, in the parts of that example, and of what its losses are beside the
 * products of gradients and scores. Every epoch has each example once, and gradients are expected
 * parts less those of the right output, so averages belong to distributions over outputs, whatever
 * the weights of the epochs.
 *
 * Memory: a float for each part that belongs to an example alone. */
#ifndef MD_GATHER_H
#define MD_GATHER_H

#include "online/online.h"

typedef struct md_gather {
    md_pool pool; /* of the arrays */
    md_space space;
    size_t *start; /* [example_count + 1] where the parts of an example begin in sum */
    float *sum;    /* [size] of the gradients, times the weights of their epochs */
    size_t size;
    bool is_shared[MD_PART_KINDS]; /* by all examples */
    size_t shared_start[MD_PART_KINDS];
    double *shared; /* [shared_size] the same of the parts that all examples share */
    size_t shared_size;
    bool by_marginals; /* gradients are smooth */
    size_t epochs;
    double weight;           /* of this epoch */
    double total;            /* of the weights of all epochs */
    double offset, rounding; /* sums over examples and epochs (md_loss_offset) */

    /* of the items of a round: */
    float *score; /* [batch][parts] before a loss has changed them */
    size_t parts;
    double *item_offset, *item_rounding; /* [batch] */
} md_gather;

/* To be cleared whatever comes back. */
medley_status md_gather_init(md_gather *gather, const md_online_problem *problem, size_t batch,
                             size_t longest, medley_error *error);
void md_gather_clear(md_gather *gather);

/* Forgets what it has; the next gradients are those of one epoch of weight 1. restart: and the
 * number of epochs. */
void md_gather_forget(md_gather *gather);
void md_gather_restart(md_gather *gather);

void md_gather_begin_epoch(md_gather *gather);

/* The gradient of an example of this epoch, nothing of it left out. */
void md_gather_add(md_gather *gather, size_t example, size_t length, const md_delta *delta);
void md_gather_add_offset(md_gather *gather, size_t item);

/* The sum of an example's gradients over all epochs, grouped by rows; with_shared: and the sum over
 * all examples of the parts that they share. */
void md_gather_fill(const md_gather *gather, size_t example, size_t length, bool with_shared,
                    md_inference *inference);

/* Are there any but those that are shared? */
bool md_gather_has(const md_gather *gather, size_t example);

void md_gather_visit_state(md_gather *gather, md_state_visitor visit, void *context);

#endif
