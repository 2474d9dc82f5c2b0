/* SPDX-License-Identifier: BSD-3-Clause */
#include "block/block.h"

#include <math.h>

void md_block_free(md_block *block)
{
    if (block != NULL)
        block->class->free(block);
}

/* ||theta - step d||^2 = b^2 - 2 step <theta, d> + step^2 ||d||^2. Rounding may leave a tiny
 * negative number where theta is about to vanish. */
double md_block_norm_after(md_block *block, md_example example, const md_delta *delta, double step)
{
    if (delta->count == 0)
        return block->norm;
    const double slope = block->norm > 0 ? block->class->slope(block, example, delta) : 0;
    const double change = block->class->delta_norm2(block, example, delta);
    const double square = block->norm * block->norm - 2 * step * slope + step * step * change;
    return square <= 0 ? 0 : sqrt(square); /* what is not a number stays so and is noticed */
}

void md_block_rescale(md_block *block, double factor)
{
    block->scale *= factor;
    block->norm *= factor;
}

void md_block_refresh_norm(md_block *block)
{
    const double square = block->class->norm2(block);
    if (square <= 0)
        block->class->clear(block);
    else
        block->norm = sqrt(square);
}
