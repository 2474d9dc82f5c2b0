/* SPDX-License-Identifier: BSD-3-Clause */
/* The only door to BLAS, always on one thread: parallel work is cut above, in fixed pieces, so that
 * results do not depend on the number of threads. Row-major throughout. */
#ifndef MD_BLAS_H
#define MD_BLAS_H

#include <stddef.h>

/* Call before the first product, while no other thread uses BLAS. Also makes OpenBLAS use the
 * processor's wide instructions where it does not know the model. Repeating it is harmless. */
void md_blas_single_thread(void);

/* C[m][n] = alpha * A[m][k] B[n][k]' + beta * C: products of rows with rows. */
void md_gemm_rows(size_t m, size_t n, size_t k, float alpha, const float *a, size_t lda,
                  const float *b, size_t ldb, float beta, float *c, size_t ldc);

/* C[m][n] = alpha * A[m][k] B[k][n] + beta * C. */
void md_gemm(size_t m, size_t n, size_t k, float alpha, const float *a, size_t lda, const float *b,
             size_t ldb, float beta, float *c, size_t ldc);

/* C[m][n] = alpha * A[k][m]' B[k][n] + beta * C. */
void md_gemm_columns(size_t m, size_t n, size_t k, float alpha, const float *a, size_t lda,
                     const float *b, size_t ldb, float beta, float *c, size_t ldc);

#endif
