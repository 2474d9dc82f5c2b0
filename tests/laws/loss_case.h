/* SPDX-License-Identifier: BSD-3-Clause */
/* Random scores and right outputs for the laws of losses, over every structure and shape. */
#ifndef TESTS_LAWS_LOSS_CASE_H
#define TESTS_LAWS_LOSS_CASE_H

#include "base/random.h"
#include "loss/loss.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LABELS = 4, LONGEST = 4, SEEDS = 30, PARTS_MOST = 160 };

/* A structure looks only at what concerns it. */
static const md_shape shapes[] = {
    {.labels = LABELS},
    {.labels = LABELS, .ends = true},
    {.labels = LABELS, .order = 1},
    {.labels = LABELS, .order = 1, .local_pairs = true, .ends = true},
    {.labels = LABELS, .order = 2, .ends = true},
    {.labels = LABELS, .order = 2, .local_pairs = true},
    {.labels = LABELS, .many_roots = true},
    {.labels = LABELS, .projective = true},
    {.labels = LABELS, .many_roots = true, .projective = true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct sample {
    const md_loss *loss;
    md_space space;
    md_inference *inference;
    md_random random;
    size_t length, parts;
    size_t width;      /* parts of a row */
    size_t most_parts; /* of the longest example */
    float score[PARTS_MOST];
    int32_t gold[LONGEST];
};

typedef void law(struct sample *sample);

/* Labels for all structures, which are the heads of a projective tree as well: each word hangs from
 * one before it, a random one of those from which the last word hangs. */
static inline void draw_gold(struct sample *sample)
{
    for (size_t i = 0; i < sample->length; i++) {
        sample->gold[i] = (int32_t)md_random_below(&sample->random, LABELS);
        if (strcmp(sample->space.structure->name, "tree") != 0)
            continue;
        sample->gold[i] = (int32_t)i;
        while (sample->gold[i] > 1 && md_random_below(&sample->random, 2) == 0)
            sample->gold[i] = sample->gold[sample->gold[i] - 1];
    }
}

static inline void check_samples(const md_loss *loss, md_space space, law *check)
{
    md_inference inference;
    medley_error error = {0};
    assert_int_equal(md_inference_init(&inference, space, LONGEST, &error), MEDLEY_OK);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sample sample = {.loss = loss, .space = space, .inference = &inference};
        md_random_seed(&sample.random, seed);
        sample.length = 1 + md_random_below(&sample.random, LONGEST);
        sample.parts = space.structure->part_count(space.shape, sample.length);
        sample.most_parts = space.structure->part_count(space.shape, LONGEST);
        assert_true(sample.most_parts <= PARTS_MOST);
        for (size_t p = 0; p < sample.parts; p++)
            sample.score[p] = (float)md_random_normal(&sample.random);
        sample.width = md_row_width(space, sample.length);
        draw_gold(&sample);
        check(&sample);
    }
    md_inference_clear(&inference);
}

static inline void for_every_loss(law *check)
{
    for (size_t s = 0; md_structures[s] != NULL; s++)
        for (size_t k = 0; md_losses[k] != NULL; k++)
            for (size_t i = 0; i < SHAPES; i++)
                check_samples(md_losses[k], (md_space){md_structures[s], shapes[i]}, check);
}

static inline size_t gold_parts(const struct sample *sample, uint32_t *parts)
{
    return sample->space.structure->parts_of(sample->space.shape, sample->length, sample->gold,
                                             parts);
}

/* A number for the group of a part that is not a row's. */
static inline uint32_t group_of(const struct sample *sample, uint32_t part)
{
    for (int kind = MD_ROW_PARTS + 1; kind < MD_PART_KINDS; kind++) {
        const md_groups groups = sample->space.structure->groups(
            sample->space.shape, sample->length, (md_part_kind)kind);
        if (part >= groups.first && part < groups.first + groups.count * groups.width)
            return (uint32_t)(groups.first + (part - groups.first) / groups.width);
    }
    fail_msg("part %u is in no group", (unsigned)part);
    return 0;
}

static inline double value_at(struct sample *sample, const float *score)
{
    memcpy(sample->inference->score, score, sample->parts * sizeof *score);
    return sample->loss->evaluate(sample->inference, sample->length, sample->gold, false);
}

/* Parts come once, and dense is the same as a full vector: zero elsewhere, behind the parts of this
 * example too. */
static inline void check_delta(const struct sample *sample)
{
    const md_delta *delta = &sample->inference->delta;
    float dense[PARTS_MOST] = {0};
    for (size_t i = 0; i < delta->count; i++) {
        assert_true(delta->part[i] < sample->parts);
        assert_true(dense[delta->part[i]] == 0);
        assert_true(delta->coefficient[i] != 0);
        dense[delta->part[i]] = delta->coefficient[i];
    }
    for (size_t p = 0; p < sample->most_parts; p++)
        if (delta->dense[p] != dense[p])
            fail_msg("%s, %s: part %zu of %zu is %g, but %g in the list", sample->loss->name,
                     sample->space.structure->name, p, sample->parts, (double)delta->dense[p],
                     (double)dense[p]);
}

/* Parts of a row stand together and are found by row and start; of those that follow, the parts of
 * a group stand together as well. */
static inline void check_groups(const struct sample *sample)
{
    const md_delta *delta = &sample->inference->delta;
    uint32_t group[PARTS_MOST];
    size_t listed = 0;
    for (size_t r = 0; r < delta->row_count; r++) {
        assert_true(delta->row[r] < sample->length);
        assert_int_equal(delta->start[r], listed);
        assert_true(delta->start[r + 1] > delta->start[r]); /* a row without parts is not named */
        for (size_t s = 0; s < r; s++)
            assert_true(delta->row[s] != delta->row[r]);
        for (; listed < delta->start[r + 1]; listed++)
            assert_int_equal(delta->part[listed] / sample->width, delta->row[r]);
    }
    assert_int_equal(delta->start[delta->row_count], listed);
    for (size_t i = listed; i < delta->count; i++) {
        assert_true(delta->part[i] >= sample->length * sample->width);
        group[i] = group_of(sample, delta->part[i]);
        for (size_t k = listed; k + 1 < i; k++)
            assert_true(group[k] != group[i] || group[i - 1] == group[i]);
    }
}

static inline double gradient_at(struct sample *sample, const float *score, double *gradient)
{
    memcpy(sample->inference->score, score, sample->parts * sizeof *score);
    const double value =
        sample->loss->evaluate(sample->inference, sample->length, sample->gold, true);
    const md_delta *delta = &sample->inference->delta;
    check_delta(sample);
    memset(gradient, 0, sample->parts * sizeof *gradient);
    for (size_t i = 0; i < delta->count; i++)
        gradient[delta->part[i]] = (double)delta->coefficient[i];
    return value;
}

#endif
