/* SPDX-License-Identifier: BSD-3-Clause */
#include "block/block.h"

void md_block_free(md_block *block)
{
    if (block != NULL)
        block->class->free(block);
}

void md_block_rescale(md_block *block, double factor)
{
    block->scale *= factor;
    block->norm *= factor;
}

void md_block_refresh_norm(md_block *block)
{
    const double square = block->class->norm2(block);
    if (square <= 0 && isfinite(square)) /* what is not a number is noticed by its norm */
        block->class->clear(block);
    else
        block->norm = sqrt(square);
}

void md_block_visit(md_block *block, md_state_visitor visit, void *context)
{
    visit(context, &block->scale, sizeof block->scale);
    visit(context, &block->dual_scale, sizeof block->dual_scale);
    visit(context, &block->norm, sizeof block->norm);
    visit(context, &block->weight_sum, sizeof block->weight_sum);
    visit(context, &block->iterates, sizeof block->iterates);
    block->class->visit_state(block, visit, context);
}

void md_visit_bools(bool *values, size_t count, md_state_visitor visit, void *context)
{
    visit(context, values, count * sizeof *values);
    const unsigned char *bytes = (const unsigned char *)values;
    for (size_t i = 0; i < count; i++)
        values[i] = bytes[i * sizeof *values] != 0;
}
