/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MD_BETWEEN_CARD_H
#define MD_BETWEEN_CARD_H

#include "gram/gram.h"

/* The scores of md_between_scores (scores) or md_between_scores_apart (apart) by a card. *done:
 * false, and nothing has been added, where there is none, or too little to do for one. */
medley_status md_between_card(bool *done, const md_between *between, const md_expansion *terms,
                              size_t count, size_t labels, float *scores, float *const *apart,
                              medley_error *error);

#endif
