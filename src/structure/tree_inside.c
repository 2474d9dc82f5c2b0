/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over all projective trees: the chart of tree_chart.h from the words up, and from the whole
 * sentence down the slope of log Z in each of its values; that in the score of an arc is the arc's
 * probability. Everything is a sum of products of what is not negative, so no digits are lost.
 *
 * The chart has sums of products where that is safe. Each row of weights is divided by its largest,
 * so that no value is above the number of trees, nor any of its slopes in Z; what vanishes below
 * 1e-308 then does not matter if Z itself is not tiny. Else the chart has logarithms, and the terms
 * of a join share its probability, which is right for all finite scores. */
#include "base/vector.h"
#include "structure/tree_chart.h"

static const double LEAST = 1e-100;
enum { WORDS_MOST = 120 }; /* below 1e100 trees */

struct slopes {
    md_tree_chart chart;
    double *arc, *right, *left; /* as in the chart; those of right and left are in two parts */
    double *term;               /* [stride] */
    double *top;                /* [stride] logarithm of what rows were divided by */
};

size_t md_tree_inside_floats(size_t words)
{
    return 14 * md_tree_square(words) + 4 * md_tree_stride(words + 1);
}

static struct slopes make_slopes(const md_tree *tree, float *scratch)
{
    const size_t size = md_tree_square(tree->words);
    struct slopes slopes = {.chart = md_tree_chart_of(tree, &scratch)};
    slopes.arc = md_tree_take(&scratch, size);
    slopes.right = md_tree_take(&scratch, size);
    slopes.left = md_tree_take(&scratch, size);
    slopes.term = md_tree_take(&scratch, slopes.chart.stride);
    slopes.top = md_tree_take(&scratch, slopes.chart.stride);
    return slopes;
}

/* ---- sums ---- */

/* Scores of arcs, by head; returns the sum of the largest of each word. */
static double fill_own(const struct slopes *slopes)
{
    const md_tree_chart *chart = &slopes->chart;
    double sum = 0;
    for (size_t word = 1; word <= chart->words; word++) {
        const float *score = md_tree_row(chart->tree, word);
        double most = (double)score[0];
        for (size_t h = 0; h <= chart->words; h++) {
            chart->own[h * chart->stride + word] = (double)score[h];
            most = h != word && (double)score[h] > most ? (double)score[h] : most;
        }
        slopes->top[word] = most;
        sum += most;
    }
    return sum;
}

/* Makes scores weights. */
MD_VECTOR_VOID(tree_weigh_own, (const struct slopes *slopes), (slopes))
{
    const md_tree_chart *chart = &slopes->chart;
    for (size_t h = 0; h <= chart->words; h++) {
        double *restrict own = chart->own + h * chart->stride;
        const double *restrict top = slopes->top;
#pragma omp simd
        for (size_t word = 1; word <= chart->words; word++)
            own[word] = md_exp_double(own[word] - top[word]);
    }
}

MD_VECTOR(double, tree_fill_products, (const md_tree_chart *chart), (chart))
{
    return md_tree_chart_fill(chart, MD_JOIN_PRODUCTS, NULL);
}

MD_VECTOR(double, tree_fill_logarithms, (const md_tree_chart *chart, double *term), (chart, term))
{
    return md_tree_chart_fill(chart, MD_JOIN_LOGARITHMS, term);
}

/* ---- slopes ---- */

/* Gives the values that were joined their slopes, or shares of the probability `slope`. */
MD_CHAIN_INLINE void share(md_join how, double slope, const double *restrict left,
                           const double *restrict right, double *restrict left_slope,
                           double *restrict right_slope, double *restrict term, size_t count)
{
    if (how == MD_JOIN_PRODUCTS) {
#pragma omp simd
        for (size_t u = 0; u < count; u++) {
            left_slope[u] += slope * right[u];
            right_slope[u] += slope * left[u];
        }
        return;
    }
    double lane[MD_TREE_LANES];
    md_join_lanes(how, lane, left, right, count);
    const double scale = slope / md_join_terms(md_join_most(lane), left, right, term, count);
#pragma omp simd
    for (size_t u = 0; u < count; u++) {
        left_slope[u] += scale * term[u];
        right_slope[u] += scale * term[u];
    }
}

