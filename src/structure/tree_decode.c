/* SPDX-License-Identifier: BSD-3-Clause */
/* The best tree (Chu and Liu 1965, Edmonds 1967) in O(words^2), as Tarjan (1977) does it for dense
 * graphs: from a word go to its best head, from there to its best head, and so on, until that is
 * the root or something from which the root is reached already. Where the path meets itself, the
 * cycle becomes one component, whose arcs are those into its words,
 *
 *   value(head -> component) = max over words of value(head -> word) - value(best head -> word),
 *
 * what the tree gains by entering there. Each choice and each component costs a look at a row of
 * arcs; heads are never merged, so that columns stay words.
 *
 * One root: values are compared as pairs of minus the number of arcs from the root, and the score.
 * That is exact, and says no more than that the root is taken only where there is no other head.
 * Arcs that are not allowed count in the first number as well, but less than the root, so that what
 * comes out is always a tree. */
#include "base/vector.h"
#include "structure/tree.h"

enum state { UNSEEN, ON_PATH, SETTLED };

/* A word, or several that became one: component 0 is the root, 1 .. words are the words. */
struct component {
    double value;      /* of the arc chosen into it */
    int32_t level;     /* that arc's first number */
    int32_t head;      /* where that arc comes from: a word */
    int32_t word;      /* where it goes to */
    uint16_t settled;  /* enum state */
    uint16_t merged;   /* part of the component that is being made */
    int32_t row;       /* which row its arcs have */
    int32_t container; /* the component it became part of */
};

struct search {
    const md_tree *tree;
    size_t words, stride, components;
    double *value;  /* [words][stride] of arcs by row and head; -inf from within */
    int32_t *entry; /* [words][stride] the word an arc goes to */
    int32_t *level; /* [words][stride] first numbers; NULL: only the root's count */
    int32_t *owner; /* [words + 1] the component a word is in */
    int32_t *path;  /* [depth] components */
    size_t depth;
    struct component *component; /* [2 * words + 1] */
};

enum { COMPONENT_FLOATS = sizeof(struct component) / sizeof(float) };

size_t md_tree_spanning_floats(size_t words)
{
    const size_t stride = md_tree_stride(words + 1);
    return 4 * words * stride + COMPONENT_FLOATS * (2 * words + 1) + 3 * words + 1 + 6 * MD_LANES;
}

static struct search make_search(const md_tree *tree, float *scratch)
{
    const size_t words = tree->words;
    const size_t stride = md_tree_stride(words + 1);
    struct search search = {.tree = tree, .words = words, .stride = stride};
    search.value = md_tree_take(&scratch, words * stride);
    search.entry = md_tree_take_whole(&scratch, words * stride);
    int32_t *level = md_tree_take_whole(&scratch, words * stride);
    search.level = md_tree_constrained(tree) ? level : NULL;
    search.component =
        (struct component *)(void *)md_chain_take(&scratch, COMPONENT_FLOATS * (2 * words + 1));
    search.owner = md_tree_take_whole(&scratch, words + 1);
    search.path = md_tree_take_whole(&scratch, 2 * words);
    return search;
}

/* ---- arcs ---- */

MD_VECTOR_VOID(tree_fill_arcs,
               (const float *restrict score, double cost, int32_t word, size_t count,
                double *restrict value, int32_t *restrict entry),
               (score, cost, word, count, value, entry))
{
#pragma omp simd
    for (size_t h = 0; h < count; h++)
        value[h] = (double)score[h] + cost;
#pragma omp simd
    for (size_t h = 0; h < count; h++)
        entry[h] = word;
}

/* Roots weigh more than all else that can be wrong with a tree. */
static void fill_levels(const md_tree *tree, size_t word, int32_t *level)
{
    for (size_t h = 0; h <= tree->words; h++)
        level[h] = md_tree_breaks(tree, word, h) ? -1 : 0;
    if (!tree->many_roots)
        level[0] -= (int32_t)tree->words + 1;
}

