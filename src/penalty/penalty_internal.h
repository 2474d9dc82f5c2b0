/* SPDX-License-Identifier: BSD-3-Clause */
/* What a penalty is made of: for the files of this folder only. */
#ifndef MD_PENALTY_INTERNAL_H
#define MD_PENALTY_INTERNAL_H

#include "penalty/penalty.h"

typedef struct md_penalty_term {
    double factor;
    const md_penalty_class *class;
    void *state;
} md_penalty_term;

struct md_penalty {
    md_penalty_term *terms; /* [count] */
    size_t count, capacity;
    double *weight; /* [weight_count], NULL: all one */
    size_t weight_count;
    double least_weight;
    md_text text;
};

#endif
