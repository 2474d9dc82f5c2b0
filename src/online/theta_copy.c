/* SPDX-License-Identifier: BSD-3-Clause */
#include "online/run.h"

void md_theta_copy_clear(md_theta_copy *copy)
{
    for (size_t m = 0; m < copy->count; m++)
        free(copy->body[m]);
    free(copy->body);
    *copy = (md_theta_copy){0};
}

medley_status md_theta_copy_take(md_theta_copy *copy, const md_run_blocks *run, medley_error *error)
{
    if (copy->body == NULL) {
        MEDLEY_TRY(md_new(&copy->body, run->count, sizeof *copy->body, error));
        copy->count = run->count;
    }
    for (size_t m = 0; m < run->count; m++) {
        md_block *block = run->blocks[m];
        float **body = &copy->body[m];
        if (*body == NULL)
            MEDLEY_TRY(md_new(body, block->class->body_size(block), sizeof **body, error));
        block->class->export_body(block, *body);
    }
    return MEDLEY_OK;
}

medley_status md_theta_copy_restore(const md_theta_copy *copy, const md_run_blocks *run,
                                    md_deferred *deferred, medley_error *error)
{
    for (size_t m = 0; m < run->count; m++) {
        md_block *block = run->blocks[m];
        bool nonzero = false;
        for (size_t i = 0; !nonzero && i < block->class->body_size(block); i++)
            nonzero = copy->body[m][i] != 0;
        if (nonzero)
            MEDLEY_TRY(block->class->import_body(block, copy->body[m], error));
        else
            block->class->clear(block);
        block->dual_scale = 1;
    }
    if (deferred != NULL)
        MEDLEY_TRY(md_deferred_close(deferred, error));
    for (size_t m = 0; m < run->count; m++)
        md_block_refresh_norm(run->blocks[m]);
    return MEDLEY_OK;
}
