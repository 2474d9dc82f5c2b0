/* SPDX-License-Identifier: BSD-3-Clause */
/* Times products of rows (linalg/products.h), whose elements do not depend on their place, beside
 * the BLAS library's SGEMM on one thread: few or many rows with 256 others, as tiles of kernel
 * values are made. Prints a table and one line of JSON.
 *
 *     bench_products */
#include "base/memory.h"
#include "base/random.h"
#include "linalg/blas.h"
#include "linalg/products.h"
#include <stdio.h>
#include <stdlib.h>

enum { OTHERS = 256, MOST_ROWS = 256, MOST_COLUMNS = 784 };
static const double LEAST_SECONDS = 0.05;

static float *left, *right, *out;

static void ours(size_t rows, size_t columns)
{
    md_multiply_rows(rows, OTHERS, columns, left, columns, right, columns, out, OTHERS);
}

static void gemm(size_t rows, size_t columns)
{
    md_gemm(rows, OTHERS, columns, 1, left, columns, right, OTHERS, 0, out, OTHERS);
}

/* Floating-point operations a second, in units of 10^9: the best of five. */
static double speed(void (*multiply)(size_t, size_t), size_t rows, size_t columns)
{
    double best = 0;
    for (int run = 0; run < 5; run++) {
        const double start = md_clock_seconds();
        size_t count = 0;
        double seconds = 0;
        do {
            multiply(rows, columns);
            count++;
            seconds = md_clock_seconds() - start;
        } while (seconds < LEAST_SECONDS);
        const double rate = 2e-9 * (double)(rows * OTHERS * columns * count) / seconds;
        best = rate > best ? rate : best;
    }
    return best;
}

int main(void)
{
    static const size_t sizes[] = {1, 4, 8, 16, 32, 64, 256};
    static const size_t widths[] = {16, 196, 784};
    md_random random;
    md_blas_single_thread();
    md_random_seed(&random, 1);
    left = md_calloc(MOST_ROWS * MOST_COLUMNS, sizeof *left);
    right = md_calloc(OTHERS * MOST_COLUMNS, sizeof *right);
    out = md_calloc(MOST_ROWS * OTHERS, sizeof *out);
    if (left == NULL || right == NULL || out == NULL)
        abort();
    for (size_t i = 0; i < (size_t)MOST_ROWS * MOST_COLUMNS; i++)
        left[i] = right[i] = (float)md_random_uniform(&random);
    printf("%6s %8s %12s %12s %8s   (10^9 operations a second; %d other rows)\n", "rows", "columns",
           "products", "sgemm", "ratio", OTHERS);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const double own = speed(ours, sizes[s], widths[w]);
            const double blas = speed(gemm, sizes[s], widths[w]);
            printf("%6zu %8zu %12.1f %12.1f %8.2f\n", sizes[s], widths[w], own, blas, own / blas);
            if (sizes[s] == MOST_ROWS && widths[w] == 196)
                printf("{\"bench\":\"products\",\"gflops\":%.1f,\"sgemm_gflops\":%.1f}\n", own,
                       blas);
        }
    free(left);
    free(right);
    free(out);
    return 0;
}
