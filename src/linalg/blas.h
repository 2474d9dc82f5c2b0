/* SPDX-License-Identifier: BSD-3-Clause */
/* The only door to BLAS, always on one thread: parallel work is cut above, in fixed pieces, so that
 * results do not depend on the number of threads. They do depend on the shape of a product and on
 * the place in it: what must not is computed by products.h. Row-major throughout. */
#ifndef MD_BLAS_H
#define MD_BLAS_H

#include "base/base.h"

/* Call before the first product, while no other thread uses BLAS. Also makes OpenBLAS use the
 * processor's wide instructions where it does not know the model. Repeating it is harmless. */
void md_blas_single_thread(void);

/* C[m][n] = alpha * A[m][k] B[k][n] + beta * C. */
void md_gemm(size_t m, size_t n, size_t k, float alpha, const float *a, size_t lda, const float *b,
             size_t ldb, float beta, float *c, size_t ldc);

/* C[m][n] = alpha * A[k][m]' B[k][n] + beta * C. */
void md_gemm_columns(size_t m, size_t n, size_t k, float alpha, const float *a, size_t lda,
                     const float *b, size_t ldb, float beta, float *c, size_t ldc);

/* ---- double precision; of symmetric and triangular matrices only the upper triangle is used ----
 */

/* C[m][n] = alpha * A[k][m]' B[k][n] + beta * C. */
void md_dgemm_columns(size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda,
                      const double *b, size_t ldb, double beta, double *c, size_t ldc);

/* C[n][n] = alpha * A[k][n]' A + beta * C, upper triangle. */
void md_dsyrk_columns(size_t n, size_t k, double alpha, const double *a, size_t lda, double beta,
                      double *c, size_t ldc);

/* B[m][n] = R^-T B for R[m][m]. */
void md_dtrsm_transposed(size_t m, size_t n, const double *r, size_t ldr, double *b, size_t ldb);

/* x = R^-1 x, or R^-T x, for R[n][n]. */
void md_dtrsv(size_t n, const double *r, size_t ldr, bool transposed, double *x);

/* y = A x for symmetric A[n][n]. */
void md_dsymv(size_t n, const double *a, size_t lda, const double *x, double *y);

/* y = alpha * A x + beta * y for A[m][n], or with A' (y then has n elements). */
void md_dgemv(size_t m, size_t n, double alpha, const double *a, size_t lda, bool transposed,
              const double *x, double beta, double *y);

#endif
