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

/* One block; body: room for it. */
static medley_status restore_block(md_block *block, size_t m, const md_theta_term *terms,
                                   size_t count, float *body, medley_error *error)
{
    const size_t size = block->class->body_size(block);
    bool nonzero = false;
    for (size_t i = 0; i < size; i++) {
        double sum = 0;
        for (size_t t = 0; t < count; t++)
            sum += terms[t].factor * (double)terms[t].copy->body[m][i];
        body[i] = (float)sum;
        nonzero = nonzero || body[i] != 0;
    }
    block->dual_scale = 1;
    if (nonzero)
        return block->class->import_body(block, body, error);
    block->class->clear(block);
    return MEDLEY_OK;
}

medley_status md_theta_restore_sum(const md_theta_term *terms, size_t count,
                                   const md_run_blocks *run, md_deferred *deferred,
                                   medley_error *error)
{
    MD_OWNED(free) float *body = NULL;
    size_t largest = 0;
    for (size_t m = 0; m < run->count; m++)
        largest = md_max(largest, run->blocks[m]->class->body_size(run->blocks[m]));
    MEDLEY_TRY(md_new(&body, largest, sizeof *body, error));
    for (size_t m = 0; m < run->count; m++)
        MEDLEY_TRY(restore_block(run->blocks[m], m, terms, count, body, error));
    if (deferred != NULL)
        MEDLEY_TRY(md_deferred_close(deferred, error));
    for (size_t m = 0; m < run->count; m++)
        md_block_refresh_norm(run->blocks[m]);
    return MEDLEY_OK;
}

medley_status md_theta_copy_restore(const md_theta_copy *copy, const md_run_blocks *run,
                                    md_deferred *deferred, medley_error *error)
{
    const md_theta_term itself = {.copy = copy, .factor = 1};
    return md_theta_restore_sum(&itself, 1, run, deferred, error);
}
