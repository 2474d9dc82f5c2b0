/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores of rows that are open side by side. Rows are met in the order in which they were opened,
 * most of them lead to no step, and a step needs the scores of few: so what all blocks say of the
 * next rows is added up for a vector of rows at a time, and looked up until scores change. What
 * happens to all blocks alike, as when theta shrinks, is a factor of the sums.
 *
 * Bytes of sums for 16 rows: a cache line for each block and label, as for one row alone. */
#ifndef MD_ROW_SUMS_H
#define MD_ROW_SUMS_H

#include "online/online.h"

typedef struct md_row_sums {
    float *sum;     /* [labels][MD_SIDE_BY_SIDE] */
    double *factor; /* [block_count] that the scores of each block were multiplied by */
    size_t first;   /* place of the first row */
    size_t count;   /* rows; 0: nothing is known */
    size_t version; /* of the deferred scores */
} md_row_sums;

/* NULL: these are not for the problem. In the pool. */
medley_status md_row_sums_new(md_row_sums **sums, md_pool *pool, const md_online_problem *problem,
                              medley_error *error);

/* The scores of an example as md_online_score gives them, but for rounding; false: not here. */
bool md_row_sums_score(md_row_sums *sums, const md_online_problem *problem, md_example example,
                       float *score);

#endif
