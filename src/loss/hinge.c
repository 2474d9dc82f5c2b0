/* SPDX-License-Identifier: BSD-3-Clause */
/* Structured hinge: max_y' f(y') + cost(y', y) - f(y). Its subgradient in the part scores is +1 on
 * the parts of the maximiser and -1 on those of the right output; shared parts cancel. */
#include "loss/loss.h"

/* Moves what parts[count] have in balance to delta, each part once. */
static void collect(md_delta *delta, float *balance, const uint32_t *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (balance[parts[i]] == 0)
            continue;
        delta->part[delta->count] = parts[i];
        delta->coefficient[delta->count++] = balance[parts[i]];
        balance[parts[i]] = 0;
    }
}

static double evaluate(md_inference *inference, size_t length, const float *score,
                       const int32_t *gold, bool wants_gradient)
{
    const md_structure *structure = inference->structure;
    const md_shape shape = inference->shape;
    const double worst = structure->decode_with_cost(shape, length, score, gold, inference->output,
                                                     &inference->workspace);
    const size_t count = structure->parts_of(shape, length, gold, inference->parts);
    double right = 0;
    for (size_t i = 0; i < count; i++)
        right += (double)score[inference->parts[i]];
    const double loss = worst <= right ? 0 : worst - right; /* NaN stays and is noticed */
    inference->delta.count = 0;
    if (!wants_gradient || loss == 0)
        return loss;
    uint32_t *others = inference->parts + count;
    const size_t other = structure->parts_of(shape, length, inference->output, others);
    float *balance = inference->marginal;
    for (size_t i = 0; i < count + other; i++)
        balance[inference->parts[i]] = 0;
    for (size_t i = 0; i < count; i++)
        balance[inference->parts[i]] -= 1;
    for (size_t i = 0; i < other; i++)
        balance[others[i]] += 1;
    collect(&inference->delta, balance, inference->parts, count + other);
    return loss;
}

static double at_zero(const md_structure *structure, md_shape shape, size_t length)
{
    return structure->most_cost(shape, length);
}

extern const md_loss md_loss_hinge;
const md_loss md_loss_hinge = {
    .name = "hinge",
    .summary = "structured hinge: support vector machine",
    .formula = "max_y' [f(y') + cost(y',y)] - f(y)",
    .evaluate = evaluate,
    .at_zero = at_zero,
};
