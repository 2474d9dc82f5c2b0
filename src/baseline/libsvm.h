/* SPDX-License-Identifier: BSD-3-Clause */
/* libsvm on a ready-made kernel matrix, which is turned into its form once and then serves many
 * machines, on all rows or on some. What is known of libsvm is in libsvm.c. */
#ifndef MD_LIBSVM_H
#define MD_LIBSVM_H

#include "base/memory.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

/* It was there when this was built, and can number so many rows. */
bool md_libsvm_takes(size_t rows);

/* From the upper triangle of kernel[n][n], which is not needed any more afterwards; 16 bytes a
 * value. */
typedef struct md_libsvm md_libsvm;
medley_status md_libsvm_create(md_libsvm **matrix, const double *kernel, size_t n,
                               medley_error *error);
void md_libsvm_free(md_libsvm *matrix);
MD_OWNER(md_libsvm_free, md_libsvm)

typedef struct md_libsvm_task {
    const size_t *rows; /* [count] those that are learnt from; NULL: the first count */
    size_t count;
    const double *y;  /* [count] -1 and +1, both of them; or numbers */
    bool classifies;  /* hinge loss; else epsilon-insensitive */
    double tolerance; /* epsilon of that loss */
    double C;         /* libsvm's own: of the losses, not of the penalty */
    double eps;       /* slopes of two rows that differ by less are the same */
    double cache;     /* most megabytes for values in single precision; as many as are of use */
} md_libsvm_task;

/* coefficient[count]: f = sum_i K(., rows[i]) coefficient[i] + b, within 0 and C for y = +1, -C and
 * 0 for y = -1, of sum 0. Many threads may solve on one matrix. */
medley_status md_libsvm_solve(const md_libsvm *matrix, const md_libsvm_task *task,
                              double *coefficient, medley_error *error);

#endif
