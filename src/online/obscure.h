/* SPDX-License-Identifier: BSD-3-Clause */
/* What OBSCURE needs to know of its regulariser: how dual vectors become weights, and the rounds of
 * the batch stage. The p-norm has those of Alg. 2 (obscure.c); other strongly convex penalties
 * those of the generic Alg. 3 (obscure_proximal.c). One file and one row for each kind. */
#ifndef MD_OBSCURE_H
#define MD_OBSCURE_H

#include "online/dual.h"

typedef struct md_regulariser {
    void (*restart)(md_online *online);
    void (*from_weights)(md_online *online); /* blocks hold weights, and then theta; may be NULL */
    void (*set_scales)(md_online *online);   /* w from theta */
    medley_status (*begin)(md_online *online, medley_error *error); /* the batch stage */
    void (*descend)(md_online *online, const md_round *round);      /* a round of it */
    md_bound (*bound)(const md_online *online);                     /* of the batch stage */

    /* No more updates than this in the online stage, whose rounds the weights in the blocks, which
     * are no theta any more, would have cost `loss` in all (docs/math.md). */
    double (*most_updates)(md_online *online, double loss);
} md_regulariser;

extern const md_regulariser md_p_norm, md_proximal;

/* The state of the rule. radius, rounds and s of dual mean the same for every regulariser. */
typedef struct md_obscure {
    md_dual dual;   /* first: dual.h */
    double skipped; /* rounds that s is still to make up for */

    /* Of other penalties, whose weights are argmin -<theta, w> + strength Omega + curvature/2
     * ||w||^2 in the ball: */
    double strength, curvature;
    double regret; /* no more than what the rounds of the batch stage have lost in all */

    double mistakes; /* of the online stage: rounds that lost 1 or more */
} md_obscure;

#endif
