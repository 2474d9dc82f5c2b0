/* SPDX-License-Identifier: BSD-3-Clause */
/* Any number of labels. */
#include "task/predicting.h"

static bool fits(const medley_options *options, const medley_dataset *data)
{
    (void)options;
    const bool numbers = data->label == NULL && data->target != NULL; /* regression */
    return data->label_names.count != 2 && !numbers;
}

const md_task md_task_multiclass = {
    .about = {.name = "multiclass",
              .summary = "one of several labels for each row",
              .takes = MD_TAKES_KERNELS | MD_TAKES_WORDS | MD_TAKES_PROBABILITIES},
    .structure = &md_structure_multiclass,
    .fits = fits,
    .info = {.title = "Telling LABELS apart",
             .does = "tells LABELS apart",
             .example = "example",
             .examples = "examples",
             .parts = "rows",
             .has_labels = true,
             .has_probabilities = true},
    .check_request = md_refuse_tags,
    .predict = md_labels_predict,
    .check_truth = md_labels_check_truth,
    .compare = md_labels_compare,
    .least_labels = 1,
    .most_labels = MD_MOST_LABELS,
};
