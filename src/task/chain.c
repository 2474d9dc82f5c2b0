/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences of labels. */
#include "task/predicting.h"

static bool fits(const medley_options *options, const medley_dataset *data)
{
    (void)options;
    return data->sequence_count > 0;
}

const md_task md_task_chain = {
    .about = {.name = "chain",
              .summary =
                  "a label for each row of a sequence, by its features and the labels beside it",
              .takes =
                  MD_TAKES_KERNELS | MD_TAKES_WORDS | MD_TAKES_CONTEXT | MD_TAKES_PROBABILITIES},
    .structure = &md_structure_chain,
    .by_sequence = true,
    .fits = fits,
    .info = {.title = "Telling LABELS apart",
             .does = "gives each position of a sequence one of LABELS",
             .example = "sequence",
             .examples = "sequences",
             .parts = "positions",
             .has_labels = true,
             .has_probabilities = true},
    .check_request = md_refuse_tags,
    .predict = md_labels_predict,
    .check_truth = md_labels_check_truth,
    .compare = md_labels_compare,
    .least_labels = 1,
    .most_labels = MD_MOST_LABELS,
};
