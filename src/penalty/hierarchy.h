/* SPDX-License-Identifier: BSD-3-Clause */
/* Hierarchical groups of blocks: Omega(b) = sum over groups g of w_g ||b_g||_2, where b_g are the
 * blocks put into g or into any group below it. With parent {none, 0, 0, ...} and one group for
 * each block this is the sparse group lasso of blocks; with a group for each block, at any place
 * of the tree, a block enters only after its ancestors.
 *
 * Groups need more than the name(key=value) of a spec, so this is no registered penalty. */
#ifndef MD_HIERARCHY_H
#define MD_HIERARCHY_H

#include "base/base.h"

#define MD_NO_GROUP SIZE_MAX

typedef struct md_hierarchy { /* borrows its arrays */
    size_t group_count;
    const size_t *parent; /* [group_count], parent[g] < g, or MD_NO_GROUP for a root */
    const double *weight; /* [group_count], w_g >= 0 */
    size_t block_count;
    const size_t *group; /* [block_count], the innermost group of a block, or MD_NO_GROUP */
} md_hierarchy;

/* MEDLEY_USAGE if a parent does not come before its child, a weight is negative or not finite, or
 * a block names a group that does not exist. The functions below rely on it. */
medley_status md_hierarchy_check(const md_hierarchy *hierarchy, medley_error *error);

/* scratch: group_count doubles, here and below. */
double md_hierarchy_value(const md_hierarchy *hierarchy, const double *b, double *scratch);

/* argmin_x 1/2 ||x - b||^2 + tau Omega(x), in place, in O(block_count + group_count). */
void md_hierarchy_prox(const md_hierarchy *hierarchy, double tau, double *b, double *scratch);

#endif
