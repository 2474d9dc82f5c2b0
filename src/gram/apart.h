/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores of an expansion, those of every kernel by themselves: where a learner goes on from rows
 * that it no longer has. */
#ifndef MD_APART_H
#define MD_APART_H

#include "gram/gram.h"

/* scores[t][left rows][labels] += term t, at most one for each kernel, none of them centred.
 * Kernels of one view that follow one another in the bank share products. left and right may be the
 * same points. */
medley_status md_cross_scores_apart(const md_cross *cross, const md_expansion *terms,
                                    size_t term_count, size_t labels, float *const *scores,
                                    medley_error *error);

#endif
