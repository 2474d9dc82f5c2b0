/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks: what one kind of prediction needs that others do not. Generic code asks here and nowhere
 * else: it never compares a task, its name or its structure.
 *
 * A task is one file and one line in tasks.def. */
#ifndef MD_TASK_H
#define MD_TASK_H

#include "base/pack.h"
#include "loss/loss.h"
#include "model/model.h"
#include "settings/about.h"
#include "settings/options.h"

typedef struct md_problem md_problem;           /* problem.h */
typedef struct md_draft md_draft;               /* problem.h */
typedef struct md_source_class md_source_class; /* problem.h */

/* What is asked of a model. */
typedef struct md_request {
    const medley_model *model;
    const medley_dataset *dataset;
    medley_predict_options options; /* threads: never 0 where a task looks at it */
} md_request;

/* Where an option says nothing. 0 and NULL: as for most tasks. */
typedef struct md_task_defaults {
    const char *loss;
    const char *templates; /* a built-in set, if the task is nothing without templates */
    double C;
    double soft_C; /* of losses without a margin; 0: as of the others */
    size_t epochs;
    size_t prox_every;
    size_t most_batch,
        batch_share; /* examples of a round: one of so many, but at most most_batch */
    /* the first rate; NULL: it is searched */
    double (*rate)(const md_problem *problem, const md_loss *loss);
} md_task_defaults;

typedef struct md_task {
    md_about about;
    md_task_defaults defaults;

    /* ---- what is predicted ---- */
    const md_structure *structure; /* NULL: a number for each row, which has none */
    bool by_sequence;              /* an example is a sequence of rows, not one row */
    bool one_score;                /* a single score decides: of two labels, or it is the number */

    /* Has the structure parts of its own, which all examples share? NULL: the options tell which
     * neighbouring labels have weights. */
    bool (*shares_parts)(const md_problem *problem);

    const char *const *measures; /* by which it is judged, NULL-terminated; the usual ones first */

    /* ---- learning, in the order in which it is asked ---- */

    /* Is it what these data are for, where --task auto leaves the choice? */
    bool (*fits)(const medley_options *options, const medley_dataset *data);

    /* Can it be learnt from the training data? */
    medley_status (*check)(const md_problem *problem, medley_error *error);

    /* Shape of the outputs, and the right ones of the training data. */
    void (*describe)(md_problem *problem);

    const md_source_class *templates; /* what --template means */

    /* Once all blocks are known; NULL: any size will do. */
    medley_status (*check_size)(const md_problem *problem, medley_error *error);

    /* Right outputs of held-out data into dev_gold. NULL: there can be none. */
    medley_status (*prepare_dev)(md_problem *problem, medley_error *error);

    /* Options of a problem that is learnt from the same data before this one, NULL if there is
     * none; and what this one does with that model, the scout. */
    medley_status (*scout)(medley_options **options, const md_problem *problem,
                           medley_error *error);
    medley_status (*follow)(md_problem *problem, const medley_model *scout, medley_error *error);
    const char *scouting; /* what progress calls it */

    /* Data and options of a second problem, whose model this one needs as well; *data stays NULL
     * where there is nothing to learn it from. NULL: there is no such problem. join: what the model
     * takes over from that one, its companion. */
    medley_status (*derive)(medley_dataset **data, medley_options **options,
                            const md_problem *problem, medley_error *error);
    medley_status (*join)(medley_model *model, medley_model *companion, medley_error *error);
    const char *companion; /* what progress calls it */

    /* What only models of this task have, from what was learnt; NULL: nothing. */
    medley_status (*build)(medley_model *model, const md_draft *draft, medley_error *error);

    /* ---- predicting ---- */
    medley_task_info info;

    /* Refuses what has no place here: probabilities, best outputs, given labels, tags. */
    medley_status (*check_request)(const medley_predict_options *options, medley_error *error);

    /* Fills a prediction whose counts (rows, labels, sequences, best) are set. */
    medley_status (*predict)(medley_prediction *prediction, const md_request *request,
                             medley_error *error);

    /* Is there something to compare with? Asked before anything is predicted. */
    medley_status (*check_truth)(const medley_dataset *dataset, medley_error *error);

    /* Fills in the measures of this task, all of which are NaN or 0 before. */
    medley_status (*compare)(medley_evaluation *evaluation, const md_request *request,
                             const medley_prediction *prediction, medley_error *error);

    /* [rows] the outputs that are compared with the right ones. */
    const int32_t *(*outputs)(const medley_prediction *prediction);

    /* ---- files ---- */

    /* Of a structure that the program has brought: gives a model that needs the one called name its
     * own copy. given NULL: none was brought. NULL: the structure is the task's. */
    medley_status (*bind)(medley_model *model, const char *name,
                          const struct medley_structure *given, medley_error *error);

    size_t least_labels, most_labels; /* of a model */

    /* The section of what a model keeps for this task (model.h: own), at most 7 letters, with what
     * writes and reads it; NULL: nothing is kept. The companion's bytes follow in the section. */
    const char *section;
    void (*pack)(md_text *out, const void *own);
    /* Sets in->bad where bytes make no sense; a failure is only for lack of memory. */
    medley_status (*unpack)(medley_model *model, md_unpack *in, medley_error *error);
    bool (*companion_fits)(const medley_model *model); /* which may have none */
} md_task;

/* More labels in a file are damage. */
enum { MD_MOST_LABELS = 1 << 20 };

#define MD_TASK(name) extern const md_task md_task_##name;
#include "task/tasks.def"
#undef MD_TASK
extern const md_task *const md_tasks[]; /* NULL-terminated */
const md_task *md_task_find(const char *name);

/* Fractions among the labels, or nearly as many numbers as rows: no classes. */
bool md_labels_look_like_numbers(const medley_dataset *train);

/* The task that the options and the data mean. */
const md_task *md_task_of(const medley_options *options, const medley_dataset *data);

#endif
