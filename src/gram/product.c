/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes over whole kernel matrices, by blocks of rows that belong to one thread each: mixing
 * kernels, products with coefficients. */
#include "gram/gram_internal.h"

#include "base/parallel.h"
#include "linalg/blas.h"
#include <assert.h>

struct pass {
    md_gram *gram;
    size_t kernel, kernels; /* that take part: of the bank */
    const float *coefficient;
    size_t labels;
    float *out;
};

/* ---- mixing ---- */

struct mixing {
    md_gram *gram;
    const double *weight;
    size_t first; /* kernel whose matrix takes up the sum */
};

static void mix_rows(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct mixing *mixing = context;
    const md_gram *gram = mixing->gram;
    const size_t start = item * MD_TILE * gram->n;
    const size_t count = md_min(gram->n * gram->n - start, MD_TILE * gram->n);
    float *sum = gram->stored[mixing->first].full + start;
    const float own = (float)mixing->weight[mixing->first];
    for (size_t i = 0; i < count; i++)
        sum[i] *= own;
    for (size_t m = mixing->first + 1; m < gram->count; m++)
        if (gram->stored[m].full != NULL && mixing->weight[m] != 0)
            md_add_multiple(sum, (float)mixing->weight[m], gram->stored[m].full + start, count);
}

/* Diagonals follow the matrices; what has been added, or has no weight, is released. first: the
 * kernel that takes up the sum, or none. */
static void absorb(md_gram *gram, size_t first, size_t m, double weight)
{
    md_stored *stored = &gram->stored[m];
    gram->mix[m] = m == first ? 1 : 0;
    for (size_t i = 0; m == first && i < gram->n; i++)
        stored->diagonal[i] *= weight;
    if (m == first)
        return;
    for (size_t i = 0; weight != 0 && i < gram->n; i++)
        gram->stored[first].diagonal[i] += weight * stored->diagonal[i];
    if (gram->small == NULL) {
        free(stored->full);
        gram->bytes -= gram->n * gram->n * sizeof(float);
    }
    stored->full = NULL;
}

/* Full matrices are summed into one, so that a row of the mixture costs what a row of one kernel
 * costs; other kinds of storage are summed row by row when they are used. */
medley_status md_gram_mix(md_gram *gram, const double *weight, medley_error *error)
{
    assert(gram->mix == NULL);
    MEDLEY_TRY(md_new_copy(&gram->mix, weight, gram->count * sizeof *weight, error));
    struct mixing mixing = {.gram = gram, .weight = weight};
    while (mixing.first < gram->count &&
           (gram->stored[mixing.first].full == NULL || weight[mixing.first] == 0))
        mixing.first++;
    if (mixing.first < gram->count)
        md_parallel_for(gram->threads, md_pieces(gram->n, MD_TILE), mix_rows, &mixing);
    for (size_t m = 0; m < gram->count; m++)
        if (gram->stored[m].full != NULL)
            absorb(gram, mixing.first, m, weight[m]);
    return MEDLEY_OK;
}

/* ---- products ---- */

/* The same for a kernel whose rows are all alike: one sum serves them all. */
static void multiply_constant(const struct pass *pass, const float *same, float factor, size_t row,
                              size_t count)
{
    for (size_t l = 0; l < pass->labels; l++) {
        double sum = 0;
        for (size_t j = 0; j < pass->gram->n; j++)
            sum += (double)same[j] * (double)pass->coefficient[j * pass->labels + l];
        for (size_t r = row; r < row + count; r++)
            pass->out[r * pass->labels + l] += factor * (float)sum;
    }
}

/* out += factor K_m coefficient for some rows. */
static void multiply_rows(const struct pass *pass, size_t m, size_t row, size_t count)
{
    md_gram *gram = pass->gram;
    const float factor = gram->mix != NULL ? (float)gram->mix[m] : 1;
    const size_t labels = pass->labels;
    const md_matrix *k = &gram->stored[m].sparse;
    if (factor == 0)
        return;
    if (gram->stored[m].same != NULL) {
        multiply_constant(pass, gram->stored[m].same, factor, row, count);
        return;
    }
    if (k->start == NULL) {
        md_gemm(count, labels, gram->n, factor, md_gram_row(gram, m, row), gram->n,
                pass->coefficient, labels, 1, pass->out + row * labels, labels);
        return;
    }
    for (size_t r = row; r < row + count; r++)
        for (size_t e = k->start[r]; e < k->start[r + 1]; e++)
            md_add_multiple(pass->out + r * labels, factor * k->value[e],
                            pass->coefficient + (size_t)k->index[e] * labels, labels);
}

static void multiply_block(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct pass *pass = context;
    const size_t first = item * MD_TILE;
    const size_t rows = md_min(pass->gram->n - first, MD_TILE);
    for (size_t m = pass->kernel; m < pass->kernel + pass->kernels; m++)
        multiply_rows(pass, m, first, rows);
}

void md_gram_multiply(md_gram *gram, size_t m, const float *coefficient, size_t labels, float *out)
{
    const bool mixed = gram->mix != NULL; /* then kernel m is all of them together */
    struct pass pass = {.gram = gram,
                        .kernel = mixed ? 0 : m,
                        .kernels = mixed ? gram->count : 1,
                        .coefficient = coefficient,
                        .labels = labels,
                        .out = out};
    const size_t work = gram->n * pass.kernels * (labels + 1);
    md_parallel_for(md_gram_threads(gram, gram->n, work), md_pieces(gram->n, MD_TILE),
                    multiply_block, &pass);
}
