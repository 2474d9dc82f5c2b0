/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain version of the algorithm of Chu, Liu and Edmonds, to compare with: O(n^2) for each cycle,
 * and graphs are copied. */
#ifndef MD_TEST_TREE_PLAIN_H
#define MD_TEST_TREE_PLAIN_H

#include "structure/tree_case.h"

struct graph {
    size_t nodes;   /* the root is node 0 */
    double *weight; /* [nodes][nodes] by head and node; -inf: no such arc */
    size_t *head;   /* [nodes] */
};

static inline struct graph graph_make(size_t nodes)
{
    struct graph graph = {.nodes = nodes};
    graph.weight = md_calloc(nodes * nodes, sizeof *graph.weight);
    graph.head = md_calloc(nodes, sizeof *graph.head);
    assert_non_null(graph.weight);
    assert_non_null(graph.head);
    for (size_t i = 0; i < nodes * nodes; i++)
        graph.weight[i] = -INFINITY;
    return graph;
}

static inline void graph_clear(struct graph *graph)
{
    free(graph->weight);
    free(graph->head);
}

/* A node on a cycle of heads, or 0. */
static inline size_t on_cycle(const struct graph *graph)
{
    for (size_t node = 1; node < graph->nodes; node++) {
        size_t above = graph->head[node];
        for (size_t steps = 0; steps < graph->nodes && above != 0 && above != node; steps++)
            above = graph->head[above];
        if (above == node)
            return node;
    }
    return 0;
}

static inline void solve(struct graph *graph);

/* Replaces the cycle through `start` by one node, solves that, and opens the cycle. */
static inline void solve_without_cycle(struct graph *graph, size_t start)
{
    const size_t nodes = graph->nodes;
    size_t *place = md_calloc(nodes, sizeof *place); /* in the smaller graph */
    bool *inside = md_calloc(nodes, sizeof *inside);
    assert_non_null(place);
    assert_non_null(inside);
    size_t node = start;
    do
        inside[node] = true;
    while ((node = graph->head[node]) != start);
    size_t count = 0;
    for (size_t i = 0; i < nodes; i++)
        if (!inside[i])
            place[i] = count++;
    struct graph small = graph_make(count + 1);
    size_t *leaving = md_calloc(nodes, sizeof *leaving);   /* best head in the cycle, by node */
    size_t *entering = md_calloc(nodes, sizeof *entering); /* best node of the cycle, by head */
    assert_non_null(leaving);
    assert_non_null(entering);
    for (size_t h = 0; h < nodes; h++)
        for (size_t d = 1; d < nodes; d++) {
            const size_t from = inside[h] ? count : place[h];
            const size_t to = inside[d] ? count : place[d];
            double weight = graph->weight[h * nodes + d];
            if (from == to || weight == -INFINITY)
                continue;
            if (inside[d])
                weight -= graph->weight[graph->head[d] * nodes + d];
            if (!(weight > small.weight[from * small.nodes + to]))
                continue;
            small.weight[from * small.nodes + to] = weight;
            if (inside[h])
                leaving[d] = h;
            if (inside[d])
                entering[h] = d;
        }
    solve(&small);
    for (size_t i = 0; i < nodes; i++)
        for (size_t h = 0; h < nodes && !inside[i] && i > 0; h++)
            if (small.head[place[i]] == count)
                graph->head[i] = leaving[i];
            else if (!inside[h] && place[h] == small.head[place[i]])
                graph->head[i] = h;
    for (size_t h = 0; h < nodes; h++)
        if (!inside[h] && place[h] == small.head[count])
            graph->head[entering[h]] = h;
    graph_clear(&small);
    free(place);
    free(inside);
    free(leaving);
    free(entering);
}

static inline void solve(struct graph *graph)
{
    const size_t nodes = graph->nodes;
    for (size_t node = 1; node < nodes; node++) {
        graph->head[node] = node == 1 && nodes > 2 ? 2 : 0;
        for (size_t h = 0; h < nodes; h++)
            if (h != node &&
                graph->weight[h * nodes + node] > graph->weight[graph->head[node] * nodes + node])
                graph->head[node] = h;
    }
    const size_t start = on_cycle(graph);
    if (start > 0)
        solve_without_cycle(graph, start);
}

/* The score of the best tree. Where there is to be one root, arcs from it cost so much that there
 * is no second one; scores must be whole numbers, so that nothing is lost. */
static inline double plain_best(struct input *in, const int32_t *given, double root_cost)
{
    const size_t nodes = in->length + 1;
    struct graph graph = graph_make(nodes);
    double value = in->shape.many_roots ? 0 : root_cost;
    for (size_t d = 1; d < nodes; d++)
        for (size_t h = 0; h < nodes; h++)
            if (h != d && (given == NULL || given[d - 1] < 0 || (size_t)given[d - 1] == h))
                graph.weight[h * nodes + d] =
                    (double)*arc(in, h, d) - (h == 0 && !in->shape.many_roots ? root_cost : 0);
    double *weight = md_copy(graph.weight, nodes * nodes * sizeof *weight);
    assert_non_null(weight);
    solve(&graph);
    for (size_t d = 1; d < nodes; d++)
        value += weight[graph.head[d] * nodes + d];
    free(weight);
    graph_clear(&graph);
    return value;
}

#endif
