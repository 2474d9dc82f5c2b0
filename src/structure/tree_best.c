/* SPDX-License-Identifier: BSD-3-Clause */
/* The k best trees (Lawler 1972). The trees that a found one leaves are cut into sets by the first
 * word whose head differs: words before it have the heads of the found tree, and it has none of
 * those that were found there before. The best tree of each set is a candidate; the best candidate
 * is the next tree, and its set is cut again. Sets do not overlap, so no tree comes twice. */
#include "structure/tree.h"

/* The sets that are left, of which no more than `wanted` can be of use. */
struct pool {
    const md_tree *tree;
    size_t count;
    double *value;          /* [wanted] of the best tree of each set */
    int32_t *heads;         /* [wanted][words] that tree */
    int32_t *word;          /* [wanted] the words before have the same heads in the whole set */
    uint8_t *barred;        /* [wanted][words + 1] heads that this word has in no tree of the set */
    int32_t *found, *given; /* [words] */
    uint8_t *bars;          /* [words + 1] */
    float *scratch;
};

static size_t bytes(size_t count)
{
    return md_chain_slice((count + sizeof(float) - 1) / sizeof(float));
}

size_t md_tree_best_floats(md_shape shape, size_t words, size_t wanted)
{
    return md_chain_slice(2 * wanted) + md_chain_slice(wanted * words) + md_chain_slice(wanted) +
           bytes(wanted * (words + 1)) + 2 * md_chain_slice(words) + bytes(words + 1) +
           md_tree_decode_floats(shape, words);
}

static struct pool make_pool(const md_tree *tree, size_t wanted, float *scratch)
{
    const size_t words = tree->words;
    struct pool pool = {.tree = tree};
    pool.value = md_tree_take(&scratch, wanted);
    pool.heads = md_tree_take_whole(&scratch, wanted * words);
    pool.word = md_tree_take_whole(&scratch, wanted);
    pool.barred = (uint8_t *)md_chain_take(&scratch, bytes(wanted * (words + 1)));
    pool.found = md_tree_take_whole(&scratch, words);
    pool.given = md_tree_take_whole(&scratch, words);
    pool.bars = (uint8_t *)md_chain_take(&scratch, bytes(words + 1));
    pool.scratch = scratch;
    return pool;
}

static size_t extreme(const struct pool *pool, bool highest)
{
    size_t found = 0;
    for (size_t i = 1; i < pool->count; i++)
        if (highest ? pool->value[i] > pool->value[found] : pool->value[i] <= pool->value[found])
            found = i;
    return found;
}

/* The last set takes its place. */
static void drop_set(struct pool *pool, size_t to)
{
    const size_t words = pool->tree->words;
    const size_t from = --pool->count;
    pool->value[to] = pool->value[from];
    pool->word[to] = pool->word[from];
    memmove(pool->heads + to * words, pool->heads + from * words, words * sizeof *pool->heads);
    memmove(pool->barred + to * (words + 1), pool->barred + from * (words + 1), words + 1);
}

static bool allowed(const md_tree *tree, const int32_t *heads)
{
    for (size_t word = 1; word <= tree->words; word++)
        if (md_tree_breaks(tree, word, (size_t)heads[word - 1]))
            return false;
    return true;
}

/* Adds the set of trees that agree with given and bars at this word, unless it is empty or there
 * are `room` better ones. given, bars and found are those of the pool. */
static void add_set(struct pool *pool, size_t word, size_t room)
{
    const size_t words = pool->tree->words;
    md_tree tree = *pool->tree;
    tree.given = pool->given;
    tree.barred = pool->bars;
    tree.barred_word = word;
    md_tree_decode(&tree, pool->found, pool->scratch);
    if (!allowed(&tree, pool->found))
        return;
    const double value = md_tree_score(&tree, pool->found);
    size_t place = pool->count;
    if (pool->count == room) {
        place = extreme(pool, false);
        if (!(value > pool->value[place]))
            return;
    } else {
        pool->count++;
    }
    pool->value[place] = value;
    pool->word[place] = (int32_t)word;
    memcpy(pool->heads + place * words, pool->found, words * sizeof *pool->found);
    memcpy(pool->barred + place * (words + 1), pool->bars, words + 1);
}

/* Cuts the set with the best tree into what is left without that tree. */
static void cut(struct pool *pool, size_t set, const int32_t *heads, size_t room)
{
    const size_t words = pool->tree->words;
    const size_t first = (size_t)pool->word[set];
    memcpy(pool->bars, pool->barred + set * (words + 1), words + 1);
    drop_set(pool, set);
    while (pool->count > room)
        drop_set(pool, extreme(pool, false));
    for (size_t i = 0; i < words; i++)
        pool->given[i] = i + 1 < first ? heads[i] : -1;
    for (size_t word = first; word <= words && room > 0; word++) {
        pool->bars[heads[word - 1]] = 1;
        add_set(pool, word, room);
        memset(pool->bars, 0, words + 1);
        pool->given[word - 1] = heads[word - 1];
    }
}

size_t md_tree_best(const md_tree *tree, size_t wanted, int32_t *outputs, double *values,
                    float *scratch)
{
    const size_t words = tree->words;
    if (wanted == 0)
        return 0;
    struct pool pool = make_pool(tree, wanted, scratch);
    memset(pool.bars, 0, words + 1);
    for (size_t i = 0; i < words; i++)
        pool.given[i] = -1;
    add_set(&pool, 1, wanted);
    for (size_t i = 0; i < wanted; i++) {
        if (pool.count == 0)
            return i;
        const size_t set = extreme(&pool, true);
        int32_t *output = outputs + i * words;
        values[i] = pool.value[set];
        memcpy(output, pool.heads + set * words, words * sizeof *output);
        cut(&pool, set, output, wanted - i - 1);
    }
    return wanted;
}
