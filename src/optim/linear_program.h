/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear programs of few variables that grow by rows:
 *
 *     minimise cost'x   subject to   low <= x <= high,   low_r <= row_r'x <= high_r for all rows r
 *
 * A packaged library solves them, if it was there when this was built; callers do not see which.
 * Programs share nothing, so several threads may each have their own. */
#ifndef MD_LINEAR_PROGRAM_H
#define MD_LINEAR_PROGRAM_H

#include "base/base.h"

/* The package that this build is without (Debian's name), or NULL if it can solve linear programs.
 * Where it cannot, everything here fails with MEDLEY_NOT_SUPPORTED. */
const char *md_linear_program_missing(void);

typedef struct md_linear_program md_linear_program;

/* Without rows as yet. cost, low, high: [columns], bounds may be infinite. */
medley_status md_linear_program_create(md_linear_program **program, const double *cost,
                                       const double *low, const double *high, size_t columns,
                                       medley_error *error);
void md_linear_program_free(md_linear_program *program);
MD_OWNER(md_linear_program_free, md_linear_program)

/* row[columns], copied; bounds may be infinite. */
medley_status md_linear_program_add(md_linear_program *program, const double *row, double low,
                                    double high, medley_error *error);

/* Other bounds of a variable. */
void md_linear_program_limit(md_linear_program *program, size_t column, double low, double high);

/* x[columns]: a vertex where the cost is least, to about 1e-7. After more rows it goes on from the
 * vertex it had. MEDLEY_BAD_INPUT: no x meets all bounds, or the cost has no least value. */
medley_status md_linear_program_solve(md_linear_program *program, double *x, medley_error *error);

/* price[rows], after a solution: by how much the least cost falls for each unit by which the bound
 * that holds a row is moved away; 0 for rows that nothing holds. */
void md_linear_program_prices(const md_linear_program *program, double *price);

#endif
