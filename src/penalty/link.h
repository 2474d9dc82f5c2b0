/* SPDX-License-Identifier: BSD-3-Clause */
/* From dual vectors to weights (docs/math.md): the weights that belong to a dual vector v are
 *
 *     w = argmax over w of <v, w> - lambda (Omega(w) + mu/2 sum b^2),
 *
 * and each block of w is a multiple of that block of v. Where Omega* is smooth mu may be 0; for
 * others it makes the answer unique, and falls as the solution comes near. */
#ifndef MD_PENALTY_LINK_H
#define MD_PENALTY_LINK_H

#include "penalty/penalty.h"

typedef enum md_link_kind {
    MD_NO_LINK,     /* a sum of terms, or one that looks inside of blocks */
    MD_SMOOTH_LINK, /* mu is 0 */
    MD_PROX_LINK    /* mu is above 0 */
} md_link_kind;

md_link_kind md_penalty_link_kind(const md_penalty *penalty);

/* w_m = scale[m] v_m for a v whose blocks have these norms. mu: 0 for a smooth link, else above.
 * scratch: 3 * count doubles. */
void md_penalty_link(const md_penalty *penalty, double lambda, double mu, const double *norm,
                     size_t count, double *scale, double *scratch);

#endif
