/* SPDX-License-Identifier: BSD-3-Clause */
/* A model while it is put together (build_model.c). */
#ifndef MD_BUILD_MODEL_H
#define MD_BUILD_MODEL_H

#include "learner/problem.h"

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
    medley_error *error;
} md_builder;

static inline const md_candidate *md_builder_candidate(const md_builder *b, size_t i)
{
    return &b->problem->candidates[b->learnt[i].candidate];
}

static inline bool md_builder_has_kernels(const md_builder *b, size_t i)
{
    return md_builder_candidate(b, i)->origin == MD_FROM_KERNEL;
}

#endif
