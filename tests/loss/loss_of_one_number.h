/* SPDX-License-Identifier: BSD-3-Clause */
/* Every loss of the table, with the states and targets its laws are checked for. */
#ifndef LOSS_OF_ONE_NUMBER_H
#define LOSS_OF_ONE_NUMBER_H

#include "base/random.h"
#include "loss/margin_loss.h"

struct loss_case {
    const md_margin_loss *loss;
    double state; /* epsilon, the only parameter there is */
    md_random random;
};

/* -1 or +1, or any number; sometimes 0, sometimes far off. */
static inline double draw_target(struct loss_case *c)
{
    if (c->loss->classifies)
        return md_random_below(&c->random, 2) ? 1 : -1;
    const size_t kind = md_random_below(&c->random, 10);
    const double y = md_random_normal(&c->random);
    return kind == 0 ? 0 : kind == 1 ? 100 * y : y;
}

/* Calls law for every loss, with several parameters and seeds. */
static inline void for_all_losses(void (*law)(struct loss_case *c), size_t seeds)
{
    static const double epsilons[] = {0.1, 0, 1.5};
    for (size_t l = 0; md_margin_losses[l] != NULL; l++)
        for (size_t e = 0; e < (md_margin_losses[l]->params ? 3 : 1); e++)
            for (uint64_t seed = 0; seed < seeds; seed++) {
                struct loss_case c = {.loss = md_margin_losses[l], .state = epsilons[e]};
                md_random_seed(&c.random, 100 * seed + e);
                law(&c);
            }
}

#endif
