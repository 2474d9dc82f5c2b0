/* SPDX-License-Identifier: BSD-3-Clause */
/* A panel of WIDTH rows of B is transposed, then multiplied with the rows of A, some at a time.
 * Sums stay in registers, one lane for each element, over DEPTH columns; those of the parts are
 * added in order. With few rows of B, the lanes of a register are terms of one element instead. At
 * the edges the last row is taken again for those that are not there, so every element goes the
 * same way. */
#include "linalg/products.h"

#include "base/vector.h"
#include "linalg/transpose.h"

enum {
    WIDTH = 16,
    DEPTH = 256, /* a panel of 16 KB stays in the nearest cache */
    FEW = 8,     /* rows of B: a panel would be empty for the most part */
    HIGHEST = 8  /* rows of A that are taken at a time */
};

/* Terms of an element side by side: the same on all processors with longer vectors. */
#define TERMS(lanes) ((lanes) < 8 ? (lanes) : 8)

/* The inner loops: product_loops.h. */
struct loops {
    size_t height; /* rows of A at a time, at most HIGHEST */
    void (*multiply_panel)(const float *const *rows, const float *panel, size_t depth, bool add,
                           float *c, size_t ldc);
    void (*multiply_row)(const float *const *rows, const float *b, size_t depth, float *sums);
};

#define LOOPS(name) any_##name
#define TARGET
#define LANES   4
#define HEIGHT  6
#define VECTORS 2
#include "linalg/product_loops.h"

#ifdef __x86_64__
#define LOOPS(name) avx2_##name
#define TARGET      __attribute__((target("avx2,fma")))
#define LANES       8
#define HEIGHT      6
#define VECTORS     2
#include "linalg/product_loops.h"

#define LOOPS(name) avx512_##name
#define TARGET      __attribute__((target("avx512f")))
#define LANES       16
#define HEIGHT      8
#define VECTORS     1
#include "linalg/product_loops.h"
#endif

static const struct loops *choose_loops(void)
{
#ifdef __x86_64__
    if (md_vectors == MD_AVX512)
        return &avx512_loops;
    if (md_vectors == MD_AVX2)
        return &avx2_loops;
#endif
    return &any_loops;
}

/* rows[count] of a matrix from `first` on, the last one for those beyond. */
static void list_rows(const float **rows, size_t count, const float *matrix, size_t stride,
                      size_t first, size_t end)
{
    for (size_t r = 0; r < count; r++)
        rows[r] = matrix + md_min(first + r, end - 1) * stride;
}

/* panel[e][j] = rows[j][e], in squares: few rows of A do not hide the time that single elements
 * take. */
static void transpose(const float *const *rows, size_t depth, float *panel)
{
    size_t e = 0;
    for (; e + MD_SQUARE <= depth; e += MD_SQUARE)
        for (size_t j = 0; j < WIDTH; j += MD_SQUARE)
            md_transpose_square(panel + e * WIDTH + j, WIDTH, rows + j, e);
    for (; e < depth; e++)
        for (size_t j = 0; j < WIDTH; j++)
            panel[e * WIDTH + j] = rows[j][e];
}

/* C[m][columns] = A[m][depth] times the panel, or += */
static void multiply_panel(const float *panel, size_t depth, size_t columns, size_t m,
                           const float *a, size_t lda, bool add, float *c, size_t ldc)
{
    const struct loops *loops = choose_loops();
    for (size_t i = 0; i < m; i += loops->height) {
        const float *rows[HIGHEST];
        float edge[HIGHEST * WIDTH];
        list_rows(rows, loops->height, a, lda, i, m);
        if (columns == WIDTH && m - i >= loops->height) {
            loops->multiply_panel(rows, panel, depth, add, c + i * ldc, ldc);
            continue;
        }
        loops->multiply_panel(rows, panel, depth, false, edge, WIDTH);
        for (size_t r = 0; r < md_min(loops->height, m - i); r++)
            for (size_t j = 0; j < columns; j++)
                c[(i + r) * ldc + j] =
                    add ? c[(i + r) * ldc + j] + edge[r * WIDTH + j] : edge[r * WIDTH + j];
    }
}

static void multiply(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b,
                     size_t ldb, bool add, float *c, size_t ldc)
{
    size_t first = 0;
    do { /* once at least: without columns everything is 0 */
        const size_t depth = md_min(DEPTH, k - first);
        for (size_t j = 0; j < n; j += WIDTH) {
            const float *rows[WIDTH];
            _Alignas(64) float panel[DEPTH * WIDTH];
            list_rows(rows, WIDTH, b + first, ldb, j, n);
            transpose(rows, depth, panel);
            multiply_panel(panel, depth, md_min(WIDTH, n - j), m, a + first, lda, add || first > 0,
                           c + j, ldc);
        }
        first += DEPTH;
    } while (first < k);
}

void md_multiply_rows(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b,
                      size_t ldb, float *c, size_t ldc)
{
    multiply(m, n, k, a, lda, b, ldb, false, c, ldc);
}

void md_add_products(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b,
                     size_t ldb, float *c, size_t ldc)
{
    if (n >= FEW) {
        multiply(m, n, k, a, lda, b, ldb, true, c, ldc);
        return;
    }
    const struct loops *loops = choose_loops();
    for (size_t i = 0; i < m; i += loops->height) {
        const float *rows[HIGHEST];
        float sums[HIGHEST];
        list_rows(rows, loops->height, a, lda, i, m);
        for (size_t j = 0; j < n; j++) {
            loops->multiply_row(rows, b + j * ldb, k, sums);
            for (size_t r = 0; r < md_min(loops->height, m - i); r++)
                c[(i + r) * ldc + j] += sums[r];
        }
    }
}
