/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks that a run trains. */
#include "setup/setup.h"

#include "base/memory.h"
#include <stdlib.h>

void md_trained_clear(md_trained *trained)
{
    for (size_t b = 0; trained->blocks != NULL && b < trained->block_count; b++)
        md_block_free(trained->blocks[b]);
    free(trained->blocks);
    free(trained->candidate);
    free(trained->epochs);
    *trained = (md_trained){0};
}

medley_status md_trained_make(md_trained *trained, md_problem *problem, long kernel,
                              medley_error *error)
{
    const size_t most = problem->candidate_count;
    *trained = (md_trained){0};
    MEDLEY_TRY(md_new(&trained->blocks, most, sizeof(md_block *), error));
    MEDLEY_TRY(md_new(&trained->candidate, most, sizeof *trained->candidate, error));
    for (size_t c = 0; c < most; c++) {
        const md_candidate *candidate = &problem->candidates[c];
        if (candidate->origin == MD_FROM_KERNEL && kernel != MD_ALL_KERNELS &&
            candidate->index != (size_t)kernel)
            continue;
        MEDLEY_TRY(md_problem_block(&trained->blocks[trained->block_count], problem, c, error));
        trained->candidate[trained->block_count++] = c;
        trained->penalised += !candidate->own_term;
    }
    return MEDLEY_OK;
}
