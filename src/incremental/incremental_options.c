/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a learner that is fed piece by piece: a copy, and which of them have no place. */
#include "incremental/incremental.h"

/* It is the first stage of method obscure: every example is learnt from once, when it comes. */
static const md_held held[] = {
    {"method", "obscure"}, {"epochs1", "1"}, {"epochs2", "0"}, {"batch", "1"}, {0}};

static const md_about piece_by_piece = {.name = "learning piece by piece",
                                        .takes = MD_TAKES_NORM | MD_TAKES_STEPS | MD_TAKES_BLOCKS |
                                                 MD_TAKES_KERNELS | MD_TAKES_CONTEXT |
                                                 MD_TAKES_SHARED,
                                        .holds = held};

static medley_status check_values(const medley_options *options, medley_error *error)
{
    const unsigned needed = MD_TAKES_KERNELS | MD_TAKES_PROBABILITIES; /* as those of labels do */
    const md_task *task = options->task > 0 ? md_tasks[options->task - 1] : NULL;
    if (task != NULL && (task->about.takes & needed) != needed)
        return md_fail(error, MEDLEY_USAGE,
                       "learning piece by piece is for labels, and `task=%s` predicts %s; use "
                       "medley_fit",
                       task->about.name, task->about.summary);
    if (options->structure != NULL)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "learning piece by piece is for labels, and the structure '%s' was brought; "
                       "use medley_fit",
                       options->structure->name);
    if (options->preselect != NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "`preselect` needs all rows at once, and pieces come one by one; choose "
                       "kernels by medley_fit and name them in `kernel`");
    if (options->normalize == MD_NORM_CENTER)
        return md_fail(error, MEDLEY_USAGE,
                       "`normalize=center` needs all rows at once; pieces come one by one, so use "
                       "diag or trace");
    return MEDLEY_OK;
}

medley_status md_partial_options(medley_options **result, const medley_options *options,
                                 medley_error *error)
{
    MD_OWNED(medley_options_free) medley_options *copy = NULL;
    MEDLEY_TRY(md_options_copy(&copy, options, error));
    MEDLEY_TRY(md_check_options(copy, NULL, NULL, &piece_by_piece, error));
    MEDLEY_TRY(check_values(copy, error));
    for (const md_held *h = held; h->option != NULL; h++)
        MEDLEY_TRY(medley_options_set(copy, h->option, h->value, error));
    if (md_device_is_auto(copy->device)) /* only the first piece could have a card */
        MEDLEY_TRY(medley_options_set(copy, "device", "cpu", error));
    *result = md_take(&copy);
    return MEDLEY_OK;
}
