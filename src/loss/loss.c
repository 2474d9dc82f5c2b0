/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss.h"

#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

#define MD_LOSS(name) extern const md_loss md_loss_##name;
#include "loss/losses.def"
#undef MD_LOSS

const md_loss *const md_losses[] = {
#define MD_LOSS(name) &md_loss_##name,
#include "loss/losses.def"
#undef MD_LOSS
    NULL};

const md_loss *md_loss_find(const char *name)
{
    for (size_t i = 0; md_losses[i] != NULL; i++)
        if (strcmp(md_losses[i]->name, name) == 0)
            return md_losses[i];
    return NULL;
}

medley_status md_inference_init(md_inference *inference, const md_structure *structure,
                                md_shape shape, size_t longest, medley_error *error)
{
    const size_t parts = structure->part_count(shape, longest);
    const size_t chosen = structure->parts_per_output(shape, longest);
    *inference = (md_inference){.structure = structure, .shape = shape};
    inference->output = md_calloc(longest, sizeof *inference->output);
    inference->parts = md_calloc(2 * chosen, sizeof *inference->parts);
    inference->marginal = md_calloc(parts, sizeof *inference->marginal);
    inference->delta.part = md_calloc(parts, sizeof *inference->delta.part);
    inference->delta.coefficient = md_calloc(parts, sizeof *inference->delta.coefficient);
    if (!inference->output || !inference->parts || !inference->marginal || !inference->delta.part ||
        !inference->delta.coefficient ||
        md_workspace_reserve(&inference->workspace, structure->workspace_size(shape, longest))) {
        md_inference_clear(inference);
        return md_fail_memory(error, parts * sizeof(float));
    }
    return MEDLEY_OK;
}

void md_inference_clear(md_inference *inference)
{
    free(inference->output);
    free(inference->parts);
    free(inference->marginal);
    free(inference->delta.part);
    free(inference->delta.coefficient);
    md_workspace_clear(&inference->workspace);
    *inference = (md_inference){0};
}
