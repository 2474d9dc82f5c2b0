/* SPDX-License-Identifier: BSD-3-Clause */
/* Dependency trees in data: whether heads are what learning needs. Words
 * are numbered from 1 within their sentence and 0 is the root, as in files. */
#ifndef MD_TREES_H
#define MD_TREES_H

#include "data/dataset.h"

/* Every sentence must be a tree: every head given and one of its words or 0, no cycle, exactly one
 * word that hangs from the root, or with many_roots at least one. Files may hold anything else, so
 * that what is to be predicted need not be there: this is asked before training. Errors name the
 * line where it is known, else sentence and word. */
medley_status md_dataset_check_trees(const medley_dataset *dataset, bool many_roots,
                                     medley_error *error);

#endif
