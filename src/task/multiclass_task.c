/* SPDX-License-Identifier: BSD-3-Clause */
/* Any number of labels. */
#include "task/predicting.h"
#include "task/problem.h"

static bool fits(const medley_options *options, const medley_dataset *data)
{
    (void)options;
    return data->label_names.count != 2 && !md_dataset_has_only_targets(data);
}

bool md_labels_look_like_numbers(const medley_dataset *train)
{
    if (train->target == NULL)
        return false;
    for (size_t r = 0; r < train->rows; r++)
        if (train->target[r] != floor(train->target[r]))
            return true;
    return train->label_names.count > train->rows / 2 && train->label_names.count > 50;
}

static medley_status check(const md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    const medley_status status = md_labels_check(problem, error);
    const bool chosen = problem->options->task > 0;
    if (status < 0 || chosen || !md_labels_look_like_numbers(train))
        return status;
    const md_table *table = md_dataset_table(train, "");
    const char *column = table != NULL ? table->label_name : NULL;
    return md_fail_at(
        error, MEDLEY_BAD_INPUT, train->source, 0,
        "%zu different numeric labels in %zu rows%s%s%s look like numbers to be "
        "predicted, not classes; say `task=regression`, or `task=multiclass`, or which "
        "column has the labels by `label`",
        train->label_names.count, train->rows, column ? " (column '" : "", column ? column : "",
        column ? "')" : "");
}

const md_task md_task_multiclass = {
    .about = {.name = "multiclass",
              .summary = "one of several labels for each row",
              .takes = MD_TAKES_KERNELS | MD_TAKES_WORDS | MD_TAKES_PROBABILITIES},
    MD_OF_SINGLE_ROWS,
    .fits = fits,
    .check = check,
    .most_labels = MD_MOST_LABELS,
};
