/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences for the tests of the online loop: random rows in examples of a few rows each, and
 * blocks of every kind over them: a kernel or columns of a matrix, ids of templates for labels and
 * for pairs of labels, and constants for triples and ends. */
#ifndef TESTS_ONLINE_CHAIN_PROBLEM_H
#define TESTS_ONLINE_CHAIN_PROBLEM_H

#include "base/random.h"
#include "online/dual.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 4, IDS = 12, BLOCKS_MOST = 64 };

/* A kernel whose values are kept, one by deferred scores, or weights. */
typedef enum columns_as { AS_KERNEL, AS_COMPUTED_KERNEL, AS_WEIGHTS } columns_as;

struct chain_size {
    size_t labels, examples, longest, id_blocks;
};

struct chain_problem {
    struct chain_size size;
    md_space space;
    size_t rows;
    md_example *examples;
    int32_t *gold;
    int32_t *id; /* [rows][id_blocks] */
    md_matrix columns;
    medley_dataset *dataset;
    md_bank bank;
    md_prepared prepared;
    md_gram *gram;
};

/* Labels follow from the columns, noisily. */
static inline void chain_problem_draw(struct chain_problem *p, md_random *random)
{
    medley_error error = {0};
    double *values = calloc(p->rows * COLUMNS, sizeof *values);
    assert_non_null(values);
    for (size_t r = 0; r < p->rows; r++) {
        p->gold[r] = (int32_t)md_random_below(random, p->size.labels);
        for (size_t c = 0; c < COLUMNS; c++)
            values[r * COLUMNS + c] = (double)(float)(0.5 * md_random_normal(random) +
                                                      ((int32_t)c == p->gold[r] ? 0.7 : 0));
        for (size_t b = 0; b < p->size.id_blocks; b++)
            p->id[r * p->size.id_blocks + b] = (int32_t)md_random_below(random, IDS + 1) - 1;
    }
    assert_int_equal(md_matrix_init_dense(&p->columns, p->rows, COLUMNS, &error), MEDLEY_OK);
    for (size_t i = 0; i < p->rows * COLUMNS; i++)
        p->columns.dense[i] = (float)values[i];
    assert_int_equal(medley_dataset_from_dense(&p->dataset, values, p->rows, COLUMNS, NULL, &error),
                     MEDLEY_OK);
    free(values);
}

static inline void chain_problem_gram(struct chain_problem *p, columns_as as)
{
    medley_error error = {0};
    char spec[] = "poly(degree=1,offset=0)"; /* linear, and always by values */
    char *const kernels[] = {spec, NULL};
    const md_bank_options bank_options = {.kernels = kernels, .views = "all"};
    const md_gram_options gram_options = {
        .threads = 1, .memory = as == AS_COMPUTED_KERNEL ? 4 * p->rows * sizeof(float) : 0};
    if (as == AS_WEIGHTS)
        return;
    assert_int_equal(md_bank_make(&p->bank, p->dataset, &bank_options, &error), MEDLEY_OK);
    assert_int_equal(md_prepared_make(&p->prepared, &p->bank, p->dataset, true, &error), MEDLEY_OK);
    assert_int_equal(md_gram_create(&p->gram, &p->bank, &p->prepared, &gram_options, &error),
                     MEDLEY_OK);
    assert_int_equal(md_gram_is_streamed(p->gram), as == AS_COMPUTED_KERNEL);
}

static inline void chain_problem_make(struct chain_problem *p, struct chain_size size,
                                      columns_as as, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    *p = (struct chain_problem){
        .size = size,
        .space = {.structure = md_structure_find("chain"),
                  .shape = {.labels = size.labels, .order = 2, .local_pairs = true, .ends = true}}};
    p->examples = calloc(size.examples, sizeof *p->examples);
    assert_non_null(p->examples);
    for (size_t e = 0; e < size.examples; e++) {
        p->examples[e] = (md_example){p->rows, size.longest - md_random_below(&random, 3)};
        p->rows += p->examples[e].length;
    }
    p->gold = calloc(p->rows, sizeof *p->gold);
    p->id = calloc(p->rows * size.id_blocks, sizeof *p->id);
    assert_true(p->gold != NULL && p->id != NULL);
    chain_problem_draw(p, &random);
    chain_problem_gram(p, as);
}

