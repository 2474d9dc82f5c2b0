/* SPDX-License-Identifier: BSD-3-Clause */
/* The chart of projective trees in O(words^3) (Eisner 1996). Spans of words s .. t, with a head at
 * one end and the half of its tree that lies in the span:
 *
 *   arc[h][d]    with an arc between the ends: the arc's own and J_u right[s][u], left[u+1][t]
 *   right[s][t]  complete, head s              J_u arc[s][u], right[u][t]
 *   left[s][t]   complete, head t              J_u left[s][u], arc[t][u]
 *
 * where the join J over all u is the largest sum, the sum of products, or log sum exp of sums.
 * right and left are kept with both orders of their ends, so that all that is joined lies in rows.
 * The root stands left of all words: where just one word hangs from it, that word has all to its
 * left and all to its right below it.
 *
 * Everything is built into MD_VECTOR functions, once for each join. */
#ifndef MD_TREE_CHART_H
#define MD_TREE_CHART_H

#include "base/exp.h"
#include "structure/chain_lanes.h"
#include "structure/tree.h"

typedef enum md_join { MD_JOIN_MOST, MD_JOIN_PRODUCTS, MD_JOIN_LOGARITHMS } md_join;

typedef struct md_tree_chart {
    const md_tree *tree;
    size_t words, stride;
    double *own;                /* [words + 1][stride] of arcs by head and word: score or weight */
    double *arc, *right, *left; /* the same size */
} md_tree_chart;

static inline size_t md_tree_square(size_t words)
{
    return (words + 1) * md_tree_stride(words + 1);
}

static inline md_tree_chart md_tree_chart_of(const md_tree *tree, float **scratch)
{
    const size_t size = md_tree_square(tree->words);
    md_tree_chart chart = {.tree = tree, .words = tree->words};
    chart.stride = md_tree_stride(tree->words + 1);
    chart.own = md_tree_take(scratch, size);
    chart.arc = md_tree_take(scratch, size);
    chart.right = md_tree_take(scratch, size);
    chart.left = md_tree_take(scratch, size);
    return chart;
}

/* ---- joins: whole lanes, and a last one of which some are left out ---- */

/* Each lane's join of left[u] and right[u], before the lanes are joined. */
MD_CHAIN_INLINE void md_join_lanes(md_join how, double *restrict lane, const double *restrict left,
                                   const double *restrict right, size_t count)
{
    size_t u = 0;
    const double none = how == MD_JOIN_PRODUCTS ? 0 : -INFINITY;
#pragma omp simd
    for (size_t l = 0; l < MD_TREE_LANES; l++)
        lane[l] = none;
    for (; u + MD_TREE_LANES <= count; u += MD_TREE_LANES) {
#pragma omp simd
        for (size_t l = 0; l < MD_TREE_LANES; l++) {
            const double sum = left[u + l] + right[u + l];
            lane[l] = how == MD_JOIN_PRODUCTS ? lane[l] + left[u + l] * right[u + l]
                                              : (sum > lane[l] ? sum : lane[l]);
        }
    }
    const uint64_t rest = count - u;
#pragma omp simd
    for (uint64_t l = 0; l < MD_TREE_LANES; l++)
        if (l < rest) {
            const double sum = left[u + l] + right[u + l];
            lane[l] = how == MD_JOIN_PRODUCTS ? lane[l] + left[u + l] * right[u + l]
                                              : (sum > lane[l] ? sum : lane[l]);
        }
}

MD_CHAIN_INLINE double md_join_sum(const double *restrict lane)
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

MD_CHAIN_INLINE double md_join_most(const double *restrict lane)
{
    double half[MD_TREE_LANES / 2];
#pragma omp simd
    for (size_t l = 0; l < MD_TREE_LANES / 2; l++)
        half[l] = lane[l] > lane[l + MD_TREE_LANES / 2] ? lane[l] : lane[l + MD_TREE_LANES / 2];
    const double even = half[0] > half[2] ? half[0] : half[2];
    const double odd = half[1] > half[3] ? half[1] : half[3];
    return even > odd ? even : odd;
}

