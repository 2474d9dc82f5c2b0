/* SPDX-License-Identifier: BSD-3-Clause */
/* A block of left rows belongs to one thread, which adds up its scores tile by tile in a fixed
 * order. Flops of n left against s right rows of d columns, f kernels, L labels: 2 n s d products,
 * n s f maps, 2 n s L f to add up. */
#include "gram/apart.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "gram/tile.h"
#include "linalg/blas.h"
#include <stdlib.h>

/* Rows of a block: enough for products at full speed, few enough for several threads. */
enum { HEIGHT = 64 };

struct apart {
    const md_cross *cross;
    const md_expansion *terms;
    size_t labels;
    size_t *term_of;          /* [kernels] the term of each that is wanted */
    bool *wanted;             /* [kernels] */
    md_tile_scratch *scratch; /* [threads] */
    float *const *scores;
};

static void add_term(void *context, size_t m, const md_tile_values *tile)
{
    const struct apart *apart = context;
    const size_t t = apart->term_of[m];
    const size_t labels = apart->labels;
    md_gemm(tile->rows, labels, tile->columns, 1, tile->values, tile->stride,
            apart->terms[t].coefficient + tile->column * labels, labels, 1,
            apart->scores[t] + tile->row * labels, labels);
}

static void score_rows(void *context, size_t item, size_t worker)
{
    struct apart *apart = context;
    const md_cross *cross = apart->cross;
    const md_tile_sink sink = {.context = apart, .take = add_term};
    const md_tile_job job = {.bank = cross->bank,
                             .left = cross->left,
                             .right = cross->right,
                             .wanted = apart->wanted,
                             .sink = &sink};
    const size_t rows = cross->left->rows;
    const size_t columns = cross->right->rows;
    md_tile_range range = {.row = item * HEIGHT, .symmetric = cross->left == cross->right};
    range.rows = rows - range.row < HEIGHT ? rows - range.row : HEIGHT;
    for (range.column = 0; range.column < columns; range.column += MD_TILE) {
        range.columns = columns - range.column < MD_TILE ? columns - range.column : MD_TILE;
        md_tile_compute(&job, range, &apart->scratch[worker]);
    }
}

medley_status md_cross_scores_apart(const md_cross *cross, const md_expansion *terms,
                                    size_t term_count, size_t labels, float *const *scores,
                                    medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t kernels = cross->bank->count;
    const size_t threads = cross->threads ? cross->threads : 1;
    struct apart apart = {.cross = cross,
                          .terms = terms,
                          .labels = labels,
                          .term_of = md_calloc(kernels, sizeof *apart.term_of),
                          .wanted = md_calloc(kernels, sizeof *apart.wanted),
                          .scratch = md_calloc(threads, sizeof *apart.scratch),
                          .scores = scores};
    if (apart.term_of == NULL || apart.wanted == NULL || apart.scratch == NULL) {
        status = md_fail_memory(error, kernels * sizeof *apart.term_of);
        goto done;
    }
    for (size_t t = 0; t < threads; t++)
        MEDLEY_TRY(md_tile_scratch_init(&apart.scratch[t], cross->right, error));
    for (size_t t = 0; t < term_count; t++) {
        apart.term_of[terms[t].kernel] = t;
        apart.wanted[terms[t].kernel] = true;
    }
    md_blas_single_thread();
    md_parallel_for(threads, (cross->left->rows + HEIGHT - 1) / HEIGHT, score_rows, &apart);
done:
    for (size_t t = 0; apart.scratch != NULL && t < threads; t++)
        md_tile_scratch_clear(&apart.scratch[t]);
    free(apart.scratch);
    free(apart.term_of);
    free(apart.wanted);
    return status;
}
