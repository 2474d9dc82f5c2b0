/* SPDX-License-Identifier: BSD-3-Clause */
/* Dependency trees. */
#include "task/parser.h"
#include "task/predicting.h"

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

const md_task md_task_tree = {
    .about = {.name = "tree",
              .summary = "a dependency tree for each sentence, and the relations of its arcs",
              .takes = MD_TAKES_ARCS},
    .structure = &md_structure_tree,
    .by_sequence = true,
    .fits = fits,
    .info = {.title = "Parsing",
             .does = "finds the head and the relation of every word",
             .does_unlabelled = "finds the head of every word",
             .example = "sentence",
             .examples = "sentences",
             .parts = "words",
             .block = "template",
             .blocks = "templates",
             .no_features =
                 "features of arcs are hashed and have no texts; their templates are above",
             .no_scores = "the model parses: its scores are of arcs, not of labels",
             .has_labels = true},
    .check_request = md_tree_check_request,
    .predict = md_tree_predict,
    .check_truth = md_tree_check_truth,
    .compare = md_tree_compare,
    .most_labels = MD_MOST_LABELS,
    .section = "trees",
    .pack = md_parser_pack,
    .unpack = md_parser_unpack,
    .companion_fits = md_labeller_fits,
};
