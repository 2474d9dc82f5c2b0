/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of rows with rows, as fast as those of BLAS, whose elements are not changed by what
 * stands around them, not even in the last bit. BLAS does not promise that, and does not do it: at
 * the edges of a matrix, on some processors at other places too, it adds up in other orders. */
#ifndef MD_PRODUCTS_H
#define MD_PRODUCTS_H

#include "base/base.h"

/* C[m][n] = A[m][k] B[n][k]'. Every element depends on its two rows only, whichever comes first. */
void md_multiply_rows(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b,
                      size_t ldb, float *c, size_t ldc);

/* C[m][n] += A[m][k] B[n][k]', also for few n. Every row depends on its row of A and on B only. */
void md_add_products(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b,
                     size_t ldb, float *c, size_t ldc);

#endif
