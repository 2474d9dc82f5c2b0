/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of the online loop on a problem: first rate, epochs and stages, early stopping, averaging;
 * what a run needs on the way (copies of theta, checkpoints), and what is made of runs (calibrated
 * models, paths). */
#ifndef MD_ONLINE_RUN_H
#define MD_ONLINE_RUN_H

#include "online/rule.h"
#include "setup/setup.h"

/* How the loop learns, by the options and the lambda of the problem (fit_online.c). */
md_online_settings md_problem_settings(const md_problem *problem);

/* The problem as the loop sees it; the blocks are borrowed. */
md_online_problem md_problem_for_loop(const md_problem *problem, const md_run_blocks *blocks);

/* The first learning rate for eta0 = auto. The blocks keep what the last trial has learnt. Positive
 * status: stopped by the observer. */
medley_status md_choose_rate(md_problem *problem, const md_online_problem *whole,
                             const md_online_settings *settings, double *rate, medley_error *error);

/* ---- theory.c: SPOM's proposition 3, and the mistakes of OBSCURE's online stage ---- */

typedef struct md_theory {
    double gradient; /* G */
    double diameter; /* F; infinite: there is no ball */
    double rate;     /* eta0 with the best bound */
} md_theory;

md_theory md_online_theory(const md_online *online);

/* Of a run with this result, whose objective is known; all 0: it has rates of another kind. */
medley_regret md_run_regret(const md_online *online, const md_run_result *result);

/* The rate alone; an error where there is none. */
medley_status md_theory_rate(const md_online *online, double *rate, medley_error *error);

/* No ||z||_{2,q} of an example is longer, z over the weights (NULL: all 1). */
double md_longest_gradient(const md_online *online, double q, const double *weight);

/* Of a run whose blocks hold the weights that it has come to, with this mean loss; all 0: there was
 * no such stage, or nothing is known of it. */
medley_mistakes md_run_mistakes(md_online *online, const md_run_result *result, double mean_loss);

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
    bool certifies; /* if the options say so: with a lower bound of the objective */
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

/* ---- theta_copy.c: the best epoch's theta, or one that a trial is not to spoil ---- */

typedef struct md_theta_copy {
    float **body; /* [count] one for each block; NULL: nothing was copied yet */
    size_t count;
} md_theta_copy;

/* What scores, both scales applied; an older copy of the same blocks is overwritten. To be cleared
 * whatever comes back. */
medley_status md_theta_copy_take(md_theta_copy *copy, const md_run_blocks *run,
                                 medley_error *error);
void md_theta_copy_clear(md_theta_copy *copy);

/* The blocks hold the sum of some copies, each times a factor, with dual scales of 1: their scores
 * are computed afresh. */
typedef struct md_theta_term {
    const md_theta_copy *copy;
    double factor;
} md_theta_term;
medley_status md_theta_restore_sum(const md_theta_term *terms, size_t count,
                                   const md_run_blocks *run, md_deferred *deferred,
                                   medley_error *error);

/* The same with one copy as it is. */
medley_status md_theta_copy_restore(const md_theta_copy *copy, const md_run_blocks *run,
                                    md_deferred *deferred, medley_error *error);

/* ---- checkpoint.c: the whole state of a run in a file, exact to the last bit, so that a run that
 * was killed goes on and ends in the same model. A checkpoint belongs to a run: to its data and to
 * every option that has a say in the result. ---- */

/* Shows every piece of the state to a visitor, always in the same order. A size may depend on
 * pieces that were shown before it. */
typedef void (*md_state_walk)(void *state, md_state_visitor visit, void *context);

/* What tells one run from another: data and options, but not threads and memory, and the number of
 * epochs only as far as it has a say in each. */
typedef struct md_checkpoint_keys {
    uint64_t here;     /* what a checkpoint of this run has */
    uint64_t anywhere; /* of the same run on a card, which may go on elsewhere, not to the bit */
} md_checkpoint_keys;
medley_status md_checkpoint_key(md_checkpoint_keys *result, const md_problem *problem,
                                medley_error *error);

/* The file is replaced whole or not at all. */
medley_status md_checkpoint_save(const char *path, uint64_t key, md_state_walk walk, void *state,
                                 medley_error *error);
/* The same by rank 0 alone, which tells the others how it went. */
medley_status md_checkpoint_save_together(const char *path, uint64_t key, md_state_walk walk,
                                          void *state, medley_comm *comm, medley_error *error);

/* Is there nothing under this name that a checkpoint must not replace? */
medley_status md_checkpoint_check(const char *path, medley_error *error);

/* Fills the state. *found false: it was left alone, since there is no such file or an error was
 * found in time. A file of another run, or a damaged one, is an error. */
medley_status md_checkpoint_load(const char *path, const md_checkpoint_keys *keys,
                                 md_state_walk walk, void *state, bool *found, medley_error *error);
medley_status md_checkpoint_fail_damaged(const char *path, medley_error *error);

/* ---- bound.c: a lower bound of the objective (--certify) ---- */

/* Of a sum in single precision: bounds are lower by this share, or more. */
#define MD_ROUNDING 0x1p-20

/* Can the rule learn this problem, and have a bound if there is to be one? Said before anything is
 * learnt. */
medley_status md_run_check(md_problem *problem, medley_error *error);

/* The gap of a result with a dual, from its objective; of others nothing. */
void md_certify_result(md_run_result *result);

/* ---- calibrate.c: training for calibrated probabilities (--calibrate). The model itself is the
 * same with and without: once it is there, a second one with the same settings is learnt from four
 * fifths of the examples, and how its scores of the last fifth turn into probabilities
 * (model/calibration.h) is what the first one gets. ---- */

/* Can this run be calibrated? Said before anything is learnt. */
medley_status md_calibrate_check(const md_problem *problem, medley_error *error);

/* Calibrates a model that an online run has just learnt, if the options say so. Its blocks are used
 * again, with its first rate eta0: what they have learnt is lost. MEDLEY_STOPPED by the observer:
 * the model is not calibrated. A failure takes the model along: *model is NULL. */
medley_status md_calibrate(medley_model **model, md_problem *problem, const md_run_blocks *blocks,
                           double eta0, medley_error *error);

/* Which examples are held out. */
md_division_rule md_calibrate_rule(bool sequences);

/* Adds the time since start to the model's summary; a model that could not be calibrated (status)
 * is freed. */
void md_calibrate_finish(medley_model **model, double start, medley_status status);

/* ---- path_start.c, online_path.c: paths of penalties ---- */

/* Where a path begins. */
typedef struct md_path_start {
    double lambda;    /* the least that leaves out all blocks; or a strong one, where none does */
    bool is_zero;     /* theta = 0 is the optimum from there on */
    double objective; /* of theta = 0 */
} md_path_start;

/* Online methods: one pass over all examples with scores of 0. The blocks, which are left without
 * anything learnt, are those of the problem. */
medley_status md_path_find_start(md_path_start *start, md_problem *problem,
                                 const md_run_blocks *blocks, medley_error *error);

/* How online methods walk along a path (md_method.fit_path). */
medley_status md_fit_online_path(md_problem *problem, const medley_path_options *path,
                                 medley_path_taker take, void *context, medley_error *error);

#endif
