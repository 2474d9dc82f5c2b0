/* SPDX-License-Identifier: BSD-3-Clause */
/* Relations of words to their heads (DEPREL) are learnt as labels of words, once the tree is known:
 * what a label needs to know of the tree stands in columns of the word itself. Templates such as
 * the built-in set `relation` (feature/template_sets.c) name these columns by their numbers, and
 * models keep the numbers: new columns go to the end. */
#ifndef MD_TREE_COLUMNS_H
#define MD_TREE_COLUMNS_H

#include "data/dataset.h"

/* Where there is no such word the text is <none>, of the root it is <root>. */
enum md_tree_column {
    /* the word itself */
    MD_TREE_FORM,
    MD_TREE_LEMMA, /* the form where no lemma is given, here and below */
    MD_TREE_TAG,
    MD_TREE_XPOS,
    MD_TREE_FEATS,
    MD_TREE_DISTANCE, /* L or R of its head and how many words away, in classes; <root> */
    MD_TREE_PLACE, /* among the words with the same head: F first, L last of all of them, f first,
                      l last on its side of the head; - for none of these */
    MD_TREE_HEAD_FORM,
    MD_TREE_HEAD_LEMMA,
    MD_TREE_HEAD_TAG,
    MD_TREE_HEAD_XPOS,
    MD_TREE_HEAD_FEATS,
    MD_TREE_BEFORE_HEAD_TAG, /* of the words next to the head in the sentence */
    MD_TREE_BEHIND_HEAD_TAG,
    MD_TREE_GRAND_TAG, /* of the head's head */
    /* the nearest words with the same head, on either side */
    MD_TREE_LEFT_TAG,
    MD_TREE_RIGHT_TAG,
    /* those it is the head of */
    MD_TREE_FIRST_TAG,
    MD_TREE_FIRST_LEMMA,
    MD_TREE_LAST_TAG,
    MD_TREE_LAST_LEMMA,
    MD_TREE_CHILD_TAGS, /* the set of their tags, such as ADP+DET; <none> if empty */
    /* the first of them with a tag ADP, AUX, PART or SCONJ: it says what its head is there for */
    MD_TREE_MARKER_LEMMA,
    MD_TREE_HEAD_MARKER_LEMMA,
    MD_TREE_COLUMNS
};

/* A data set with the same rows and sequences and the columns above, labelled by DEPREL (`_` is no
 * label). dataset: the ten columns of CoNLL-U. head[rows]: of each word, counted within its
 * sentence from 1, 0 the root. tags: the column that tags come from, 3 for UPOS. Codes:
 * MEDLEY_USAGE for other data, MEDLEY_BAD_INPUT for heads outside the sentence. */
medley_status md_tree_columns(medley_dataset **derived, const medley_dataset *dataset,
                              const int32_t *head, size_t tags, medley_error *error);

#endif
