/* SPDX-License-Identifier: BSD-3-Clause */
/* What a prediction tells of sentences whose parts are scored: the best tree, the best trees, and
 * the probabilities of heads. The structure finds them; of parts this knows that those of heads
 * come first. */
#ifndef MD_TREE_ANSWERS_H
#define MD_TREE_ANSWERS_H

#include "task/task.h"

/* Marginals and best trees take time by the cube of the words. */
enum { MD_LONGEST_SUMMED = 1000 };

typedef struct md_tree_answers {
    const md_structure *structure;
    bool by_marginals; /* the tree with the likeliest arcs is predicted, not the best one */
    md_calibration calibration; /* of the model; borrowed */
    const medley_dataset *dataset;
    medley_prediction *prediction;
    size_t *arc_start; /* [sequences] in arc_probability; NULL: no probabilities */
} md_tree_answers;

/* Makes room in the prediction; refuses what the model's structure cannot find. */
medley_status md_tree_answers_make(md_tree_answers *answers, medley_prediction *prediction,
                                   const md_request *request, medley_error *error);
void md_tree_answers_clear(md_tree_answers *answers);

/* Of one thread, for sentences of at most so many words; shape: of any of them. */
typedef struct md_tree_scratch {
    float *score, *marginal; /* [parts] */
    int32_t *best;           /* [best][words] */
    uint32_t *parts;         /* of a tree */
    md_workspace workspace;
} md_tree_scratch;

medley_status md_tree_scratch_make(md_tree_scratch *scratch, const md_tree_answers *answers,
                                   md_shape shape, size_t longest, medley_error *error);
void md_tree_scratch_clear(md_tree_scratch *scratch);

/* Fills in what is told of a sentence, by the scores of its parts; from any thread. */
void md_tree_answer(const md_tree_answers *answers, md_shape shape, size_t sentence,
                    const float *score, md_tree_scratch *scratch);

#endif
