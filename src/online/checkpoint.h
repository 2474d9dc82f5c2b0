/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints: the whole state of a training run in a file, exact to the last bit, so that a run
 * that was killed goes on and ends in the same model. A checkpoint belongs to a run: to its data
 * and to every option that has a say in the result. */
#ifndef MD_CHECKPOINT_H
#define MD_CHECKPOINT_H

#include "setup/setup.h"

/* Shows every piece of the state to a visitor, always in the same order. A size may depend on
 * pieces that were shown before it. */
typedef void (*md_state_walk)(void *state, md_state_visitor visit, void *context);

/* What tells one run from another: data and options, but not threads and memory, and the number of
 * epochs only as far as it has a say in each. */
uint64_t md_checkpoint_key(const md_problem *problem);

/* The file is replaced whole or not at all. */
medley_status md_checkpoint_save(const char *path, uint64_t key, md_state_walk walk, void *state,
                                 medley_error *error);

/* Fills the state. *found false: there is no such file. A file of another run, or a damaged one,
 * is an error. */
medley_status md_checkpoint_load(const char *path, uint64_t key, md_state_walk walk, void *state,
                                 bool *found, medley_error *error);

#endif
