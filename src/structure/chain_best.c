/* SPDX-License-Identifier: BSD-3-Clause */
/* The k best outputs of a chain: Viterbi that keeps, for each state, the k best ways to get there,
 * best first. The best ways into a state are merged from the lists of the states before it, whose
 * order adding a step's score does not change. */
#include "structure/chain.h"

struct lists {
    const md_chain *chain;
    size_t states, wanted;
    double *before, *here; /* [states][wanted] scores of the lists of row t-1 and row t */
    double *head;          /* [labels] score of the next way to take from each list */
    int32_t *rank;         /* [labels] which one that is */
    int32_t *origin;       /* [length][states][wanted]: oldest label * wanted + rank before */
};

size_t md_chain_best_floats(md_shape shape, size_t length, size_t wanted)
{
    const size_t states = shape.order >= 2 ? shape.labels * shape.labels : shape.labels;
    return 4 * states * wanted + 2 * shape.labels + shape.labels + length * states * wanted;
}

static struct lists make_lists(const md_chain *chain, size_t wanted, float *scratch)
{
    struct lists lists = {.chain = chain, .states = md_chain_states(chain), .wanted = wanted};
    lists.before = (double *)(void *)scratch;
    lists.here = lists.before + lists.states * wanted;
    lists.head = lists.here + lists.states * wanted;
    lists.rank = (int32_t *)(lists.head + chain->labels);
    lists.origin = lists.rank + chain->labels;
    return lists;
}

/* The list with the highest head, the first of those equal; `labels` if all are used up. A list
 * that is used up has the head -inf. */
static size_t highest(const double *head, size_t labels)
{
    size_t top = labels;
    for (size_t k = 0; k < labels; k++)
        if (head[k] > (top == labels ? -INFINITY : head[top]))
            top = k;
    return top;
}

/* Merges the lists before state s of row t > 0; shorter lists are filled up with -inf. */
static void merge(struct lists *lists, size_t t, size_t s)
{
    const md_chain *chain = lists->chain;
    const size_t labels = chain->labels;
    const size_t wanted = lists->wanted;
    const double row = md_chain_row_score(chain, t, s % labels);
    int32_t *origin = lists->origin + (t * lists->states + s) * wanted;
    for (size_t k = 0; k < labels; k++) {
        lists->rank[k] = 0;
        lists->head[k] =
            lists->before[md_chain_before(chain, s, k) * wanted] + md_chain_step(chain, t, s, k);
    }
    for (size_t i = 0; i < wanted; i++) {
        const size_t k = highest(lists->head, labels);
        lists->here[s * wanted + i] = k < labels ? lists->head[k] + row : -INFINITY;
        origin[i] = -1;
        if (k == labels)
            continue;
        const size_t rank = (size_t)lists->rank[k]++;
        origin[i] = (int32_t)(k * wanted + rank);
        lists->head[k] = -INFINITY;
        if (rank + 1 < wanted)
            lists->head[k] = lists->before[md_chain_before(chain, s, k) * wanted + rank + 1] +
                             md_chain_step(chain, t, s, k);
    }
}

/* Row 0: one way to each state that is possible there. */
static void start(struct lists *lists)
{
    for (size_t s = 0; s < lists->states; s++)
        for (size_t i = 0; i < lists->wanted; i++)
            lists->here[s * lists->wanted + i] = i == 0 && s < lists->chain->labels
                                                     ? md_chain_row_score(lists->chain, 0, s)
                                                     : -INFINITY;
}

static void trace(const struct lists *lists, size_t state, size_t rank, int32_t *output)
{
    const md_chain *chain = lists->chain;
    for (size_t t = chain->length; t-- > 0;) {
        output[t] = (int32_t)(state % chain->labels);
        if (t == 0)
            break;
        const size_t way = (t * lists->states + state) * lists->wanted + rank;
        const size_t origin = (size_t)lists->origin[way];
        state = md_chain_before(chain, state, origin / lists->wanted);
        rank = origin % lists->wanted;
    }
}

/* The state whose best way that was not taken yet is highest; smaller last labels first. taken[s]
 * ways to state s were taken. */
static size_t next_state(const struct lists *lists, const int32_t *taken)
{
    const size_t labels = lists->chain->labels;
    size_t top = lists->states;
    double most = -INFINITY;
    for (size_t c = 0; c < labels; c++)
        for (size_t s = c; s < lists->states; s += labels) {
            const size_t rank = (size_t)taken[s];
            if (rank < lists->wanted && lists->here[s * lists->wanted + rank] > most) {
                most = lists->here[s * lists->wanted + rank];
                top = s;
            }
        }
    return top;
}

size_t md_chain_best(const md_chain *chain, size_t wanted, int32_t *outputs, double *values,
                     float *scratch)
{
    struct lists lists = make_lists(chain, wanted, scratch);
    if (wanted == 0)
        return 0;
    start(&lists);
    for (size_t t = 1; t < chain->length; t++) {
        md_swap(&lists.before, &lists.here);
        for (size_t s = 0; s < lists.states; s++)
            merge(&lists, t, s);
    }
    int32_t *taken = lists.origin; /* row 0 has no origins */
    for (size_t s = 0; s < lists.states; s++)
        taken[s] = 0;
    for (size_t i = 0; i < wanted; i++) {
        const size_t s = next_state(&lists, taken);
        if (s == lists.states)
            return i;
        const size_t rank = (size_t)taken[s]++;
        values[i] = lists.here[s * wanted + rank];
        trace(&lists, s, rank, outputs + i * chain->length);
    }
    return wanted;
}
