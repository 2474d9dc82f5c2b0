/* SPDX-License-Identifier: BSD-3-Clause */
#include "task/task.h"

#include <string.h>

const md_task *const md_tasks[] = {
#define MD_TASK(name) &md_task_##name,
#include "task/tasks.def"
#undef MD_TASK
    NULL};

const char *const md_task_names[] = {"auto",
#define MD_TASK(name) #name,
#include "task/tasks.def"
#undef MD_TASK
                                     NULL};

const md_task *md_task_find(const char *name)
{
    for (size_t i = 0; md_tasks[i] != NULL; i++)
        if (strcmp(md_tasks[i]->about.name, name) == 0)
            return md_tasks[i];
    return NULL;
}

const md_task *md_task_of(const medley_options *options, const medley_dataset *data)
{
    const md_task *task = md_tasks[options->task > 0 ? options->task - 1 : 0];
    for (size_t i = 0; options->task == 0 && md_tasks[i] != NULL; i++)
        if (md_tasks[i]->fits(options, data))
            task = md_tasks[i];
    return task;
}
