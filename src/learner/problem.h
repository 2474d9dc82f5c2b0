/* SPDX-License-Identifier: BSD-3-Clause */
/* A training run, assembled: data, kernels, blocks, loss, penalty. Methods work on it and turn it
 * into a model. */
#ifndef MD_PROBLEM_H
#define MD_PROBLEM_H

#include "feature/feature.h"
#include "learner/online.h"
#include "model/model.h"

typedef enum md_source { MD_FROM_KERNEL, MD_FROM_TEMPLATE, MD_FROM_LABELS } md_source;

/* A block that may be learnt. */
typedef struct md_candidate {
    md_source source;
    size_t index; /* kernel of the bank, or block of the templates */
    md_part_kind kind;
    const char *name; /* borrowed */
    bool own_term;    /* an l2 term of its own instead of the penalty */
} md_candidate;

typedef struct md_problem {
    const medley_dataset *train, *dev; /* dev may be NULL */
    const medley_options *options;
    bool needs_kernels; /* the method works on kernel values, even of linear kernels */
    const medley_observer *observer;
    medley_observer watch; /* passes progress on to observer and remembers its wish to stop */
    bool stopped;          /* it asked to stop; if that was before there was a gram, gram is NULL */
    double began;

    const char *task;
    bool sequences; /* examples are sequences, and labels look back on others */
    md_space space;
    const md_loss *loss;
    md_penalty *penalty;
    double lambda;
    double eta0, radius; /* NaN: auto; radius infinite: none */
    size_t epochs;
    md_example *examples;
    size_t example_count;
    size_t threads;

    md_bank bank;
    md_points points;
    md_matrix *primal; /* [bank.count] rows of linear kernels that are kept as weights */
    md_gram *gram;     /* NULL if every block has explicit weights */
    md_templates *templates;
    md_features *features; /* NULL: no templates */
    int32_t *feature_ids;  /* [rows][templates]: those of an example stand together */
    double seconds_kernels;

    md_candidate
        *candidates; /* kernels, templates, label context; with own_term behind the others */
    size_t candidate_count;

    int32_t *dev_gold; /* [dev rows] in the training labels' numbering, or NULL */
} md_problem;

medley_status md_problem_init(md_problem *problem, const medley_dataset *train,
                              const medley_dataset *dev, const medley_options *options,
                              const medley_observer *observer, bool needs_kernels,
                              medley_error *error);
void md_problem_clear(md_problem *problem);

/* Tells the observer; false: stop. */
bool md_problem_report(md_problem *problem, const char *stage, size_t done, size_t total,
                       double objective, double dev_accuracy);

/* Are the features templates' or named attributes, so that all of them are sparse and explicit? */
bool md_problem_is_explicit(const md_problem *problem);

/* Creates the block of a candidate. */
medley_status md_problem_block(md_block **block, md_problem *problem, size_t candidate,
                               medley_error *error);

/* ---- candidates.c ---- */

/* Reads the templates and lists the candidates; shape follows from them. The bank is made. */
medley_status md_problem_find_templates(md_problem *problem, medley_error *error);
medley_status md_problem_list_candidates(md_problem *problem, medley_error *error);

/* Names of the blocks of label context: "bigram", "trigram", "ends". */
extern const char *const md_context_names[]; /* NULL-terminated */

/* ---- selection.c: --from, --keep, --blocks ---- */

typedef struct md_selection {
    bool all;         /* nothing is left out */
    bool by_name;     /* the user has named them */
    md_strings names; /* of the blocks that stay */
} md_selection;

medley_status md_selection_make(md_selection *selection, const medley_options *options,
                                medley_error *error);
void md_selection_clear(md_selection *selection);
bool md_selection_has(const md_selection *selection, const char *name, bool is_template);
/* Does a name as people write it, with a '*' at its end or, for templates, without what is behind
 * ':', mean this block? */
bool md_selection_matches(const char *written, size_t length, const char *name, bool is_template);
/* Fails for a name of --blocks that no block has. */
medley_status md_selection_check(const md_selection *selection, const md_bank *bank,
                                 const md_templates *templates, medley_error *error);
medley_status md_selection_of_bank(const md_selection *selection, md_bank *bank,
                                   medley_error *error);
medley_status md_selection_of_templates(const md_selection *selection, md_templates **templates,
                                        medley_error *error);

/* ---- the blocks of a run ---- */

typedef struct md_trained {
    md_block **blocks;
    size_t *candidate; /* [block_count] of the problem */
    size_t block_count;
    size_t penalised; /* the first so many are under the penalty */
    bool is_mixture;  /* block 0 stands for the average of all kernels */
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
    bool needs_kernels; /* works on kernel values, even of linear kernels */
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
