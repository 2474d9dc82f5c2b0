/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of what the blocks of a run hold: the best epoch's, or what a trial is not to spoil. */
#ifndef MD_THETA_COPY_H
#define MD_THETA_COPY_H

#include "setup/setup.h"

/* What scores, both scales applied, into *copy[block_count], which may hold an older copy. */
medley_status md_theta_copy(float ***copy, const md_trained *trained, medley_error *error);

/* The blocks hold the copy again, with dual scales of 1: their scores are computed afresh. */
medley_status md_theta_restore(md_trained *trained, float **copy, md_deferred *deferred,
                               medley_error *error);

void md_theta_free(float **copy, size_t block_count);

#endif