MD_CHAIN_INLINE void share_root(const struct slopes *slopes, md_join how, double slope)
{
    const md_tree_chart *chart = &slopes->chart;
    const size_t words = chart->words;
    const bool many = chart->tree->many_roots;
    slopes->right[words] = slope;
    for (size_t u = words; u >= 1; u--) {
        const size_t row = u * chart->stride;
        if (many || u == words)
            share(how, slopes->right[u], chart->arc + 1, chart->right + row + 1, slopes->arc + 1,
                  slopes->right + row + 1, slopes->term, u);
        const double inner = slopes->arc[u] * (how == MD_JOIN_PRODUCTS ? chart->own[u] : 1);
        if (many)
            share(how, inner, chart->right, chart->left + row + 1, slopes->right,
                  slopes->left + row + 1, slopes->term, u);
        else
            slopes->left[row + 1] += inner;
    }
}

MD_CHAIN_INLINE void share_span(const struct slopes *slopes, md_join how, size_t s, size_t t)
{
    const md_tree_chart *chart = &slopes->chart;
    const size_t count = t - s;
    const size_t row_s = s * chart->stride;
    const size_t row_t = t * chart->stride;
    const bool products = how == MD_JOIN_PRODUCTS;
    const double right = slopes->right[row_s + t] + slopes->right[row_t + s];
    const double left = slopes->left[row_s + t] + slopes->left[row_t + s];
    if (right != 0)
        share(how, right, chart->arc + row_s + s + 1, chart->right + row_t + s + 1,
              slopes->arc + row_s + s + 1, slopes->right + row_t + s + 1, slopes->term, count);
    if (left != 0)
        share(how, left, chart->left + row_s + s, chart->arc + row_t + s, slopes->left + row_s + s,
              slopes->arc + row_t + s, slopes->term, count);
    const double inner = slopes->arc[row_s + t] * (products ? chart->own[row_s + t] : 1) +
                         slopes->arc[row_t + s] * (products ? chart->own[row_t + s] : 1);
    if (inner != 0)
        share(how, inner, chart->right + row_s + s, chart->left + row_t + s + 1,
              slopes->right + row_s + s, slopes->left + row_t + s + 1, slopes->term, count);
}

MD_CHAIN_INLINE void go_down(const struct slopes *slopes, md_join how, double slope)
{
    const size_t words = slopes->chart.words;
    share_root(slopes, how, slope);
    for (size_t t = words; t >= 2; t--)
        for (size_t s = 1; s < t; s++)
            share_span(slopes, how, s, t);
}

MD_VECTOR_VOID(tree_share_products, (const struct slopes *slopes, double slope), (slopes, slope))
{
    go_down(slopes, MD_JOIN_PRODUCTS, slope);
}

MD_VECTOR_VOID(tree_share_logarithms, (const struct slopes *slopes), (slopes))
{
    go_down(slopes, MD_JOIN_LOGARITHMS, 1);
}

/* An arc's value in the chart is in proportion to its weight. */
static void write_marginals(const struct slopes *slopes, bool products, float *marginal)
{
    const md_tree_chart *chart = &slopes->chart;
    for (size_t word = 1; word <= chart->words; word++)
        for (size_t h = 0; h <= chart->words; h++) {
            const size_t arc = h * chart->stride + word;
            const double p = slopes->arc[arc] * (products ? chart->arc[arc] : 1);
            *marginal++ = h == word ? 0 : (float)(p > 1 ? 1 : p);
        }
}

double md_tree_inside_outside(const md_tree *tree, float *marginal, float *scratch)
{
    const struct slopes slopes = make_slopes(tree, scratch);
    const size_t size = md_tree_square(tree->words);
    const double top = fill_own(&slopes);
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        slopes.arc[i] = slopes.right[i] = slopes.left[i] = 0;
    if (tree->words <= WORDS_MOST) {
        tree_weigh_own(&slopes);
        sum = tree_fill_products(&slopes.chart);
    }
    const bool products = sum >= LEAST;
    if (products) {
        tree_share_products(&slopes, 1 / sum);
    } else {
        fill_own(&slopes);
        sum = tree_fill_logarithms(&slopes.chart, slopes.term);
        tree_share_logarithms(&slopes);
    }
    write_marginals(&slopes, products, marginal);
    return products ? top + log(sum) : sum;
}
