/* SPDX-License-Identifier: BSD-3-Clause */
/* A learner that is fed piece by piece (medley/learner.h): what it keeps between pieces, and what
 * it does with one. theta is kept as stage 1 of OBSCURE has it; links, and with them what scores,
 * follow from norms and are never stored. */
#ifndef MD_INCREMENTAL_H
#define MD_INCREMENTAL_H

#include "medley/learner.h"
#include "online/run.h"

/* What one block has learnt. */
typedef struct md_theta {
    float *body;     /* [rows][width] as export_body gives it, with a link of 1 */
    size_t capacity; /* floats */
    size_t rows;     /* of the support, or features */
    size_t width;    /* parts of a group: labels, pairs of labels ... */
    double norm;     /* ||theta||; of kernels by the recurrence */
    double gain2;    /* of kernels: ||theta||^2 = sum of body * scores / gain2 */
} md_theta;

/* theta of all blocks over the labels that are known. */
typedef struct md_knowledge {
    md_strings labels; /* sorted */
    md_theta *theta;   /* [count] of the candidates, in order */
    size_t count;
} md_knowledge;

MD_OWNER(medley_learner_free, medley_learner)

struct medley_learner {
    medley_options *options;
    size_t memory;      /* that was given for kernel values; 0: none was */
    bool scale_given;   /* else the first piece decides */
    bool begun;         /* a piece has been learnt from: what follows is there */
    md_problem problem; /* of the piece only while it is learnt from: train, examples, prepared
                         * rows, primal, gram, deferred scores */
    md_knowledge known;
    md_prepared support;                   /* rows with coefficients */
    size_t *support_row, support_capacity; /* [support.rows] which row each was of all so far */
    double eta;
    double strength;                /* lambda times the number of examples, for the summary */
    size_t rows, examples, updates; /* so far */
    double loss_sum;                /* of the examples, each when it was met */
    double seconds, seconds_kernels;
};

/* Is the block of a candidate a sum over support rows, not weights of features? */
static inline bool md_candidate_has_rows(const md_problem *problem, size_t c)
{
    const md_candidate *candidate = &problem->candidates[c];
    return candidate->origin == MD_FROM_KERNEL &&
           !md_kernel_has_weights(&problem->bank.kernels[candidate->index]);
}

/* ---- incremental_options.c ---- */

/* A copy in which all that the learner fixes is set; options that have no place here are refused.
 */
medley_status md_partial_options(medley_options **copy, const medley_options *options,
                                 medley_error *error);

/* ---- incremental_labels.c ---- */

/* Known labels and those of a piece, sorted. */
typedef struct md_label_union {
    medley_dataset *all; /* label_names, and in label the new number of each: known ones first */
    size_t known;
} md_label_union;

/* To be cleared whatever comes back, as next of md_knowledge_relabel. */
medley_status md_label_union_make(md_label_union *both, const md_strings *known,
                                  const md_strings *more, medley_error *error);
void md_label_union_clear(md_label_union *both);

/* The same knowledge over more labels, about which nothing is known. */
medley_status md_knowledge_relabel(md_knowledge *next, const md_knowledge *known,
                                   const md_label_union *both, const md_problem *problem,
                                   medley_error *error);
void md_knowledge_clear(md_knowledge *known);

/* ---- incremental_model.c ---- */

/* What each kernel that has learnt something scores some rows, by the rows of the support. */
typedef struct md_support_scores {
    size_t *which; /* [count] candidates */
    size_t count;
    float **scores; /* [count] each [rows][labels], in values */
    float *values;
} md_support_scores;

/* support: zeros; cleared in any case. */
medley_status md_support_scores_make(md_support_scores *support, medley_learner *learner,
                                     const md_knowledge *known, const md_prepared *rows,
                                     medley_error *error);
void md_support_scores_clear(md_support_scores *support);

/* ---- incremental_piece.c ---- */

/* Learns from the rows of learner->problem, whose labels are numbered by both. */
medley_status md_piece_learn(medley_learner *learner, const md_label_union *both,
                             medley_error *error);

#endif
