/* SPDX-License-Identifier: BSD-3-Clause */
/* Structured hinge: max_y' f(y') + cost(y', y) - f(y). Its subgradient in the part scores is +1 on
 * the parts of the maximiser and -1 on those of the right output; shared parts cancel. */
#include "loss/loss.h"

/* Moves what dense has of a part to the list, so that a part that comes again is not listed again.
 */
static void collect(md_delta *delta, uint32_t part)
{
    if (delta->dense[part] == 0)
        return;
    delta->part[delta->count] = part;
    delta->coefficient[delta->count++] = delta->dense[part];
    delta->dense[part] = 0;
}

static void forget(md_delta *delta)
{
    for (size_t i = 0; i < delta->count; i++)
        delta->dense[delta->part[i]] = 0;
    delta->count = 0;
}

static double evaluate(md_inference *inference, size_t length, const int32_t *gold,
                       bool wants_gradient)
{
    const md_structure *structure = inference->space.structure;
    const md_shape shape = inference->space.shape;
    const float *score = inference->score;
    md_delta *delta = &inference->delta;
    const double worst = structure->decode_with_cost(shape, length, score, gold, inference->output,
                                                     &inference->workspace);
    const size_t count = structure->parts_of(shape, length, gold, inference->parts);
    double right = 0;
    for (size_t i = 0; i < count; i++)
        right += (double)score[inference->parts[i]];
    const double loss = worst <= right ? 0 : worst - right; /* NaN stays and is noticed */
    forget(delta);
    if (!wants_gradient || loss == 0)
        return loss;
    uint32_t *others = inference->parts + count;
    const size_t other_count = structure->parts_of(shape, length, inference->output, others);
    for (size_t i = 0; i < count; i++)
        delta->dense[inference->parts[i]] -= 1;
    for (size_t i = 0; i < other_count; i++)
        delta->dense[others[i]] += 1;
    for (size_t i = 0; i < count || i < other_count; i++) { /* rows side by side */
        if (i < count)
            collect(delta, inference->parts[i]);
        if (i < other_count)
            collect(delta, others[i]);
    }
    for (size_t i = 0; i < delta->count; i++)
        delta->dense[delta->part[i]] = delta->coefficient[i];
    return loss;
}

static double at_zero(md_space space, size_t length)
{
    return space.structure->most_cost(space.shape, length);
}

const md_loss md_loss_hinge = {
    .name = "hinge",
    .summary = "structured hinge: support vector machine",
    .formula = "max_y' [f(y') + cost(y',y)] - f(y)",
    .adds_costs = true,
    .has_margin = true,
    .evaluate = evaluate,
    .at_zero = at_zero,
};
