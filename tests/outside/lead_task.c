/* SPDX-License-Identifier: BSD-3-Clause */
/* A task from outside: sequences of labels with the structure of lead_structure.c, and an option of
 * its own (options.def): how many rows a sequence must have. */
#include "task/predicting.h"
#include "task/problem.h"

static bool fits(const medley_options *options, const medley_dataset *data)
{
    (void)options;
    (void)data;
    return false; /* only by name */
}

static medley_status check(const md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    for (size_t s = 0; s < train->sequence_count; s++)
        if (train->sequence_start[s + 1] - train->sequence_start[s] <
            (size_t)problem->options->least_rows)
            return md_fail(error, MEDLEY_USAGE,
                           "sequence %zu has fewer rows than `least-rows=%lld`", s + 1,
                           problem->options->least_rows);
    return md_labels_check(problem, error);
}

const md_task md_task_lead = {
    .about = {.name = "lead",
              .summary = "a label for each row of a sequence, whose first row matters most",
              .takes = MD_TAKES_KERNELS | MD_TAKES_WORDS | MD_TAKES_PROBABILITIES},
    .structure = &md_structure_lead,
    .by_sequence = true,
    MD_OF_LABELS,
    .fits = fits,
    .check = check,
    .info.does = "gives each row one of LABELS",
    .info.example = "sequence",
    .info.examples = "sequences",
    .info.parts = "rows",
    .most_labels = MD_MOST_LABELS,
};
