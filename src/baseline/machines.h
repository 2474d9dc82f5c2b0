/* SPDX-License-Identifier: BSD-3-Clause */
/* What the methods that are made of support vector machines (svm, lp-beta) share: what they refuse,
 * and the machines, one-vs-rest. */
#ifndef MD_MACHINES_H
#define MD_MACHINES_H

#include "baseline/svm_set.h"
#include "setup/setup.h"

typedef struct md_machines {
    md_pool pool; /* of the arrays */
    md_problem *problem;
    size_t outputs;
    md_svm_set set; /* of some sets of machines, one machine for each output */
    double *target; /* [outputs][rows] +1 for its label, else -1 */
    double *norm;   /* [kernels] of the model */
    double *norm2;  /* [kernels] squared norms of set 0 with double precision, where it is proven */
    bool proven;
    double *bias; /* [outputs] of the model */
} md_machines;

/* Labels, hinge loss and the named penalty only, and kernels that are positive semi-definite. */
medley_status md_machines_init(md_machines *machines, md_problem *problem, const char *penalty,
                               size_t sets, medley_error *error);
void md_machines_clear(md_machines *machines);

/* Those of a set learn from the given rows (NULL: all), one for each output. Returns the first. */
md_svm *md_machines_list(md_machines *machines, size_t set, const size_t *rows, size_t count);

/* All machines, on one kernel of the problem (chosen) or on a weighted sum of several; set.watch
 * may stop them. The certificates of set 0 are those of kernel values in double precision, whatever
 * the solver was given: with a weak penalty coefficients are large and cancel. (With a ridge, which
 * is no part of a model, they are those of the solver.) */
medley_status md_machines_solve(md_machines *machines, md_chosen chosen, const double *weight,
                                medley_error *error);

/* Sums over machines, of which the summary of a run is told. */
typedef struct md_machine_sums {
    double primal, dual, difference;
    bool solved;
} md_machine_sums;

/* Of the machines of set 0. */
md_machine_sums md_machines_sum(const md_machines *machines);

/* body: [kernels] each [rows][outputs] or NULL. The epochs are borrowed. */
medley_status md_machines_build(medley_model **model, const md_machines *machines,
                                const md_machine_sums *sums, const double *const *body,
                                medley_epoch *epochs, size_t epoch_count, medley_error *error);

#endif
