/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the chain share: where its parts lie, how scratch memory is cut up, and a view
 * of chains of any order as steps from state to state. */
#ifndef MD_CHAIN_H
#define MD_CHAIN_H

#include "structure/structure.h"

/* Floats that one turn of a vector loop takes. Rows of scores are padded to a multiple. */
enum { MD_LANES = 16 };

/* An example with its scores; NULL where there are no such parts. */
typedef struct md_chain {
    size_t length, labels;
    size_t stride;       /* labels, padded to a multiple of MD_LANES */
    size_t order;        /* 0 where there are no pairs, such as in sequences of one row */
    size_t pair_step;    /* from one row's pairs to the next row's; 0: all rows share them */
    const float *row;    /* [length][labels] */
    const float *pair;   /* [labels][labels], or one for each row but the first */
    const float *triple; /* [labels][labels][labels] */
    const float *end;    /* [2][labels] */
} md_chain;

/* Parts of each kind come one kind after the other: rows, pairs, ends, triples. */
typedef struct md_chain_layout {
    size_t pair, end, triple, count; /* first part of each kind, and how many there are */
} md_chain_layout;

md_chain_layout md_chain_layout_of(md_shape shape, size_t length);
md_chain md_chain_of(md_shape shape, size_t length, const float *score);

/* The pairs that end in row t, which is not the first. */
static inline const float *md_chain_pairs(const md_chain *chain, size_t t)
{
    return chain->pair + (t - 1) * chain->pair_step;
}

/* Score of a label at a row, ends included. */
static inline double md_chain_row_score(const md_chain *chain, size_t t, size_t label)
{
    double score = (double)chain->row[t * chain->labels + label];
    if (chain->end != NULL && t == 0)
        score += (double)chain->end[label];
    if (chain->end != NULL && t == chain->length - 1)
        score += (double)chain->end[chain->labels + label];
    return score;
}

/* ---- scratch memory, cut into pieces that start at multiples of 64 bytes ---- */

/* Floats to ask for so that a piece of `floats` fits wherever the one before ends. */
static inline size_t md_chain_slice(size_t floats)
{
    return (floats + MD_LANES - 1) / MD_LANES * MD_LANES;
}

/* Room for the start to be moved to a multiple of 64 bytes. */
static inline float *md_chain_align(float *values)
{
    const uintptr_t past = (uintptr_t)values % (MD_LANES * sizeof(float));
    return past == 0 ? values : values + MD_LANES - past / sizeof(float);
}

static inline float *md_chain_take(float **scratch, size_t floats)
{
    float *piece = *scratch;
    *scratch += md_chain_slice(floats);
    return piece;
}

/* Copies `count` rows of labels, `step` apart, to rows of stride filled up with `filler`. */
void md_chain_pad(const md_chain *chain, const float *scores, size_t count, size_t step,
                  float filler, float *padded);

/* Turns a square of labels in rows of stride; what fills the rows of `turned` up is left alone. */
void md_chain_turn(const md_chain *chain, const float *square, float *turned);

/* ---- the parts of inference; each needs so many floats of scratch memory ---- */

/* Best output; with gold, of score plus Hamming cost. Does not return a value: the caller adds up
 * the score of `best` in double precision. */
size_t md_chain_decode_floats(md_shape shape, size_t length);
void md_chain_decode(const md_chain *chain, const int32_t *given, const int32_t *gold,
                     int32_t *best, float *scratch);

size_t md_chain_best_floats(md_shape shape, size_t length, size_t wanted);
size_t md_chain_best(const md_chain *chain, size_t wanted, int32_t *outputs, double *values,
                     float *scratch);

/* Where marginals go: as in md_chain, but to be written. */
typedef struct md_chain_counts {
    float *row, *pair, *triple, *end;
} md_chain_counts;

/* log sum exp and marginals of rows, pairs and triples (not of ends), with logarithms in double
 * precision: slow, and right for all finite scores. */
size_t md_chain_log_floats(md_shape shape, size_t length);
double md_chain_log_sum(const md_chain *chain, const md_chain_counts *counts, float *scratch);

/* The same with scaled probabilities in single precision. False if the scores are so far apart that
 * these would not do; the counts are then unfinished. */
size_t md_chain_scaled_floats(md_shape shape, size_t length);
bool md_chain_scaled_sum(const md_chain *chain, const md_chain_counts *counts, float *scratch,
                         double *log_sum);

/* ---- chains of any order as steps from state to state ----
 * A state is the last label, or with order 2 the last two: one before * labels + last. Row 0 of
 * order 2 has the states whose one before is 0; the others are impossible there. */
static inline size_t md_chain_states(const md_chain *chain)
{
    return chain->order == 2 ? chain->labels * chain->labels : chain->labels;
}

/* The state before `state` whose oldest label is k. */
static inline size_t md_chain_before(const md_chain *chain, size_t state, size_t k)
{
    return chain->order == 2 ? k * chain->labels + state / chain->labels : k;
}

/* Scores of the pair and the triple that the step from there to `state` at row t > 0 adds. */
static inline double md_chain_step(const md_chain *chain, size_t t, size_t state, size_t k)
{
    const size_t labels = chain->labels;
    if (chain->order == 0)
        return 0;
    const float *pair = md_chain_pairs(chain, t);
    if (chain->order == 1)
        return (double)pair[k * labels + state];
    const double score = (double)pair[state];
    return t < 2 ? score : score + (double)chain->triple[k * labels * labels + state];
}

#endif
