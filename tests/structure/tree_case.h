/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences with random scores for the tests of trees, in all four shapes. */
#ifndef MD_TEST_TREE_CASE_H
#define MD_TEST_TREE_CASE_H

#include "structure/structure_case.h"
#include "structure/tree.h"

enum { SHAPES = 4 };

static inline md_shape tree_shape(size_t which)
{
    return (md_shape){.many_roots = which % 2 == 1, .projective = which / 2 == 1};
}

static inline struct input sentence(size_t shape, size_t length, uint64_t seed, double scale)
{
    md_random random;
    md_random_seed(&random, seed);
    struct input in = input_make(md_structure_find("tree"), tree_shape(shape), length);
    input_draw(&in, &random, false, scale);
    return in;
}

static inline float *arc(struct input *in, size_t head, size_t word)
{
    return in->score + (word - 1) * (in->length + 1) + head;
}

static inline int32_t *numbers(size_t count)
{
    int32_t *memory = md_calloc(count, sizeof *memory);
    assert_non_null(memory);
    return memory;
}

static inline float *floats(size_t count)
{
    float *memory = md_calloc(count, sizeof *memory);
    assert_non_null(memory);
    return memory;
}

static inline double decode(struct input *in, const int32_t *given, int32_t *best)
{
    return in->structure->decode(in->shape, in->length, in->score, given, best, &in->workspace);
}

static inline double log_partition(struct input *in, float *marginal)
{
    return in->structure->log_partition(in->shape, in->length, in->score, marginal, &in->workspace);
}

#endif