/* term[u] = exp(left[u] + right[u] - most), filled up with 0 to whole lanes; returns their sum. */
MD_CHAIN_INLINE double md_join_terms(double most, const double *restrict left,
                                     const double *restrict right, double *restrict term,
                                     size_t count)
{
    double lane[MD_TREE_LANES] = {0};
    for (size_t u = 0; u < count; u += MD_TREE_LANES) {
        const uint64_t rest = count - u;
#pragma omp simd
        for (uint64_t l = 0; l < MD_TREE_LANES; l++)
            term[u + l] = l < rest ? left[u + l] + right[u + l] - most : -INFINITY;
#pragma omp simd
        for (size_t l = 0; l < MD_TREE_LANES; l++) {
            term[u + l] = md_exp_double(term[u + l]);
            lane[l] += term[u + l];
        }
    }
    return md_join_sum(lane);
}

MD_CHAIN_INLINE double md_joined(md_join how, const double *restrict left,
                                 const double *restrict right, double *restrict term, size_t count)
{
    double lane[MD_TREE_LANES];
    md_join_lanes(how, lane, left, right, count);
    if (how == MD_JOIN_PRODUCTS)
        return md_join_sum(lane);
    const double most = md_join_most(lane);
    if (how == MD_JOIN_MOST)
        return most;
    return most + log(md_join_terms(most, left, right, term, count));
}

/* ---- from the words up ---- */

MD_CHAIN_INLINE void md_tree_chart_span(const md_tree_chart *chart, md_join how, double *term,
                                        size_t s, size_t t)
{
    const size_t count = t - s;
    const size_t row_s = s * chart->stride;
    const size_t row_t = t * chart->stride;
    double *from_s = chart->arc + row_s;
    double *from_t = chart->arc + row_t;
    double *right_s = chart->right + row_s;
    double *right_t = chart->right + row_t;
    double *left_s = chart->left + row_s;
    double *left_t = chart->left + row_t;
    const double inner = md_joined(how, right_s + s, left_t + s + 1, term, count);
    const double own_s = chart->own[row_s + t];
    const double own_t = chart->own[row_t + s];
    from_s[t] = how == MD_JOIN_PRODUCTS ? inner * own_s : inner + own_s;
    from_t[s] = how == MD_JOIN_PRODUCTS ? inner * own_t : inner + own_t;
    right_s[t] = right_t[s] = md_joined(how, from_s + s + 1, right_t + s + 1, term, count);
    left_s[t] = left_t[s] = md_joined(how, left_s + s, from_t + s, term, count);
}

/* Fills the chart; returns the join of all trees. term: [stride], for logarithms. */
MD_CHAIN_INLINE double md_tree_chart_fill(const md_tree_chart *chart, md_join how, double *term)
{
    const size_t words = chart->words;
    const size_t stride = chart->stride;
    const bool many = chart->tree->many_roots;
    const double single = how == MD_JOIN_PRODUCTS ? 1 : 0;
    double *from_root = chart->arc;
    double *right_root = chart->right;
    for (size_t s = 0; s <= words; s++)
        chart->right[s * stride + s] = chart->left[s * stride + s] = single;
    for (size_t t = 2; t <= words; t++)
        for (size_t s = t - 1; s >= 1; s--)
            md_tree_chart_span(chart, how, term, s, t);
    for (size_t u = 1; u <= words; u++) {
        const double *left = chart->left + u * stride;
        const double inner = many ? md_joined(how, right_root, left + 1, term, u) : left[1];
        from_root[u] = how == MD_JOIN_PRODUCTS ? inner * chart->own[u] : inner + chart->own[u];
        if (many || u == words)
            right_root[u] = md_joined(how, from_root + 1, chart->right + u * stride + 1, term, u);
    }
    return right_root[words];
}

#endif
