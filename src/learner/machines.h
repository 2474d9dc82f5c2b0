/* SPDX-License-Identifier: BSD-3-Clause */
/* What the methods that are made of support vector machines (svm, lp-beta) share: what they refuse,
 * and one machine for each label against the rest, or one for two labels. */
#ifndef MD_MACHINES_H
#define MD_MACHINES_H

#include "batch/svm_set.h"
#include "learner/problem.h"

typedef struct md_machines {
    md_problem *problem;
    size_t outputs;
    double *target; /* [outputs][rows] +1 for its label, else -1 */
    double *kernel; /* [rows][rows] */
} md_machines;

/* Labels, hinge loss and the named penalty only, and kernels that are positive semi-definite. */
medley_status md_machines_init(md_machines *machines, md_problem *problem, const char *penalty,
                               medley_error *error);
void md_machines_clear(md_machines *machines);

/* Those that learn from the given rows (NULL: all), one for each output. */
void md_machines_list(const md_machines *machines, const size_t *rows, size_t count, md_svm *list);

/* Sums over machines, of which the story of a run is told. */
typedef struct md_machine_sums {
    double primal, dual, difference;
    bool solved;
} md_machine_sums;
void md_machines_add(md_machine_sums *sums, const md_svm *list, size_t count);

#endif
