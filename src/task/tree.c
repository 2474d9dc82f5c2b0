/* SPDX-License-Identifier: BSD-3-Clause */
/* Dependency trees. */
#include "task/task.h"

#include <string.h>

/* No templates, or built-in ones of arcs: heads are wanted, not tags. */
static bool speaks_of_arcs(const medley_options *options)
{
    bool found =
        options->template == NULL && options->kernels == NULL && options->kernel_files == NULL;
    for (size_t i = 0; !found && options->template != NULL && md_arc_sets[i].name != NULL; i++)
        found = strcmp(options->template, md_arc_sets[i].name) == 0;
    return found;
}

static bool fits(const medley_options *options, const medley_dataset *data)
{
    const bool words_only = data->table_count == 0 && data->gram_count == 0;
    const bool as_usual = data->label_column == MD_ARC_UPOS; /* no other label was asked for */
    return data->head != NULL && words_only && as_usual && speaks_of_arcs(options);
}

static const md_held held[] = {{"template", "arc-507"}, {0}};

const md_task md_task_tree = {
    .about = {.name = "tree",
              .summary = "a dependency tree for each sentence, and the relations of its arcs",
              .takes = MD_TAKES_ARCS,
              .holds = held},
    .structure = &md_structure_tree,
    .by_sequence = true,
    .fits = fits,
};
