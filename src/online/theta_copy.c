/* SPDX-License-Identifier: BSD-3-Clause */
#include "online/theta_copy.h"

#include "base/memory.h"
#include <stdlib.h>

void md_theta_free(float **copy, size_t block_count)
{
    for (size_t m = 0; copy != NULL && m < block_count; m++)
        free(copy[m]);
    free(copy);
}

/* Fills *copy, which may hold an older theta. */
medley_status md_theta_copy(float ***copy, const md_trained *trained, medley_error *error)
{
    if (*copy == NULL)
        MEDLEY_TRY(md_new(copy, trained->block_count, sizeof **copy, error));
    for (size_t m = 0; m < trained->block_count; m++) {
        md_block *block = trained->blocks[m];
        float **body = &(*copy)[m];
        if (*body == NULL)
            MEDLEY_TRY(md_new(body, block->class->body_size(block), sizeof **body, error));
        block->class->export_body(block, *body);
    }
    return MEDLEY_OK;
}

/* The scores of the blocks are computed afresh; what was exported is what scores. */
medley_status md_theta_restore(md_trained *trained, float **copy, md_deferred *deferred,
                               medley_error *error)
{
    medley_status status = MEDLEY_OK;
    for (size_t m = 0; m < trained->block_count; m++) {
        md_block *block = trained->blocks[m];
        bool nonzero = false;
        for (size_t i = 0; !nonzero && i < block->class->body_size(block); i++)
            nonzero = copy[m][i] != 0;
        if (nonzero)
            MEDLEY_TRY_DONE(block->class->import_body(block, copy[m], error));
        else
            block->class->clear(block);
        block->dual_scale = 1;
    }
    if (deferred != NULL)
        MEDLEY_TRY_DONE(md_deferred_close(deferred, error));
    for (size_t m = 0; m < trained->block_count; m++)
        md_block_refresh_norm(trained->blocks[m]);
done:
    return status;
}
