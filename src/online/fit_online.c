/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods of the online loop: a rule on all blocks. */
#include "online/calibrate.h"
#include "online/run.h"

#include "base/memory.h"

medley_status md_train_and_build(medley_model **model, md_problem *problem, md_trained *trained,
                                 medley_error *error)
{
    static const md_run_plan whole = {.stage = "training"};
    const medley_status ran = md_run_online(problem, &whole, trained, error);
    const medley_status built = ran < 0 ? ran : md_model_build(model, problem, trained, error);
    if (built < 0 || ran != MEDLEY_OK)
        return built < 0 ? built : ran;
    return md_calibrate(model, problem, trained, error);
}

medley_status md_fit_online(medley_model **model, md_problem *problem, medley_error *error)
{
    MD_CLEARED(md_trained_clear) md_trained trained = {0};
    MEDLEY_TRY(md_trained_make(&trained, problem, MD_ALL_KERNELS, error));
    return md_train_and_build(model, problem, &trained, error);
}
