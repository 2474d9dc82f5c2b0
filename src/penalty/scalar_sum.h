/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of functions of one norm, g(x) = sum_j factor_j g_j(unit x), as one such function: SPOM's
 * sums of terms, and Kloft's mixture of powers and squares, for solvers that work in the dual. */
#ifndef MD_SCALAR_SUM_H
#define MD_SCALAR_SUM_H

#include "penalty/penalty.h"

enum { MD_MOST_TERMS = 8 };

typedef struct md_scalar_term {
    const md_scalar_penalty *scalar;
    const void *state;
    double factor;
} md_scalar_term;

typedef struct md_scalar_sum {
    md_scalar_term terms[MD_MOST_TERMS];
    size_t count;
    double unit;
} md_scalar_sum;

/* The state is a md_scalar_sum. Its prox and its conjugate solve an equation of slopes. */
extern const md_scalar_penalty md_sum_of_scalars;

/* A penalty of one or more terms as such a sum and at most one half of a squared norm beside it,
 * factor/2 (sum b^q)^(2/q). */
typedef struct md_penalty_parts {
    md_scalar_sum sum;             /* count may be 0 */
    const md_scalar_penalty *root; /* b^q / q (md_penalty_root); NULL: there is no square */
    const void *root_state;
    double q, factor;
} md_penalty_parts;

/* False: it has a term of another kind, squares of two norms, or more than MD_MOST_TERMS terms. */
bool md_penalty_split(md_penalty_parts *parts, const md_penalty *penalty);

#endif
