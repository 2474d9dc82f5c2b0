/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences of labels: those of neighbours have a say in each. */
#include "task/predicting.h"
#include "task/problem.h"

static bool fits(const medley_options *options, const medley_dataset *data)
{
    (void)options;
    return data->sequence_count > 0;
}

static medley_status check(const md_problem *problem, medley_error *error)
{
    const medley_status status = md_labels_check(problem, error);
    if (status < 0 || problem->train->sequence_count > 0)
        return status;
    return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                      "`task=chain` expects sequences and these rows stand alone; use a format "
                      "that has them (columns, conllu, letter, attributes)");
}

const md_task md_task_chain = {
    .about = {.name = "chain",
              .summary = "a label for each row of a sequence, by its features and by the labels "
                         "beside it",
              .takes = MD_TAKES_KERNELS | MD_TAKES_WORDS | MD_TAKES_CONTEXT | MD_TAKES_SHARED |
                       MD_TAKES_PROBABILITIES},
    .structure = &md_structure_chain,
    .by_sequence = true,
    MD_OF_LABELS,
    .fits = fits,
    .check = check,
    .info.does = "gives each position of a sequence one of LABELS",
    .info.example = "sequence",
    .info.examples = "sequences",
    .info.parts = "positions",
    .info.has_context = true,
    .most_labels = MD_MOST_LABELS,
};
