/* SPDX-License-Identifier: BSD-3-Clause */
/* Small quadratic programs on the simplex, x >= 0 and sum x = 1: what methods on kernel weights
 * take steps with. */
#ifndef MD_SIMPLEX_H
#define MD_SIMPLEX_H

#include "base/base.h"

/* ---- simplex_quadratic.c ---- */

typedef struct md_simplex_quadratic {
    size_t count, rank;
    const double *slope;  /* [count] */
    const double *factor; /* [count][rank] one row for each variable */
    double ridge;         /* > 0 */
} md_simplex_quadratic;

/* x[count]: where slope'x + 1/2 ||factor'x||^2 + ridge/2 ||x||^2 is least on the simplex, with few
 * variables above 0 where that can be. It costs about count * rank for each of these. */
medley_status md_simplex_minimise(const md_simplex_quadratic *quadratic, double *x,
                                  medley_error *error);

/* ---- simplex_projection.c ---- */

/* x[count] becomes the nearest point of the simplex. scratch: count doubles. */
void md_simplex_project(double *x, size_t count, double *scratch);

/* Half-spaces slope_k'x <= limit_k. */
typedef struct md_half_spaces {
    size_t count, planes;
    const double *slope; /* [planes][count] */
    const double *limit; /* [planes] */
} md_half_spaces;

/* x[count] becomes the nearest point of the simplex that is in all of them, to 1e-9 of the slopes.
 * There must be one; if there is none, or rounding hides it, what comes back is of the simplex
 * and near to them. */
medley_status md_simplex_project_into(const md_half_spaces *spaces, double *x, medley_error *error);

#endif
