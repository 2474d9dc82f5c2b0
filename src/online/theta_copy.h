/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of what the blocks of a run hold: the best epoch's, or what a trial is not to spoil. */
#ifndef MD_THETA_COPY_H
#define MD_THETA_COPY_H

#include "setup/setup.h"

typedef struct md_theta_copy {
    float **body; /* [count] one for each block; NULL: nothing was copied yet */
    size_t count;
} md_theta_copy;

/* What scores, both scales applied; an older copy of the same blocks is overwritten. To be cleared
 * whatever comes back. */
medley_status md_theta_copy_take(md_theta_copy *copy, const md_run_blocks *run,
                                 medley_error *error);
void md_theta_copy_clear(md_theta_copy *copy);

/* The blocks hold the copy again, with dual scales of 1: their scores are computed afresh. */
medley_status md_theta_copy_restore(const md_theta_copy *copy, const md_run_blocks *run,
                                    md_deferred *deferred, medley_error *error);

#endif
