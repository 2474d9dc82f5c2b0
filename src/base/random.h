/* SPDX-License-Identifier: BSD-3-Clause */
/* Explicit random state (xoshiro256++): one seed gives one sequence on every machine. */
#ifndef MD_RANDOM_H
#define MD_RANDOM_H

#include "base/base.h"

typedef struct md_random {
    uint64_t state[4];
} md_random;

void md_random_seed(md_random *random, uint64_t seed);
uint64_t md_random_bits(md_random *random);
double md_random_uniform(md_random *random);             /* [0, 1) */
double md_random_normal(md_random *random);              /* mean 0, variance 1 */
size_t md_random_below(md_random *random, size_t bound); /* 0 .. bound-1, unbiased; bound > 0 */
void md_random_shuffle(md_random *random, size_t *items, size_t count);

#endif
