/* SPDX-License-Identifier: BSD-3-Clause */
/* The trivial structure: an output is one label, its only part. An example of several rows is so
 * many independent labels. */
#include "structure/structure.h"

#include <math.h>

static size_t part_count(md_shape shape, size_t length)
{
    return length * shape.labels;
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

static size_t parts_per_output(md_shape shape, size_t length)
{
    (void)shape;
    return length;
}

static double decode(md_shape shape, size_t length, const float *score, int32_t *best,
                     md_workspace *workspace)
{
    (void)workspace;
    double total = 0;
    for (size_t i = 0; i < length; i++) {
        const float *row = score + i * shape.labels;
        size_t top = 0;
        for (size_t l = 1; l < shape.labels; l++)
            if (row[l] > row[top])
                top = l;
        best[i] = (int32_t)top;
        total += (double)row[top];
    }
    return total;
}

/* Every label but the right one costs 1. */
static double decode_with_cost(md_shape shape, size_t length, const float *score,
                               const int32_t *gold, int32_t *worst, md_workspace *workspace)
{
    (void)workspace;
    double total = 0;
    for (size_t i = 0; i < length; i++) {
        const float *row = score + i * shape.labels;
        size_t top = (size_t)gold[i];
        double value = (double)row[top];
        for (size_t l = 0; l < shape.labels; l++) {
            const double augmented = (double)row[l] + (l == (size_t)gold[i] ? 0 : 1);
            if (augmented > value) {
                value = augmented;
                top = l;
            }
        }
        worst[i] = (int32_t)top;
        total += value;
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
            most = fmax(most, (double)row[l]);
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

static double cost(md_shape shape, size_t length, const int32_t *y, const int32_t *gold)
{
    (void)shape;
    double wrong = 0;
    for (size_t i = 0; i < length; i++)
        wrong += y[i] != gold[i];
    return wrong;
}

static double most_cost(md_shape shape, size_t length)
{
    return shape.labels > 1 ? (double)length : 0;
}

static double log_outputs(md_shape shape, size_t length)
{
    return (double)length * log((double)shape.labels);
}

extern const md_structure md_structure_multiclass;
const md_structure md_structure_multiclass = {
    .name = "multiclass",
    .summary = "one label per row",
    .part_count = part_count,
    .workspace_size = workspace_size,
    .parts_of = parts_of,
    .parts_per_output = parts_per_output,
    .decode = decode,
    .decode_with_cost = decode_with_cost,
    .log_partition = log_partition,
    .cost = cost,
    .most_cost = most_cost,
    .log_outputs = log_outputs,
};
