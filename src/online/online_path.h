/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of penalties by the online loop. */
#ifndef MD_ONLINE_PATH_H
#define MD_ONLINE_PATH_H

#include "online/run.h"
#include "setup/path.h"

/* Where a path begins. */
typedef struct md_path_start {
    double lambda;    /* the least that leaves out all blocks; or a strong one, where none does */
    bool is_zero;     /* theta = 0 is the optimum from there on */
    double objective; /* of theta = 0 */
} md_path_start;

/* Online methods: one pass over all examples with scores of 0. The blocks, which are left without
 * anything learnt, are those of the problem. */
medley_status md_path_find_start(md_path_start *start, md_problem *problem,
                                 const md_run_blocks *blocks, medley_error *error);

/* How online methods walk along a path (md_method.fit_path). */
medley_status md_fit_online_path(md_problem *problem, const medley_path_options *path,
                                 medley_path_taker take, void *context, medley_error *error);

#endif
