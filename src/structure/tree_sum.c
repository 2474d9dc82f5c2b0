/* SPDX-License-Identifier: BSD-3-Clause */
/* log sum exp over all trees and the probabilities of arcs in O(words^3): the matrix-tree theorem,
 * with an elimination that never subtracts (Grassmann, Taksar and Heyman 1985), so that it loses
 * no digits however close to singular the matrix is.
 *
 * A[i][j] is the weight of the arc from head j to word i. Taking word k away leaves
 *
 *   p_k = sum_{j<k} A[k][j],     A[i][j] += A[i][k] A[k][j] / p_k     (i, j < k, i != j)
 *
 * a graph whose trees weigh p_k times less, with ways through k as arcs. Any number of roots: the
 * root is j = 0 and remains, log Z = sum_k log p_k. One root: words are taken away without the root
 * until the first is left; the trees below word k weigh x_k times those below the first,
 *
 *   x_1 = 1,  x_k = sum_{j<k} x_j A[j][k] / p_k,     log Z = sum_{k>1} log p_k + log sum_k w_k x_k
 *
 * with the weights w of arcs from the root. The slopes of log Z in A, by going back through all
 * this, times A are the probabilities. Here only the slope in p_k is a difference, of terms whose
 * products with arcs are expected counts; so probabilities have small absolute errors.
 *
 * Each row is divided by its largest weight. If no weight is then below
 * exp(-RANGE), nothing here overflows or vanishes: weights only grow, up to the number of words,
 * and x lies between exp(-RANGE) / words and its inverse. */
#include "base/exp.h"
#include "base/vector.h"
#include "structure/tree_elimination.h"

static const double RANGE = 230; /* 1e-100 */

size_t md_tree_sum_floats(size_t words)
{
    return 2 * (2 * (words + 1) + 7) * md_tree_stride(words + 1);
}

/* ---- weights ---- */

struct range {
    float least, most;
};

MD_VECTOR(struct range, tree_row_range, (const float *score, size_t count), (score, count))
{
    float least = INFINITY;
    float most = -INFINITY;
#pragma omp simd reduction(min : least) reduction(max : most)
    for (size_t h = 0; h < count; h++) {
        least = score[h] < least ? score[h] : least;
        most = score[h] > most ? score[h] : most;
    }
    return (struct range){least, most};
}

MD_VECTOR_VOID(tree_row_weights,
               (const float *restrict score, double top, size_t count, double *restrict weight),
               (score, top, count, weight))
{
#pragma omp simd
    for (size_t h = 0; h < count; h++)
        weight[h] = md_exp_double((double)score[h] - top);
}

/* Weights of a row of arcs. False if they are too far apart. */
static bool weigh_row(md_tree_elimination *e, size_t word)
{
    const float *score = md_tree_row(e->tree, word);
    double *arc = e->arc + word * e->stride;
    const struct range left = tree_row_range(score + e->last, word - e->last);
    const struct range right = tree_row_range(score + word + 1, e->words - word);
    const double most = fmax((double)left.most, (double)right.most);
    const double least = fmin((double)left.least, (double)right.least);
    e->top[word] = e->words > e->last ? most : 0;
    if (e->words > e->last && !(most - least <= RANGE))
        return false;
    tree_row_weights(score, e->top[word], e->words + 1, arc);
    for (size_t h = e->words + 1; h < e->stride; h++)
        arc[h] = 0;
    arc[word] = 0;
    if (e->last == 1)
        arc[0] = 0;
    return true;
}

/* Weights of arcs from the root, where it has one; returns the logarithm of what they were divided
 * by. The word below the root has no other head, so that its row is not in the tree. */
static double weigh_root(md_tree_elimination *e)
{
    double most = -INFINITY;
    for (size_t word = 1; word <= e->words; word++) {
        e->root[word] = (double)md_tree_row(e->tree, word)[0] - e->top[word];
        most = md_larger(most, e->root[word]);
    }
    for (size_t word = 1; word <= e->words; word++)
        e->root[word] = exp(e->root[word] - most);
    return most;
}

/* ---- there ---- */

/* A[k][j] / p_k for j < k, and 0 up to whole lanes: columns behind k then stay as they are. */
static size_t go_onward(md_tree_elimination *e, size_t k)
{
    const double *arc = e->arc + k * e->stride;
    const size_t width = md_tree_stride(k);
    for (size_t j = 0; j < k; j++)
        e->onward[j] = arc[j] / e->pivot[k];
    for (size_t j = k; j < width; j++)
        e->onward[j] = 0;
    return width;
}

MD_VECTOR_VOID(tree_bridge,
               (double *restrict arc, size_t stride, size_t k, size_t width,
                const double *restrict onward),
               (arc, stride, k, width, onward))
{
    for (size_t i = 1; i < k; i++) {
        double *row = arc + i * stride;
        const double weight = row[k];
#pragma omp simd
        for (size_t j = 0; j < width; j++)
            row[j] += weight * onward[j];
    }
}

