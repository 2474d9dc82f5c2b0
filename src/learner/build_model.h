/* SPDX-License-Identifier: BSD-3-Clause */
/* A model while it is put together (build_model.c, build_weights.c). */
#ifndef MD_BUILD_MODEL_H
#define MD_BUILD_MODEL_H

#include "learner/problem.h"

/* The coefficients of a block, or of a kernel where a method has no blocks. Neither values nor
 * wide: it is not active. */
typedef struct md_learnt {
    float *values;      /* [size] of a block */
    const double *wide; /* [size] of a kernel, borrowed */
    size_t size;
    size_t candidate; /* of the problem */
    double norm;
} md_learnt;

typedef struct md_builder {
    md_problem *problem;
    const md_trained *trained;
    medley_model *model;
    size_t outputs;
    md_learnt *learnt;
    size_t learnt_count;
    size_t *kernels;   /* [active_count] of the problem's bank, in order */
    size_t *learnt_of; /* [active_count] what each active kernel belongs to */
    size_t active_count;
    size_t template_count;
    bool **kept; /* [template_count] features with weights; NULL: of none */
    medley_error *error;
} md_builder;

static inline const md_candidate *md_builder_candidate(const md_builder *b, size_t i)
{
    return &b->problem->candidates[b->learnt[i].candidate];
}

static inline bool md_builder_has_kernels(const md_builder *b, size_t i)
{
    return md_builder_candidate(b, i)->source == MD_FROM_KERNEL;
}

static inline bool md_learnt_is_active(const md_learnt *learnt)
{
    return learnt->values != NULL || learnt->wide != NULL;
}

/* Is there anything but zeros? */
static inline bool md_learnt_has_some(const md_learnt *learnt, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        if (learnt->wide != NULL ? learnt->wide[i] != 0 : learnt->values[i] != 0)
            return true;
    return false;
}

/* The templates that have weights, and the weights of templates and label context. */
medley_status md_builder_copy_features(md_builder *b);

/* The same of arc templates, whose tables make a parser. */
medley_status md_builder_copy_arcs(md_builder *b);

#endif
