/* SPDX-License-Identifier: BSD-3-Clause */
/* Row-major single-precision products by the C interface of BLAS. */
#include "linalg/blas.h"

#include <cblas.h>

/* Present in OpenBLAS only; other libraries are set by their own environment variables. */
/* NOLINTNEXTLINE(readability-redundant-declaration): only OpenBLAS's own cblas.h declares it */
extern void openblas_set_num_threads(int count) __attribute__((weak));

void md_blas_single_thread(void)
{
    if (openblas_set_num_threads != NULL)
        openblas_set_num_threads(1);
}

/* BLAS refuses a stride of 0 even for matrices without columns. */
static int stride(size_t elements)
{
    return elements > 0 ? (int)elements : 1;
}

void md_gemm_rows(size_t m, size_t n, size_t k, float alpha, const float *a, size_t lda,
                  const float *b, size_t ldb, float beta, float *c, size_t ldc)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)n, (int)k, alpha, a,
                stride(lda), b, stride(ldb), beta, c, stride(ldc));
}

void md_gemm(size_t m, size_t n, size_t k, float alpha, const float *a, size_t lda, const float *b,
             size_t ldb, float beta, float *c, size_t ldc)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, alpha, a,
                stride(lda), b, stride(ldb), beta, c, stride(ldc));
}
