/* SPDX-License-Identifier: BSD-3-Clause */
/* A panel of WIDTH rows of B is transposed, then multiplied with the rows of A, some at a time.
 * Sums stay in registers, one lane for each element, over DEPTH columns; those of the parts are
 * added in order. With few rows of B, the lanes of a register are terms of one element instead. At
 * the edges the last row is taken again for those that are not there, so every element goes the
 * same way. */
#include "linalg/products.h"

#include "base/size.h"
#include <stdbool.h>

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
#define LOOPS(name) avx_##name
#define TARGET      __attribute__((target("avx")))
#define LANES       8
#define HEIGHT      6
#define VECTORS     2
#include "linalg/product_loops.h"

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
    if (__builtin_cpu_supports("avx512f"))
        return &avx512_loops;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &avx2_loops;
    if (__builtin_cpu_supports("avx"))
        return &avx_loops;
#endif
    return &any_loops;
}

/* rows[count] of a matrix from `first` on, the last one for those beyond. */
static void list_rows(const float **rows, size_t count, const float *matrix, size_t stride,
                      size_t first, size_t end)
{
    for (size_t r = 0; r < count; r++)
        rows[r] = matrix + (first + r < end ? first + r : end - 1) * stride;
}

typedef float quad
    __attribute__((vector_size(4 * sizeof(float)), aligned(sizeof(float)), may_alias));

/* panel[e][j] = rows[j][e], in squares of four by four: few rows of A do not hide the time that
 * single elements take. */
static void transpose(const float *const *rows, size_t depth, float *panel)
{
    size_t e = 0;
    for (; e + 4 <= depth; e += 4)
        for (size_t j = 0; j < WIDTH; j += 4) {
            const quad a = *(const quad *)(rows[j] + e);
            const quad b = *(const quad *)(rows[j + 1] + e);
            const quad c = *(const quad *)(rows[j + 2] + e);
            const quad d = *(const quad *)(rows[j + 3] + e);
            const quad low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
            const quad low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
            const quad high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
            const quad high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
            float *to = panel + e * WIDTH + j;
            *(quad *)to = __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5);
            *(quad *)(to + WIDTH) = __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7);
            *(quad *)(to + 2 * WIDTH) = __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5);
            *(quad *)(to + 3 * WIDTH) = __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7);
        }
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
