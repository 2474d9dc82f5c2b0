/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences: a label for each row, and scores for pairs (order 1) and triples (order 2) of labels
 * of neighbouring rows and for the first and the last label. Pairs and triples are the same parts
 * at all rows, so that they may occur several times in an output; with local pairs each row but the
 * first has pairs of its own. Cost: rows that are wrong (Hamming). */
#include "base/vector.h"
#include "structure/chain_lanes.h"

md_chain_layout md_chain_layout_of(md_shape shape, size_t length)
{
    const size_t labels = shape.labels;
    md_chain_layout layout = {.pair = length * labels};
    layout.end = layout.pair;
    if (shape.order >= 1)
        layout.end += (shape.local_pairs ? length - 1 : 1) * labels * labels;
    layout.triple = layout.end + (shape.ends ? 2 * labels : 0);
    layout.count = layout.triple + (shape.order >= 2 ? labels * labels * labels : 0);
    return layout;
}

/* Short sequences have no triples or no pairs, whatever the shape says. */
static size_t true_order(md_shape shape, size_t length)
{
    const size_t order = shape.order < 2 ? shape.order : 2;
    return order < length ? order : length - 1;
}

md_chain md_chain_of(md_shape shape, size_t length, const float *score)
{
    const md_chain_layout layout = md_chain_layout_of(shape, length);
    return (md_chain){
        .length = length,
        .labels = shape.labels,
        .stride = md_chain_slice(shape.labels),
        .order = true_order(shape, length),
        .pair_step = shape.order >= 1 && shape.local_pairs ? shape.labels * shape.labels : 0,
        .row = score,
        .pair = shape.order >= 1 ? score + layout.pair : NULL,
        .triple = shape.order >= 2 ? score + layout.triple : NULL,
        .end = shape.ends ? score + layout.end : NULL,
    };
}

/* ---- scratch memory ---- */

MD_VECTOR_VOID(pad_rows,
               (const float *scores, size_t labels, size_t stride, size_t count, size_t step,
                float filler, float *padded),
               (scores, labels, stride, count, step, filler, padded))
{
    for (size_t i = 0; i < count; i++)
        for (size_t first = 0; first < stride; first += MD_LANES)
            md_lanes_fill(padded + i * stride + first, scores + i * step + first, labels - first,
                          filler);
}

void md_chain_pad(const md_chain *chain, const float *scores, size_t count, size_t step,
                  float filler, float *padded)
{
    pad_rows(scores, chain->labels, chain->stride, count, step, filler, padded);
}

void md_chain_turn(const md_chain *chain, const float *square, float *turned)
{
    const size_t stride = chain->stride;
    for (size_t i = 0; i < chain->labels; i++)
        for (size_t j = 0; j < chain->labels; j++)
            turned[i * stride + j] = square[j * stride + i];
}

/* ---- parts ---- */

static size_t part_count(md_shape shape, size_t length)
{
    return md_chain_layout_of(shape, length).count;
}

static md_groups groups(md_shape shape, size_t length, md_part_kind kind)
{
    const md_chain_layout layout = md_chain_layout_of(shape, length);
    const size_t labels = shape.labels;
    switch (kind) {
    case MD_ROW_PARTS:
        return (md_groups){.width = labels, .count = length};
    case MD_PAIR_PARTS:
        if (shape.order >= 1 && shape.local_pairs)
            return (md_groups){layout.pair, labels * labels, length - 1, 1};
        return (md_groups){layout.pair, labels * labels, shape.order >= 1, 0};
    case MD_TRIPLE_PARTS:
        return (md_groups){layout.triple, labels * labels * labels, shape.order >= 2, 0};
    case MD_END_PARTS:
        return (md_groups){layout.end, 2 * labels, shape.ends, 0};
    default:
        return (md_groups){0};
    }
}

static size_t parts_of(md_shape shape, size_t length, const int32_t *y, uint32_t *parts)
{
    const md_chain_layout layout = md_chain_layout_of(shape, length);
    const size_t order = true_order(shape, length);
    const size_t labels = shape.labels;
    const size_t step = shape.local_pairs ? labels * labels : 0;
    size_t count = 0;
    for (size_t t = 0; t < length; t++)
        parts[count++] = (uint32_t)(t * labels + (size_t)y[t]);
    for (size_t t = 1; t < length && order >= 1; t++) {
        const size_t pair = (size_t)y[t - 1] * labels + (size_t)y[t];
        parts[count++] = (uint32_t)(layout.pair + (t - 1) * step + pair);
    }
    if (shape.ends) {
        parts[count++] = (uint32_t)(layout.end + (size_t)y[0]);
        parts[count++] = (uint32_t)(layout.end + labels + (size_t)y[length - 1]);
    }
    for (size_t t = 2; t < length && order >= 2; t++) {
        const size_t pair = (size_t)y[t - 2] * labels + (size_t)y[t - 1];
        parts[count++] = (uint32_t)(layout.triple + pair * labels + (size_t)y[t]);
    }
    return count;
}

