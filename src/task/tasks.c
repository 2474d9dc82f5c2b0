/* SPDX-License-Identifier: BSD-3-Clause */
#include "task/predicting.h"

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

const medley_task_info *medley_task_about(const char *name)
{
    const md_task *task = md_task_find(name);
    return task != NULL ? &task->info : NULL;
}

bool medley_model_is_regression(const medley_model *model)
{
    return model->task->structure == NULL;
}

bool medley_model_is_parser(const medley_model *model)
{
    return model->task->info.has_heads;
}

/* ---- shared by tasks that predict ---- */

medley_status md_refuse_tags(const medley_predict_options *options, medley_error *error)
{
    if (options->tags == NULL)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "the model does not parse, so there are no tags to be taken from a column; "
                   "leave out `tags`");
}

medley_status md_fail_no_labels(const medley_dataset *dataset, medley_error *error)
{
    return md_fail_at(error, MEDLEY_USAGE, dataset->source, 0,
                      "there are no labels to compare with; give labelled data or `labels`, "
                      "or use predict");
}
