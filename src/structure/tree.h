/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of trees share. Words are numbered from 1, as heads are: 0 is the root. */
#ifndef MD_TREE_H
#define MD_TREE_H

#include "structure/chain.h"
#include "structure/heads.h"

/* A sentence with the scores of its arcs, and what is asked of its trees. */
typedef struct md_tree {
    size_t words;
    bool many_roots;
    bool projective;
    const float *score;    /* [words][words + 1] of word and head; a word as its own head is none */
    const int32_t *gold;   /* [words] heads that all others cost 1 more than; NULL: no costs */
    const int32_t *given;  /* [words] heads that are known, -1 where they are not; NULL: none */
    const uint8_t *barred; /* [words + 1] not 0: a head barred_word must not have; NULL: none */
    size_t barred_word;
    md_sentence sentence; /* heads NULL: words may have all heads, and arcs are all there is */
} md_tree;

md_tree md_tree_of(md_shape shape, size_t length, const float *score);

static inline const float *md_tree_row(const md_tree *tree, size_t word)
{
    return tree->score + (word - 1) * (tree->words + 1);
}

/* Score of an arc, with its cost. */
static inline double md_tree_arc(const md_tree *tree, size_t word, size_t head)
{
    const bool wrong = tree->gold != NULL && (size_t)tree->gold[word - 1] != head;
    return (double)md_tree_row(tree, word)[head] + (wrong ? 1 : 0);
}

/* Whether an arc is against what is given or barred. */
static inline bool md_tree_breaks(const md_tree *tree, size_t word, size_t head)
{
    if (tree->given != NULL && tree->given[word - 1] >= 0 && (size_t)tree->given[word - 1] != head)
        return true;
    return tree->barred != NULL && tree->barred_word == word && tree->barred[head] != 0;
}

static inline bool md_tree_constrained(const md_tree *tree)
{
    return tree->given != NULL || tree->barred != NULL;
}

/* ---- scratch memory: pieces of a workspace that was aligned by md_chain_align ---- */

/* Rows of doubles are padded to so many, a line of the cache. */
enum { MD_TREE_LANES = 8 };

static inline size_t md_tree_stride(size_t count)
{
    return (count + MD_TREE_LANES - 1) / MD_TREE_LANES * MD_TREE_LANES;
}

static inline double *md_tree_take(float **scratch, size_t doubles)
{
    return (double *)(void *)md_chain_take(scratch, 2 * doubles);
}

static inline int32_t *md_tree_take_whole(float **scratch, size_t count)
{
    return (int32_t *)(void *)md_chain_take(scratch, count);
}

/* ---- the parts of inference; each needs so many floats of scratch memory ---- */

/* The heads of a best tree. One that breaks as little as possible of what is given or barred, where
 * no tree does without. The caller adds up its score. */
size_t md_tree_decode_floats(md_shape shape, size_t words);
void md_tree_decode(const md_tree *tree, int32_t *best, float *scratch);

/* Its ways: any trees, those without crossing arcs, and those with parts of second order, where
 * what is found is a tree that no small change betters. */
size_t md_tree_spanning_floats(size_t words);
void md_tree_spanning(const md_tree *tree, int32_t *best, float *scratch);
size_t md_tree_eisner_floats(size_t words);
void md_tree_eisner(const md_tree *tree, int32_t *best, float *scratch);
size_t md_tree_climb_floats(size_t words);
void md_tree_climb(const md_tree *tree, int32_t *best, float *scratch);

/* Score and costs of a tree. */
double md_tree_score(const md_tree *tree, const int32_t *heads);

/* The parts of second order of a tree into parts; returns how many: at most three for each word.
 * Siblings have their numbers in the sentence, grandparents theirs after all siblings. */
size_t md_tree_second_of(const md_sentence *sentence, const int32_t *heads, uint32_t *parts);
double md_tree_second_score(const md_tree *tree, const int32_t *heads);

static inline bool md_tree_has_second(const md_tree *tree)
{
    return tree->sentence.heads != NULL && tree->sentence.heads->sibling != NULL;
}

/* Scores of the parts of second order: siblings, then grandparents. */
static inline const float *md_tree_second(const md_tree *tree)
{
    return tree->score + tree->words * (tree->words + 1);
}

/* Scores of arcs with those of heads that words cannot have: so low that no tree takes one (low: by
 * how much more than it takes), into [words][words + 1]. */
void md_tree_fill_heads(const md_tree *tree, double low, float *score);

/* The `wanted` best trees, as md_structure's decode_best. */
size_t md_tree_best_floats(md_shape shape, size_t words, size_t wanted);
size_t md_tree_best(const md_tree *tree, size_t wanted, int32_t *outputs, double *values,
                    float *scratch);

/* log sum exp over all trees and the probabilities of arcs, [words][words + 1]. Scaled: false where
 * the scores are too far apart for that; with logarithms: false where they are so far apart that
 * these are too coarse. The marginals are then unfinished. */
size_t md_tree_sum_floats(size_t words); /* of either */
bool md_tree_scaled_sum(const md_tree *tree, float *marginal, float *scratch, double *log_sum);
bool md_tree_log_sum(const md_tree *tree, float *marginal, float *scratch, double *log_sum);

/* The same over projective trees, right for all finite scores. */
size_t md_tree_inside_floats(size_t words);
double md_tree_inside_outside(const md_tree *tree, float *marginal, float *scratch);

/* log sum exp over all trees of one of these ways. */
double md_tree_sum(const md_tree *tree, float *marginal, float *scratch);

/* The same over trees of the heads that words may have, with a mean field for parts of second
 * order; marginals of all parts. Beside this md_tree_sum's scratch memory is needed. */
size_t md_tree_field_floats(size_t words);
double md_tree_field(const md_tree *tree, float *marginal, float *scratch);

#endif
