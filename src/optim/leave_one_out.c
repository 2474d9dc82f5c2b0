/* SPDX-License-Identifier: BSD-3-Clause */
/* With C = [A 1; 1' 0] the machine is C [a; b] = [y; 0], and row i left out errs by a_i / (C^-1)_ii
 * (Cawley 2006). By blocks, with A = R'R and W = R^-T, which is lower triangular,
 *
 *     (C^-1)_ii = (A^-1)_ii - (A^-1 1)_i^2 / 1'A^-1 1,     (A^-1)_ii = sum over k of W_ki^2. */
#include "base/parallel.h"
#include "linalg/blas.h"
#include "optim/optim.h"

enum { COLUMNS = 64 }; /* of W that are found together */

struct inverse {
    const double *r;
    double *w; /* [n][n] */
    size_t n;
};

/* Above its own rows a column of W is 0. */
static void find_columns(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct inverse *inverse = context;
    const size_t n = inverse->n;
    const size_t first = item * COLUMNS;
    const size_t count = md_min(n - first, COLUMNS);
    for (size_t i = first; i < n; i++)
        for (size_t j = first; j < first + count; j++)
            inverse->w[i * n + j] = i == j;
    md_dtrsm_transposed(n - first, count, inverse->r + first * n + first, n,
                        inverse->w + first * n + first, n);
}

/* diagonal[n] of A^-1. */
static void inverse_diagonal(struct inverse *inverse, double *diagonal, size_t threads)
{
    const size_t n = inverse->n;
    md_parallel_for(threads, md_pieces(n, COLUMNS), find_columns, inverse);
    memset(diagonal, 0, n * sizeof *diagonal);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            diagonal[j] += inverse->w[i * n + j] * inverse->w[i * n + j];
}

static double sum_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

bool md_leave_one_out(double *a, size_t n, const double *y, size_t outputs, double *residual,
                      double *scratch, size_t threads)
{
    double *ones = scratch;
    double *diagonal = scratch + n;
    struct inverse inverse = {.r = a, .w = scratch + 2 * n, .n = n};
    if (!md_cholesky(a, n, threads))
        return false;
    for (size_t i = 0; i < n; i++)
        ones[i] = 1;
    md_cholesky_solve(a, n, ones); /* A^-1 1 */
    inverse_diagonal(&inverse, diagonal, threads);
    const double total = sum_of(ones, n);
    for (size_t i = 0; i < n; i++)
        diagonal[i] -= ones[i] * ones[i] / total;
    for (size_t o = 0; o < outputs; o++) {
        double *x = residual + o * n;
        memcpy(x, y + o * n, n * sizeof *x);
        md_cholesky_solve(a, n, x);
        const double bias = sum_of(x, n) / total;
        for (size_t i = 0; i < n; i++)
            x[i] = (x[i] - bias * ones[i]) / diagonal[i];
    }
    return true;
}
