/* SPDX-License-Identifier: BSD-3-Clause */
/* The prox of tree-structured groups: one shrink b_g *= max(0, 1 - tau w_g/||b_g||) per group, from
 * the leaves to the root, is exact (Jenatton, Mairal, Obozinski, Bach 2011). A shrink only scales
 * the group's blocks, so the norm of a parent follows from the norms and scales of its children,
 * and one sweep up and one down touch each block once. */
#include "penalty/hierarchy.h"

#include "penalty/block_weight.h"

medley_status md_hierarchy_check(const md_hierarchy *hierarchy, medley_error *error)
{
    for (size_t g = 0; g < hierarchy->group_count; g++) {
        const size_t parent = hierarchy->parent[g];
        if (parent != MD_NO_GROUP && parent >= g)
            return md_fail(error, MEDLEY_USAGE,
                           "group %zu has the parent %zu; list a parent before its children", g,
                           parent);
        if (!(hierarchy->weight[g] >= 0) || isinf(hierarchy->weight[g]))
            return md_fail(error, MEDLEY_USAGE,
                           "group %zu has the weight %g; weights must be 0 or more", g,
                           hierarchy->weight[g]);
    }
    for (size_t m = 0; m < hierarchy->block_count; m++)
        if (hierarchy->group[m] != MD_NO_GROUP && hierarchy->group[m] >= hierarchy->group_count)
            return md_fail(error, MEDLEY_USAGE, "block %zu is in group %zu, but there are only %zu",
                           m, hierarchy->group[m], hierarchy->group_count);
    return MEDLEY_OK;
}

/* squares[g] = sum of (b/largest)^2 over the blocks put into g itself. Dividing keeps tiny and huge
 * norms from vanishing or overflowing when squared. */
static void own_squares(const md_hierarchy *hierarchy, const double *b, double largest,
                        double *squares)
{
    for (size_t g = 0; g < hierarchy->group_count; g++)
        squares[g] = 0;
    for (size_t m = 0; m < hierarchy->block_count; m++) {
        const double x = b[m] / largest;
        if (hierarchy->group[m] != MD_NO_GROUP)
            squares[hierarchy->group[m]] += x * x;
    }
}

double md_hierarchy_value(const md_hierarchy *hierarchy, const double *b, double *scratch)
{
    const double largest = md_largest(b, hierarchy->block_count);
    if (largest == 0)
        return 0;
    own_squares(hierarchy, b, largest, scratch);
    double value = 0;
    for (size_t g = hierarchy->group_count; g-- > 0;) { /* children come before their parent */
        value += hierarchy->weight[g] * sqrt(scratch[g]);
        if (hierarchy->parent[g] != MD_NO_GROUP)
            scratch[hierarchy->parent[g]] += scratch[g];
    }
    return largest * value;
}

void md_hierarchy_prox(const md_hierarchy *hierarchy, double tau, double *b, double *scratch)
{
    const size_t *parent = hierarchy->parent;
    const double largest = md_largest(b, hierarchy->block_count);
    if (largest == 0)
        return;
    own_squares(hierarchy, b, largest, scratch);
    for (size_t g = hierarchy->group_count; g-- > 0;) {
        const double squares = scratch[g];
        const double cut = hierarchy->weight[g] > 0 ? tau * hierarchy->weight[g] / largest : 0;
        const double scale = cut > 0 ? fmax(0, 1 - cut / sqrt(squares)) : 1;
        if (parent[g] != MD_NO_GROUP)
            scratch[parent[g]] += squares * scale * scale;
        scratch[g] = scale; /* the squares are not needed again */
    }
    for (size_t g = 0; g < hierarchy->group_count; g++)
        if (parent[g] != MD_NO_GROUP)
            scratch[g] *= scratch[parent[g]];
    for (size_t m = 0; m < hierarchy->block_count; m++)
        if (hierarchy->group[m] != MD_NO_GROUP)
            b[m] *= scratch[hierarchy->group[m]];
}
