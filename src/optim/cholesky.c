/* SPDX-License-Identifier: BSD-3-Clause */
/* Cholesky's factorisation by tiles: the tile on the diagonal, then the tiles on its right, then
 * what is below them, each of the last two in parallel. Which tiles there are depends on n alone,
 * so the result does not depend on the number of threads. LAPACK is not needed: diagonal tiles are
 * factored by halves, down to blocks that a plain loop does well. */
#include "optim/optim.h"

#include "base/parallel.h"
#include "base/vector.h"
#include "linalg/blas.h"

enum { TILE = 192, BLOCK = 32 };

/* The plain loop, row by row from the top. False at a pivot that is not positive. */
MD_VECTOR(bool, factor_block, (double *a, size_t stride, size_t n), (a, stride, n))
{
    for (size_t k = 0; k < n; k++) {
        double *pivot_row = a + k * stride;
        const double pivot = pivot_row[k];
        if (!(pivot > 0 && pivot < INFINITY))
            return false;
        const double root = sqrt(pivot);
        const double inverse = 1 / root;
        pivot_row[k] = root;
        for (size_t j = k + 1; j < n; j++)
            pivot_row[j] *= inverse;
        for (size_t i = k + 1; i < n; i++) {
            const double factor = pivot_row[i];
            double *row = a + i * stride;
#pragma omp simd
            for (size_t j = i; j < n; j++)
                row[j] -= factor * pivot_row[j];
        }
    }
    return true;
}

static bool factor_tile(double *a, size_t stride, size_t n)
{
    if (n <= BLOCK)
        return factor_block(a, stride, n);
    const size_t half = (n / 2 + BLOCK - 1) / BLOCK * BLOCK;
    const size_t rest = n - half;
    double *right = a + half;
    double *corner = a + half * stride + half;
    if (!factor_tile(a, stride, half))
        return false;
    md_dtrsm_transposed(half, rest, a, stride, right, stride);
    md_dsyrk_columns(rest, half, -1, right, stride, 1, corner, stride);
    return factor_tile(corner, stride, rest);
}

/* One step of the factorisation: tile k of the diagonal is done. */
struct step {
    double *a;
    size_t n, k, rest; /* rest: tiles after k */
};

static size_t tile_size(const struct step *step, size_t tile)
{
    return md_min(step->n - tile * TILE, TILE);
}

static double *tile_at(const struct step *step, size_t i, size_t j)
{
    return step->a + i * TILE * step->n + j * TILE;
}

static void solve_tile(void *context, size_t item, size_t worker)
{
    const struct step *step = context;
    const size_t k = step->k;
    const size_t j = k + 1 + item;
    (void)worker;
    md_dtrsm_transposed(tile_size(step, k), tile_size(step, j), tile_at(step, k, k), step->n,
                        tile_at(step, k, j), step->n);
}

/* Items count the tiles of the upper triangle by columns: item = j (j+1) / 2 + i with i <= j. */
static void update_tile(void *context, size_t item, size_t worker)
{
    const struct step *step = context;
    size_t j = (size_t)((sqrt(8 * (double)item + 1) - 1) / 2);
    (void)worker;
    while (j * (j + 1) / 2 > item)
        j--;
    while ((j + 1) * (j + 2) / 2 <= item)
        j++;
    const size_t column = step->k + 1 + j;
    const size_t row = step->k + 1 + item - j * (j + 1) / 2;
    const size_t depth = tile_size(step, step->k);
    const double *right = tile_at(step, step->k, column);
    if (row == column)
        md_dsyrk_columns(tile_size(step, row), depth, -1, right, step->n, 1,
                         tile_at(step, row, row), step->n);
    else
        md_dgemm_columns(tile_size(step, row), tile_size(step, column), depth, -1,
                         tile_at(step, step->k, row), step->n, right, step->n, 1,
                         tile_at(step, row, column), step->n);
}

bool md_cholesky(double *a, size_t n, size_t threads)
{
    const size_t tiles = md_pieces(n, TILE);
    for (size_t k = 0; k < tiles; k++) {
        struct step step = {.a = a, .n = n, .k = k, .rest = tiles - k - 1};
        if (!factor_tile(tile_at(&step, k, k), n, tile_size(&step, k)))
            return false;
        md_parallel_for(threads, step.rest, solve_tile, &step);
        md_parallel_for(threads, step.rest * (step.rest + 1) / 2, update_tile, &step);
    }
    return true;
}

void md_cholesky_solve(const double *r, size_t n, double *x)
{
    md_dtrsv(n, r, n, true, x);
    md_dtrsv(n, r, n, false, x);
}
