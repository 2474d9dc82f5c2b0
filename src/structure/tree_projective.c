/* SPDX-License-Identifier: BSD-3-Clause */
/* The best projective tree: the chart of tree_chart.h with largest sums, taken apart again from the
 * whole sentence down. Where a span was joined is looked for once more rather than written down. */
#include "base/vector.h"
#include "structure/tree_chart.h"

size_t md_tree_eisner_floats(size_t words)
{
    return 8 * md_tree_square(words) + md_chain_slice(12 * words + 12);
}

/* More than any two trees can differ by. */
static double penalty_of(const md_tree *tree)
{
    double most = 0;
    for (size_t word = 1; word <= tree->words; word++)
        for (size_t h = 0; h <= tree->words; h++)
            if (h != word)
                most = fmax(most, fabs((double)md_tree_row(tree, word)[h]));
    return 2 * (double)tree->words * (most + 1);
}

/* Arcs that are not allowed lose more than all others can win. Where a tree can do without them,
 * no digits are lost by that, since values are only added. */
static void fill_own(const md_tree_chart *chart)
{
    const md_tree *tree = chart->tree;
    const bool constrained = md_tree_constrained(tree);
    const double penalty = constrained ? penalty_of(tree) : 0;
    for (size_t word = 1; word <= tree->words; word++)
        for (size_t h = 0; h <= tree->words; h++) {
            double value = md_tree_arc(tree, word, h);
            if (constrained && md_tree_breaks(tree, word, h))
                value -= penalty;
            chart->own[h * chart->stride + word] = value;
        }
}

MD_VECTOR_VOID(tree_fill_most, (const md_tree_chart *chart), (chart))
{
    md_tree_chart_fill(chart, MD_JOIN_MOST, NULL);
}

/* The first of the sums that are highest. */
static size_t best_split(const double *left, const double *right, size_t count)
{
    size_t best = 0;
    for (size_t u = 1; u < count; u++)
        if (left[u] + right[u] > left[best] + right[best])
            best = u;
    return best;
}

/* Spans that are yet to be taken apart: three numbers each. They overlap at their ends only, so
 * that there are never more than two for each word, and those of the root. */
enum span { ARC, RIGHT, LEFT };

static int32_t *push(int32_t *top, enum span kind, size_t from, size_t to)
{
    if (kind != ARC && from == to)
        return top;
    top[0] = (int32_t)kind;
    top[1] = (int32_t)from;
    top[2] = (int32_t)to;
    return top + 3;
}

/* Replaces the span at top by those it was joined of. */
static int32_t *take_apart(const md_tree_chart *chart, int32_t *top, int32_t *best)
{
    const enum span kind = (enum span)top[0];
    const size_t a = (size_t)top[1];
    const size_t b = (size_t)top[2];
    const size_t s = a < b ? a : b;
    const size_t t = a < b ? b : a;
    const size_t row_s = s * chart->stride;
    const size_t row_t = t * chart->stride;
    size_t u = s;
    if (kind == RIGHT) {
        u += 1 + best_split(chart->arc + row_s + s + 1, chart->right + row_t + s + 1, t - s);
        return push(push(top, ARC, s, u), RIGHT, u, t);
    }
    if (kind == LEFT) {
        u += best_split(chart->left + row_s + s, chart->arc + row_t + s, t - s);
        return push(push(top, LEFT, s, u), ARC, t, u);
    }
    best[b - 1] = (int32_t)a;
    if (a > 0 || chart->tree->many_roots)
        u += best_split(chart->right + row_s + s, chart->left + row_t + s + 1, t - s);
    return push(push(top, RIGHT, s, u), LEFT, u + 1, t);
}

void md_tree_eisner(const md_tree *tree, int32_t *best, float *scratch)
{
    const md_tree_chart chart = md_tree_chart_of(tree, &scratch);
    int32_t *pending = md_tree_take_whole(&scratch, 12 * tree->words + 12);
    fill_own(&chart);
    tree_fill_most(&chart);
    int32_t *top = push(pending, RIGHT, 0, tree->words);
    while (top > pending)
        top = take_apart(&chart, top - 3, best);
}
