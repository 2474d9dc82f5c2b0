/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequence labelling as a program would bring it: labels of rows and pairs of neighbouring labels.
 * For tests and benchmarks that compare it with the chains of the library. */
#ifndef TESTS_STRUCTURE_CUSTOM_CHAIN_H
#define TESTS_STRUCTURE_CUSTOM_CHAIN_H

#include <math.h>
#include <medley/medley.h>
#include <string.h>

static inline size_t chain_shared(void *context, size_t labels)
{
    (void)context;
    return labels * labels;
}

static inline size_t chain_most(void *context, size_t length, size_t labels)
{
    (void)context;
    (void)labels;
    return length - 1;
}

static inline size_t chain_shared_of(void *context, const medley_example *x, const int32_t *y,
                                     uint32_t *parts)
{
    (void)context;
    for (size_t i = 1; i < x->length; i++)
        parts[i - 1] = (uint32_t)((size_t)y[i - 1] * x->labels + (size_t)y[i]);
    return x->length - 1;
}

static inline size_t chain_workspace(void *context, size_t length, size_t labels)
{
    (void)context;
    return 2 * (length + 2) * labels * sizeof(float);
}

/* Viterbi, by columns of the pairs so that the inner loop is over neighbours in memory. */
static inline int chain_decode(void *context, const medley_example *x, const float *score,
                               int32_t *y, void *workspace)
{
    (void)context;
    const size_t labels = x->labels;
    const float *pair = score + x->length * labels;
    float *value = workspace;
    int32_t *from = (int32_t *)workspace + x->length * labels;
    memcpy(value, score, labels * sizeof *value);
    for (size_t i = 1; i < x->length; i++) {
        float *now = value + i * labels;
        const float *before = now - labels;
        int32_t *back = from + i * labels;
        for (size_t l = 0; l < labels; l++) {
            now[l] = before[0] + pair[l];
            back[l] = 0;
        }
        for (size_t k = 1; k < labels; k++)
            for (size_t l = 0; l < labels; l++) {
                const float candidate = before[k] + pair[k * labels + l];
                const int better = candidate > now[l];
                now[l] = better ? candidate : now[l];
                back[l] = better ? (int32_t)k : back[l];
            }
        for (size_t l = 0; l < labels; l++)
            now[l] += score[i * labels + l];
    }
    const float *last = value + (x->length - 1) * labels;
    size_t top = 0;
    for (size_t l = 1; l < labels; l++)
        top = last[l] > last[top] ? l : top;
    for (size_t i = x->length; i-- > 0;) {
        y[i] = (int32_t)top;
        top = (size_t)from[i * labels + top];
    }
    return 0;
}

/* Forward and backward in logarithms. */
static inline double log_add(double a, double b)
{
    return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

static inline int chain_marginals(void *context, const medley_example *x, const float *score,
                                  float *marginal, double *value, void *workspace)
{
    (void)context;
    (void)workspace;
    enum { MOST = 64 * 64 };
    const size_t n = x->length;
    const size_t labels = x->labels;
    const float *pair = score + n * labels;
    double forward[MOST];
    double backward[MOST];
    if (n * labels > MOST)
        return 1;
    for (size_t l = 0; l < labels; l++) {
        forward[l] = (double)score[l];
        backward[(n - 1) * labels + l] = 0;
    }
    for (size_t i = 1; i < n; i++)
        for (size_t l = 0; l < labels; l++) {
            double sum = -INFINITY;
            for (size_t k = 0; k < labels; k++)
                sum = log_add(sum, forward[(i - 1) * labels + k] + (double)pair[k * labels + l]);
            forward[i * labels + l] = sum + (double)score[i * labels + l];
        }
    for (size_t i = n - 1; i-- > 0;)
        for (size_t k = 0; k < labels; k++) {
            double sum = -INFINITY;
            for (size_t l = 0; l < labels; l++)
                sum = log_add(sum, (double)pair[k * labels + l] +
                                       (double)score[(i + 1) * labels + l] +
                                       backward[(i + 1) * labels + l]);
            backward[i * labels + k] = sum;
        }
    double total = -INFINITY;
    for (size_t l = 0; l < labels; l++)
        total = log_add(total, forward[(n - 1) * labels + l]);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < labels; l++) {
            const size_t at = i * labels + l;
            marginal[at] = (float)exp(forward[at] + backward[at] - total);
            for (size_t k = 0; i > 0 && k < labels; k++)
                marginal[n * labels + k * labels + l] +=
                    (float)exp(forward[at - l - labels + k] + (double)pair[k * labels + l] +
                               (double)score[at] + backward[at] - total);
        }
    *value = total;
    return 0;
}

/* The same for many examples at a time, one after another. */
static inline int chain_infer(void *context, medley_inference *const *wanted, size_t count)
{
    static _Thread_local float room[1 << 18];
    for (size_t i = 0; i < count; i++) {
        const medley_inference *w = wanted[i];
        const size_t rows = w->example.length * w->example.labels;
        if (w->marginal != NULL) {
            if (chain_marginals(context, &w->example, w->score, w->marginal, w->value, NULL) != 0)
                return 1;
            continue;
        }
        float augmented[1 << 14];
        memcpy(augmented, w->score,
               (rows + w->example.labels * w->example.labels) * sizeof *augmented);
        for (size_t r = 0; r < w->example.length && w->gold != NULL; r++)
            for (size_t l = 0; l < w->example.labels; l++)
                augmented[r * w->example.labels + l] += (int32_t)l != w->gold[r];
        if (chain_decode(context, &w->example, augmented, w->output, room) != 0)
            return 1;
    }
    return 0;
}

static inline medley_structure chain_structure(void)
{
    return (medley_structure){.struct_size = sizeof(medley_structure),
                              .name = "own-chain",
                              .shared_parts = chain_shared,
                              .most_shared = chain_most,
                              .shared_of = chain_shared_of,
                              .decode = chain_decode,
                              .marginals = chain_marginals,
                              .workspace_bytes = chain_workspace};
}

static inline medley_structure chain_structure_of_many(void)
{
    medley_structure structure = chain_structure();
    medley_structure_neighbours(&structure);
    structure.decode = NULL;
    structure.marginals = NULL;
    structure.infer = chain_infer;
    structure.can_infer_marginals = true;
    return structure;
}

#endif
