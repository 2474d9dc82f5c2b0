/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of blocks, each of which is penalised by the norm of all of its blocks together:
 *
 *     Omega(b) = sum_g w_g ||b_g||,    ||b_g||^2 = sum of b_m^2 over the blocks m of group g
 *
 * (SPOM section 3.2: hierarchical lasso and group lasso with overlaps). A group that ends at 0
 * takes all of its blocks along. */
#ifndef MD_GROUPS_H
#define MD_GROUPS_H

#include "penalty/penalty.h"

/* One piece of memory, freed by free(). */
typedef struct md_block_groups {
    size_t count;
    bool nested; /* of any two groups, one holds the other or they have no block in common */
    size_t blocks;
    double *weight; /* [count] */
    size_t *start;  /* [count + 1] of each group's blocks */
    size_t *block;  /* [start[count]] */
} md_block_groups;

typedef struct md_group {
    const bool *member; /* [blocks] */
    double weight;      /* > 0 */
} md_group;

/* Small groups come first, so that those inside of others come before them. */
medley_status md_block_groups_create(md_block_groups **groups, const md_group *list, size_t count,
                                     size_t blocks, medley_error *error);

/* The prox in place. The groups shrink their blocks one after the other, b_g *= max(0, 1 - tau
 * w_g / ||b_g||), inner ones first (SPOM Alg. 1). For nested groups that is exact (Jenatton,
 * Mairal, Obozinski and Bach 2011). For others it is the first round of a method that climbs the
 * dual problem group by group, which goes on to the prox. scratch: start[count] doubles. */
void md_block_groups_prox(const md_block_groups *groups, double tau, double *b, double *scratch);

/* Adds the groups as the last term; they are the penalty's from then on, also after a failure. */
medley_status md_penalty_add_groups(md_penalty *penalty, md_block_groups *groups,
                                    medley_error *error);

extern const md_penalty_class md_penalty_groups; /* not in the registry: it is made from a file */

#endif
