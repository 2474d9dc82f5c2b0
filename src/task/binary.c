/* SPDX-License-Identifier: BSD-3-Clause */
/* Two labels. */
#include "task/predicting.h"

static bool fits(const medley_options *options, const medley_dataset *data)
{
    (void)options;
    return data->label_names.count == 2;
}

const md_task md_task_binary = {
    .about = {.name = "binary",
              .summary = "one of two labels for each row",
              .takes = MD_TAKES_KERNELS | MD_TAKES_WORDS | MD_TAKES_PROBABILITIES},
    .structure = &md_structure_multiclass,
    .one_score = true,
    .fits = fits,
    .info = {.title = "Telling LABELS apart",
             .does = "tells LABELS apart",
             .example = "example",
             .examples = "examples",
             .parts = "rows",
             .has_labels = true,
             .has_probabilities = true,
             .has_certificate = true},
    .check_request = md_refuse_tags,
    .predict = md_labels_predict,
    .check_truth = md_labels_check_truth,
    .compare = md_labels_compare,
    .least_labels = 1,
    .most_labels = 2,
};
