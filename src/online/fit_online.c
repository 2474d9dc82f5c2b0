/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods of the online loop: a rule on all blocks. */
#include "online/run.h"

#include "base/memory.h"

medley_status md_train_and_build(medley_model **model, md_problem *problem,
                                 const md_run_blocks *blocks, medley_error *error)
{
    static const md_run_plan whole = {.stage = "training"};
    MD_CLEARED(md_run_result_clear) md_run_result result = {0};
    medley_status stopped;
    MEDLEY_TRY(stopped = md_run_online(problem, &whole, blocks, &result, error));
    MEDLEY_TRY(md_model_of_blocks(model, problem, blocks, &result, error));
    return stopped != MEDLEY_OK ? stopped
                                : md_calibrate(model, problem, blocks, result.eta0, error);
}

medley_status md_fit_online(medley_model **model, md_problem *problem, medley_error *error)
{
    MD_CLEARED(md_run_blocks_clear) md_run_blocks blocks = {0};
    MEDLEY_TRY(md_run_blocks_make(&blocks, problem, MD_ALL_KERNELS, error));
    return md_train_and_build(model, problem, &blocks, error);
}
