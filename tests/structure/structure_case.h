/* SPDX-License-Identifier: BSD-3-Clause */
/* An input of a structure with random scores, and a list of all its outputs. The score of an output
 * is the sum of its parts' scores, as structure.h defines it, so nothing here knows what the parts
 * of a structure are. */
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
    in.score = md_calloc(in.parts, sizeof *in.score);
    in.chosen = md_calloc(structure->parts_per_output(in.shape, length) + 1, sizeof *in.chosen);
    assert_non_null(in.score);
    assert_non_null(in.chosen);
    assert_int_equal(
        md_workspace_reserve(&in.workspace, structure->workspace_size(in.shape, length)), 0);
    return in;
}

/* One whole number per row, 0 .. labels-1: counting with `length` digits lists all outputs. */
static inline void input_list_outputs(struct input *in)
{
    in->outputs = 1;
    for (size_t i = 0; i < in->length; i++)
        in->outputs *= in->shape.labels;
    in->output = md_calloc(in->outputs * in->length, sizeof *in->output);
    assert_non_null(in->output);
    for (size_t o = 0; o < in->outputs; o++) {
        size_t rest = o;
        for (size_t i = in->length; i-- > 0; rest /= in->shape.labels)
            in->output[o * in->length + i] = (int32_t)(rest % in->shape.labels);
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