static double eliminate(md_tree_elimination *e)
{
    double log_product = 0;
    for (size_t k = e->words; k > e->last; k--) {
        double sum = 0;
        for (size_t j = 0; j < k; j++)
            sum += e->arc[k * e->stride + j];
        e->pivot[k] = sum;
        log_product += log(sum);
        const size_t width = go_onward(e, k);
        tree_bridge(e->arc, e->stride, k, width, e->onward);
    }
    return log_product;
}

/* ---- one root: trees below each word ---- */

/* Fills x and the slopes in it; returns the weight of all trees, those below word 1 being 1. */
static double tie_roots(md_tree_elimination *e)
{
    double total = 0;
    for (size_t k = 1; k <= e->words; k++)
        e->tie[k] = k == 1 ? 1 : 0;
    for (size_t j = 1; j <= e->words; j++) {
        const double *row = e->arc + j * e->stride;
        if (j > 1)
            e->tie[j] /= e->pivot[j];
        total += e->root[j] * e->tie[j];
#pragma omp simd
        for (size_t k = j + 1; k <= e->words; k++)
            e->tie[k] += e->tie[j] * row[k];
    }
    e->pivot[1] = 1; /* not used, but divided by */
    for (size_t k = e->words; k >= 1; k--) {
        const double *row = e->arc + k * e->stride;
        double slope = e->root[k] / total;
#pragma omp simd reduction(+ : slope)
        for (size_t m = k + 1; m <= e->words; m++)
            slope += e->pull[m] * row[m];
        e->pull[k] = slope / e->pivot[k];
    }
    return total;
}

/* ---- and back ---- */

/* Slopes in A[i][k], and those in A[k][j] by way of arcs that went through k. */
MD_VECTOR_VOID(tree_trace_back, (const md_tree_elimination *e, size_t k, size_t width),
               (e, k, width))
{
    const double *restrict onward = e->onward;
    double *restrict through = e->through;
    for (size_t j = 0; j < width; j++)
        through[j] = 0;
    for (size_t i = 1; i < k; i++) {
        double *restrict slope = e->slope + i * e->stride;
        const double weight = e->arc[i * e->stride + k] / e->pivot[k];
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t j = 0; j < width; j++) {
            sum += slope[j] * onward[j];
            through[j] += slope[j] * weight;
        }
        slope[k] = sum;
    }
}

static void go_back(md_tree_elimination *e)
{
    for (size_t i = 0; i < (e->words + 1) * e->stride; i++)
        e->slope[i] = 0;
    for (size_t k = e->last + 1; k <= e->words; k++) {
        const size_t width = go_onward(e, k);
        const double *arc = e->arc + k * e->stride;
        double *slope = e->slope + k * e->stride;
        tree_trace_back(e, k, width);
        double rest = 1;
        for (size_t j = 0; j < k; j++)
            rest -= arc[j] * e->through[j];
        if (e->last == 1) {
            rest -= e->pull[k] * e->pivot[k] * e->tie[k];
            for (size_t i = 1; i < k; i++)
                e->slope[i * e->stride + k] += e->pull[k] * e->tie[i];
        }
        for (size_t j = 0; j < k; j++)
            slope[j] = e->through[j] + rest / e->pivot[k];
    }
}

/* Slopes times weights, which are computed again: those in A have changed. */
MD_VECTOR_VOID(tree_write_marginals,
               (const float *restrict score, double top, size_t count, const double *restrict slope,
                float *restrict marginal),
               (score, top, count, slope, marginal))
{
#pragma omp simd
    for (size_t h = 0; h < count; h++) {
        double p = slope[h] * md_exp_double((double)score[h] - top);
        p = p < 0 ? 0 : p;
        p = p > 1 ? 1 : p;
        marginal[h] = (float)p;
    }
}

bool md_tree_scaled_sum(const md_tree *tree, float *marginal, float *scratch, double *log_sum)
{
    md_tree_elimination e = md_tree_elimination_of(tree, scratch);
    const size_t width = tree->words + 1;
    double total = 1;
    double sum = 0;
    for (size_t word = 1; word <= tree->words; word++) {
        if (!weigh_row(&e, word))
            return false;
        sum += e.top[word];
    }
    sum += eliminate(&e);
    if (!tree->many_roots) {
        sum += weigh_root(&e);
        total = tie_roots(&e);
        sum += log(total);
    }
    if (!isfinite(sum))
        return false;
    go_back(&e);
    for (size_t word = 1; word <= tree->words; word++) {
        float *row = marginal + (word - 1) * width;
        tree_write_marginals(md_tree_row(tree, word), e.top[word], width, e.slope + word * e.stride,
                             row);
        if (!tree->many_roots)
            row[0] = (float)fmin(e.root[word] * e.tie[word] / total, 1);
        row[word] = 0;
    }
    *log_sum = sum;
    return true;
}
