/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks: what one kind of prediction needs that others do not. Generic code asks here and nowhere
 * else: it never compares a task, its name or its structure.
 *
 * A task is one file and one line in tasks.def. */
#ifndef MD_TASK_H
#define MD_TASK_H

#include "base/pack.h"
#include "model/model.h"
#include "settings/about.h"
#include "settings/options.h"

/* What is asked of a model. */
typedef struct md_request {
    const medley_model *model;
    const medley_dataset *dataset;
    medley_predict_options options; /* threads: never 0 where a task looks at it */
} md_request;

typedef struct md_task {
    md_about about;

    /* ---- what is predicted ---- */
    const md_structure *structure; /* NULL: a number for each row, which has none */
    bool by_sequence;              /* an example is a sequence of rows, not one row */
    bool one_score;                /* a single score decides: of two labels, or it is the number */

    /* ---- learning ---- */

    /* Is it what these data are for, where --task auto leaves the choice? */
    bool (*fits)(const medley_options *options, const medley_dataset *data);

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

    /* ---- files ---- */
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

/* The task that the options and the data mean. */
const md_task *md_task_of(const medley_options *options, const medley_dataset *data);

#endif
