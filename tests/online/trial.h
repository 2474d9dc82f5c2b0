/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of the online loop on tiny problems (listed_problem.h). */
#ifndef TESTS_ONLINE_TRIAL_H
#define TESTS_ONLINE_TRIAL_H

#include "online/listed_problem.h"
#include "structure/custom_chain.h"
#include <stdio.h>

static const md_shape shapes[] = {
    {.labels = LABELS},
    {.labels = LABELS, .order = 1},
    {.labels = LABELS, .order = 1, .local_pairs = true, .ends = true},
    {.labels = LABELS, .order = 2, .ends = true},
    {.labels = LABELS, .order = 2, .local_pairs = true},
    {.labels = LABELS, .projective = true},
    {.labels = LABELS, .many_roots = true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct trial {
    struct listed listed;
    struct objective objective;
    md_penalty *penalty;
    struct plain_block plain[BLOCKS];
    md_block *blocks[BLOCKS];
    md_gather gather;
    md_online online;
    char name[160];
};

static inline void trial_make(struct trial *t, md_space space, const md_loss *loss,
                              const char *penalty, double C, uint64_t seed)
{
    const bool rows = strcmp(space.structure->name, "multiclass") == 0;
    const size_t own = seed % 2;
    memset(t, 0, sizeof *t);
    snprintf(t->name, sizeof t->name, "%s, order %zu, %s, %s, C %g, seed %u", space.structure->name,
             space.shape.order, loss->name, penalty, C, (unsigned)seed);
    listed_make(&t->listed, space, rows, seed);
    assert_int_equal(md_penalty_create(&t->penalty, penalty, NULL), MEDLEY_OK);
    t->objective = (struct objective){.listed = &t->listed,
                                      .loss = loss,
                                      .penalty = t->penalty,
                                      .lambda = 1 / (C * (double)t->listed.visit_count),
                                      .penalised = BLOCKS - own};
    for (size_t m = 0; m < BLOCKS; m++) {
        t->plain[m] = (struct plain_block){
            .base = {.class = &plain_class, .labels = LABELS, .scale = 1, .dual_scale = 1},
            .listed = &t->listed,
            .m = m};
        t->blocks[m] = &t->plain[m].base;
    }
}

static inline void trial_begin(struct trial *t, const md_rule *rule, size_t batch)
{
    const md_online_problem problem = {.blocks = t->blocks,
                                       .block_count = BLOCKS,
                                       .penalised = t->objective.penalised,
                                       .space = t->listed.space,
                                       .loss = t->objective.loss,
                                       .penalty = t->penalty,
                                       .examples = t->listed.examples,
                                       .example_count = EXAMPLES,
                                       .gold = t->listed.gold,
                                       .visit = t->listed.visit,
                                       .visit_count = t->listed.visit_count};
    const md_online_settings settings = {
        .rule = rule,
        .rates = {.eta0 = 0.5, .schedule = MD_RATE_SQRT, .radius = INFINITY, .prox_every = 1},
        .dual = {.p = 1.25, .eta = NAN},
        .lambda = t->objective.lambda,
        .batch = batch,
        .skip_threshold = 0.02,
        .least_part = 0.02,
        .seed = 1,
        .threads = 1};
    medley_error error = {0};
    assert_int_equal(md_online_init(&t->online, &problem, &settings, &error), MEDLEY_OK);
    if (t->online.gather == NULL) { /* else of the rule's own */
        assert_int_equal(
            md_gather_init(&t->gather, &t->online.problem, batch, t->online.longest, &error),
            MEDLEY_OK);
        t->online.gather = &t->gather;
    }
    md_online_restart(&t->online, t->online.rate);
    assert_int_equal(md_online_begin_stage(&t->online, 0, 0, &error), MEDLEY_OK);
}

/* What scores. */
static inline void trial_weights(const struct trial *t, double *w)
{
    for (size_t m = 0; m < BLOCKS; m++)
        for (size_t f = 0; f < FEATURES; f++)
            w[m * FEATURES + f] =
                t->plain[m].theta[f] * t->blocks[m]->scale * t->blocks[m]->dual_scale;
}

static inline void trial_clear(struct trial *t)
{
    md_gather_clear(&t->gather);
    md_online_clear(&t->online);
    md_penalty_free(t->penalty);
}

#endif
