/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the section of the summary: the task, the labels, the summary of the training run. */
#include "file/file.h"

static medley_status read_epochs(md_loader *loader, md_unpack *in)
{
    medley_model *model = loader->model;
    const bool certified = loader->version > 2;
    const size_t count = md_unpack_count(in, certified ? 48 : 24);
    MEDLEY_TRY(md_new(&model->epochs, count, sizeof *model->epochs, loader->error));
    for (size_t e = 0; e < count; e++) {
        medley_epoch *epoch = &model->epochs[e];
        epoch->objective = md_unpack_f64(in);
        epoch->loss = md_unpack_f64(in);
        epoch->dev_accuracy = md_unpack_f64(in);
        epoch->dual = certified ? md_unpack_f64(in) : NAN;
        epoch->gap = certified ? md_unpack_f64(in) : NAN;
        epoch->active = certified ? md_unpack_u64(in) : 0;
    }
    model->summary.epoch_count = count;
    return MEDLEY_OK;
}

static medley_status read_blocks(md_loader *loader, md_unpack *in)
{
    medley_model *model = loader->model;
    const size_t count = md_unpack_count(in, 32);
    MEDLEY_TRY(md_new(&model->names, count, sizeof(char *), loader->error));
    MEDLEY_TRY(md_new(&model->blocks, count, sizeof *model->blocks, loader->error));
    for (size_t m = 0; m < count; m++) {
        model->names[m] = md_unpack_text(in);
        model->summary.block_count = m + 1;
        model->blocks[m].weight = md_unpack_f64(in);
        model->blocks[m].norm = md_unpack_f64(in);
        model->blocks[m].features = md_unpack_u64(in);
        if (in->bad)
            return md_fail_damaged(loader, "blocks");
    }
    if (!md_unpack_done(in) || model->summary.active_blocks > count)
        return md_fail_damaged(loader, "blocks");
    return MEDLEY_OK;
}

/* The structure must be that of the task, and the number of labels one that it may have. */
static medley_status find_task(md_loader *loader, const char *name, const char *structure)
{
    medley_model *model = loader->model;
    const md_task *task = md_task_find(name);
    const size_t labels = model->labels.count;
    if (task == NULL)
        return md_fail_at(
            loader->error, MEDLEY_NOT_SUPPORTED, loader->path, 0,
            "the model is of the task '%.100s', which this program does not know; use "
            "a newer medley",
            name);
    if (labels < task->least_labels || labels > task->most_labels || loader->own != task->section ||
        (task->structure == NULL) != (*structure == '\0'))
        return md_fail_damaged(loader, "labels");
    model->task = task;
    model->summary.task = task->about.name;
    model->space.structure = md_structure_find(structure);
    model->space.shape.labels = labels;
    if (task->bind != NULL)
        return task->bind(model, structure, loader->structure, loader->error);
    if (model->space.structure == task->structure)
        return MEDLEY_OK;
    if (model->space.structure != NULL)
        return md_fail_damaged(loader, "labels");
    return md_fail_at(loader->error, MEDLEY_NOT_SUPPORTED, loader->path, 0,
                      "the model predicts the structure '%s', which this program does not know; "
                      "use a newer medley",
                      structure);
}

static void read_summary(md_loader *loader, md_unpack *in)
{
    medley_model *model = loader->model;
    medley_summary *s = &model->summary;
    model->method = md_unpack_text(in);
    model->loss = md_unpack_text(in);
    model->penalty = md_unpack_text(in);
    double *numbers[] = {&s->lambda,    &s->C,    &s->spicy_C, &s->eta0,
                         &s->objective, &s->dual, &s->gap};
    s->radius = s->bound = s->wanted_gap = NAN;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = md_unpack_f64(in);
    s->examples = md_unpack_u64(in);
    s->parts = md_unpack_u64(in);
    s->active_blocks = md_unpack_u64(in);
    s->iterations = md_unpack_u64(in);
    s->seed = md_unpack_u64(in);
    s->converged = md_unpack_u64(in) != 0;
    s->newton_steps = loader->version > 2 ? md_unpack_u64(in) : 0;
    s->passes = loader->version > 2 ? md_unpack_u64(in) : 0;
}

medley_status md_load_summary(md_loader *loader)
{
    md_unpack *in = &loader->sections[MD_SECTION_STORY];
    md_shape *shape = &loader->model->space.shape;
    MD_OWNED(free) char *structure = md_unpack_text(in);
    shape->order = md_unpack_u64(in);
    shape->local_pairs = md_unpack_u64(in) != 0;
    shape->ends = md_unpack_u64(in) != 0;
    shape->many_roots = loader->version > 3 && md_unpack_u64(in) != 0;
    shape->projective = loader->version > 3 && md_unpack_u64(in) != 0;
    shape->pruned = loader->version > 6 && md_unpack_u64(in) != 0;
    MD_OWNED(free) char *task = md_unpack_text(in);
    read_summary(loader, in);
    if (in->bad || shape->order > MD_MOST_ORDER)
        return md_fail_damaged(loader, "story");
    md_unpack_strings(in, &loader->model->labels);
    if (in->bad)
        return md_fail_damaged(loader, "labels");
    MEDLEY_TRY(find_task(loader, task, structure));
    MEDLEY_TRY(read_epochs(loader, in));
    return read_blocks(loader, in);
}