static size_t parts_per_output(md_shape shape, size_t length)
{
    const size_t order = true_order(shape, length);
    return length + (order >= 1 ? length - 1 : 0) + (order >= 2 ? length - 2 : 0) +
           (shape.ends ? 2 : 0);
}

/* ---- inference ---- */

static size_t workspace_size(md_shape shape, size_t length)
{
    const size_t decode = md_chain_decode_floats(shape, length);
    const size_t scaled = md_chain_scaled_floats(shape, length);
    const size_t logarithms = md_chain_log_floats(shape, length);
    const size_t sum = scaled > logarithms ? scaled : logarithms;
    return MD_LANES + (decode > sum ? decode : sum);
}

static size_t best_workspace_size(md_shape shape, size_t length, size_t wanted)
{
    return MD_LANES + md_chain_best_floats(shape, length, wanted);
}

static double score_of(const md_chain *chain, const int32_t *y)
{
    const size_t labels = chain->labels;
    double score = 0;
    for (size_t t = 0; t < chain->length; t++) {
        const size_t label = (size_t)y[t];
        score += md_chain_row_score(chain, t, label);
        if (chain->order >= 1 && t >= 1)
            score += (double)md_chain_pairs(chain, t)[(size_t)y[t - 1] * labels + label];
        if (chain->order >= 2 && t >= 2) {
            const size_t pair = (size_t)y[t - 2] * labels + (size_t)y[t - 1];
            score += (double)chain->triple[pair * labels + label];
        }
    }
    return score;
}

static double decode(md_shape shape, size_t length, const float *score, const int32_t *given,
                     int32_t *best, md_workspace *workspace)
{
    const md_chain chain = md_chain_of(shape, length, score);
    md_chain_decode(&chain, given, NULL, best, md_chain_align(workspace->values));
    return score_of(&chain, best);
}

static double decode_with_cost(md_shape shape, size_t length, const float *score,
                               const int32_t *gold, int32_t *worst, md_workspace *workspace)
{
    const md_chain chain = md_chain_of(shape, length, score);
    md_chain_decode(&chain, NULL, gold, worst, md_chain_align(workspace->values));
    return score_of(&chain, worst) + md_hamming_cost(shape, length, worst, gold);
}

static size_t decode_best(md_shape shape, size_t length, const float *score, size_t wanted,
                          int32_t *outputs, double *values, md_workspace *workspace)
{
    const md_chain chain = md_chain_of(shape, length, score);
    return md_chain_best(&chain, wanted, outputs, values, md_chain_align(workspace->values));
}

static double log_partition(md_shape shape, size_t length, const float *score, float *marginal,
                            md_workspace *workspace)
{
    const md_chain chain = md_chain_of(shape, length, score);
    const md_chain_layout layout = md_chain_layout_of(shape, length);
    const size_t labels = shape.labels;
    const md_chain_counts counts = {.row = marginal,
                                    .pair = marginal + layout.pair,
                                    .triple = marginal + layout.triple,
                                    .end = marginal + layout.end};
    float *scratch = md_chain_align(workspace->values);
    double value;
    for (size_t p = layout.pair; p < layout.count && chain.order < shape.order; p++)
        marginal[p] = 0; /* shared parts of which so short a sequence has none */
    if (!md_chain_scaled_sum(&chain, &counts, scratch, &value))
        value = md_chain_log_sum(&chain, &counts, scratch);
    for (size_t label = 0; label < labels && shape.ends; label++) {
        counts.end[label] = marginal[label];
        counts.end[labels + label] = marginal[(length - 1) * labels + label];
    }
    return value;
}

const md_structure md_structure_chain = {
    .name = "chain",
    .summary = "sequences: one label per row, neighbouring labels scored too",
    MD_STRUCTURE_FUNCTIONS,
    MD_K_BEST,
    MD_LABELLING,
    .parts_per_output = parts_per_output,
    .most_cost = md_most_hamming_cost,
};
