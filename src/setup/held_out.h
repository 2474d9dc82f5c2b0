/* SPDX-License-Identifier: BSD-3-Clause */
/* A fifth of the training examples is held out, and scored by what was learnt from the others: for
 * the choice among kernels, and for calibration. */
#ifndef MD_HELD_OUT_H
#define MD_HELD_OUT_H

#include "setup/setup.h"

typedef struct md_division_rule {
    bool sequences; /* examples are sequences, else rows */
    bool by_label;  /* each label is divided for itself (a sequence by its first) */
    size_t which;   /* of each five examples, in order of appearance: 1 to 5 */
} md_division_rule;

typedef struct md_division {
    size_t *visit; /* [visit_count] examples that are trained on, increasing */
    size_t visit_count;
    size_t *held; /* [held_count] the others, increasing */
    size_t held_count;
} md_division;

/* To be cleared whatever comes back. */
medley_status md_division_make(md_division *division, const medley_dataset *train,
                               const md_division_rule *rule, medley_error *error);
void md_division_clear(md_division *division);

#endif
