/* SPDX-License-Identifier: BSD-3-Clause */
/* An input of a structure with random scores, and a list of all its outputs. The score of an output
 * is the sum of its parts' scores, as structure.h defines it, so nothing here knows what the parts
 * of a structure are; only that the heads of a tree are no labels like others. */
#ifndef MD_TEST_STRUCTURE_CASE_H
#define MD_TEST_STRUCTURE_CASE_H

#include "base/memory.h"
#include "base/random.h"
#include "structure/structure.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct input {
    const md_structure *structure;
    md_shape shape;
    size_t length, parts, outputs;
    size_t width;    /* parts of a row */
    float *score;    /* [parts] */
    float largest;   /* of the absolute scores */
    int32_t *output; /* [outputs][length]; NULL: not listed */
    uint32_t *chosen;
    md_workspace workspace;
};

static inline struct input input_make(const md_structure *structure, md_shape shape, size_t length)
{
    struct input in = {.structure = structure, .shape = shape, .length = length};
    in.parts = structure->part_count(in.shape, length);
    in.width = structure->groups(shape, length, MD_ROW_PARTS).width;
    in.score = md_calloc(in.parts, sizeof *in.score);
    in.chosen = md_calloc(structure->parts_per_output(in.shape, length) + 1, sizeof *in.chosen);
    assert_non_null(in.score);
    assert_non_null(in.chosen);
    assert_int_equal(
        md_workspace_reserve(&in.workspace, structure->workspace_size(in.shape, length)), 0);
    return in;
}

/* ---- trees: y[i] is the head of word i + 1, 0 the root ---- */

static inline bool of_trees(const md_structure *structure)
{
    return strcmp(structure->name, "tree") == 0;
}

/* Whether the arc from y[i] to word i + 1 covers words that do not hang from its head. */
static inline bool arc_crosses(size_t length, const int32_t *y, size_t i)
{
    const size_t from = (size_t)y[i] < i + 1 ? (size_t)y[i] : i + 1;
    const size_t to = (size_t)y[i] < i + 1 ? i + 1 : (size_t)y[i];
    for (size_t inside = from + 1; inside < to; inside++) {
        size_t above = inside;
        for (size_t steps = 0; steps < length && above != 0 && above != (size_t)y[i]; steps++)
            above = (size_t)y[above - 1];
        if (above != (size_t)y[i])
            return true;
    }
    return false;
}

static inline bool is_tree(md_shape shape, size_t length, const int32_t *y)
{
    size_t roots = 0;
    for (size_t i = 0; i < length; i++) {
        size_t above = i + 1;
        if (y[i] < 0 || (size_t)y[i] > length)
            return false;
        roots += y[i] == 0;
        for (size_t steps = 0; steps < length && above != 0; steps++)
            above = (size_t)y[above - 1];
        if (above != 0)
            return false;
    }
    for (size_t i = 0; i < length && shape.projective; i++)
        if (arc_crosses(length, y, i))
            return false;
    return shape.many_roots || roots == 1;
}

/* One whole number per row, 0 .. width-1: counting with `length` digits lists all outputs, and what
 * is no tree. */
static inline void input_list_outputs(struct input *in)
{
    size_t all = 1;
    for (size_t i = 0; i < in->length; i++)
        all *= in->width;
    in->output = md_calloc(all * in->length, sizeof *in->output);
    assert_non_null(in->output);
    in->outputs = 0;
    for (size_t o = 0; o < all; o++) {
        int32_t *y = in->output + in->outputs * in->length;
        size_t rest = o;
        for (size_t i = in->length; i-- > 0; rest /= in->width)
            y[i] = (int32_t)(rest % in->width);
        in->outputs += !of_trees(in->structure) || is_tree(in->shape, in->length, y);
    }
}

static inline void input_clear(struct input *in)
{
    free(in->score);
    free(in->output);
    free(in->chosen);
    md_workspace_clear(&in->workspace);
}

/* Whole numbers give many ties, normal ones none. */
static inline void input_draw(struct input *in, md_random *random, bool ties, double scale)
{
    in->largest = 0;
    for (size_t p = 0; p < in->parts; p++) {
        const double score =
            ties ? (double)md_random_below(random, 3) - 1 : 2 * md_random_normal(random);
        in->score[p] = (float)(scale * score);
        in->largest = fmaxf(in->largest, fabsf(in->score[p]));
    }
}

static inline const int32_t *output_of(const struct input *in, size_t o)
{
    return in->output + o * in->length;
}

static inline double score_of(struct input *in, const int32_t *y)
{
    const size_t count = in->structure->parts_of(in->shape, in->length, y, in->chosen);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)in->score[in->chosen[i]];
    return sum;
}

#endif
