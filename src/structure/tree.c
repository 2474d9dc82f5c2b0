/* SPDX-License-Identifier: BSD-3-Clause */
/* Dependency trees: every word of a sentence has a head, another word or the root, and from every
 * word the heads lead to the root. One word hangs from the root, or any number of them; where trees
 * are to be projective, no two arcs cross, the root standing left of all words. The parts are the
 * arcs; each wrong head costs 1. Parsing of this kind is due to McDonald, Pereira, Ribarov and
 * Hajic (2005). */
#include "structure/tree.h"

md_tree md_tree_of(md_shape shape, size_t length, const float *score)
{
    md_tree tree = {.words = length,
                    .many_roots = shape.many_roots,
                    .projective = shape.projective,
                    .score = score};
    if (shape.heads != NULL)
        tree.sentence = md_heads_sentence(shape.heads, shape.row, length);
    return tree;
}

/* ---- parts ---- */

static bool has_second(md_shape shape)
{
    return shape.heads != NULL && shape.heads->sibling != NULL;
}

/* Parts of second order; of any sentence: as many as one can have. */
static md_sentence sentence_of(md_shape shape, size_t length)
{
    if (!has_second(shape))
        return (md_sentence){0};
    if (shape.row == MD_ANY_ROW)
        return (md_sentence){.siblings = shape.heads->most_siblings,
                             .grands = shape.heads->most_grands};
    return md_heads_sentence(shape.heads, shape.row, length);
}

static size_t part_count(md_shape shape, size_t length)
{
    const md_sentence sentence = sentence_of(shape, length);
    return length * (length + 1) + sentence.siblings + sentence.grands;
}

static md_groups groups(md_shape shape, size_t length, md_part_kind kind)
{
    const md_sentence sentence = sentence_of(shape, length);
    const size_t arcs = length * (length + 1);
    if (kind == MD_ROW_PARTS)
        return (md_groups){.width = length + 1, .count = length};
    if (kind == MD_SIBLING_PARTS && has_second(shape))
        return (md_groups){.first = arcs, .width = sentence.siblings, .count = 1};
    if (kind == MD_GRAND_PARTS && has_second(shape))
        return (md_groups){.first = arcs + sentence.siblings, .width = sentence.grands, .count = 1};
    return (md_groups){0};
}

static size_t parts_of(md_shape shape, size_t length, const int32_t *y, uint32_t *parts)
{
    for (size_t i = 0; i < length; i++)
        parts[i] = (uint32_t)(i * (length + 1) + (size_t)y[i]);
    if (!has_second(shape))
        return length;
    const md_sentence sentence = sentence_of(shape, length);
    const size_t count = md_tree_second_of(&sentence, y, parts + length);
    for (size_t i = 0; i < count; i++)
        parts[length + i] += (uint32_t)(length * (length + 1));
    return length + count;
}

static size_t parts_per_output(md_shape shape, size_t length)
{
    return has_second(shape) ? 4 * length : length;
}

static bool approximates(md_shape shape)
{
    return shape.order == 2 || shape.pruned;
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
    const size_t arcs = shape.heads != NULL ? md_chain_slice(words * (words + 1)) : 0;
    if (has_second(shape))
        return md_tree_climb_floats(words);
    return arcs +
           (shape.projective ? md_tree_eisner_floats(words) : md_tree_spanning_floats(words));
}

void md_tree_decode(const md_tree *tree, int32_t *best, float *scratch)
{
    md_tree arcs = *tree;
    if (md_tree_has_second(tree)) {
        md_tree_climb(tree, best, scratch);
        return;
    }
    if (tree->sentence.heads != NULL) {
        float *score = md_chain_take(&scratch, tree->words * (tree->words + 1));
        md_tree_fill_heads(tree, 0, score);
        arcs.score = score;
    }
    if (tree->projective)
        md_tree_eisner(&arcs, best, scratch);
    else
        md_tree_spanning(&arcs, best, scratch);
}

double md_tree_score(const md_tree *tree, const int32_t *heads)
{
    double score = 0;
    for (size_t word = 1; word <= tree->words; word++)
        score += md_tree_arc(tree, word, (size_t)heads[word - 1]);
    return md_tree_has_second(tree) ? score + md_tree_second_score(tree, heads) : score;
}

void md_tree_fill_heads(const md_tree *tree, double low, float *score)
{
    const size_t width = tree->words + 1;
    const md_sentence *sentence = &tree->sentence;
    double most = 0;
    for (size_t m = 1; m <= tree->words; m++)
        for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1); a++)
            most = fmax(most, fabs((double)md_tree_row(tree, m)[sentence->heads->head[a]]));
    for (size_t m = 1; m <= tree->words; m++) {
        const float *from = md_tree_row(tree, m);
        float *row = score + (m - 1) * width;
        float top = -INFINITY;
        for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1); a++)
            top = fmaxf(top, from[sentence->heads->head[a]]);
        const float none =
            low > 0 ? top - (float)low : (float)(-2 * (double)tree->words * (most + 2));
        for (size_t h = 0; h < width; h++)
            row[h] = none;
        for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1); a++)
            row[sentence->heads->head[a]] = from[sentence->heads->head[a]];
    }
}

static size_t workspace_size(md_shape shape, size_t length)
{
    const size_t sum =
        shape.projective ? md_tree_inside_floats(length) : md_tree_sum_floats(length);
    const size_t output = md_chain_slice(length); /* of sum_of_one */
    const size_t decode = output + md_tree_decode_floats(shape, length);
    if (shape.heads != NULL) {
        return MD_LANES + md_max(decode, md_tree_field_floats(length) + output +
                                             md_max(sum, md_tree_spanning_floats(length)));
    }
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

double md_tree_sum(const md_tree *tree, float *marginal, float *scratch)
{
    double value;
    if (tree->projective)
        return md_tree_inside_outside(tree, marginal, scratch);
    if (md_tree_scaled_sum(tree, marginal, scratch, &value) ||
        md_tree_log_sum(tree, marginal, scratch, &value))
        return value;
    return sum_of_one(tree, marginal, scratch);
}

static double log_partition(md_shape shape, size_t length, const float *score, float *marginal,
                            md_workspace *workspace)
{
    const md_tree tree = md_tree_of(shape, length, score);
    float *scratch = md_chain_align(workspace->values);
    return tree.sentence.heads != NULL ? md_tree_field(&tree, marginal, scratch)
                                       : md_tree_sum(&tree, marginal, scratch);
}

const md_structure md_structure_tree = {
    .name = "tree",
    .summary = "dependency trees: a head for each word of a sentence",
    MD_STRUCTURE_FUNCTIONS,
    MD_K_BEST,
    .parts_per_output = parts_per_output,
    .approximates = approximates,
    .add_cost = add_cost,
    .most_cost = most_cost,
    .log_outputs = log_outputs,
};
