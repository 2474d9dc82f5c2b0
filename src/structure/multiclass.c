/* SPDX-License-Identifier: BSD-3-Clause */
/* The trivial structure: an output is one label, its only part. An example of several rows is so
 * many independent labels. */
#include "structure/chain.h"

static size_t part_count(md_shape shape, size_t length)
{
    return length * shape.labels;
}

static md_groups groups(md_shape shape, size_t length, md_part_kind kind)
{
    if (kind == MD_ROW_PARTS)
        return (md_groups){.width = shape.labels, .count = length};
    return (md_groups){0};
}

static size_t workspace_size(md_shape shape, size_t length)
{
    (void)shape;
    (void)length;
    return 0;
}

static size_t parts_of(md_shape shape, size_t length, const int32_t *y, uint32_t *parts)
{
    for (size_t i = 0; i < length; i++)
        parts[i] = (uint32_t)(i * shape.labels + (size_t)y[i]);
    return length;
}

static double decode(md_shape shape, size_t length, const float *score, const int32_t *given,
                     int32_t *best, md_workspace *workspace)
{
    (void)workspace;
    double total = 0;
    for (size_t i = 0; i < length; i++) {
        const float *row = score + i * shape.labels;
        const bool known = given != NULL && given[i] >= 0;
        size_t top = known ? (size_t)given[i] : 0;
        for (size_t l = 1; l < shape.labels && !known; l++)
            if (row[l] > row[top])
                top = l;
        best[i] = (int32_t)top;
        total += (double)row[top];
    }
    return total;
}

/* The best outputs of several rows: those of a chain without pairs. */
static md_shape without_pairs(md_shape shape)
{
    return (md_shape){.labels = shape.labels};
}

static size_t best_workspace_size(md_shape shape, size_t length, size_t wanted)
{
    return MD_LANES + md_chain_best_floats(without_pairs(shape), length, wanted);
}

static size_t decode_best(md_shape shape, size_t length, const float *score, size_t wanted,
                          int32_t *outputs, double *values, md_workspace *workspace)
{
    const md_chain chain = md_chain_of(without_pairs(shape), length, score);
    return md_chain_best(&chain, wanted, outputs, values, md_chain_align(workspace->values));
}

/* Every label but the right one costs 1. */
static double decode_with_cost(md_shape shape, size_t length, const float *score,
                               const int32_t *gold, int32_t *worst, md_workspace *workspace)
{
    (void)workspace;
    double total = 0;
    for (size_t i = 0; i < length; i++) {
        const float *row = score + i * shape.labels;
        const size_t right = (size_t)gold[i];
        float most = -INFINITY; /* of the wrong ones; found without branches, which are a guess */
        for (size_t l = 0; l < right; l++)
            most = row[l] > most ? row[l] : most;
        for (size_t l = right + 1; l < shape.labels; l++)
            most = row[l] > most ? row[l] : most;
        size_t top = right;
        if ((double)most + 1 > (double)row[right])
            for (top = 0; top == right || row[top] != most;)
                top++;
        worst[i] = (int32_t)top;
        total += top == right ? (double)row[right] : (double)most + 1;
    }
    return total;
}

static double log_partition(md_shape shape, size_t length, const float *score, float *marginal,
                            md_workspace *workspace)
{
    (void)workspace;
    double total = 0;
    for (size_t i = 0; i < length; i++) {
        const float *row = score + i * shape.labels;
        float *probability = marginal + i * shape.labels;
        double most = (double)row[0];
        for (size_t l = 1; l < shape.labels; l++)
            most = md_larger(most, (double)row[l]);
        double sum = 0;
        for (size_t l = 0; l < shape.labels; l++)
            sum += exp((double)row[l] - most);
        const double log_sum = most + log(sum);
        for (size_t l = 0; l < shape.labels; l++)
            probability[l] = (float)exp((double)row[l] - log_sum);
        total += log_sum;
    }
    return total;
}

const md_structure md_structure_multiclass = {
    .name = "multiclass",
    .summary = "one label per row",
    MD_STRUCTURE_FUNCTIONS,
    MD_K_BEST,
    MD_LABELLING,
    .parts_per_output = md_one_part_per_row,
    .most_cost = md_most_hamming_cost,
};
