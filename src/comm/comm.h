/* SPDX-License-Identifier: BSD-3-Clause */
/* Several processes, called ranks, that learn one model together. Every rank runs the same program
 * on the same data and takes the same decisions, since what decisions depend on is the same bits
 * everywhere; hot loops are divided among the ranks and what they found is exchanged. Nothing else
 * is needed for all of them to have the same model in the end, and to have the one that a single
 * process would have: as long as an item's result does not depend on who computes it, as with
 * threads (base/parallel.h), and sums are added in an order that does not depend on the ranks.
 *
 * So whoever divides work keeps to this:
 * - collective functions are called by all ranks, equally often, in the same order, with the same
 *   sizes, and by one thread at a time;
 * - what differs between processes (the time, free memory, an interruption, an allocation that may
 *   fail without harm) has no say in what is computed, or the ranks agree on it first
 *   (md_comm_least, md_comm_any);
 * - observers are told equally often by all ranks, since their answers are agreed on.
 *
 * A rank that fails alone ends all of them (medley_comm_settle, in the front end). comm NULL: the
 * process is alone, and all functions do what is right then. */
#ifndef MD_COMM_H
#define MD_COMM_H

#include "base/base.h"
#include "medley/comm.h"

/* Items first .. end - 1. */
typedef struct md_span {
    size_t first, end;
} md_span;

/* The items of `count` that rank r of `size` takes, as even as can be; `unit` of them stay
 * together. Ranks have theirs in order. */
md_span md_share_of(size_t count, size_t unit, size_t rank, size_t size);
/* The share of this rank. */
md_span md_comm_share(const medley_comm *comm, size_t count, size_t unit);

/* ---- collective functions ---- */

/* The bytes of rank 0 become those of all. */
medley_status md_comm_broadcast(medley_comm *comm, void *data, size_t bytes, medley_error *error);

/* data[count] of `bytes` each, of which every rank has filled its share (md_comm_share with this
 * unit): all ranks have all of them. */
medley_status md_comm_gather(medley_comm *comm, void *data, size_t count, size_t unit, size_t bytes,
                             medley_error *error);

/* The same for shares of any size: rank r has filled items offset[r] .. offset[r + 1] - 1;
 * offset[size + 1] is the same on all ranks. */
medley_status md_comm_gather_spans(medley_comm *comm, void *data, const size_t *offset,
                                   size_t bytes, medley_error *error);

/* matrix[rows][stride] floats, of which every rank has filled its share of the first `columns`
 * columns. */
medley_status md_comm_gather_columns(medley_comm *comm, float *matrix, size_t rows, size_t stride,
                                     size_t columns, size_t unit, medley_error *error);

/* What each rank has to say, of any length: *all has the bytes of all ranks one after the other,
 * offset[size + 1] where each begins. *all, of *capacity bytes, grows as need be and belongs to the
 * caller, who may use it again. */
medley_status md_comm_gather_any(medley_comm *comm, const void *own, size_t bytes, char **all,
                                 size_t *capacity, size_t *offset, medley_error *error);

/* values[count] become their sums over the ranks, added in the order of ranks in double precision:
 * the same bits on all of them. */
medley_status md_comm_sum(medley_comm *comm, double *values, size_t count, medley_error *error);

/* The least value of any rank; whether any rank has true. A process alone has its own. */
medley_status md_comm_least(medley_comm *comm, double *value, medley_error *error);
medley_status md_comm_any(medley_comm *comm, bool *value, medley_error *error);

/* Fails on all ranks if they do not have the same bytes here; what: "objectives", for the message.
 * It costs little, and tells at once what would otherwise end in waiting for ever. */
medley_status md_comm_check_same(medley_comm *comm, const void *data, size_t bytes,
                                 const char *what, medley_error *error);

/* Whoever divides work tells what this rank has done of it, in kernel values, or scores of parts by
 * templates, computed or looked at: docs/scale.md says how much it should be, and bench/scale.py
 * compares. From one thread at a time. */
void md_comm_note_work(medley_comm *comm, double values);

/* Processors for the threads of this rank: those that it was bound to, or else its share of all. */
size_t md_comm_processors(const medley_comm *comm);

/* Ranks on this machine, 1 or more. */
size_t md_comm_local_size(const medley_comm *comm);

#endif
