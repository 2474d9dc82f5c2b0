/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks: what one kind of prediction needs that others do not. Generic code asks here and nowhere
 * else: it never compares a task, its name or its structure.
 *
 * A task is one file and one line in tasks.def. */
#ifndef MD_TASK_H
#define MD_TASK_H

#include "model/model.h"
#include "settings/about.h"
#include "settings/options.h"

typedef struct md_task {
    md_about about;

    /* ---- what is predicted ---- */
    const md_structure *structure; /* NULL: a number for each row, which has none */
    bool by_sequence;              /* an example is a sequence of rows, not one row */
    bool one_score;                /* a single score decides: of two labels, or it is the number */

    /* ---- learning ---- */

    /* Is it what these data are for, where --task auto leaves the choice? */
    bool (*fits)(const medley_options *options, const medley_dataset *data);
} md_task;

#define MD_TASK(name) extern const md_task md_task_##name;
#include "task/tasks.def"
#undef MD_TASK
extern const md_task *const md_tasks[]; /* NULL-terminated */
const md_task *md_task_find(const char *name);

/* The task that the options and the data mean. */
const md_task *md_task_of(const medley_options *options, const medley_dataset *data);

#endif
