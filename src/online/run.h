/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of the online loop on a problem: first rate, epochs and stages, early stopping, averaging.
 */
#ifndef MD_ONLINE_RUN_H
#define MD_ONLINE_RUN_H

#include "online/rule.h"
#include "setup/setup.h"

/* How the loop learns, by the options and the lambda of the problem (run_online.c). */
md_online_settings md_problem_settings(const md_problem *problem);

/* The problem as the loop sees it; the blocks are borrowed. */
md_online_problem md_problem_for_loop(const md_problem *problem, const md_run_blocks *blocks);

/* The first learning rate for eta0 = auto. The blocks keep what the last trial has learnt. Positive
 * status: stopped by the observer. */
medley_status md_choose_rate(md_problem *problem, const md_online_problem *whole,
                             const md_online_settings *settings, double *rate, medley_error *error);

/* What a run is to do. */
typedef struct md_run_plan {
    const char *stage;   /* what the observer is told */
    const size_t *visit; /* [visit_count] the examples to train on; NULL: all */
    size_t visit_count;
    double eta0;    /* the first rate; 0 or NaN: by the options */
    bool continues; /* sets out from what the blocks hold, not from 0 */
    size_t rounds;  /* then: the rounds that count as taken before */
    double faster;  /* then: the factor of the rates */
    bool cools;     /* rates fall to next to nothing by the end of the run */
} md_run_plan;

/* The online run shared by methods: trains the blocks, with early stopping and averaging as the
 * options say. What result held before is cleared. Positive status: stopped by the observer. */
medley_status md_run_online(md_problem *problem, const md_run_plan *plan,
                            const md_run_blocks *blocks, md_run_result *result,
                            medley_error *error);

/* The run on all examples and its model, calibrated if the options say so; keeps the information
 * that the observer has stopped it. */
medley_status md_train_and_build(medley_model **model, md_problem *problem,
                                 const md_run_blocks *blocks, medley_error *error);

/* The fit of a method whose rule learns all blocks together. */
medley_status md_fit_online(medley_model **model, md_problem *problem, medley_error *error);

#endif
