/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers. */
#include "task/predicting.h"

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
    .info = {.title = "Predicting numbers",
             .does = "predicts numbers",
             .example = "example",
             .examples = "examples",
             .parts = "rows",
             .has_certificate = true},
    .check_request = md_regression_check_request,
    .predict = md_regression_predict,
    .check_truth = md_regression_check_truth,
    .compare = md_regression_compare,
};