static inline void chain_problem_clear(struct chain_problem *p)
{
    md_gram_free(p->gram);
    md_prepared_clear(&p->prepared);
    md_bank_clear(&p->bank);
    medley_dataset_free(p->dataset);
    md_matrix_clear(&p->columns);
    free(p->examples);
    free(p->gold);
    free(p->id);
}

/* ---- blocks: columns, then ids (of labels; the last of pairs), then triples and ends ---- */

static inline size_t chain_blocks(const struct chain_problem *p)
{
    return p->size.id_blocks + 3;
}

/* What explicit block b is; block 0 may be a kernel instead. */
static inline md_explicit chain_explicit(const struct chain_problem *p, size_t b)
{
    const size_t ids = p->size.id_blocks;
    md_explicit what = {.name = "x", .gain = 1, .space = p->space, .features.count = 1};
    if (b == 0) {
        what.features = (md_row_features){.matrix = &p->columns, .count = COLUMNS};
    } else if (b <= ids) {
        what.features = (md_row_features){.id = p->id + (b - 1), .id_step = ids, .count = IDS};
        what.kind = b == ids ? MD_PAIR_PARTS : MD_ROW_PARTS;
    } else {
        what.kind = b == ids + 1 ? MD_TRIPLE_PARTS : MD_END_PARTS;
    }
    return what;
}

struct chain_learner {
    md_block *blocks[BLOCKS_MOST];
    size_t block_count;
    md_penalty *penalty;
    md_deferred *deferred;
    md_online online;
};

/* Windows are small and few rows are kept. */
static inline void chain_learner_deferred(struct chain_learner *learner,
                                          const struct chain_problem *p, size_t batch)
{
    medley_error error = {0};
    const md_deferred_options options = {.labels = p->size.labels,
                                         .longest = p->size.longest * batch,
                                         .memory = 5 * p->rows * sizeof(float)};
    if (p->gram != NULL && !md_gram_is_kept(p->gram, 0))
        assert_int_equal(md_deferred_create(&learner->deferred, p->gram, &options, &error),
                         MEDLEY_OK);
}

static inline void chain_learner_make(struct chain_learner *learner, const struct chain_problem *p,
                                      const char *loss, const char *penalty,
                                      const md_online_settings *settings)
{
    medley_error error = {0};
    *learner = (struct chain_learner){.block_count = chain_blocks(p)};
    assert_true(learner->block_count <= BLOCKS_MOST);
    assert_int_equal(md_penalty_create(&learner->penalty, penalty, &error), MEDLEY_OK);
    chain_learner_deferred(learner, p, settings->batch);
    const md_kernel_source from = {.gram = p->gram,
                                   .deferred = learner->deferred,
                                   .name = "k",
                                   .labels = p->size.labels,
                                   .averaging = settings->average};
    for (size_t b = 0; b < learner->block_count; b++) {
        md_explicit what = chain_explicit(p, b);
        what.averaging = settings->average;
        what.thresholds = md_penalty_inner_threshold(learner->penalty) > 0;
        const medley_status status =
            b == 0 && p->gram != NULL
                ? md_kernel_block_create(&learner->blocks[b], &from, &error)
                : md_explicit_block_create(&learner->blocks[b], &what, &error);
        assert_int_equal(status, MEDLEY_OK);
    }
    const md_online_problem problem = {.blocks = learner->blocks,
                                       .block_count = learner->block_count,
                                       .penalised =
                                           learner->block_count - 2, /* not the constants */
                                       .gram = p->gram,
                                       .deferred = learner->deferred,
                                       .space = p->space,
                                       .loss = md_loss_find(loss),
                                       .penalty = learner->penalty,
                                       .examples = p->examples,
                                       .example_count = p->size.examples,
                                       .gold = p->gold};
    md_online_settings whole = *settings;
    whole.rule = whole.rule ? whole.rule : &md_rule_spom;
    assert_int_equal(md_online_init(&learner->online, &problem, &whole, &error), MEDLEY_OK);
}

static inline void chain_learner_clear(struct chain_learner *learner)
{
    md_online_clear(&learner->online);
    for (size_t b = 0; b < learner->block_count; b++)
        md_block_free(learner->blocks[b]);
    md_deferred_free(learner->deferred);
    md_penalty_free(learner->penalty);
}

#endif
