/* SPDX-License-Identifier: BSD-3-Clause */
/* A structure from outside: labels of rows, of which the first one of an example costs three times
 * as much as the others if it is wrong. Everything but the cost is that of multiclass. */
#include "structure/structure.h"

static const md_structure *const rows = &md_structure_multiclass;

static double price(size_t row)
{
    return row == 0 ? 3 : 1;
}

static size_t part_count(md_shape shape, size_t length)
{
    return rows->part_count(shape, length);
}

static md_groups groups(md_shape shape, size_t length, md_part_kind kind)
{
    return rows->groups(shape, length, kind);
}

static size_t workspace_size(md_shape shape, size_t length)
{
    return part_count(shape, length);
}

static size_t parts_of(md_shape shape, size_t length, const int32_t *y, uint32_t *parts)
{
    return rows->parts_of(shape, length, y, parts);
}

static size_t parts_per_output(md_shape shape, size_t length)
{
    return rows->parts_per_output(shape, length);
}

static double decode(md_shape shape, size_t length, const float *score, const int32_t *given,
                     int32_t *best, md_workspace *workspace)
{
    return rows->decode(shape, length, score, given, best, workspace);
}

static size_t decode_best(md_shape shape, size_t length, const float *score, size_t wanted,
                          int32_t *outputs, double *values, md_workspace *workspace)
{
    return rows->decode_best(shape, length, score, wanted, outputs, values, workspace);
}

static size_t best_workspace_size(md_shape shape, size_t length, size_t wanted)
{
    return rows->best_workspace_size(shape, length, wanted);
}

static double cost(md_shape shape, size_t length, const int32_t *y, const int32_t *gold)
{
    (void)shape;
    double sum = 0;
    for (size_t i = 0; i < length; i++)
        sum += y[i] != gold[i] ? price(i) : 0;
    return sum;
}

static double most_cost(md_shape shape, size_t length)
{
    return shape.labels > 1 ? 2 + (double)length : 0;
}

static void add_cost(md_shape shape, size_t length, const int32_t *gold, float *score)
{
    for (size_t i = 0; i < length; i++)
        for (size_t l = 0; l < shape.labels; l++)
            score[i * shape.labels + l] += l != (size_t)gold[i] ? (float)price(i) : 0;
}

/* In doubles, as the law has it. */
static double decode_with_cost(md_shape shape, size_t length, const float *score,
                               const int32_t *gold, int32_t *worst, md_workspace *workspace)
{
    (void)workspace;
    double total = 0;
    for (size_t i = 0; i < length; i++) {
        const float *row = score + i * shape.labels;
        worst[i] = gold[i];
        double value = (double)row[gold[i]];
        for (size_t l = 0; l < shape.labels; l++) {
            const double augmented = (double)row[l] + (l == (size_t)gold[i] ? 0 : price(i));
            if (augmented > value) {
                value = augmented;
                worst[i] = (int32_t)l;
            }
        }
        total += value;
    }
    return total;
}

static double log_partition(md_shape shape, size_t length, const float *score, float *marginal,
                            md_workspace *workspace)
{
    return rows->log_partition(shape, length, score, marginal, workspace);
}

const md_structure md_structure_lead = {
    .name = "lead",
    .summary = "labels of rows, the first of which matters most",
    .part_count = part_count,
    .groups = groups,
    .workspace_size = workspace_size,
    .parts_of = parts_of,
    .parts_per_output = parts_per_output,
    .decode = decode,
    .decode_best = decode_best,
    .best_workspace_size = best_workspace_size,
    .decode_with_cost = decode_with_cost,
    .add_cost = add_cost,
    .log_partition = log_partition,
    .cost = cost,
    .most_cost = most_cost,
    .log_outputs = md_log_labellings,
};