static void fill(struct search *search)
{
    const md_tree *tree = search->tree;
    search->components = search->words;
    search->owner[0] = 0;
    search->component[0] = (struct component){.settled = SETTLED};
    for (size_t word = 1; word <= search->words; word++) {
        double *value = search->value + (word - 1) * search->stride;
        tree_fill_arcs(md_tree_row(tree, word), tree->gold != NULL ? 1 : 0, (int32_t)word,
                       search->words + 1, value, search->entry + (word - 1) * search->stride);
        if (tree->gold != NULL)
            value[tree->gold[word - 1]] = (double)md_tree_row(tree, word)[tree->gold[word - 1]];
        value[word] = -INFINITY;
        for (size_t h = search->words + 1; h < search->stride; h++)
            value[h] = -INFINITY;
        if (search->level != NULL)
            fill_levels(tree, word, search->level + (word - 1) * search->stride);
        search->owner[word] = (int32_t)word;
        search->component[word] = (struct component){.row = (int32_t)word - 1};
    }
}

/* ---- choosing ---- */

/* count is a multiple of MD_TREE_LANES. */
MD_VECTOR(double, tree_highest, (const double *value, size_t count), (value, count))
{
    double most[MD_TREE_LANES];
#pragma omp simd
    for (size_t l = 0; l < MD_TREE_LANES; l++)
        most[l] = -INFINITY;
    for (size_t h = 0; h < count; h += MD_TREE_LANES) {
#pragma omp simd
        for (size_t l = 0; l < MD_TREE_LANES; l++)
            most[l] = value[h + l] > most[l] ? value[h + l] : most[l];
    }
    double highest = most[0];
    for (size_t l = 1; l < MD_TREE_LANES; l++)
        highest = most[l] > highest ? most[l] : highest;
    return highest;
}

/* The best head outside of component c, the first of equals; 0 if there is none but the root. */
static size_t best_head(struct search *search, size_t c)
{
    const struct component *component = &search->component[c];
    double *value = search->value + (size_t)component->row * search->stride;
    const size_t first = search->tree->many_roots ? 0 : 1;
    const double root = value[0];
    if (first > 0)
        value[0] = -INFINITY;
    const double highest = tree_highest(value, search->stride);
    value[0] = root;
    for (size_t h = first; h <= search->words && highest > -INFINITY; h++)
        if (value[h] == highest)
            return h;
    for (size_t h = first; h <= search->words; h++) /* values that are no numbers */
        if ((size_t)search->owner[h] != c)
            return h;
    return 0;
}

/* The same where arcs have levels. */
static size_t best_allowed_head(const struct search *search, size_t c)
{
    const size_t first = (size_t)search->component[c].row * search->stride;
    const double *value = search->value + first;
    const int32_t *level = search->level + first;
    size_t best = 0;
    for (size_t h = 1; h <= search->words; h++)
        if ((size_t)search->owner[h] != c &&
            (level[h] > level[best] || (level[h] == level[best] && value[h] > value[best])))
            best = h;
    return best;
}

static void choose(struct search *search, size_t c)
{
    struct component *component = &search->component[c];
    const size_t head = search->level != NULL ? best_allowed_head(search, c) : best_head(search, c);
    const size_t arc = (size_t)component->row * search->stride + head;
    component->head = (int32_t)head;
    component->word = search->entry[arc];
    component->value = search->value[arc];
    component->level = search->level != NULL ? search->level[arc] : 0;
}

/* ---- cycles ---- */

MD_VECTOR_VOID(tree_shift_arcs, (double *value, double shift, size_t count), (value, shift, count))
{
#pragma omp simd
    for (size_t h = 0; h < count; h++)
        value[h] -= shift;
}

