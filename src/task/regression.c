/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers. */
#include "task/task.h"

/* Numbers that came from memory: there are no labels beside them. */
static bool fits(const medley_options *options, const medley_dataset *data)
{
    (void)options;
    return data->label == NULL && data->target != NULL;
}

const md_task md_task_regression = {
    .about = {.name = "regression", .summary = "a number for each row", .takes = MD_TAKES_KERNELS},
    .structure = NULL,
    .one_score = true,
    .fits = fits,
};
