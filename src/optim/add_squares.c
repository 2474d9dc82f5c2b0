/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of squares of rows by tiles, which are divided among threads. Which tiles there are depends
 * on n alone, so the result does not depend on the number of threads. */
#include "optim/optim.h"

#include "base/parallel.h"
#include "linalg/blas.h"

enum { TILE = 128 };
static const double FEW = 1e6; /* operations: another thread is not worth waking for them */

struct squares {
    size_t n, k;
    double alpha;
    const double *a;
    size_t lda;
    double *c;
    size_t ldc;
};

/* Items count the tiles of the upper triangle by columns, as in cholesky.c. */
static void add_tile(void *context, size_t item, size_t worker)
{
    const struct squares *squares = context;
    size_t j = 0;
    (void)worker;
    while ((j + 1) * (j + 2) / 2 <= item)
        j++;
    const size_t row = (item - j * (j + 1) / 2) * TILE;
    const size_t column = j * TILE;
    const size_t rows = md_min(squares->n - row, TILE);
    const size_t columns = md_min(squares->n - column, TILE);
    double *c = squares->c + row * squares->ldc + column;
    if (row == column)
        md_dsyrk_columns(rows, squares->k, squares->alpha, squares->a + row, squares->lda, 1, c,
                         squares->ldc);
    else
        md_dgemm_columns(rows, columns, squares->k, squares->alpha, squares->a + row, squares->lda,
                         squares->a + column, squares->lda, 1, c, squares->ldc);
}

void md_add_squares(size_t n, size_t k, double alpha, const double *a, size_t lda, double *c,
                    size_t ldc, size_t threads)
{
    struct squares squares = {n, k, alpha, a, lda, c, ldc};
    const size_t tiles = md_pieces(n, TILE);
    const bool few = (double)n * (double)n * (double)k < FEW;
    if (k > 0)
        md_parallel_for(few ? 1 : threads, tiles * (tiles + 1) / 2, add_tile, &squares);
}
