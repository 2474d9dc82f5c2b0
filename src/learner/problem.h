/* SPDX-License-Identifier: BSD-3-Clause */
/* A training run, assembled: data, kernels, blocks, loss, penalty. Methods work on it and turn it
 * into a model. */
#ifndef MD_PROBLEM_H
#define MD_PROBLEM_H

#include "learner/online.h"
#include "model/model.h"

typedef struct md_problem {
    const medley_dataset *train, *dev; /* dev may be NULL */
    const medley_options *options;
    const medley_observer *observer;
    medley_observer watch; /* passes progress on to observer and remembers its wish to stop */
    bool stopped;          /* it asked to stop; if that was before there was a gram, gram is NULL */
    double began;

    const char *task;
    const md_structure *structure;
    const md_loss *loss;
    md_penalty *penalty;
    double lambda;
    double eta0, radius; /* NaN: auto; radius infinite: none */
    md_example *examples;
    size_t example_count;
    size_t threads;

    md_bank bank;
    md_points points;
    md_gram *gram; /* NULL if every block has explicit weights */
    double seconds_kernels;

    int32_t *dev_gold; /* [dev rows] in the training labels' numbering, or NULL */
} md_problem;

medley_status md_problem_init(md_problem *problem, const medley_dataset *train,
                              const medley_dataset *dev, const medley_options *options,
                              const medley_observer *observer, medley_error *error);
void md_problem_clear(md_problem *problem);

/* Tells the observer; false: stop. */
bool md_problem_report(md_problem *problem, const char *stage, size_t done, size_t total,
                       double objective, double dev_accuracy);

/* Creates block m of the bank. */
medley_status md_problem_block(md_block **block, md_problem *problem, size_t m,
                               medley_error *error);

/* The blocks of a finished run and how they relate to the bank's kernels. */
typedef struct md_trained {
    md_block **blocks;
    size_t block_count;
    const size_t *kernel; /* [block_count] of the bank; NULL: block b is kernel b */
    bool is_mixture;      /* one block over the average of all kernels */
    double eta0, objective;
    medley_epoch *epochs; /* owned here */
    size_t epoch_count, iterations;
    bool converged;
} md_trained;

medley_status md_model_build(medley_model **model, md_problem *problem, const md_trained *trained,
                             medley_error *error);

/* Accuracy on held-out data of the blocks as they are now. */
medley_status md_problem_dev_accuracy(double *accuracy, md_problem *problem,
                                      const md_trained *trained, medley_error *error);

/* ---- methods: one file and one line in methods.def ---- */
typedef struct md_method {
    const char *name, *summary;
    medley_status (*fit)(medley_model **model, md_problem *problem, medley_error *error);
} md_method;

extern const md_method *const md_methods[]; /* NULL-terminated */

/* "there is no loss 'x'; did you mean ...": kinds is the list of medley_list that was searched. */
medley_status md_fail_unlisted(const char *kind, const char *kinds, const char *name,
                               medley_error *error);

/* The first learning rate for eta0 = auto. The blocks keep what the last trial has learnt. Positive
 * status: stopped by the observer. */
medley_status md_choose_rate(md_problem *problem, const md_online_problem *whole,
                             const md_online_settings *settings, double *rate, medley_error *error);

/* The online run shared by methods: trains the given blocks, with early stopping and averaging as
 * the options say, and fills what md_trained tells about the run. Positive status: stopped by the
 * observer. */
medley_status md_run_online(md_problem *problem, md_trained *trained, const size_t *visit,
                            size_t visit_count, const char *stage, medley_error *error);

#endif
