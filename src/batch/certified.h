/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods that end in a certified optimum, SpicyMKL and those it is compared with: each brings a
 * solver of one output (md_method.solve), the rest is the same for all of them. */
#ifndef MD_CERTIFIED_H
#define MD_CERTIFIED_H

#include "batch/batch.h"
#include "setup/path.h"

medley_status md_fit_batch(medley_model **model, md_problem *problem, medley_error *error);
medley_status md_fit_batch_path(md_problem *problem, const medley_path_options *path,
                                medley_path_taker take, void *context, medley_error *error);

/* Fields of a method's row that all of them share. */
#define MD_CERTIFIED_METHOD .needs_kernels = true, .kind = &md_batch_kind, .fit = md_fit_batch

#endif
