/* SPDX-License-Identifier: BSD-3-Clause */
/* The elimination of tree_sum.c with logarithms in double precision: slower, and right for scores
 * whose exponentials would overflow or vanish. All that is kept as a logarithm is not negative:
 * weights, and the slopes of log Z in them; names and equations are those of tree_sum.c, but pull
 * is not divided by p. */
#include "structure/tree_elimination.h"

static const double COARSE = 1e7;     /* scores so far apart leave too few digits to logarithms */
static const double NEGLIGIBLE = -40; /* exp of that adds nothing to 1 */

/* log(exp a + exp b); what is not a number stays so. */
static double log_add(double a, double b)
{
    const double most = a > b ? a : b;
    const double least = a > b ? b : a;
    if (least - most < NEGLIGIBLE || most == -INFINITY)
        return most;
    return most + log1p(exp(least - most));
}

static double log_sum(const double *term, size_t count)
{
    double most = -INFINITY;
    double none = -INFINITY;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        most = term[i] > most ? term[i] : most;
        none += term[i];
    }
    if (most == -INFINITY)
        return none; /* or not a number, if a term is none */
    for (size_t i = 0; i < count; i++)
        sum += exp(term[i] - most);
    return most + log(sum);
}

/* log(exp a + factor exp(-b)), -inf where that is negative: by rounding. */
static double log_add_multiple(double a, double factor, double b)
{
    if (factor >= 0)
        return log_add(a, log(factor) - b);
    const double less = log(-factor) - b;
    return less < a ? a + log1p(-exp(less - a)) : -INFINITY;
}

/* False if scores are too far apart. */
static bool load(md_tree_elimination *e, double *sum)
{
    double widest = 0;
    *sum = 0;
    for (size_t word = 1; word <= e->words; word++) {
        const float *score = md_tree_row(e->tree, word);
        double least = (double)score[0];
        double most = -INFINITY;
        for (size_t h = 0; h <= e->words; h++) {
            if (h == word)
                continue;
            least = fmin(least, (double)score[h]);
            if (h >= e->last)
                most = fmax(most, (double)score[h]);
        }
        e->top[word] = e->words > e->last ? most : 0;
        for (size_t h = 0; h <= e->words; h++)
            e->arc[word * e->stride + h] = (double)score[h] - e->top[word];
        e->root[word] = (double)score[0] - e->top[word]; /* of this row a tree has no other arc */
        *sum += e->top[word];
        widest = fmax(widest, fmax(most, (double)score[0]) - least);
    }
    return !(widest > COARSE);
}

static double eliminate(md_tree_elimination *e)
{
    double log_product = 0;
    for (size_t k = e->words; k > e->last; k--) {
        const double *onward = e->arc + k * e->stride;
        e->pivot[k] = log_sum(onward + e->last, k - e->last);
        log_product += e->pivot[k];
        for (size_t i = 1; i < k; i++) {
            double *row = e->arc + i * e->stride;
            const double weight = row[k] - e->pivot[k];
            for (size_t j = e->last; j < k; j++)
                row[j] = log_add(row[j], weight + onward[j]);
        }
    }
    return log_product;
}

static double tie_roots(md_tree_elimination *e)
{
    for (size_t k = 1; k <= e->words; k++) {
        for (size_t j = 1; j < k; j++)
            e->term[j] = e->tie[j] + e->arc[j * e->stride + k];
        e->tie[k] = k == 1 ? 0 : log_sum(e->term + 1, k - 1) - e->pivot[k];
    }
    for (size_t k = 1; k <= e->words; k++)
        e->term[k] = e->root[k] + e->tie[k];
    const double total = log_sum(e->term + 1, e->words);
    for (size_t k = e->words; k >= 1; k--) {
        e->term[k] = e->root[k] - total;
        for (size_t m = k + 1; m <= e->words; m++)
            e->term[m] = e->pull[m] - e->pivot[m] + e->arc[k * e->stride + m];
        e->pull[k] = log_sum(e->term + k, e->words + 1 - k);
    }
    return total;
}

/* Slopes in A[i][k], and those in A[k][j] by way of arcs that went through k. */
static void trace_back(md_tree_elimination *e, size_t k)
{
    const double *onward = e->arc + k * e->stride;
    for (size_t j = e->last; j < k; j++) {
        for (size_t i = 1; i < k; i++)
            e->term[i] =
                i == j ? -INFINITY
                       : e->slope[i * e->stride + j] + e->arc[i * e->stride + k] - e->pivot[k];
        e->through[j] = log_sum(e->term + 1, k - 1);
    }
    for (size_t i = 1; i < k; i++) {
        double *slope = e->slope + i * e->stride;
        for (size_t j = e->last; j < k; j++)
            e->term[j] = i == j ? -INFINITY : slope[j] + onward[j] - e->pivot[k];
        slope[k] = log_sum(e->term + e->last, k - e->last);
        if (e->last == 1)
            slope[k] = log_add(slope[k], e->pull[k] - e->pivot[k] + e->tie[i]);
    }
}

static void go_back(md_tree_elimination *e)
{
    for (size_t k = e->last + 1; k <= e->words; k++) {
        const double *arc = e->arc + k * e->stride;
        double rest = 1;
        trace_back(e, k);
        for (size_t j = e->last; j < k; j++)
            rest -= exp(arc[j] + e->through[j]);
        if (e->last == 1)
            rest -= exp(e->pull[k] + e->tie[k]);
        for (size_t j = e->last; j < k; j++)
            e->slope[k * e->stride + j] = log_add_multiple(e->through[j], rest, e->pivot[k]);
    }
}

bool md_tree_log_sum(const md_tree *tree, float *marginal, float *scratch, double *log_sum_of_all)
{
    md_tree_elimination e = md_tree_elimination_of(tree, scratch);
    const size_t width = tree->words + 1;
    double total = 0;
    double sum;
    if (!load(&e, &sum))
        return false;
    sum += eliminate(&e);
    if (!tree->many_roots) {
        total = tie_roots(&e);
        sum += total;
    }
    go_back(&e);
    for (size_t word = 1; word <= tree->words; word++) {
        const float *score = md_tree_row(tree, word);
        float *row = marginal + (word - 1) * width;
        for (size_t h = e.last; h < width; h++) {
            const double log_p = (double)score[h] - e.top[word] + e.slope[word * e.stride + h];
            row[h] = (float)(log_p > 0 ? 1 : exp(log_p));
        }
        if (!tree->many_roots)
            row[0] = (float)exp(e.root[word] + e.tie[word] - total);
        row[word] = 0;
    }
    *log_sum_of_all = sum;
    return true;
}
