/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops of products.c for one kind of processor: included once for each, after
 * LOOPS(name), the name of something for that kind, TARGET, its attribute, LANES of its vectors,
 * and HEIGHT and VECTORS: rows of A at a time and vectors of a row's sums, as many as there are
 * registers for. (The compiler divides vectors longer than the processor's badly.) */

typedef float LOOPS(lanes)
    __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef float LOOPS(terms)
    __attribute__((vector_size(TERMS(LANES) * sizeof(float)), aligned(sizeof(float)), may_alias));

/* C[HEIGHT][WIDTH] = rows times panel[depth][WIDTH], or += */
TARGET static void LOOPS(multiply_panel)(const float *const *rows, const float *panel, size_t depth,
                                         bool add, float *c, size_t ldc)
{
    for (size_t part = 0; part < WIDTH; part += LANES * VECTORS) {
        LOOPS(lanes) sum[HEIGHT][VECTORS];
        for (size_t r = 0; r < HEIGHT; r++)
            for (size_t v = 0; v < VECTORS; v++)
                sum[r][v] = (LOOPS(lanes)){0};
        for (size_t e = 0; e < depth; e++) {
            const LOOPS(lanes) *right = (const LOOPS(lanes) *)(panel + e * WIDTH + part);
            for (size_t r = 0; r < HEIGHT; r++)
                for (size_t v = 0; v < VECTORS; v++)
                    sum[r][v] += rows[r][e] * right[v];
        }
        for (size_t r = 0; r < HEIGHT; r++)
            for (size_t v = 0; v < VECTORS; v++) {
                LOOPS(lanes) *to = (LOOPS(lanes) *)(c + r * ldc + part) + v;
                if (add)
                    sum[r][v] += *to;
                *to = sum[r][v];
            }
    }
}

/* sums[HEIGHT] = rows[HEIGHT][depth] times b[depth] */
TARGET static void LOOPS(multiply_row)(const float *const *rows, const float *b, size_t depth,
                                       float *sums)
{
    LOOPS(terms) sum[HEIGHT];
    size_t e = 0;
    for (size_t r = 0; r < HEIGHT; r++)
        sum[r] = (LOOPS(terms)){0};
    for (; e + TERMS(LANES) <= depth; e += TERMS(LANES))
        for (size_t r = 0; r < HEIGHT; r++)
            sum[r] += *(const LOOPS(terms) *)(rows[r] + e) * *(const LOOPS(terms) *)(b + e);
    for (size_t r = 0; r < HEIGHT; r++) {
        sums[r] = 0;
        for (size_t rest = e; rest < depth; rest++)
            sums[r] += rows[r][rest] * b[rest];
        for (size_t l = 0; l < TERMS(LANES); l++)
            sums[r] += sum[r][l];
    }
}

static const struct loops LOOPS(loops) = {HEIGHT, LOOPS(multiply_panel), LOOPS(multiply_row)};

#undef LOOPS
#undef TARGET
#undef LANES
#undef HEIGHT
#undef VECTORS
