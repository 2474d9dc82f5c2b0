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
md_online_problem md_problem_for_loop(const md_problem *problem, const md_trained *trained);

/* The first learning rate for eta0 = auto. The blocks keep what the last trial has learnt. Positive
 * status: stopped by the observer. */
medley_status md_choose_rate(md_problem *problem, const md_online_problem *whole,
                             const md_online_settings *settings, double *rate, medley_error *error);

/* What a run is to do. */
typedef struct md_run_plan {
    const char *stage;   /* what the observer is told */
    const size_t *visit; /* [visit_count] the examples to train on; NULL: all */
    size_t visit_count;
    bool continues; /* sets out from what the blocks hold, not from 0 */
    size_t rounds;  /* then: as if it had taken so many */
    double faster;  /* then: with rates so many times as large */
    bool cools;     /* rates fall to next to nothing by the end of the run */
} md_run_plan;

/* The online run shared by methods: trains the blocks of trained, with early stopping and averaging
 * as the options say, and tells there how it went. Positive status: stopped by the observer. */
medley_status md_run_online(md_problem *problem, const md_run_plan *plan, md_trained *trained,
                            medley_error *error);

/* The run on all examples and its model, calibrated if the options say so; keeps the information
 * that the observer has stopped it. */
medley_status md_train_and_build(medley_model **model, md_problem *problem, md_trained *trained,
                                 medley_error *error);

/* The fit of a method whose rule learns all blocks together. */
medley_status md_fit_online(medley_model **model, md_problem *problem, medley_error *error);

#endif
