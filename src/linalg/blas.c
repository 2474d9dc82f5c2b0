/* SPDX-License-Identifier: BSD-3-Clause */
/* Row-major products and triangular systems by the C interface of BLAS, and that library's name. */
#include "linalg/blas.h"

#include "medley/options.h"
#include <cblas.h>
#include <dlfcn.h>
#include <unistd.h>

/* Present in OpenBLAS only; other libraries are set by their own environment variables. */
/* NOLINTBEGIN(readability-redundant-declaration): only OpenBLAS's own cblas.h declares them */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));
extern char *openblas_get_config(void) __attribute__((weak));
extern void gotoblas_dynamic_init(void) __attribute__((weak));
extern void gotoblas_dynamic_quit(void) __attribute__((weak));
/* NOLINTEND(readability-redundant-declaration) */
/* What tells the others apart, netlib's reference last. Weak, so that the loader decides: a program
 * need not meet the library again that it was linked with. */
extern void MKL_Get_Version_String(char *text, int size) __attribute__((weak));
extern void bli_init(void) __attribute__((weak));
extern void ATL_buildinfo(void) __attribute__((weak));
extern int CBLAS_CallFromC __attribute__((weak));

/* OpenBLAS chooses its code by the processor's model number. On models younger than itself it
 * falls back to that of 2004 ("Prescott"), several times slower; then it is made to choose again,
 * by what the processor can do. A choice made in the environment stands. */
static void leave_fallback_code(void)
{
#ifdef __x86_64__
    static char skylake[] = "OPENBLAS_CORETYPE=SkylakeX";
    static char haswell[] = "OPENBLAS_CORETYPE=Haswell";
    char *choice[2] = {NULL, NULL}; /* an environment */
    if (openblas_get_corename == NULL || gotoblas_dynamic_init == NULL ||
        gotoblas_dynamic_quit == NULL || getenv("OPENBLAS_CORETYPE") != NULL ||
        strcmp(openblas_get_corename(), "Prescott") != 0)
        return;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        choice[0] = skylake;
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        choice[0] = haswell;
    if (choice[0] == NULL)
        return;
    char **whole = environ;
    environ = choice; /* setenv may lack memory, and a run would have other roundings */
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    environ = whole;
#endif
}

void md_blas_single_thread(void)
{
    leave_fallback_code();
    if (openblas_set_num_threads != NULL)
        openblas_set_num_threads(1);
}

/* Do products come from netlib's reference? It may be loaded beside the library that is used, and
 * OpenBLAS beside it: LAPACK brings its own. */
static bool is_reference(void)
{
    Dl_info used;
    Dl_info reference;
    return &CBLAS_CallFromC != NULL && dladdr((void *)cblas_sgemm, &used) != 0 &&
           dladdr(&CBLAS_CallFromC, &reference) != 0 && used.dli_fbase == reference.dli_fbase;
}

const char *medley_blas(void)
{
    static _Thread_local char name[64]; /* no thread writes what another reads */
    char version[32] = "";
    if (is_reference())
        return "reference";
    if (openblas_get_config == NULL || openblas_get_corename == NULL)
        return MKL_Get_Version_String != NULL ? "MKL"
               : bli_init != NULL             ? "BLIS"
               : ATL_buildinfo != NULL        ? "ATLAS"
                                              : "unknown";
    leave_fallback_code();
    sscanf(openblas_get_config(), "OpenBLAS %31s", version);
    snprintf(name, sizeof name, "OpenBLAS %s (%s)", version, openblas_get_corename());
    return name;
}

/* BLAS refuses a stride of 0 even for matrices without columns. */
static int stride(size_t elements)
{
    return elements > 0 ? (int)elements : 1;
}

void md_gemm(size_t m, size_t n, size_t k, float alpha, const float *a, size_t lda, const float *b,
             size_t ldb, float beta, float *c, size_t ldc)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, alpha, a,
                stride(lda), b, stride(ldb), beta, c, stride(ldc));
}

void md_gemm_columns(size_t m, size_t n, size_t k, float alpha, const float *a, size_t lda,
                     const float *b, size_t ldb, float beta, float *c, size_t ldc)
{
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)n, (int)k, alpha, a,
                stride(lda), b, stride(ldb), beta, c, stride(ldc));
}

void md_dgemm_columns(size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda,
                      const double *b, size_t ldb, double beta, double *c, size_t ldc)
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)n, (int)k, alpha, a,
                stride(lda), b, stride(ldb), beta, c, stride(ldc));
}

void md_dsyrk_columns(size_t n, size_t k, double alpha, const double *a, size_t lda, double beta,
                      double *c, size_t ldc)
{
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)n, (int)k, alpha, a, stride(lda), beta,
                c, stride(ldc));
}

void md_dtrsm_transposed(size_t m, size_t n, const double *r, size_t ldr, double *b, size_t ldb)
{
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (int)m, (int)n, 1,
                r, stride(ldr), b, stride(ldb));
}

static CBLAS_TRANSPOSE transposition(bool transposed)
{
    return transposed ? CblasTrans : CblasNoTrans;
}

void md_dtrsv(size_t n, const double *r, size_t ldr, bool transposed, double *x)
{
    cblas_dtrsv(CblasRowMajor, CblasUpper, transposition(transposed), CblasNonUnit, (int)n, r,
                stride(ldr), x, 1);
}

void md_dsymv(size_t n, const double *a, size_t lda, const double *x, double *y)
{
    cblas_dsymv(CblasRowMajor, CblasUpper, (int)n, 1, a, stride(lda), x, 1, 0, y, 1);
}

void md_dgemv(size_t m, size_t n, double alpha, const double *a, size_t lda, bool transposed,
              const double *x, double beta, double *y)
{
    cblas_dgemv(CblasRowMajor, transposition(transposed), (int)m, (int)n, alpha, a, stride(lda), x,
                1, beta, y, 1);
}
