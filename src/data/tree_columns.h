/* SPDX-License-Identifier: BSD-3-Clause */
/* Relations of words to their heads (DEPREL) are learnt as labels of words, once the tree is known:
 * what a label needs to know of the tree stands in columns of the word itself (tree_columns.def).
 * Templates such as the built-in set `relation` (feature/template_sets.c) name these columns by
 * their numbers, and models keep the numbers. */
#ifndef MD_TREE_COLUMNS_H
#define MD_TREE_COLUMNS_H

#include "data/dataset.h"

/* Where there is no such word the text is <none>, of the root it is <root>. */
enum md_tree_column {
#define MD_TREE_COLUMN(name, whose, what) MD_TREE_##name,
#include "data/tree_columns.def"
#undef MD_TREE_COLUMN
    MD_TREE_COLUMNS
};

/* A data set with the same rows and sequences and the columns above, labelled by DEPREL (`_` is no
 * label). dataset: the ten columns of CoNLL-U. head[rows]: of each word, counted within its
 * sentence from 1, 0 the root. tags: the column that tags come from, 3 for UPOS. Codes:
 * MEDLEY_USAGE for other data, MEDLEY_BAD_INPUT for heads outside the sentence. */
medley_status md_tree_columns(medley_dataset **derived, const medley_dataset *dataset,
                              const int32_t *head, size_t tags, medley_error *error);

#endif
