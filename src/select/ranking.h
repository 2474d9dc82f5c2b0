/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the trials to take. */
#ifndef MD_RANKING_H
#define MD_RANKING_H

#include "base/base.h"
#include "medley/select.h"

typedef struct md_ranking {
    const medley_trial *trials;
    const double *strength; /* [count] larger is a stronger penalty; NaN: not varied */
    size_t count;
    bool higher_is_better;
} md_ranking;

/* Mean and deviations of fold[folds], which is there if none failed, else NaN. */
void md_trial_summarise(medley_trial *trial, size_t folds);

/* The best mean; of equal ones the strongest penalty, then the first. One trial has not failed. */
size_t md_ranking_best(const md_ranking *ranking);

/* Of those whose mean is at most one standard error of the best worse than it: the strongest
 * penalty, then the fewest blocks, then the best mean, then the first. */
size_t md_ranking_one_error(const md_ranking *ranking, size_t best);

#endif
