/* SPDX-License-Identifier: BSD-3-Clause */
/* Dependency trees: every word of a sentence has a head, another word or the root, and from every
 * word the heads lead to the root. One word hangs from the root, or any number of them; where trees
 * are to be projective, no two arcs cross, the root standing left of all words. The parts are the
 * arcs; each wrong head costs 1. Parsing of this kind is due to McDonald, Pereira, Ribarov and
 * Hajic (2005). */
#include "structure/tree.h"

md_tree md_tree_of(md_shape shape, size_t length, const float *score)
{
    return (md_tree){.words = length,
                     .many_roots = shape.many_roots,
                     .projective = shape.projective,
                     .score = score};
}

/* ---- parts ---- */

static size_t part_count(md_shape shape, size_t length)
{
    (void)shape;
    return length * (length + 1);
}

static md_groups groups(md_shape shape, size_t length, md_part_kind kind)
{
    (void)shape;
    if (kind == MD_ROW_PARTS)
        return (md_groups){.width = length + 1, .count = length};
    return (md_groups){0};
}

static size_t parts_of(md_shape shape, size_t length, const int32_t *y, uint32_t *parts)
{
    (void)shape;
    for (size_t i = 0; i < length; i++)
        parts[i] = (uint32_t)(i * (length + 1) + (size_t)y[i]);
    return length;
}

/* ---- costs and counts ---- */

static void add_cost(md_shape shape, size_t length, const int32_t *gold, float *score)
{
    shape.labels = length + 1;
    md_add_hamming_cost(shape, length, gold, score);
}

/* Two or more words can hang from one another in a row, the first at the root or the last. */
static double most_cost(md_shape shape, size_t length)
{
    (void)shape;
    return length > 1 ? (double)length : 0;
}

/* log of n over k */
static double log_choose(size_t n, size_t k)
{
    double sum = 0;
    for (size_t i = 1; i <= k; i++)
        sum += log((double)(n - k + i) / (double)i);
    return sum;
}

/* Cayley's formula, and for projective trees those of Yuret (1998): ternary trees. */
static double log_outputs(md_shape shape, size_t length)
{
    const double n = (double)length;
    if (!shape.projective)
        return (n - 1) * log(shape.many_roots ? n + 1 : n);
    if (shape.many_roots)
        return log_choose(3 * length, length) - log(2 * n + 1);
    return log_choose(3 * length - 2, length - 1) - log(n);
}

/* ---- inference ---- */

size_t md_tree_decode_floats(md_shape shape, size_t words)
{
    return shape.projective ? md_tree_eisner_floats(words) : md_tree_spanning_floats(words);
}

void md_tree_decode(const md_tree *tree, int32_t *best, float *scratch)
{
    if (tree->projective)
        md_tree_eisner(tree, best, scratch);
    else
        md_tree_spanning(tree, best, scratch);
}

double md_tree_score(const md_tree *tree, const int32_t *heads)
{
    double score = 0;
    for (size_t word = 1; word <= tree->words; word++)
        score += md_tree_arc(tree, word, (size_t)heads[word - 1]);
    return score;
}

static size_t workspace_size(md_shape shape, size_t length)
{
    const size_t sum =
        shape.projective ? md_tree_inside_floats(length) : md_tree_sum_floats(length);
    const size_t output = md_chain_slice(length); /* of sum_of_one */
    const size_t decode = output + md_tree_decode_floats(shape, length);
    return MD_LANES + (decode > sum ? decode : sum);
}

static size_t best_workspace_size(md_shape shape, size_t length, size_t wanted)
{
    return MD_LANES + md_tree_best_floats(shape, length, wanted);
}

static double decode(md_shape shape, size_t length, const float *score, const int32_t *given,
                     int32_t *best, md_workspace *workspace)
{
    md_tree tree = md_tree_of(shape, length, score);
    tree.given = given;
    md_tree_decode(&tree, best, md_chain_align(workspace->values));
    return md_tree_score(&tree, best);
}

static double decode_with_cost(md_shape shape, size_t length, const float *score,
                               const int32_t *gold, int32_t *worst, md_workspace *workspace)
{
    md_tree tree = md_tree_of(shape, length, score);
    tree.gold = gold;
    md_tree_decode(&tree, worst, md_chain_align(workspace->values));
    return md_tree_score(&tree, worst);
}

static size_t decode_best(md_shape shape, size_t length, const float *score, size_t wanted,
                          int32_t *outputs, double *values, md_workspace *workspace)
{
    const md_tree tree = md_tree_of(shape, length, score);
    return md_tree_best(&tree, wanted, outputs, values, md_chain_align(workspace->values));
}

/* The limit of sums where scores are far apart: one tree has all the probability. */
static double sum_of_one(const md_tree *tree, float *marginal, float *scratch)
{
    const size_t width = tree->words + 1;
    int32_t *best = md_tree_take_whole(&scratch, tree->words);
    md_tree_spanning(tree, best, scratch);
    memset(marginal, 0, tree->words * width * sizeof *marginal);
    for (size_t i = 0; i < tree->words; i++)
        marginal[i * width + (size_t)best[i]] = 1;
    return md_tree_score(tree, best);
}

static double log_partition(md_shape shape, size_t length, const float *score, float *marginal,
                            md_workspace *workspace)
{
    const md_tree tree = md_tree_of(shape, length, score);
    float *scratch = md_chain_align(workspace->values);
    double value;
    if (tree.projective)
        return md_tree_inside_outside(&tree, marginal, scratch);
    if (md_tree_scaled_sum(&tree, marginal, scratch, &value) ||
        md_tree_log_sum(&tree, marginal, scratch, &value))
        return value;
    return sum_of_one(&tree, marginal, scratch);
}

const md_structure md_structure_tree = {
    .name = "tree",
    .summary = "dependency trees: a head for each word of a sentence",
    .part_count = part_count,
    .groups = groups,
    .workspace_size = workspace_size,
    .parts_of = parts_of,
    .parts_per_output = md_one_part_per_row,
    .decode = decode,
    .decode_best = decode_best,
    .best_workspace_size = best_workspace_size,
    .decode_with_cost = decode_with_cost,
    .add_cost = add_cost,
    .log_partition = log_partition,
    .cost = md_hamming_cost,
    .most_cost = most_cost,
    .log_outputs = log_outputs,
};