/* Keeps of two arcs from a head the better one, the first of equals. */
MD_VECTOR_VOID(tree_merge_arcs,
               (double *restrict value, int32_t *restrict entry, const double *restrict other,
                const int32_t *restrict other_entry, double shift, size_t count),
               (value, entry, other, other_entry, shift, count))
{
#pragma omp simd
    for (size_t h = 0; h < count; h++) {
        const double shifted = other[h] - shift;
        const bool better = shifted > value[h];
        value[h] = better ? shifted : value[h];
        entry[h] = better ? other_entry[h] : entry[h];
    }
}

static void merge_allowed_arcs(struct search *search, size_t into, const struct component *member)
{
    const size_t from = (size_t)member->row * search->stride;
    for (size_t h = 0; h <= search->words; h++) {
        const double value = search->value[from + h] - member->value;
        const int32_t level = search->level[from + h] - member->level;
        if (level < search->level[into + h] ||
            (level == search->level[into + h] && !(value > search->value[into + h])))
            continue;
        search->value[into + h] = value;
        search->level[into + h] = level;
        search->entry[into + h] = search->entry[from + h];
    }
}

static void merge(struct search *search, size_t into, const struct component *member)
{
    const size_t from = (size_t)member->row * search->stride;
    double *value = search->value + into;
    if (from == into) {
        tree_shift_arcs(value, member->value, search->words + 1);
        for (size_t h = 0; search->level != NULL && h <= search->words; h++)
            search->level[into + h] -= member->level;
    } else if (search->level != NULL) {
        merge_allowed_arcs(search, into, member);
    } else {
        tree_merge_arcs(value, search->entry + into, search->value + from, search->entry + from,
                        member->value, search->words + 1);
    }
}

/* Makes one component of those at the end of the path, from component `first` on. */
static size_t contract(struct search *search, size_t first)
{
    const size_t made = ++search->components;
    const int32_t row = search->component[first].row;
    size_t c;
    search->component[made] = (struct component){.row = row};
    merge(search, (size_t)row * search->stride, &search->component[first]);
    do {
        c = (size_t)search->path[--search->depth];
        struct component *member = &search->component[c];
        if (c != first)
            merge(search, (size_t)row * search->stride, member);
        member->merged = 1;
        member->container = (int32_t)made;
    } while (c != first);
    for (size_t word = 1; word <= search->words; word++) {
        if (search->component[search->owner[word]].merged)
            search->owner[word] = (int32_t)made;
        if ((size_t)search->owner[word] == made)
            search->value[(size_t)row * search->stride + word] = -INFINITY;
    }
    return made; /* its members own no words any more, so that their mark does not matter */
}

static void grow_path(struct search *search, size_t word)
{
    size_t c = (size_t)search->owner[word];
    search->depth = 0;
    while (search->component[c].settled != SETTLED) {
        if (search->component[c].settled == ON_PATH)
            c = contract(search, c);
        search->path[search->depth++] = (int32_t)c;
        search->component[c].settled = ON_PATH;
        choose(search, c);
        c = (size_t)search->owner[search->component[c].head];
    }
    for (size_t i = 0; i < search->depth; i++)
        search->component[search->path[i]].settled = SETTLED;
}

/* The arc into a component is the one into its member that holds the arc's word; the other members
 * keep theirs, which make up the rest of the cycle. */
static void expand(struct search *search)
{
    for (size_t c = search->components; c > search->words; c--) {
        const struct component *component = &search->component[c];
        size_t member = (size_t)component->word;
        while ((size_t)search->component[member].container != c)
            member = (size_t)search->component[member].container;
        search->component[member].head = component->head;
        search->component[member].word = component->word;
    }
}

void md_tree_spanning(const md_tree *tree, int32_t *best, float *scratch)
{
    struct search search = make_search(tree, scratch);
    fill(&search);
    for (size_t word = 1; word <= tree->words; word++)
        grow_path(&search, word);
    expand(&search);
    for (size_t word = 1; word <= tree->words; word++)
        best[word - 1] = search.component[word].head;
}
