/* SPDX-License-Identifier: BSD-3-Clause */
/* What both ways to sum over all trees work on: tree_sum.c, which has the equations, and
 * tree_log.c, where all these are logarithms. */
#ifndef MD_TREE_ELIMINATION_H
#define MD_TREE_ELIMINATION_H

#include "structure/tree.h"

typedef struct md_tree_elimination {
    const md_tree *tree;
    size_t words, stride;
    size_t last;     /* what remains at the end: the root, or word 1 */
    double *arc;     /* [words + 1][stride] A; columns behind k are as they were when k went */
    double *slope;   /* [words + 1][stride] of log Z in A */
    double *pivot;   /* p, all these [stride] */
    double *top;     /* logarithm of what rows were divided by */
    double *root;    /* w, where there is one root */
    double *tie;     /* x */
    double *pull;    /* slope of log Z in x_k, divided by p_k */
    double *through; /* slope in A[k][j], without p_k */
    double *onward;  /* A[k][j] / p_k */
    double *term;    /* the same memory: terms of a sum */
} md_tree_elimination;

static inline md_tree_elimination md_tree_elimination_of(const md_tree *tree, float *scratch)
{
    const size_t stride = md_tree_stride(tree->words + 1);
    md_tree_elimination e = {.tree = tree, .words = tree->words, .stride = stride};
    e.last = tree->many_roots ? 0 : 1;
    e.arc = md_tree_take(&scratch, (tree->words + 1) * stride);
    e.slope = md_tree_take(&scratch, (tree->words + 1) * stride);
    e.pivot = md_tree_take(&scratch, stride);
    e.top = md_tree_take(&scratch, stride);
    e.root = md_tree_take(&scratch, stride);
    e.tie = md_tree_take(&scratch, stride);
    e.pull = md_tree_take(&scratch, stride);
    e.through = md_tree_take(&scratch, stride);
    e.onward = e.term = md_tree_take(&scratch, stride);
    return e;
}

#endif
