/* SPDX-License-Identifier: BSD-3-Clause */
/* From every head that has a word farther away than its neighbours, the words that hang from it are
 * visited once; sums along the sentence then tell of each of its arcs how many words between do
 * not. */
#include "metrics/nonprojective.h"

/* Words from 1; 0 is the root, and no word. */
struct sentence {
    const int32_t *head;
    size_t length;
    uint32_t *child;   /* [length + 1] the last word that hangs from this one directly */
    uint32_t *sibling; /* [length + 1] the one before it with the same head */
    uint32_t *stack;   /* [length + 1] */
    uint32_t *outside; /* [length + 1] words up to here that do not hang from the head */
};

static bool is_arc(const struct sentence *s, size_t word)
{
    return s->head[word - 1] >= 0 && (size_t)s->head[word - 1] <= s->length;
}

static void list_children(struct sentence *s)
{
    memset(s->child, 0, (s->length + 1) * sizeof *s->child);
    for (size_t word = 1; word <= s->length; word++) {
        if (!is_arc(s, word))
            continue;
        const size_t head = (size_t)s->head[word - 1];
        s->sibling[word] = s->child[head];
        s->child[head] = (uint32_t)word;
    }
}

static void count_outside(const struct sentence *s, size_t head)
{
    size_t waiting = 0;
    for (size_t word = 0; word <= s->length; word++)
        s->outside[word] = 1;
    s->outside[head] = 0;
    s->stack[waiting++] = (uint32_t)head;
    while (waiting > 0)
        for (uint32_t word = s->child[s->stack[--waiting]]; word != 0; word = s->sibling[word])
            if (s->outside[word] != 0) { /* each is put on the stack once, so cycles end */
                s->outside[word] = 0;
                s->stack[waiting++] = word;
            }
    s->outside[0] = 0;
    for (size_t word = 1; word <= s->length; word++)
        s->outside[word] += s->outside[word - 1];
}

static bool reaches_far(const struct sentence *s, size_t head)
{
    bool far = false;
    for (uint32_t word = s->child[head]; word != 0; word = s->sibling[word])
        far = far || word + 1 < head || word > head + 1;
    return far;
}

size_t md_nonprojective(const int32_t *head, size_t length, bool *marked, uint32_t *room)
{
    struct sentence s = {.head = head,
                         .length = length,
                         .child = room,
                         .sibling = room + (length + 1),
                         .stack = room + 2 * (length + 1),
                         .outside = room + 3 * (length + 1)};
    size_t count = 0;
    memset(marked, 0, length * sizeof *marked);
    list_children(&s);
    for (size_t h = 0; h <= length; h++) {
        if (!reaches_far(&s, h))
            continue;
        count_outside(&s, h);
        for (uint32_t word = s.child[h]; word != 0; word = s.sibling[word]) {
            const size_t low = word < h ? word : h;
            const size_t high = word < h ? h : word;
            marked[word - 1] = high > low && s.outside[high - 1] > s.outside[low];
            count += marked[word - 1];
        }
    }
    return count;
}

void md_nonprojective_count(md_nonprojective_counts *counts, const int32_t *gold,
                            const int32_t *predicted, size_t length, bool *marked, uint32_t *room)
{
    counts->gold += md_nonprojective(gold, length, marked, room);
    for (size_t i = 0; i < length; i++)
        counts->found += marked[i] && gold[i] == predicted[i];
    counts->predicted += md_nonprojective(predicted, length, marked, room);
    for (size_t i = 0; i < length; i++)
        counts->right += marked[i] && gold[i] == predicted[i];
}

static double share(size_t part, size_t all)
{
    return all > 0 ? (double)part / (double)all : NAN;
}

double md_nonprojective_precision(md_nonprojective_counts counts)
{
    return share(counts.right, counts.predicted);
}

double md_nonprojective_recall(md_nonprojective_counts counts)
{
    return share(counts.found, counts.gold);
}
