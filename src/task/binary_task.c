/* SPDX-License-Identifier: BSD-3-Clause */
/* Two labels. */
#include "task/predicting.h"
#include "task/problem.h"

static bool fits(const medley_options *options, const medley_dataset *data)
{
    (void)options;
    return data->label_names.count == 2;
}

static medley_status check(const md_problem *problem, medley_error *error)
{
    const size_t labels = problem->train->label_names.count;
    const medley_status status = md_labels_check(problem, error);
    if (status < 0 || labels == 2)
        return status;
    return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                      "%zu different labels found, `task=binary` expects two; use `task="
                      "multiclass`, or `label` if this is not the label column",
                      labels);
}

const md_task md_task_binary = {
    .about = {.name = "binary",
              .summary = "one of two labels for each row",
              .takes = MD_TAKES_KERNELS | MD_TAKES_WORDS | MD_TAKES_PROBABILITIES},
    .one_score = true,
    MD_OF_SINGLE_ROWS,
    .fits = fits,
    .check = check,
    .info.has_certificate = true,
    .most_labels = 2,
};
