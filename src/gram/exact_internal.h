/* SPDX-License-Identifier: BSD-3-Clause */
/* What rows of values and products with them have in common: values of one left row with some right
 * rows. */
#ifndef MD_EXACT_INTERNAL_H
#define MD_EXACT_INTERNAL_H

#include "gram/exact.h"

enum {
    MD_EXACT_PANEL = 128, /* right rows of a panel */
    MD_EXACT_NARROW = 64  /* dense views of fewer columns make panels: vectors of rows */
};

typedef struct md_right_rows {
    size_t first, count;
    const double *panel; /* the view's values of these rows, strip by strip, or NULL */
} md_right_rows;

/* Products and distances of narrow views are several times faster with panels. They take them for
 * any number of left rows, so that a value does not depend on its neighbours. */
bool md_exact_takes_panels(const md_between *between, size_t m);
/* What fills the last strip is 0. */
void md_exact_fill_panel(const md_matrix *view, size_t first, size_t count, double *panel);

/* What kernel m is a function of; of precomputed ones, the values. q has room for a panel where
 * there is one; scratch: md_exact_scratch doubles. */
void md_exact_quantities(const md_between *between, size_t m, size_t row,
                         const md_right_rows *right, double *q, double *scratch);
/* Values from quantities, which may be in the same place. */
void md_exact_values(const md_between *between, size_t m, size_t row, const md_right_rows *right,
                     const double *q, double *out);

#endif
